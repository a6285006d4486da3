/*
 * Fuzz target: npy. Any bytes are refused in words, or give an array that lies in the file and fills its end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "data/image.h"
#include "data/npy.h"
#include "core/memory.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    npy n;
    image i;
    if (npy_read(data, bytes, &n) == BRAID_OK) {
        MUTATE_MUST((const uint8_t *)n.data + n.bytes == data + bytes && n.rank >= 0 && n.rank <= NPY_MAX_RANK);
        if (image_decode(data, bytes, &i) == BRAID_OK) image_free(&i);
    } else {
        MUTATE_MUST(strstr(fail_message(), "npy: expected") != NULL);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define SEED(text) \
    { text, sizeof(text) - 1 }
static const mutate_seed seeds[] = {
    SEED("\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }            \nabcdefgh"),
    SEED("\x93NUMPY\2\0\x40\0\0\0{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }   \n123456"),
    SEED("\x93NUMPY\1\0\x3c\0{'descr': '<u2', 'fortran_order': False, 'shape': (1,1), }\n12"),
    SEED("\x93NUMPY\3\0\x38\0\0\0{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n12345678"),
    {0}};

int main(int count, char **arguments) {
    return mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000);
}
#endif
