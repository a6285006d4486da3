/*
 * The data gradient of conv2d: the indirect matrix product of tile/igemm.h with the weights turned
 * round, one class of pixels for each remainder by the stride.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

#define MAX_STRIDE 64

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    if (p->stride[0] > MAX_STRIDE || p->stride[1] > MAX_STRIDE)
        return "has one class of pixels per remainder: strides up to 64";
    return p->padding_mode == BRAID_PADDING_ZEROS ? NULL : "gathers gradients from zero padding only";
}

TILE_KERNEL(conv2d_bwd_data_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, supports, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
TILE_KERNEL(conv2d_bwd_data_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, supports, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
TILE_KERNEL(conv2d_bwd_data__cpu_igemm_avx512, gemm_avx512, supports, igemm_cost, igemm_create_backward, igemm_launch,
            igemm_destroy)
TILE_KERNEL(conv2d_bwd_data__cpu_igemm_avx2, gemm_avx2, supports, igemm_cost, igemm_create_backward, igemm_launch,
            igemm_destroy)
TILE_KERNEL(conv2d_bwd_data__cpu_igemm_portable, gemm_portable, supports, igemm_cost, igemm_create_backward,
            igemm_launch, igemm_destroy)
