/*
 * Fuzz target: the lists of a set, through all that the verbs do with one. The first byte of an input says which list
 * it takes the place of; the others are as they were made.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "braid_lab.h"
#include "tests/support/fuzz_set.h"

static const char *const names[] = {"train/labels.txt", "class_names.txt", "norm_stats.json"};
enum { NAMES = sizeof names / sizeof names[0] };
static mutate_seed good[NAMES];

static void keep_once(void) {
    for (int k = 0; k < NAMES && !good[k].data; k++) good[k] = fuzz_set_seed(BRAID_DATA_SUNRGBD, names[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    keep_once();
    if (bytes == 0) return 0;
    int chosen = data[0] % NAMES;
    fuzz_set_put(names[chosen], NULL, data + 1, bytes - 1);
    fuzz_set_read(NULL);
    fuzz_set_put(names[chosen], NULL, good[chosen].data, good[chosen].bytes);
    return 0;
}

#ifndef BRAID_LIBFUZZER
int main(int count, char **arguments) {
    mutate_seed seeds[NAMES + 1] = {{0}};
    keep_once();
    for (int k = 0; k < NAMES; k++) {
        char *all = malloc(good[k].bytes + 1);
        MUTATE_MUST(all);
        all[0] = (char)k;
        memcpy(all + 1, good[k].data, good[k].bytes);
        seeds[k] = (mutate_seed){all, good[k].bytes + 1};
    }
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 3000);
    for (int k = 0; k < NAMES; k++) {
        free((void *)seeds[k].data);
        free((void *)good[k].data);
    }
    return code;
}
#endif
