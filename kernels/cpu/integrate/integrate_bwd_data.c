/*
 * The data gradients of integrate: dy times v_i, and times w at the pixels that the stride reached
 * (tile/indirect_gemm.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/integrate/integrate_convs.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

static const conv_product product = {indirect_gemm_create_backward, indirect_gemm_pack, indirect_gemm_run,
                                     indirect_gemm_destroy};

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    return p->add ? "does not add to other gradients" : NULL;
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    return integrate_convs_create(p, &product, tile, state, workspace_bytes);
}

#define WEIGHTS (KERNEL_SLOT(INTEGRATE_V) | KERNEL_SLOT(INTEGRATE_W))

PACKED_KERNELS(AMX_BF16, integrate_bwd_data, cpu_indirect_gemm, gemm, supports, integrate_cost, create, WEIGHTS,
               integrate_convs_pack, integrate_convs_run, integrate_convs_destroy)
