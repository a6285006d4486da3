/*
 * conv2d_scale_bias_act: the product of tile/indirect_gemm.h, or for 3x3 filters in f32 that of conv/winograd.h, whose
 * pixels are scaled, shifted, added to and activated while they are in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "kernels/cpu/tile/fused.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/winograd.h"

/* What lies in the slot of conv2d's bias is the scale here. */
static buffers bind_convolutions(const buffers *b) {
    buffers conv = {.workspace = b->workspace};
    memcpy(conv.plane[CONV2D_X], b->plane[CONV2D_SCALE_BIAS_ACT_X], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_W], b->plane[CONV2D_SCALE_BIAS_ACT_W], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_MASK], b->plane[CONV2D_SCALE_BIAS_ACT_MASK], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_Y], b->plane[CONV2D_SCALE_BIAS_ACT_Y], sizeof conv.plane[0]);
    return conv;
}

static product_epilogue bind_epilogue(const braid_problem *p, const channel_loops *l, const buffers *b) {
    product_epilogue epilogue = {.loops = l, .dtype = p->dtype, .activation = p->activation};
    for (int i = 0; i < p->streams; i++) {
        epilogue.scale[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SCALE][i];
        epilogue.shift[i] = b->plane[CONV2D_SCALE_BIAS_ACT_SHIFT][i];
        epilogue.z[i] = b->plane[CONV2D_SCALE_BIAS_ACT_Z][i];
    }
    return epilogue;
}

static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    const buffers conv = bind_convolutions(b);
    return indirect_gemm_pack(p, d, l->product, &conv);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const fused_layer *l = state;
    const buffers conv = bind_convolutions(b);
    const product_epilogue epilogue = bind_epilogue(p, l->tile->loops, b);
    (void)d;
    indirect_gemm_run_work(&(indirect_gemm_work){l->product, &conv, &epilogue});
    return BRAID_OK;
}

PACKED_KERNELS(AMX_BF16, conv2d_scale_bias_act, cpu_indirect_gemm, fused, supports_all, fused_layer_cost,
               fused_layer_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), pack, run, fused_layer_destroy)

/* ---- Winograd ------------------------------------------------------------------------------ */

typedef struct tiles {
    const fused_winograd *tile;
    void *product;
} tiles;

static double tiles_cost(const braid_problem *p, const machine *on, const fused_winograd *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    return winograd_cost(&conv, on, tile->product);
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
    const product_epilogue epilogue = bind_epilogue(p, t->tile->fused->loops, b);
    (void)d;
    winograd_run_epilogue(t->product, &conv, &epilogue);
    return BRAID_OK;
}

static void tiles_destroy(device *d, void *state) {
    tiles *t = state;
    winograd_destroy(d, t->product);
    memory_free(t);
}

PACKED_KERNELS(AVX512, conv2d_scale_bias_act_f32, cpu_winograd, fused_winograd, winograd_supports_forward, tiles_cost,
               tiles_create, KERNEL_SLOT(CONV2D_SCALE_BIAS_ACT_W), tiles_pack, tiles_run, tiles_destroy)
