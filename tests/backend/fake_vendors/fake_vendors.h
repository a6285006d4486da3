/*
 * cuDNN and cuBLASLt without a GPU, built as libcudnn.so.9 and libcublasLt.so.13 for tests. They compute nothing; they
 * count what is made and dropped and what is executed. $FAKE_VENDOR makes them refuse: "old" is an older version,
 * "broken" does not start; or "slow", with engine 2 of cuDNN taking two seconds to be made ready. Any function can be
 * made to fail.
 *
 * cuDNN's heuristics list these engines, each with what is wrong with it:
 *   0 nothing, 1 not repeatable, 2 nothing, 3 no plan, 4 converts its inputs, 5 nothing, and no tensor cores,
 *   6 compiles when it is made ready, 7 needs too much memory. The mode that falls back lists them from 5 on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FAKE_VENDORS_H
#define BRAID_TESTS_FAKE_VENDORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was made and not yet dropped; plans of cuDNN that were made ready, or not; what was executed; the last engine or
 * algorithm of that; open handles; what was asked for in all. */
typedef struct fake_vendor_counts {
    int live, plans, executed, last, handles, calls;
} fake_vendor_counts;

typedef fake_vendor_counts fake_vendor_counts_function(void); /* fake_cudnn_counts, fake_cublaslt_counts */

/* The nth call of a function from now on answers with `status`, and does nothing; fake_cudnn_fail, fake_cublaslt_fail.
 * For programs: $FAKE_VENDOR_FAIL=symbol:nth:status does the same from the start. */
typedef void fake_vendor_fail_function(const char *symbol, int nth, int status);

typedef struct fake_vendor_fault {
    char symbol[64];
    int nth, status, is_read;
} fake_vendor_fault;

/* How a call of a function ends; 0: well. */
static inline int fake_vendor_answer(fake_vendor_fault *f, const char *symbol) {
    const char *wanted = f->is_read ? NULL : getenv("FAKE_VENDOR_FAIL");
    if (wanted && sscanf(wanted, "%63[^:]:%d:%d", f->symbol, &f->nth, &f->status) != 3) abort();
    f->is_read = 1;
    return strcmp(symbol, f->symbol) == 0 && --f->nth == 0 ? f->status : 0;
}

static inline void fake_vendor_set_fault(fake_vendor_fault *f, const char *symbol, int nth, int status) {
    (void)snprintf(f->symbol, sizeof f->symbol, "%s", symbol);
    f->nth = nth;
    f->status = status;
    f->is_read = 1;
}

/* At the head of every function that can fail, in a file with `fault` and `counts`. */
#define FAKE_ANSWER()                                      \
    do {                                                   \
        int answer = fake_vendor_answer(&fault, __func__); \
        counts.calls++;                                    \
        if (answer) return answer;                         \
    } while (0)

#endif
