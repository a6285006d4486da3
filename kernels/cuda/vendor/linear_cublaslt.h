/*
 * Linear layers by cuBLASLt: the limits that all passes share, and the kernels of a product.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_VENDOR_LINEAR_CUBLASLT_H
#define BRAID_KERNELS_CUDA_VENDOR_LINEAR_CUBLASLT_H

#include "kernels/cuda/vendor/cublaslt_layer.h"

/* Predicted seconds: a product of few outputs and long sums in f32 is split, and further kernels add it up. */
double linear_cublaslt_cost(const braid_problem *p, const machine *on);

/* Why cuBLASLt cannot do a pass of linear or linear_act. */
refusal linear_cublaslt_refuses(const braid_problem *p, const device *d, const cublaslt_way *way);

/* The operands of stream i as matrices: x [B][C], w [K][C], y [B][K]. */
cublaslt_matrix linear_cublaslt_x(const braid_problem *p, int i);
cublaslt_matrix linear_cublaslt_w(const braid_problem *p, int i);
cublaslt_matrix linear_cublaslt_y(const braid_problem *p, int i);

/* `const kernel_functions name`: what `describe` says, by the algorithm of a rank that counts from 0. */
#define LINEAR_CUBLASLT_KERNEL(name, describe, rank, tf32)                                              \
    static const cublaslt_way name##_way = {describe, rank, tf32};                                      \
    static refusal name##_refuses(const braid_problem *p, const device *d) {                            \
        return linear_cublaslt_refuses(p, d, &name##_way);                                              \
    }                                                                                                   \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) { \
        return cublaslt_layer_create(p, d, &name##_way, state, bytes);                                  \
    }                                                                                                   \
    const kernel_functions name = {.refuses = name##_refuses,                                           \
                                   .cost = linear_cublaslt_cost,                                        \
                                   .create = name##_create,                                             \
                                   .launch = cublaslt_layer_launch,                                     \
                                   .destroy = cublaslt_layer_destroy};

/* The two best algorithms in halves, f32 and TF32. */
#define LINEAR_CUBLASLT_KERNELS(op, describe)                          \
    LINEAR_CUBLASLT_KERNEL(op##__cuda_cublaslt_1, describe, 0, 0)      \
    LINEAR_CUBLASLT_KERNEL(op##__cuda_cublaslt_2, describe, 1, 0)      \
    LINEAR_CUBLASLT_KERNEL(op##_f32__cuda_cublaslt_1, describe, 0, 0)  \
    LINEAR_CUBLASLT_KERNEL(op##_f32__cuda_cublaslt_2, describe, 1, 0)  \
    LINEAR_CUBLASLT_KERNEL(op##_tf32__cuda_cublaslt_1, describe, 0, 1) \
    LINEAR_CUBLASLT_KERNEL(op##_tf32__cuda_cublaslt_2, describe, 1, 1)

#endif
