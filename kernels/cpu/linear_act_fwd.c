/*
 * linear_act forward: the product of tile/igemm.h, whose rows are activated while they are in the cache; u is stored
 * on the way where it is asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/fused.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

/* The slots of linear are the first ones of linear_act. */
static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    return igemm_pack(p, d, l->product, b);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    product_finish finish = {.lanes = l->tile->lanes, .dtype = p->dtype, .activation = p->activation};
    (void)d;
    memcpy(finish.raw, b->plane[LINEAR_ACT_U], sizeof finish.raw);
    igemm_run_work(&(igemm_work){l->product, b, &finish});
    return BRAID_OK;
}

PACKED_KERNEL(linear_act_fwd_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, supports_all, fused_layer_cost,
              fused_layer_create, KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(linear_act_fwd_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, supports_all, fused_layer_cost,
              fused_layer_create, KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(linear_act_fwd__cpu_igemm_avx512, fused_avx512, supports_all, fused_layer_cost, fused_layer_create,
              KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(linear_act_fwd__cpu_igemm_avx2, fused_avx2, supports_all, fused_layer_cost, fused_layer_create,
              KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(linear_act_fwd__cpu_igemm_portable, fused_portable, supports_all, fused_layer_cost, fused_layer_create,
              KERNEL_SLOT(LINEAR_W), pack, run, fused_layer_destroy)
