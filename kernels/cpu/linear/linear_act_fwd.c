/*
 * linear_act forward: the product of tile/indirect_gemm.h, whose rows are activated while they are in the cache; u is
 * stored on the way where it is asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/tile/fused.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

/* The slots of linear are the first ones of linear_act. */
static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    return indirect_gemm_pack(p, d, l->product, b);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    product_epilogue epilogue = {.loops = l->tile->loops, .dtype = p->dtype, .activation = p->activation};
    (void)d;
    memcpy(epilogue.raw, b->plane[LINEAR_ACT_U], sizeof epilogue.raw);
    indirect_gemm_run_work(&(indirect_gemm_work){l->product, b, &epilogue});
    return BRAID_OK;
}

PACKED_KERNELS(AMX_BF16, linear_act_fwd, cpu_indirect_gemm, fused, supports_all, fused_layer_cost, fused_layer_create,
               KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
