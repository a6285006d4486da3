/*
 * Work along rows: sums over the channels of each row, and what is made of them, once per instruction set. The
 * numbers are f32, bf16 or f16; arithmetic on single values is in f32 with one rounding at the end, and sums are in
 * double, so that a mean far from zero costs no digits and the square of a float never overflows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_ROWS_H
#define BRAID_KERNELS_CPU_ISA_ROWS_H

#include "ops/op.h"

/* Consecutive rows of one plane, `pitch` values apart. Lanes behind the channels become zero in `out`. */
typedef struct row_block {
    braid_dtype dtype; /* of x, dy and out: f32, bf16 or f16 */
    int64_t channels, pitch, count;
    const void *x, *dy; /* dy may be NULL where a function does not name it */
    void *out;
} row_block;

typedef struct row_loops {
    const char *name; /* "avx512" */
    double flops;     /* a second, of one core: what a cost model may expect */
    /* out = (x - mean) * rstd * gamma + beta, and the gradient of x for dy. */
    void (*layernorm)(const row_block *r, const float *gamma, const float *beta, double eps);
    void (*layernorm_gradient)(const row_block *r, const float *gamma, double eps);
    /* dgamma[c] += the sum over rows of dy * (x - mean) * rstd, dbeta[c] += that of dy. */
    void (*layernorm_sums)(double *dgamma, double *dbeta, const row_block *r, double eps);
    /* out = x / max(norm, eps), and the gradient of x for dy. */
    void (*rownorm)(const row_block *r, double eps);
    void (*rownorm_gradient)(const row_block *r, double eps);
    /* to = from * factor, and the sum of x * dy, of `count` values. */
    void (*scale)(void *to, const void *from, float factor, int64_t count, braid_dtype dtype);
    double (*dot)(const void *x, const void *dy, int64_t count, braid_dtype dtype);
} row_loops;

extern const row_loops rows_avx512_bf16, rows_avx512, rows_avx2, rows_portable;

#endif
