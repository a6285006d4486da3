/*
 * The data gradients of integrate: dy times v_i, and times w at the pixels that the stride reached
 * (tile/igemm.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/integrate_convs.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

static const conv_product product = {igemm_create_backward, igemm_pack, igemm_run, igemm_destroy};

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return p->add ? "does not add to other gradients" : NULL;
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    return integrate_convs_create(p, &product, tile, state, workspace_bytes);
}

#define WEIGHTS (KERNEL_SLOT(INTEGRATE_V) | KERNEL_SLOT(INTEGRATE_W))

PACKED_KERNEL(integrate_bwd_data_bf16__cpu_igemm_amx_bf16, gemm_amx_bf16, supports, integrate_cost, create, WEIGHTS,
              integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
PACKED_KERNEL(integrate_bwd_data_bf16__cpu_igemm_avx512_bf16, gemm_avx512_bf16, supports, integrate_cost, create,
              WEIGHTS, integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
PACKED_KERNEL(integrate_bwd_data__cpu_igemm_avx512, gemm_avx512, supports, integrate_cost, create, WEIGHTS,
              integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
PACKED_KERNEL(integrate_bwd_data__cpu_igemm_avx2, gemm_avx2, supports, integrate_cost, create, WEIGHTS,
              integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
PACKED_KERNEL(integrate_bwd_data__cpu_igemm_portable, gemm_portable, supports, integrate_cost, create, WEIGHTS,
              integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
