/*
 * The steps of linear_act_gradient.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/linear_act_gradient.h"

#include <string.h>

#include "core/memory.h"
#include "kernels/cpu/tile/points.h"

typedef struct gradient {
    const conv_product *product;
    braid_problem linear;
    void *points, *state; /* of the activation and of the product */
    size_t g[BRAID_MAX_PLANES], rest;
} gradient;

/* act on the outputs of the layer. */
static braid_problem activation_problem(const braid_problem *p) {
    braid_problem act = fused_problem(p, BRAID_OP_ACT);
    memcpy(act.in_channels, p->out_channels, sizeof act.in_channels);
    memcpy(act.in_pitch, p->out_pitch, sizeof act.in_pitch);
    act.pass = BRAID_PASS_BWD_DATA;
    act.size[0] = act.size[1] = 1;
    return act;
}

double linear_act_gradient_cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem act = activation_problem(p);
    return chunks_cost(&act, tile->lanes);
}

static braid_status ready(gradient *s, const braid_problem *p, const fused_tile *tile, size_t *workspace_bytes) {
    size_t bytes = 0, total = 0;
    braid_problem act = activation_problem(p);
    s->linear = fused_problem(p, BRAID_OP_LINEAR);
    TRY(chunks_create_bare(&act, tile->lanes, &s->points, &bytes));
    TRY(fused_reserve_planes(p, LINEAR_ACT_DY, &total, s->g));
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
    braid_status status = ready(s, p, tile, workspace_bytes);
    if (status)
        linear_act_gradient_destroy(NULL, s);
    else
        *state = s;
    return status;
}

void linear_act_gradient_destroy(device *d, void *state) {
    gradient *s = state;
    if (s->points) chunks_destroy(d, s->points);
    s->product->destroy(d, s->state);
    memory_free(s);
}

/* g lies where the product looks for dy; before that, its slot holds y, off which the slope of ReLU is read. */
braid_status linear_act_gradient_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const gradient *s = state;
    buffers linear = *b;
    linear.workspace = (unsigned char *)b->workspace + s->rest;
    const int before = p->activation == BRAID_ACTIVATION_RELU ? LINEAR_ACT_Y : LINEAR_ACT_U;
    const lanes_kind kind = LANES_RELU_GRADIENT + (lanes_kind)p->activation;
    memcpy(linear.plane[LINEAR_ACT_U], b->plane[before], sizeof linear.plane[0]);
    fused_planes(b->workspace, s->g, p->streams, linear.plane[LINEAR_Y]);
    points_run(&(points){s->points,
                         &linear,
                         kind,
                         LINEAR_ACT_U,
                         LINEAR_ACT_DY,
                         LINEAR_Y,
                         p->mask ? LINEAR_MASK : POINTS_NONE,
                         {{NULL}},
                         0,
                         0},
               d);
    return s->product->launch(&s->linear, d, s->state, &linear);
}
