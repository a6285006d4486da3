/*
 * The CPU as a device: which instruction sets may be used, and the vendor libraries, opened once per
 * process and never closed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CPU_CPU_H
#define BRAID_BACKEND_CPU_CPU_H

#include "backend/backend.h"

/* Instruction sets that the CPU has, the system saves, and BRAID_ISA does not mask ("none", "avx2", "avx512"). */
unsigned cpu_features(void);

/* A vendor library found at run time. `reason` is NULL where it can be used. */
typedef struct vendor_library {
    const char *name;    /* "onednn" */
    const char *file;    /* the file that was opened, as the loader resolved it; NULL: none */
    char version[32];
    char isa[48];        /* the core type or instruction set it runs with */
    const char *reason;  /* why it cannot be used, in words, and what to install */
    int handicapped;     /* 1: it does not run at the CPU's best working instruction set, so its times prove nothing */
} vendor_library;

const vendor_library *onednn_library(void);
const vendor_library *openblas_library(void);

/* Row-major C[m][n] = A * B (+ C where accumulate), leading dims in elements. Needs openblas_library()->reason == NULL. */
typedef struct gemm_shape {
    int64_t m, n, k;
    int transpose_a, transpose_b;
    int64_t lda, ldb, ldc;
    int accumulate;
} gemm_shape;
void openblas_sgemm(const gemm_shape *s, const float *a, const float *b, float *c, int threads);

#endif
