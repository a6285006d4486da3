/*
 * Fuzz target: labels.txt, class_names.txt and norm_stats.json, chosen by the first byte. What is read is in range, and
 * what is refused is refused in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "data/lists.h"
#include "tests/support/mutate.h"

static void try_labels(const char *text, size_t bytes) {
    problems found = {0};
    int32_t *labels;
    int64_t count, bad = 0;
    MUTATE_MUST(labels_read(text, bytes, 15, "labels.txt", &found, &labels, &count) == BRAID_OK);
    for (int64_t i = 0; i < count; i++) {
        MUTATE_MUST(labels[i] >= -1 && labels[i] < 15);
        bad += labels[i] < 0;
    }
    MUTATE_MUST(bad == found.count && count <= (int64_t)bytes);
    MUTATE_MUST(!bad || strstr(found.first, "labels.txt: line "));
    memory_free(labels);
}

static void try_names(const char *text, size_t bytes) {
    char **names;
    int count;
    if (class_names_read(text, bytes, &names, &count) == BRAID_OK) {
        for (int i = 0; i < count; i++) MUTATE_MUST(strlen(names[i]) <= bytes);
        class_names_free(names, count);
    } else {
        MUTATE_MUST(strstr(fail_message(), "expected") && !names);
    }
}

static void try_statistics(const char *text, size_t bytes) {
    braid_data_info info = {.streams = 2, .stream_names = {"rgb", "orth"}, .channels = {3, 1}};
    if (norm_stats_read(text, bytes, &info) != BRAID_OK) return;
    for (int c = 0; c < 3; c++) MUTATE_MUST(info.mean[0][c] >= 0 && info.std[0][c] > 0);
    MUTATE_MUST(info.mean[1][0] <= 1 && info.std[1][0] > 0 && info.std[1][0] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *text = (const char *)data + 1;
    if (bytes == 0) return 0;
    switch (data[0] % 3) {
        case 0: try_labels(text, bytes - 1); break;
        case 1: try_names(text, bytes - 1); break;
        default: try_statistics(text, bytes - 1); break;
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "00\n14\n3\n",
    "01\r\n2\n",
    "10: bathroom\n1: bed room\n",
    "10:a\n",
    "2{\"rgb_mean\": [0.5, 0.4, 0.3], \"rgb_std\": [0.2, 0.2, 0.1], \"depth_mean\": [0.3], \"depth_std\": [0.1]}",
    "2{\"rgb_mean\":[0,1,0.5],\"rgb_std\":[1,1,1],\"orth_mean\":[1],\"orth_std\":[1e-6]}",
    NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
