/*
 * braid VERB ...: finds the verb and runs it. The exit code of a failure is its braid_status.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"

static int run(int argc, char **argv) {
    if (argc < 2)
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected a verb, got nothing; braid help lists them, braid demo is a tour");
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    if (!strcmp(name, "--version")) name = "version";
    if (name[0] == '-')
        return complain(BRAID_ERROR_ARGUMENT, "expected a verb first, got the option %s; options stand behind the verb",
                        name);
    const verb *v = verb_find(name);
    if (!v) return verb_unknown(name);
    complain_as(v->name);
    return v->run(v, argc - 2, argv + 2);
}

int main(int argc, char **argv) {
    output_begin();
    return output_end(run(argc, argv));
}
