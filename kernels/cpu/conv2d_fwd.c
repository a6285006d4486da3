/*
 * conv2d forward in f32: an indirect matrix product (tile/igemm.h), all streams in one launch. Every
 * filter, stride, dilation, group and padding mode takes the same path.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

static double cost(const braid_problem *p, const gemm_tile *tile) {
    return igemm_cost(p, tile);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *bytes) {
    return igemm_create(p, IGEMM_FORWARD, tile, state, bytes);
}

TILE_KERNEL(conv2d_fwd_f32__cpu_igemm_avx512, gemm_avx512, igemm_launch, igemm_destroy)
TILE_KERNEL(conv2d_fwd_f32__cpu_igemm_avx2, gemm_avx2, igemm_launch, igemm_destroy)
TILE_KERNEL(conv2d_fwd_f32__cpu_igemm_portable, gemm_portable, igemm_launch, igemm_destroy)
