/*
 * conv2d_scale_bias_act: the product of tile/igemm.h, whose rows are scaled, shifted, added to and activated while
 * they are in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cpu/fused.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"

/* What lies in the slot of conv2d's bias is the scale here. */
static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    buffers conv = {.workspace = b->workspace};
    igemm_finish finish = {.lanes = l->tile->lanes, .activation = p->activation};
    (void)d;
    memcpy(conv.plane[CONV2D_X], b->plane[CONV2D_SCALE_BIAS_ACT_X], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_W], b->plane[CONV2D_SCALE_BIAS_ACT_W], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_MASK], b->plane[CONV2D_SCALE_BIAS_ACT_MASK], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_Y], b->plane[CONV2D_SCALE_BIAS_ACT_Y], sizeof conv.plane[0]);
    for (int i = 0; i < p->streams; i++) {
        finish.scale[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SCALE][i];
        finish.shift[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SHIFT][i];
        finish.z[i] = b->plane[CONV2D_SCALE_BIAS_ACT_Z][i];
    }
    igemm_run(&(igemm_work){l->product, &conv, &finish});
    return BRAID_OK;
}

TILE_KERNEL(conv2d_scale_bias_act_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, supports_all, fused_layer_cost,
            fused_layer_create, launch, fused_layer_destroy)
TILE_KERNEL(conv2d_scale_bias_act_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, supports_all, fused_layer_cost,
            fused_layer_create, launch, fused_layer_destroy)
TILE_KERNEL(conv2d_scale_bias_act__cpu_igemm_avx512, fused_avx512, supports_all, fused_layer_cost, fused_layer_create,
            launch, fused_layer_destroy)
TILE_KERNEL(conv2d_scale_bias_act__cpu_igemm_avx2, fused_avx2, supports_all, fused_layer_cost, fused_layer_create,
            launch, fused_layer_destroy)
TILE_KERNEL(conv2d_scale_bias_act__cpu_igemm_portable, fused_portable, supports_all, fused_layer_cost,
            fused_layer_create, launch, fused_layer_destroy)
