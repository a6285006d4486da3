/*
 * The program of all tests on the emulator: its kernels are large, and one program holds them once.
 *
 *     emu NAME arguments...
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "tests/emu/tests.h"

static const struct {
    const char *name;
    int (*run)(void);
    int (*run_with)(int count, char **words); /* where it takes arguments */
} tests[] = {
    {"kernels", NULL, emu_kernels}, {"golden", NULL, emu_golden},         {"chains", emu_chains, NULL},
    {"fused", emu_fused, NULL},     {"networks", emu_networks, NULL},     {"not_finite", emu_not_finite, NULL},
    {"pays", emu_pays, NULL},       {"side_queue", emu_side_queue, NULL}, {"stages", emu_stages, NULL},
    {"sums", emu_sums, NULL},       {"support", emu_support, NULL},       {"training", emu_training, NULL},
};

int main(int count, char **words) {
    for (size_t i = 0; count > 1 && i < sizeof tests / sizeof tests[0]; i++) {
        if (strcmp(words[1], tests[i].name) != 0) continue;
        return tests[i].run ? tests[i].run() : tests[i].run_with(count - 1, words + 1);
    }
    fprintf(stderr, "usage: emu NAME [arguments], NAME is one of");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) fprintf(stderr, " %s", tests[i].name);
    fprintf(stderr, "\n");
    return 2;
}
