/*
 * Fuzz target: suites. Any file is refused in words that name it, or all of its problems can be read again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "braid.h"
#include "braid_lab.h"
#include "tests/support/fuzz_file.h"
#include "tests/support/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const char *path = fuzz_file_path(".txt");
    braid_suite *suite = NULL;
    braid_problem p;
    fuzz_file_write(path, data, bytes);
    if (braid_suite_read(path, &suite) != BRAID_OK) {
        MUTATE_MUST(!suite && strstr(braid_lab_message(), "braid_fuzz_"));
        return 0;
    }
    for (int i = 0; i < braid_suite_count(suite); i++)
        MUTATE_MUST(braid_problem_parse(braid_suite_problem(suite, i), &p) == BRAID_OK);
    braid_suite_destroy(suite);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "# a comment\nlinear_fwd:f32:b2:c3:k4\n\nconv2d_fwd:f16:b1:hw7:c1:k1:rs3 # behind it\n",
    "linear_bwd_data:f64:b64:c128,1:k10,3:kp16\r\nbn_apply:f16:b1:hw1:c5", "add:n2:b2:hw3:c4\n", NULL};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 50000); }
#endif
