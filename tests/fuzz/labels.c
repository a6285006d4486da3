/*
 * Fuzz target: labels.txt. Labels that are read are classes, and every line that is refused is told.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/lists.h"
#include "tests/support/mutate.h"

#define CLASSES 15

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    problems found = {0};
    int32_t *labels;
    int64_t count, bad = 0;
    MUTATE_MUST(labels_read((const char *)data, bytes, CLASSES, "labels.txt", &found, &labels, &count) == BRAID_OK);
    for (int64_t i = 0; i < count; i++) {
        MUTATE_MUST(labels[i] >= -1 && labels[i] < CLASSES);
        bad += labels[i] < 0;
    }
    MUTATE_MUST(bad == found.count && count <= (int64_t)bytes);
    MUTATE_MUST(!bad || strstr(found.first, "labels.txt: line "));
    memory_free(labels);
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {"0\n14\n3\n", "1\r\n2\n", "7", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
