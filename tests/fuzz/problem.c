/*
 * Fuzz target: the reader of problem strings. Any text is refused in words or read; what is read prints,
 * reads back as the same text, and has operands whose sizes fit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "ops/op.h"
#include "tests/support/mutate.h"

static void must_be_sound(const braid_problem *p) {
    char text[BRAID_PROBLEM_TEXT], again[BRAID_PROBLEM_TEXT];
    braid_problem copy = *p, read;
    MUTATE_MUST(braid_problem_check(&copy) == BRAID_OK);
    MUTATE_MUST(braid_problem_print(p, text, sizeof text) == BRAID_OK);
    MUTATE_MUST(braid_problem_parse(text, &read) == BRAID_OK);
    MUTATE_MUST(braid_problem_print(&read, again, sizeof again) == BRAID_OK);
    MUTATE_MUST(strcmp(text, again) == 0);
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        braid_operand_info info;
        MUTATE_MUST(op_operand_info(p, slot, &info) == BRAID_OK);
    }
    MUTATE_MUST(op_of(p)->flops(p) >= 0 && op_bytes(p) >= 0 && op_of(p)->terms(p) >= 0);
    op_of(p)->shrink(&copy);
    MUTATE_MUST(op_of(p)->flops(&copy) <= op_of(p)->flops(p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char text[BRAID_PROBLEM_TEXT + 16];
    braid_problem p;
    size_t length = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = 0;
    if (braid_problem_parse(text, &p) == BRAID_OK)
        must_be_sound(&p);
    else
        MUTATE_MUST(strstr(braid_message(), "expected") != NULL || strstr(braid_message(), "has no field") != NULL);
    return 0;
}

#ifndef BRAID_LIBFUZZER
static const char *const seeds[] = {
    "conv2d_fwd:f32:n3:b2:hw104x136:c64,64,64:k64,64,64:rs3x3:st1:pad1:dil1:g1:mode=zeros:bias0:mask0",
    "conv2d_bwd_data:bf16:n2:b2:hw9x8:c4,6:k8,2:rs4x2:pad=same:dil2x1:g2:mode=circular:mask1:cp8:kp8",
    "conv2d_bwd_weight:f16:b0:hw7:c1:k1:rs7:st2x3:pad3:extra1x0:mode=reflect:bias1",
    "linear_fwd:n9:b1:c3:k1:bias1:mask1",
    "linear_bwd_data:f64:b64:c128,1:k10,3:kp16",
    "bn_stats:n3:b2:hw3x4:c8,1,1:mask1:cp8",
    "bn_finalize:b2:hw2:c3:phase=eval:avg=cumulative:eps=1e-3:mom0.25",
    "bn_apply:f16:b1:hw1:c5",
    "bn_bwd_reduce:b2:hw2147483647x1:c1",
    "bn_bwd_apply:b3:hw5:c7:phase=train",
    NULL,
};

int main(int count, char **arguments) { return mutate_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 200000); }
#endif
