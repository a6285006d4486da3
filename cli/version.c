/*
 * braid version: of the program and of the library it found.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

static int run(const verb *self, int argc, char **argv) {
    common_options options = {0};
    arguments words;
    int code = options_parse(self, argc, argv, &options, &words);
    if (code) return code;
    if (options.help) return help_print(self);
    printf("braid %s (library %s, ABI %d)\n", BRAID_VERSION, braid_version(), braid_abi());
    if (braid_abi() != BRAID_ABI)
        return complain(BRAID_ERROR_DEVICE,
                        "the program was built for ABI %d and loaded a library of ABI %d; install both from one build",
                        BRAID_ABI, braid_abi());
    return 0;
}

const verb verb_version = {
    .name = "version",
    .group = "About braid",
    .arguments = "",
    .summary = "the version of the program and of the library",
    .about = "Prints the version of the program, and the version and ABI number of the library it loaded.",
    .examples = "braid version\n",
    .run = run,
};
