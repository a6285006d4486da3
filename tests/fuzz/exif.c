/*
 * Fuzz target: EXIF blocks. Whatever they hold, there is an orientation.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "data/exif.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const int orientation = exif_orientation(data, bytes);
    MUTATE_MUST(orientation >= 1 && orientation <= 8);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static int mutate_all(const uint8_t *data, size_t bytes) {
    uint8_t block[4096] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
    LLVMFuzzerTestOneInput(data, bytes);
    if (bytes + 8 <= sizeof block) memcpy(block + 8, data, bytes); /* behind a head that is whole */
    return LLVMFuzzerTestOneInput(block, bytes + 8);
}

static const char *const seeds[] = {"Exif", "*\x01\x08\x02\x03\x02\x12\x01\x03\x02\x01\x04\x04\x06", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, mutate_all, seeds, 200000); }
#endif
