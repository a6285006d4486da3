/*
 * li_conv2d forward: the convolutions of tile/igemm.h and the mix of integrate_rows.h. A chunk of output pixels is
 * made for all streams, then mixed while it is in the second-level cache. Where the weights of all streams do not fit
 * beside it, or where there are few chunks, the mix follows the convolutions as a whole, which costs less than
 * fetching the weights again for every chunk. With a bias, y is made from the same sums as r. For 3x3 filters in f32
 * the convolutions can be those of tile/winograd.h, whose transformed weights never fit: the mix follows them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/fused.h"
#include "kernels/cpu/integrate_convs.h"
#include "kernels/cpu/integrate_rows.h"
#include "kernels/cpu/tile/isa.h"

#define FITTING_BYTES 524288 /* of packed weights, in the second-level cache */
#define ENOUGH_CHUNKS 64     /* for the threads of a large machine */

typedef struct layer {
    const fused_tile *tile;
    const winograd_tile *winograd; /* NULL: the product of tile/igemm.h */
    braid_problem conv, mix;
    void *conv_state, *mix_state;
    int by_chunks;
    size_t bias[BRAID_MAX_PLANES], conv_rest, mix_rest; /* places in the workspace; bias as floats */
} layer;

typedef struct launch {
    const layer *l;
    igemm_work work;
    buffers conv, mix;
    product_finish finish;
} launch;

static double cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D), mix = li_conv2d_mix(p, p->pass, 1);
    return igemm_cost(&conv, tile->gemm) + integrate_cost(&mix, tile->gemm);
}

static braid_status ready_convolutions(layer *l, size_t *bytes) {
    if (l->winograd) return winograd_create_forward(&l->conv, l->winograd, &l->conv_state, bytes);
    return igemm_create_forward(&l->conv, l->tile->gemm, &l->conv_state, bytes);
}

static int fits_chunks(const layer *l, size_t weights_bytes) {
    return !l->winograd && igemm_chunks(l->conv_state) >= ENOUGH_CHUNKS && weights_bytes <= FITTING_BYTES;
}

static braid_status ready(layer *l, const braid_problem *p, size_t *workspace_bytes) {
    size_t conv_bytes = 0, mix_bytes = 0;
    l->conv = fused_problem(p, BRAID_OP_CONV2D);
    l->mix = li_conv2d_mix(p, p->pass, 1);
    *workspace_bytes = 0;
    TRY(ready_convolutions(l, &conv_bytes));
    TRY(integrate_rows_create(&l->mix, l->tile->gemm, &l->mix_state, &mix_bytes));
    l->by_chunks = fits_chunks(l, conv_bytes + mix_bytes);
    TRY(fused_reserve(workspace_bytes, conv_bytes, &l->conv_rest));
    TRY(fused_reserve(workspace_bytes, mix_bytes, &l->mix_rest));
    for (int i = 0; i < p->streams && p->bias; i++) {
        size_t bytes = 0;
        TRY(size_array((size_t)p->out_channels[i], sizeof(float), "bias", &bytes));
        TRY(fused_reserve(workspace_bytes, bytes, &l->bias[i]));
    }
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    layer *l = state;
    (l->winograd ? winograd_destroy : igemm_destroy)(d, l->conv_state);
    integrate_rows_destroy(d, l->mix_state);
    memory_free(l);
}

static braid_status create_layer(const braid_problem *p, const fused_tile *tile, const winograd_tile *winograd,
                                 void **state, size_t *workspace_bytes) {
    layer *l = NULL;
    TRY(memory_calloc(1, sizeof *l, "state of li_conv2d", (void **)&l));
    l->tile = tile;
    l->winograd = winograd;
    braid_status status = ready(l, p, workspace_bytes);
    if (status)
        destroy(NULL, l);
    else
        *state = l;
    return status;
}

static braid_status create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    return create_layer(p, tile, NULL, state, workspace_bytes);
}

/* With a bias the product writes y, and r beside it. */
static void bind_convolutions(launch *a, const braid_problem *p, const buffers *b) {
    memcpy(a->conv.plane[CONV2D_X], b->plane[LI_CONV2D_X], sizeof a->conv.plane[0]);
    memcpy(a->conv.plane[CONV2D_W], b->plane[LI_CONV2D_W], sizeof a->conv.plane[0]);
    memcpy(a->conv.plane[CONV2D_MASK], b->plane[LI_CONV2D_MASK], sizeof a->conv.plane[0]);
    memcpy(a->conv.plane[CONV2D_Y], b->plane[p->bias ? LI_CONV2D_Y : LI_CONV2D_R], sizeof a->conv.plane[0]);
    a->conv.workspace = (unsigned char *)b->workspace + a->l->conv_rest;
}

/* The bias as floats in the workspace. */
static void bind_finish(launch *a, const braid_problem *p, const buffers *b) {
    a->work = (igemm_work){a->l->conv_state, &a->conv, p->bias ? &a->finish : NULL};
    a->finish = (product_finish){.lanes = a->l->tile->lanes, .dtype = p->dtype, .activation = BRAID_ACTIVATION_NONE};
    for (int i = 0; i < p->streams && p->bias; i++) {
        float *bias = (float *)(void *)((unsigned char *)b->workspace + a->l->bias[i]);
        dtype_to_f32(bias, b->plane[LI_CONV2D_BIAS][i], p->dtype, p->out_channels[i]);
        a->finish.shift[i] = bias;
        a->finish.raw[i] = b->plane[LI_CONV2D_R][i];
    }
}

static void run_chunk(void *context, int64_t chunk) {
    const launch *a = context;
    igemm_run_chunk(&a->work, chunk);
    integrate_rows_run_chunk(&a->l->mix, a->l->mix_state, &a->mix, chunk);
}

static braid_status pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch a = {.l = state};
    bind_convolutions(&a, p, b);
    a.mix = li_conv2d_mix_buffers(b, (unsigned char *)b->workspace + a.l->mix_rest);
    TRY((a.l->winograd ? winograd_pack : igemm_pack)(&a.l->conv, d, a.l->conv_state, &a.conv));
    return integrate_rows_pack(&a.l->mix, d, a.l->mix_state, &a.mix);
}

static braid_status run(const braid_problem *p, device *d, void *state, const buffers *b) {
    launch a = {.l = state};
    bind_convolutions(&a, p, b);
    bind_finish(&a, p, b);
    a.mix = li_conv2d_mix_buffers(b, (unsigned char *)b->workspace + a.l->mix_rest);
    if (!a.l->by_chunks) {
        if (a.l->winograd)
            winograd_finish(a.l->conv_state, &a.conv, a.work.finish);
        else
            igemm_run_work(&a.work);
        return integrate_rows_run(&a.l->mix, d, a.l->mix_state, &a.mix);
    }
    threads_for(igemm_chunks(a.l->conv_state), run_chunk, &a);
    return BRAID_OK;
}

#define WEIGHTS (KERNEL_SLOT(LI_CONV2D_W) | KERNEL_SLOT(LI_CONV2D_V) | KERNEL_SLOT(LI_CONV2D_WZ))

PACKED_KERNEL(li_conv2d_fwd_bf16__cpu_igemm_amx_bf16, fused_amx_bf16, supports_all, cost, create, WEIGHTS, pack, run,
              destroy)
PACKED_KERNEL(li_conv2d_fwd_bf16__cpu_igemm_avx512_bf16, fused_avx512_bf16, supports_all, cost, create, WEIGHTS, pack,
              run, destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_igemm_avx512, fused_avx512, supports_all, cost, create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_igemm_avx2, fused_avx2, supports_all, cost, create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd__cpu_igemm_portable, fused_portable, supports_all, cost, create, WEIGHTS, pack, run,
              destroy)

/* ---- Winograd ------------------------------------------------------------------------------ */

static double tiles_cost(const braid_problem *p, const fused_winograd *tile) {
    braid_problem conv = fused_problem(p, BRAID_OP_CONV2D), mix = li_conv2d_mix(p, p->pass, 1);
    return winograd_cost(&conv, tile->product) + integrate_cost(&mix, tile->fused->gemm);
}

static braid_status tiles_create(const braid_problem *p, const fused_winograd *tile, void **state, size_t *bytes) {
    return create_layer(p, tile->fused, tile->product, state, bytes);
}

PACKED_KERNEL(li_conv2d_fwd_f32__cpu_winograd_avx512, fused_winograd_avx512, winograd_supports_forward, tiles_cost,
              tiles_create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd_f32__cpu_winograd_avx2, fused_winograd_avx2, winograd_supports_forward, tiles_cost,
              tiles_create, WEIGHTS, pack, run, destroy)
PACKED_KERNEL(li_conv2d_fwd_f32__cpu_winograd_portable, fused_winograd_portable, winograd_supports_forward, tiles_cost,
              tiles_create, WEIGHTS, pack, run, destroy)
