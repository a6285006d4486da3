/*
 * cuBLASLt 12 or 13 by dlopen: the matrix products that kernels use. Functions, constants and types
 * are declared here by their binary interface, so that the library builds where no CUDA toolkit is
 * installed. Function names are cuBLASLt's own less "cublasLt", in our spelling.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_CUBLASLT_H
#define BRAID_BACKEND_CUDA_CUBLASLT_H

#include <stddef.h>
#include <stdint.h>

#include "backend/library.h"

typedef int lt_status;       /* LT_SUCCESS or an error number */
typedef void *lt_handle;     /* one per device */
typedef void *lt_product;    /* what is computed: transposes, epilogue */
typedef void *lt_layout;     /* of one matrix; column-major */
typedef void *lt_preference; /* what the search may return */
typedef struct lt_algorithm {
    uint64_t data[8];
} lt_algorithm;
/* One answer of the search; `status` is LT_SUCCESS where the others are valid. */
typedef struct lt_found {
    lt_algorithm algorithm;
    size_t workspace_bytes;
    lt_status status;
    float waves;
    int reserved[4];
} lt_found;

enum { LT_SUCCESS = 0, LT_NO_MEMORY = 3, LT_NOT_SUPPORTED = 15 };
enum { LT_FLOAT = 0, LT_HALF = 2, LT_BFLOAT16 = 14 }; /* number formats */
/* pedantic: no tensor cores, no TF32; tf32: f32 operands are rounded to it */
enum { LT_COMPUTE_FLOAT = 68, LT_COMPUTE_FLOAT_PEDANTIC = 69, LT_COMPUTE_FLOAT_TF32 = 77 };
enum { LT_PLAIN = 0, LT_TRANSPOSED = 1 };
enum {
    LT_PRODUCT_TRANSPOSE_A = 3,
    LT_PRODUCT_TRANSPOSE_B = 4,
    LT_PRODUCT_EPILOGUE = 7,
    LT_PRODUCT_BIAS = 8,
    LT_PRODUCT_AUX = 11,
    LT_PRODUCT_AUX_PITCH = 12,
    LT_PRODUCT_AUX_TYPE = 22,
    LT_PRODUCT_BIAS_TYPE = 26,
};
enum {
    LT_EPILOGUE_NONE = 1,
    LT_EPILOGUE_RELU = 2,
    LT_EPILOGUE_BIAS = 4,
    LT_EPILOGUE_GELU = 32,
    LT_EPILOGUE_AUX = 128,           /* with GELU: what goes into the activation is kept */
    LT_EPILOGUE_BIAS_GRADIENT = 512, /* sums of the second matrix */
};
enum { LT_PREFERENCE_WORKSPACE = 1, LT_PREFERENCE_REDUCTIONS = 3 };
enum { LT_REDUCTION_IN_ORDER = 2 }; /* split sums are added in f32 by a second stage, never in place */

/* X(member, symbol, result, parameters) */
#define CUBLASLT_FUNCTIONS(X)                                                                                 \
    X(version, cublasLtGetVersion, size_t, (void))                                                            \
    X(create, cublasLtCreate, lt_status, (lt_handle * out))                                                   \
    X(destroy, cublasLtDestroy, lt_status, (lt_handle handle))                                                \
    X(product_create, cublasLtMatmulDescCreate, lt_status, (lt_product * out, int compute, int scale))        \
    X(product_destroy, cublasLtMatmulDescDestroy, lt_status, (lt_product p))                                  \
    X(product_set, cublasLtMatmulDescSetAttribute, lt_status,                                                 \
      (lt_product p, int name, const void *value, size_t bytes))                                              \
    X(layout_create, cublasLtMatrixLayoutCreate, lt_status,                                                   \
      (lt_layout * out, int type, uint64_t rows, uint64_t columns, int64_t pitch))                            \
    X(layout_destroy, cublasLtMatrixLayoutDestroy, lt_status, (lt_layout l))                                  \
    X(preference_create, cublasLtMatmulPreferenceCreate, lt_status, (lt_preference * out))                    \
    X(preference_destroy, cublasLtMatmulPreferenceDestroy, lt_status, (lt_preference p))                      \
    X(preference_set, cublasLtMatmulPreferenceSetAttribute, lt_status,                                        \
      (lt_preference p, int name, const void *value, size_t bytes))                                           \
    X(search, cublasLtMatmulAlgoGetHeuristic, lt_status,                                                      \
      (lt_handle handle, lt_product p, lt_layout a, lt_layout b, lt_layout c, lt_layout d, lt_preference how, \
       int room, lt_found *found, int *count))                                                                \
    X(multiply, cublasLtMatmul, lt_status,                                                                    \
      (lt_handle handle, lt_product p, const void *alpha, const void *a, lt_layout a_layout, const void *b,   \
       lt_layout b_layout, const void *beta, const void *c, lt_layout c_layout, void *d, lt_layout d_layout,  \
       const lt_algorithm *algorithm, void *workspace, size_t workspace_bytes, void *queue))

typedef struct cublaslt_functions {
#define CUBLASLT_MEMBER(member, symbol, result, parameters) result(*member) parameters;
    CUBLASLT_FUNCTIONS(CUBLASLT_MEMBER)
#undef CUBLASLT_MEMBER
} cublaslt_functions;

/* The library, looked for once per process. */
const vendor_library *cublaslt_library(void);

/* Needs cublaslt_library()->reason == NULL. */
const cublaslt_functions *cublaslt(void);

#endif
