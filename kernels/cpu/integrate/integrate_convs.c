/*
 * The convolutions of integrate_convs.h: their problems, and their buffers from those of integrate.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/integrate/integrate_convs.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define WORKSPACE_ALIGNMENT 256

/* Planes [first, first + conv.streams) of an integrate problem; plane number `streams` is z. */
typedef struct conv_layer {
    braid_problem conv;
    int first;
    void *state;
    size_t workspace; /* where its part of the workspace starts, in bytes */
} conv_layer;

typedef struct convs {
    const conv_product *product;
    int count;
    conv_layer layer[2];
} convs;

static void add_plane(braid_problem *conv, int64_t channels, int64_t pitch, int64_t out_channels) {
    int i = conv->streams++;
    conv->in_channels[i] = channels;
    conv->in_pitch[i] = pitch;
    conv->out_channels[i] = conv->out_pitch[i] = out_channels;
}

/* A convolution of 1x1 without planes yet. */
static conv_layer *add_layer(convs *c, const braid_problem *p, int first) {
    conv_layer *l = &c->layer[c->count++];
    l->first = first;
    l->conv = (braid_problem){.op = BRAID_OP_CONV2D,
                              .pass = p->pass,
                              .dtype = p->dtype,
                              .batch = p->batch,
                              .size = {p->size[0], p->size[1]},
                              .filter = {1, 1},
                              .stride = {p->stride[0], p->stride[1]},
                              .dilation = {1, 1},
                              .groups = 1,
                              .bias = p->bias,
                              .mask = p->mask};
    return l;
}

static void describe(convs *c, const braid_problem *p) {
    conv_layer *l = add_layer(c, p, 0);
    for (int axis = 0; axis < 2; axis++) {
        l->conv.size[axis] = integrate_out_size(p, axis);
        l->conv.stride[axis] = 1;
    }
    for (int i = 0; i < p->streams; i++) add_plane(&l->conv, p->in_channels[i], p->in_pitch[i], p->integrated_out);
    int strided = p->stride[0] > 1 || p->stride[1] > 1;
    int only_bias = p->integrated_in == 0 && p->bias && p->pass == BRAID_PASS_BWD_WEIGHT;
    if (p->integrated_in == 0 && !only_bias) return;
    if (strided && !only_bias) l = add_layer(c, p, p->streams);
    add_plane(&l->conv, p->integrated_in, p->integrated_in, p->integrated_out);
}

static braid_status create_layers(convs *c, const gemm_tile *tile, size_t *workspace_bytes) {
    *workspace_bytes = 0;
    for (int j = 0; j < c->count; j++) {
        size_t bytes = 0;
        TRY(c->product->create(&c->layer[j].conv, tile, &c->layer[j].state, &bytes));
        c->layer[j].workspace = *workspace_bytes;
        if (!size_add(*workspace_bytes, bytes, &bytes) || !size_align(bytes, WORKSPACE_ALIGNMENT, workspace_bytes))
            return fail(BRAID_ERROR_MEMORY, "workspace of integrate: expected its size to fit 64 bits");
    }
    return BRAID_OK;
}

braid_status integrate_convs_create(const braid_problem *p, const conv_product *product, const gemm_tile *tile,
                                    void **state, size_t *workspace_bytes) {
    convs *c = NULL;
    TRY(memory_calloc(1, sizeof *c, "state of integrate", (void **)&c));
    c->product = product;
    describe(c, p);
    braid_status status = create_layers(c, tile, workspace_bytes);
    if (status) {
        integrate_convs_destroy(NULL, c);
        return status;
    }
    *state = c;
    return BRAID_OK;
}

void integrate_convs_destroy(device *d, void *state) {
    convs *c = state;
    if (!c) return;
    for (int j = 0; j < c->count; j++) c->product->destroy(d, c->layer[j].state);
    memory_free(c);
}

static void find_buffers(const conv_layer *l, int streams, const buffers *b, buffers *to) {
    *to = (buffers){.workspace = b->workspace ? (unsigned char *)b->workspace + l->workspace : NULL};
    for (int j = 0; j < l->conv.streams; j++) {
        int i = l->first + j, is_z = i == streams;
        to->plane[CONV2D_X][j] = is_z ? b->plane[INTEGRATE_Z][0] : b->plane[INTEGRATE_R][i];
        to->plane[CONV2D_W][j] = is_z ? b->plane[INTEGRATE_W][0] : b->plane[INTEGRATE_V][i];
        to->plane[CONV2D_BIAS][j] = is_z ? b->plane[INTEGRATE_BIAS][0] : NULL;
        to->plane[CONV2D_MASK][j] = is_z ? NULL : b->plane[INTEGRATE_MASK][i];
        to->plane[CONV2D_Y][j] = b->plane[INTEGRATE_Y][0];
    }
}

braid_status integrate_convs_pack(const braid_problem *p, device *d, void *state, const buffers *b) {
    const convs *c = state;
    for (int j = 0; j < c->count; j++) {
        buffers mine;
        find_buffers(&c->layer[j], p->streams, b, &mine);
        TRY(c->product->pack(&c->layer[j].conv, d, c->layer[j].state, &mine));
    }
    return BRAID_OK;
}

braid_status integrate_convs_run(const braid_problem *p, device *d, void *state, const buffers *b) {
    const convs *c = state;
    for (int j = 0; j < c->count; j++) {
        buffers mine;
        find_buffers(&c->layer[j], p->streams, b, &mine);
        TRY(c->product->run(&c->layer[j].conv, d, c->layer[j].state, &mine));
    }
    return BRAID_OK;
}

double integrate_cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    return cost_seconds(p, on, tile->flops, 2, 2e-6);
}
