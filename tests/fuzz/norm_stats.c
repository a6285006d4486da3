/*
 * Fuzz target: norm_stats.json. What is read can be divided by.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "data/lists.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    braid_data_info info = {.streams = 2, .stream_names = {"rgb", "orth"}, .channels = {3, 1}};
    if (norm_stats_read((const char *)data, bytes, &info) == BRAID_OK) {
        for (int c = 0; c < 3; c++) MUTATE_MUST(info.mean[0][c] >= 0 && info.std[0][c] > 0);
        MUTATE_MUST(info.mean[1][0] <= 1 && info.std[1][0] > 0 && info.std[1][0] <= 1);
    }
    MUTATE_MUST(memory_live() == 0);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "{\"rgb_mean\": [0.5, 0.4, 0.3], \"rgb_std\": [0.2, 0.2, 0.1], \"depth_mean\": [0.3], \"depth_std\": [0.1]}",
    "{\"rgb_mean\":[0,1,0.5],\"rgb_std\":[1,1,1],\"orth_mean\":[1],\"orth_std\":[1e-6]}", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
