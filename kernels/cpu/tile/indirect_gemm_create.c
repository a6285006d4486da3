/*
 * Readies the indirect matrix product of indirect_gemm.h: the shapes of its streams, how its work is cut, which taps
 * reach which pixels; and predicts its time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/tile/indirect_gemm_state.h"
#include "kernels/cpu/isa/copy.h"

#define PANEL_UNITS 131072 /* of the panels of a part: 512 KiB of the second-level cache */
#define MERGED_DEPTH 64    /* longest filter row that is read as one tap, where the channels are few */
#define MERGED_CHANNELS 16 /* fewer are few */
#define MAX_STRIDE 64
#define PACK_UNITS 16384 /* packed by a part, about */
#define PACK_PARTS 256   /* at most */

/* The class of a tap along one axis: the remainder of the pixels it reaches. */
static int64_t tap_remainder(const indirect_gemm *g, const braid_problem *p, int axis, int64_t tap) {
    int64_t step = g->step[axis];
    return ((tap * p->dilation[axis] - p->padding[axis]) % step + step) % step;
}

/* 1 where no other tap read the same source along one axis, for the output pixel before. */
static int reads_first(const indirect_gemm *g, const braid_problem *p, int axis, int64_t tap) {
    const int64_t taps_between = p->stride[axis] / p->dilation[axis];
    const int64_t other = g->direction == INDIRECT_GEMM_FORWARD ? tap + taps_between : tap - taps_between;
    return p->stride[axis] % p->dilation[axis] || other < 0 || other >= p->filter[axis];
}

static void fill_class(indirect_gemm *g, const braid_problem *p, int64_t index, int64_t *next_tap) {
    pixel_class *c = &g->classes[index];
    c->origin[0] = index / g->step[1];
    c->origin[1] = index % g->step[1];
    for (int axis = 0; axis < 2; axis++) {
        int64_t size = g->map.out_size[axis];
        c->extent[axis] = c->origin[axis] < size ? ceil_div(size - c->origin[axis], g->step[axis]) : 0;
    }
    c->first_tap = *next_tap;
    for (int64_t r = 0; r < p->filter[0]; r++) {
        if (tap_remainder(g, p, 0, r) != c->origin[0]) continue;
        for (int64_t s = 0; s < p->filter[1]; s++) {
            if (tap_remainder(g, p, 1, s) != c->origin[1]) continue;
            g->tap[(*next_tap)++] =
                (filter_tap){{(int32_t)r, (int32_t)s}, reads_first(g, p, 0, r) && reads_first(g, p, 1, s)};
        }
    }
    c->tap_count = *next_tap - c->first_tap;
}

static braid_status make_tables(indirect_gemm *g, const braid_problem *p) {
    int64_t next_tap = 0;
    TRY(g->direction == INDIRECT_GEMM_FORWARD ? taps_create_forward(&g->map, p) : taps_create_backward(&g->map, p));
    TRY(size_elements(p->filter, 2, "filter taps", &g->tap_count));
    TRY(memory_alloc((size_t)g->tap_count, sizeof *g->tap, "filter taps", (void **)&g->tap));
    TRY(size_elements(g->step, 2, "pixel classes", &g->class_count));
    TRY(memory_alloc((size_t)g->class_count, sizeof *g->classes, "pixel classes", (void **)&g->classes));
    for (int64_t i = 0; i < g->class_count; i++) fill_class(g, p, i, &next_tap);
    return BRAID_OK;
}

/* Adds the units of a tensor to the workspace, in whole cache lines. */
static braid_status reserve(indirect_gemm *g, const int64_t *dims, int rank, int64_t *at) {
    int64_t units = 0;
    TRY(size_elements(dims, rank, "packed weights", &units));
    *at = g->workspace_units;
    g->workspace_units += ceil_div(units, 16) * 16;
    return BRAID_OK;
}

static braid_status shape_stream(indirect_gemm *g, const braid_problem *p, int i) {
    stream_shape *s = &g->stream[i];
    int forward = g->direction == INDIRECT_GEMM_FORWARD;
    s->depth = (forward ? p->in_channels[i] : p->out_channels[i]) / p->groups;
    s->out_channels = forward ? p->out_channels[i] : p->in_channels[i];
    s->columns = s->out_channels / p->groups;
    s->in_pitch = forward ? p->in_pitch[i] : p->out_pitch[i];
    s->out_pitch = forward ? p->out_pitch[i] : p->in_pitch[i];
    s->tap_depth = g->merged ? p->filter[1] * s->depth : s->depth;
    s->tap_units = gemm_units(g->tile, s->tap_depth);
    s->panels = s->columns ? ceil_div(s->columns, g->tile->columns) : 1;
    int64_t panel_units = g->tap_count * s->tap_units * g->tile->columns;
    s->panels_in_part = panel_units < PANEL_UNITS ? PANEL_UNITS / (panel_units + 1) + 1 : 1;
    if (g->beside) s->panels_in_part = at_most(s->panels_in_part, SUM_FLOATS / (g->tile->rows * g->tile->columns));
    s->panels_in_part = at_most(s->panels_in_part, s->panels);
    const int64_t dims[4] = {g->groups, s->panels, panel_units, 1};
    TRY(reserve(g, dims, 4, &s->packed));
    for (int64_t c = 0; c < g->class_count; c++) s->parts_of_group += class_chunks(g, &g->classes[c]);
    s->parts_of_group *= ceil_div(s->panels, s->panels_in_part);
    g->parts += s->parts_of_group * g->groups;
    g->pack_steps += g->groups * s->panels * g->tap_count;
    return BRAID_OK;
}

static braid_status fill(indirect_gemm *g, const braid_problem *p) {
    int64_t deepest = 0, unused;
    for (int axis = 0; axis < 2; axis++) g->step[axis] = g->direction == INDIRECT_GEMM_FORWARD ? 1 : p->stride[axis];
    TRY(make_tables(g, p));
    for (int i = 0; i < g->streams; i++) {
        int64_t channels = g->direction == INDIRECT_GEMM_FORWARD ? p->in_channels[i] : p->out_channels[i];
        if (channels / p->groups > deepest) deepest = channels / p->groups;
    }
    g->merged = g->direction == INDIRECT_GEMM_FORWARD && p->filter[1] > 1 && deepest < MERGED_CHANNELS &&
                deepest * p->filter[1] <= MERGED_DEPTH;
    if (g->merged) g->tap_count = p->filter[0];
    g->zero_units = g->merged ? MERGED_DEPTH : deepest;
    TRY(reserve(g, &g->zero_units, 1, &unused));
    for (int i = 0; i < g->streams; i++) TRY(shape_stream(g, p, i));
    g->pack_parts = at_most(ceil_div(g->workspace_units, PACK_UNITS), PACK_PARTS);
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, indirect_gemm_direction direction, const gemm_tile *tile,
                           void **state, size_t *workspace_bytes) {
    indirect_gemm *g = NULL;
    braid_problem conv = taps_problem(p);
    TRY(memory_calloc(1, sizeof *g, "state of a convolution", (void **)&g));
    g->tile = tile;
    g->direction = direction;
    g->streams = conv.streams;
    g->batch = conv.batch;
    g->groups = conv.groups;
    g->bytes = (int64_t)dtype_bytes(p->dtype);
    g->halves = gemm_halves(tile, p->dtype);
    g->widened = g->halves && !gemm_is_bf16(tile);
    g->added = p->op == BRAID_OP_CONV2D && p->add;
    g->beside = g->halves || g->added;
    braid_status status = fill(g, &conv);
    if (!status) status = size_array((size_t)g->workspace_units, sizeof(float), "packed weights", workspace_bytes);
    if (status) {
        indirect_gemm_destroy(NULL, g);
        return status;
    }
    *state = g;
    return BRAID_OK;
}

braid_status indirect_gemm_create_forward(const braid_problem *p, const gemm_tile *tile, void **state,
                                          size_t *workspace_bytes) {
    return create(p, INDIRECT_GEMM_FORWARD, tile, state, workspace_bytes);
}

braid_status indirect_gemm_create_backward(const braid_problem *p, const gemm_tile *tile, void **state,
                                           size_t *workspace_bytes) {
    return create(p, INDIRECT_GEMM_BACKWARD, tile, state, workspace_bytes);
}

const char *indirect_gemm_backward_supports(const braid_problem *p, const device *d) {
    (void)d;
    if (p->stride[0] > MAX_STRIDE || p->stride[1] > MAX_STRIDE)
        return "has one class of pixels per remainder: strides up to 64";
    return p->padding_mode == BRAID_PADDING_ZEROS ? NULL : "gathers gradients from zero padding only";
}

void indirect_gemm_destroy(device *d, void *state) {
    indirect_gemm *g = state;
    (void)d;
    if (!g) return;
    taps_destroy(&g->map);
    memory_free(g->tap);
    memory_free(g->classes);
    memory_free(g);
}

/* The share of the lanes of whole vectors that hold a column. */
static double used_lanes(const braid_problem *p, const gemm_tile *tile) {
    const int64_t width = tile->columns / 2, groups = taps_problem(p).groups;
    double used = 0, all = 1;
    for (int i = 0; i < p->streams; i++) {
        const int64_t columns = (p->pass == BRAID_PASS_FWD ? p->out_channels[i] : p->in_channels[i]) / groups;
        used += (double)columns;
        all += (double)(ceil_div(columns, width) * width);
    }
    return (used + 1) / all;
}

double indirect_gemm_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    double weights = 0, taps_in_filter = p->op == BRAID_OP_LINEAR ? 1 : (double)p->filter[0] * (double)p->filter[1];
    for (int i = 0; i < p->streams; i++)
        weights += (double)p->in_channels[i] * (double)p->out_channels[i] * taps_in_filter;
    return cost_seconds(p, on, used_lanes(p, tile) * tile->flops, 2, 2e-6) +
           weights * 3 * sizeof(float) / COST_COPY_BYTES;
}
