/*
 * Fuzz target: a sound of a set, through all that the verbs do with one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "braid_lab.h"
#include "tests/support/fuzz_set.h"

#define SOUND "0_dB_fan/fan/id_00/normal/00000000.wav"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_set_folder(BRAID_DATA_MIMII);
    fuzz_set_put(SOUND, NULL, data, bytes);
    fuzz_set_read(SOUND);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#include <stdlib.h>

int main(int count, char **arguments) {
    mutate_seed seeds[3] = {fuzz_set_seed(BRAID_DATA_MIMII, SOUND), {0}, {0}};
    seeds[1] = (mutate_seed){seeds[0].data, 44 + 8192}; /* cut, and of other numbers */
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 1000);
    free((void *)seeds[0].data);
    return code;
}
#endif
