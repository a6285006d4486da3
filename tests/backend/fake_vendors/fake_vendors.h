/*
 * cuDNN and cuBLASLt without a GPU, built as libcudnn.so.9 and libcublasLt.so.13 for tests. They compute nothing; they
 * count what is made and dropped and what is executed. $FAKE_VENDOR makes them refuse: "old" is an older version,
 * "broken" does not start; or "slow", with engine 2 of cuDNN taking two seconds to be made ready.
 *
 * cuDNN's heuristics list these engines, each with what is wrong with it:
 *   0 nothing, 1 not repeatable, 2 nothing, 3 no plan, 4 converts its inputs, 5 nothing, and no tensor cores,
 *   6 compiles when it is made ready, 7 needs too much memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FAKE_VENDORS_H
#define BRAID_TESTS_FAKE_VENDORS_H

/* What was made and not yet dropped; plans of cuDNN that were made ready, or not; what was executed; the last engine or
 * algorithm of that. */
typedef struct fake_vendor_counts {
    int live, plans, executed, last;
} fake_vendor_counts;

typedef fake_vendor_counts fake_vendor_counts_function(void); /* fake_cudnn_counts, fake_cublaslt_counts */

#endif
