/*
 * Fuzz target: IDX. Any bytes are refused in words, or give an array of bytes that lies in the file and fills its end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "data/idx.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    idx i;
    if (idx_read(data, bytes, &i) == BRAID_OK) {
        int64_t elements = 1;
        for (int k = 0; k < i.rank; k++) elements *= i.dims[k];
        MUTATE_MUST(i.data + elements == data + bytes);
    } else {
        MUTATE_MUST(strstr(fail_message(), "IDX: expected") != NULL);
    }
    return 0;
}

#ifndef BRAID_LIBFUZZER
#define SEED(text) \
    { text, sizeof(text) - 1 }
static const mutate_seed seeds[] = {SEED("\0\0\10\1\0\0\0\5abcde"),
                                    SEED("\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\3abcdef"),
                                    SEED("\0\0\10\2\0\0\0\0\0\0\0\0"),
                                    {0}};

int main(int count, char **arguments) {
    return mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000);
}
#endif
