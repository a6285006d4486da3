/*
 * li_conv2d forward for images with few channels, the first layer of a network: blocks of output rows of tile/lines.h,
 * mixed by integrate_rows.h as soon as all streams have them, so that the mix reads them from the second-level cache
 * and not from memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "kernels/cpu/fused.h"
#include "kernels/cpu/integrate_convs.h"
#include "kernels/cpu/integrate_rows.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/lines.h"

typedef struct layer {
    braid_problem mix;
    void *conv_state, *mix_state;
    size_t conv_rest, mix_rest; /* places in the workspace */
} layer;

typedef struct launch {
    const layer *l;
    buffers conv, mix;
} launch;

static const char *supports(const braid_problem *p, const device *d) {
    return p->bias ? "makes r alone, and not y beside it: no bias" : lines_supports(p, d);
}

static double cost(const braid_problem *p, const lines_tile *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D), mix = li_conv2d_mix(p, p->pass, 1);
    return lines_cost(&conv, tile) + integrate_cost(&mix, tile->gemm);
}

static void destroy(device *d, void *state) {
    layer *l = state;
    lines_destroy(d, l->conv_state);
    integrate_rows_destroy(d, l->mix_state);
    memory_free(l);
}

static braid_status ready(layer *l, const braid_problem *p, const lines_tile *tile, size_t *workspace_bytes) {
    const braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    size_t conv_bytes = 0, mix_bytes = 0;
    l->mix = li_conv2d_mix(p, p->pass, 1);
    *workspace_bytes = 0;
    TRY(lines_create(&conv, tile, &l->conv_state, &conv_bytes));
    TRY(integrate_rows_create(&l->mix, tile->gemm, &l->mix_state, &mix_bytes));
    TRY(fused_reserve(workspace_bytes, conv_bytes, &l->conv_rest));
    return fused_reserve(workspace_bytes, mix_bytes, &l->mix_rest);
}

static braid_status create(const braid_problem *p, const lines_tile *tile, void **state, size_t *workspace_bytes) {
    layer *l = NULL;
    TRY(memory_calloc(1, sizeof *l, "state of li_conv2d", (void **)&l));
    braid_status status = ready(l, p, tile, workspace_bytes);
    if (status)
        destroy(NULL, l);
    else
        *state = l;
    return status;
}

static void mix_pixels(void *context, int64_t first, int64_t count) {
    const launch *a = context;
    integrate_rows_run_pixels(&a->l->mix, a->l->mix_state, &a->mix, first, count);
}

static launch bind(const layer *l, const buffers *b) {
    launch a = {.l = l, .conv.workspace = (unsigned char *)b->workspace + l->conv_rest};
    memcpy(a.conv.plane[CONV2D_X], b->plane[LI_CONV2D_X], sizeof a.conv.plane[0]);
    memcpy(a.conv.plane[CONV2D_W], b->plane[LI_CONV2D_W], sizeof a.conv.plane[0]);
    memcpy(a.conv.plane[CONV2D_MASK], b->plane[LI_CONV2D_MASK], sizeof a.conv.plane[0]);
    memcpy(a.conv.plane[CONV2D_Y], b->plane[LI_CONV2D_R], sizeof a.conv.plane[0]);
    a.mix = li_conv2d_mix_buffers(b, (unsigned char *)b->workspace + l->mix_rest);
    return a;
}

static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const launch a = bind(state, b);
    TRY(lines_pack(p, d, a.l->conv_state, &a.conv));
    return integrate_rows_pack(&a.l->mix, d, a.l->mix_state, &a.mix);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch a = bind(state, b);
    (void)p;
    (void)d;
    lines_run_blocks(a.l->conv_state, &a.conv, mix_pixels, &a);
    return BRAID_OK;
}

#define WEIGHTS (KERNEL_SLOT(LI_CONV2D_W) | KERNEL_SLOT(LI_CONV2D_V) | KERNEL_SLOT(LI_CONV2D_WZ))

PACKED_KERNEL(li_conv2d_fwd_bf16__cpu_lines_avx512_bf16, lines_avx512_bf16, supports, cost, create, WEIGHTS, pack, run,
              destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_lines_avx512, lines_avx512, supports, cost, create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_lines_avx2, lines_avx2, supports, cost, create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_lines_portable, lines_portable, supports, cost, create, WEIGHTS, pack, run, destroy)
