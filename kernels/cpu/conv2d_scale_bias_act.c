/*
 * conv2d_scale_bias_act: the product of tile/igemm.h, or for 3x3 filters in f32 that of tile/winograd.h, whose pixels
 * are scaled, shifted, added to and activated while they are in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "kernels/cpu/fused.h"
#include "kernels/cpu/tile/igemm.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/winograd.h"

/* What lies in the slot of conv2d's bias is the scale here. */
static buffers bind_convolutions(const buffers *b) {
    buffers conv = {.workspace = b->workspace};
    memcpy(conv.plane[CONV2D_X], b->plane[CONV2D_SCALE_BIAS_ACT_X], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_W], b->plane[CONV2D_SCALE_BIAS_ACT_W], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_MASK], b->plane[CONV2D_SCALE_BIAS_ACT_MASK], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_Y], b->plane[CONV2D_SCALE_BIAS_ACT_Y], sizeof conv.plane[0]);
    return conv;
}

static product_finish bind_finish(const braid_problem *p, const lanes *l, const buffers *b) {
    product_finish finish = {.lanes = l, .dtype = p->dtype, .activation = p->activation};
    for (int i = 0; i < p->streams; i++) {
        finish.scale[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SCALE][i];
        finish.shift[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SHIFT][i];
        finish.z[i] = b->plane[CONV2D_SCALE_BIAS_ACT_Z][i];
    }
    return finish;
}

static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    const buffers conv = bind_convolutions(b);
    return igemm_pack(p, d, l->product, &conv);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    const buffers conv = bind_convolutions(b);
    const product_finish finish = bind_finish(p, l->tile->lanes, b);
    (void)d;
    igemm_run_work(&(igemm_work){l->product, &conv, &finish});
    return BRAID_OK;
}

PACKED_KERNEL(conv2d_scale_bias_act_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, supports_all, fused_layer_cost,
              fused_layer_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(conv2d_scale_bias_act_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, supports_all, fused_layer_cost,
              fused_layer_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(conv2d_scale_bias_act__cpu_igemm_avx512, fused_avx512, supports_all, fused_layer_cost, fused_layer_create,
              KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(conv2d_scale_bias_act__cpu_igemm_avx2, fused_avx2, supports_all, fused_layer_cost, fused_layer_create,
              KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)
PACKED_KERNEL(conv2d_scale_bias_act__cpu_igemm_portable, fused_portable, supports_all, fused_layer_cost,
              fused_layer_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)

/* ---- Winograd ------------------------------------------------------------------------------ */

typedef struct tiles {
    const fused_winograd *tile;
    void *product;
} tiles;

static double tiles_cost(const braid_problem *p, const fused_winograd *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return winograd_cost(&conv, tile->product);
}

static braid_status tiles_create(const braid_problem *p, const fused_winograd *tile, void **state, size_t *bytes) {
    tiles *t = NULL;
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    TRY(memory_calloc(1, sizeof *t, "state of conv2d_scale_bias_act", (void **)&t));
    t->tile = tile;
    braid_status status = winograd_create_forward(&conv, tile->product, &t->product, bytes);
    if (status)
        memory_free(t);
    else
        *state = t;
    return status;
}

static braid_status tiles_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const tiles *t = state;
    const buffers conv = bind_convolutions(b);
    return winograd_pack(p, d, t->product, &conv);
}

static braid_status tiles_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const tiles *t = state;
    const buffers conv = bind_convolutions(b);
    const product_finish finish = bind_finish(p, t->tile->fused->lanes, b);
    (void)d;
    winograd_finish(t->product, &conv, &finish);
    return BRAID_OK;
}

static void tiles_destroy(device *d, void *state) {
    tiles *t = state;
    winograd_destroy(d, t->product);
    memory_free(t);
}

PACKED_KERNEL(conv2d_scale_bias_act_f32__cpu_winograd_avx512, fused_winograd_avx512, winograd_supports_forward,
              tiles_cost, tiles_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), tiles_pack, tiles_run, tiles_destroy)
PACKED_KERNEL(conv2d_scale_bias_act_f32__cpu_winograd_avx2, fused_winograd_avx2, winograd_supports_forward, tiles_cost,
              tiles_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), tiles_pack, tiles_run, tiles_destroy)
PACKED_KERNEL(conv2d_scale_bias_act_f32__cpu_winograd_portable, fused_winograd_portable, winograd_supports_forward,
              tiles_cost, tiles_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), tiles_pack, tiles_run, tiles_destroy)
