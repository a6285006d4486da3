/*
 * The steps of linear_act_gradient.h. Rows of g lie an odd number of cache lines apart: at distances of powers of two,
 * as those of dy often are, the rows of a tile would compete for few places of the first-level cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear/linear_act_gradient.h"

#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/threads.h"
#include "kernels/cpu/tile/chunks.h"
#include "kernels/cpu/isa/copy.h"

#define LINE_BYTES 64
#define SAMPLES_IN_PART 16

typedef struct gradient {
    const conv_product *product;
    const channel_loops *loops;
    braid_problem linear; /* its output is g */
    void *state;          /* of the product */
    size_t g[BRAID_MAX_PLANES], rest;
} gradient;

typedef struct launch {
    const gradient *s;
    const braid_problem *p;
    const buffers *b;
    const buffers *linear;
} launch;

double linear_act_gradient_cost(const braid_problem *p, const machine *on, const fused_tile *tile) {
    braid_problem act = fused_problem(p, BRAID_OP_ACT);
    memcpy(act.in_channels, p->out_channels, sizeof act.in_channels);
    memcpy(act.in_pitch, p->out_pitch, sizeof act.in_pitch);
    act.pass = BRAID_PASS_BWD_DATA;
    act.size[0] = act.size[1] = 1;
    return chunks_cost(&act, on, tile->loops);
}

static int64_t spread_pitch(int64_t channels, int64_t bytes) {
    return (ceil_div(channels * bytes, LINE_BYTES) | 1) * LINE_BYTES / bytes;
}

static braid_status ready(gradient *s, const braid_problem *p, const fused_tile *tile, size_t *workspace_bytes) {
    size_t bytes = 0, total = 0;
    s->linear = fused_problem(p, BRAID_OP_LINEAR);
    for (int i = 0; i < p->streams; i++)
        s->linear.out_pitch[i] = spread_pitch(p->out_channels[i], (int64_t)dtype_bytes(p->dtype));
    TRY(fused_reserve_planes(&s->linear, LINEAR_Y, &total, s->g));
    TRY(s->product->create(&s->linear, tile->gemm, &s->state, &bytes));
    TRY(fused_reserve(&total, bytes, &s->rest));
    *workspace_bytes = total;
    return BRAID_OK;
}

braid_status linear_act_gradient_create(const braid_problem *p, const conv_product *product, const fused_tile *tile,
                                        void **state, size_t *workspace_bytes) {
    gradient *s = NULL;
    TRY(memory_calloc(1, sizeof *s, "state of linear_act", (void **)&s));
    s->product = product;
    s->loops = tile->loops;
    braid_status status = ready(s, p, tile, workspace_bytes);
    if (status)
        linear_act_gradient_destroy(NULL, s);
    else
        *state = s;
    return status;
}

void linear_act_gradient_destroy(device *d, void *state) {
    gradient *s = state;
    s->product->destroy(d, s->state);
    memory_free(s);
}

/* g of a few samples of one stream. The products do not look at blanked samples. ReLU's slope is read off y. */
static void make_g(void *context, int64_t index) {
    const launch *l = context;
    const braid_problem *p = l->p;
    const int64_t parts = ceil_div(p->batch, SAMPLES_IN_PART), first = index % parts * SAMPLES_IN_PART;
    const int i = (int)(index / parts);
    const int before = p->activation == BRAID_ACTIVATION_RELU ? LINEAR_ACT_Y : LINEAR_ACT_U;
    const size_t bytes = dtype_bytes(p->dtype);
    channel_map m = {.kind = CHANNEL_RELU_GRADIENT + (channel_kind)p->activation, .dtype = p->dtype, .count = 1};
    m.channels = m.pitch = p->out_channels[i];
    for (int64_t sample = first; sample < at_most(first + SAMPLES_IN_PART, p->batch); sample++) {
        if (mask_blanks(l->b->plane[LINEAR_ACT_MASK][i], sample)) continue;
        m.x = plane_from(l->b->plane[before][i], sample * p->out_pitch[i], bytes);
        m.z = plane_from(l->b->plane[LINEAR_ACT_DY][i], sample * p->out_pitch[i], bytes);
        m.out = plane_to(l->linear->plane[LINEAR_Y][i], sample * l->s->linear.out_pitch[i], bytes);
        l->s->loops->map(&m);
    }
}

/* The slots of linear are the first ones of linear_act; in that of y the product finds g. */
static buffers bind_linear(const gradient *s, const braid_problem *p, const buffers *b) {
    buffers linear = *b;
    linear.workspace = (unsigned char *)b->workspace + s->rest;
    fused_planes(b->workspace, s->g, p->streams, linear.plane[LINEAR_Y]);
    return linear;
}

braid_status linear_act_gradient_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const gradient *s = state;
    const buffers linear = bind_linear(s, p, b);
    return s->product->pack(&s->linear, d, s->state, &linear);
}

braid_status linear_act_gradient_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const gradient *s = state;
    const buffers linear = bind_linear(s, p, b);
    threads_for(p->streams * ceil_div(p->batch, SAMPLES_IN_PART), make_g, &(launch){s, p, b, &linear});
    return s->product->run(&s->linear, d, s->state, &linear);
}
