/*
 * The CPU as a device: which instruction sets may be used, and the vendor libraries, opened once per
 * process and never closed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CPU_CPU_H
#define BRAID_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/library.h"

/* Instruction sets that the CPU has and the system saves. */
unsigned cpu_hardware(void);

/* The same, less what BRAID_ISA masks: "none", or the feature name of the highest set that may be used
 * ("avx2", "avx512", "avx512_bf16", "amx_bf16"). The variable is read at each call. */
unsigned cpu_features(void);

/* 1: AVX-512 runs at its full width. 0 without it, and on AMD's family 25 (Zen 4), which halves every instruction. */
int cpu_full_avx512(void);

/* Refuses a BRAID_ISA that is none of these words. */
braid_status cpu_check_isa(void);

/* "AMD EPYC", and where the maker hides the model behind such a name: family, model and stepping as numbers. */
void cpu_model(char *name, size_t bytes);
void cpu_signature(char *text, size_t bytes);

const vendor_library *onednn_library(void);
const vendor_library *openblas_library(void);

/* Row-major C[m][n] = A * B (+ C where accumulate), leading dims in elements. Needs a library without a reason. */
typedef struct gemm_shape {
    int64_t m, n, k;
    int transpose_a, transpose_b;
    int64_t lda, ldb, ldc;
    int accumulate;
} gemm_shape;
int openblas_fits(const gemm_shape *s); /* OpenBLAS counts in int */
void openblas_sgemm(const gemm_shape *s, const float *a, const float *b, float *c, int threads);

#endif
