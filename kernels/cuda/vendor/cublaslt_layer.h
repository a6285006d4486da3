/*
 * One layer of all streams as products of cuBLASLt, one for each stream. Matrices are row-major as ours lie, which
 * cuBLASLt sees as their transposes: D = A B in its words is D^T = B^T A^T in ours, and pitches are its leading
 * dimensions. The workspace is fixed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_VENDOR_CUBLASLT_LAYER_H
#define BRAID_KERNELS_CUDA_VENDOR_CUBLASLT_LAYER_H

#include "backend/cuda/cublaslt.h"
#include "kernels/cuda/vendor/vendor.h"

/* One matrix: `rows` rows of `columns` numbers that lie `pitch` apart. */
typedef struct cublaslt_matrix {
    int slot; /* of the op */
    int64_t rows, columns, pitch;
    int transposed; /* 1: its transpose is multiplied */
} cublaslt_matrix;

/* The product of one stream, row-major: out = left right, then the epilogue. */
typedef struct cublaslt_call {
    cublaslt_matrix left, right, out;
    int epilogue;  /* LT_EPILOGUE_ bits */
    int bias_slot; /* of LT_EPILOGUE_BIAS, or of LT_EPILOGUE_BIAS_GRADIENT: the column sums of the left matrix */
    int aux_slot;  /* of LT_EPILOGUE_AUX: laid as `out` */
} cublaslt_call;

/* Fills in the call of stream i. */
typedef void (*cublaslt_describe)(const braid_problem *p, int i, cublaslt_call *call);

/* What a kernel computes, by which of the algorithms that cuBLASLt's search returns; 0 is the first. */
typedef struct cublaslt_way {
    cublaslt_describe describe;
    int rank;
    int tf32; /* 1: f32 operands are rounded to TF32; for the problems that allow it, and no others */
} cublaslt_way;

/* Why cuBLASLt cannot do a problem. The caller looks at masks and dense outputs. */
refusal cublaslt_layer_refuses(const braid_problem *p, const device *d, const cublaslt_way *way);

braid_status cublaslt_layer_create(const braid_problem *p, device *d, const cublaslt_way *way, void **state,
                                   size_t *workspace_bytes);
braid_status cublaslt_layer_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void cublaslt_layer_destroy(device *d, void *state);

#endif
