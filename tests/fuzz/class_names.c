/*
 * Fuzz target: class_names.txt. Names are counted from 0 and are refused in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/lists.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char **names;
    int count;
    if (class_names_read((const char *)data, bytes, &names, &count) == BRAID_OK) {
        for (int i = 0; i < count; i++) MUTATE_MUST(strlen(names[i]) <= bytes);
        class_names_free(names, count);
    } else {
        MUTATE_MUST(strstr(fail_message(), "expected") && !names);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {"0: bathroom\n1: bed room\n", "0:a\r\n1: b\r\n", "0: a", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
