/*
 * The steps of li_conv2d_gradient.h. They run one after the other and share the workspace behind dr.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/li_conv2d_gradient.h"

#include <string.h>

#include "core/memory.h"
#include "kernels/cpu/tile/wgrad.h"

typedef struct gradient {
    const fused_tile *tile;
    const conv_product *convolution;
    braid_problem mix, conv;       /* both give data gradients, the second that of its own pass */
    braid_problem weights, biases; /* of the weight pass */
    void *mix_state, *conv_state, *weights_state, *biases_state;
    size_t dr[BRAID_MAX_PLANES], rest;
} gradient;

static const conv_product data_product = {igemm_create_backward, igemm_pack, igemm_run, igemm_destroy};
static const conv_product weight_product = {wgrad_create, NULL, wgrad_launch, wgrad_destroy};

/* dz is asked for in the data pass alone. */
static braid_problem mix_problem(const braid_problem *p) {
    return li_conv2d_mix(p, BRAID_PASS_BWD_DATA, p->pass == BRAID_PASS_BWD_DATA);
}

double li_conv2d_gradient_cost(const braid_problem *p, const fused_tile *tile) {
    braid_problem mix = mix_problem(p), weights = li_conv2d_mix(p, BRAID_PASS_BWD_WEIGHT, 1);
    double seconds = integrate_cost(&mix, tile->gemm);
    return p->pass == BRAID_PASS_BWD_DATA ? seconds : seconds + integrate_cost(&weights, tile->gemm);
}

/* The steps of the weight pass beside dw. Grows *most to the workspace of any of them. */
static braid_status ready_weights(gradient *s, const braid_problem *p, const gemm_tile *tile, size_t *most) {
    size_t bytes = 0;
    s->weights = li_conv2d_mix(p, BRAID_PASS_BWD_WEIGHT, 1);
    TRY(integrate_convs_create(&s->weights, &weight_product, tile, &s->weights_state, &bytes));
    if (bytes > *most) *most = bytes;
    if (!p->bias) return BRAID_OK;
    const braid_problem conv = fused_problem(p, BRAID_OP_CONV2D);
    s->biases = wgrad_bias_problem(&conv);
    TRY(wgrad_create(&s->biases, tile, &s->biases_state, &bytes));
    if (bytes > *most) *most = bytes;
    return BRAID_OK;
}

static braid_status ready(gradient *s, const braid_problem *p, const gemm_tile *tile, size_t *workspace_bytes) {
    size_t most = 0, bytes = 0;
    s->mix = mix_problem(p);
    s->conv = fused_problem(p, BRAID_OP_CONV2D);
    s->conv.bias = 0;
    TRY(integrate_convs_create(&s->mix, &data_product, tile, &s->mix_state, &most));
    TRY(s->convolution->create(&s->conv, tile, &s->conv_state, &bytes));
    if (bytes > most) most = bytes;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) TRY(ready_weights(s, p, tile, &most));
    *workspace_bytes = 0;
    TRY(fused_reserve_planes(p, LI_CONV2D_DY, workspace_bytes, s->dr));
    return fused_reserve(workspace_bytes, most, &s->rest);
}

braid_status li_conv2d_gradient_create(const braid_problem *p, const conv_product *convolution, const fused_tile *tile,
                                       void **state, size_t *workspace_bytes) {
    gradient *s = NULL;
    TRY(memory_calloc(1, sizeof *s, "state of li_conv2d", (void **)&s));
    s->tile = tile;
    s->convolution = convolution;
    braid_status status = ready(s, p, tile->gemm, workspace_bytes);
    if (status)
        li_conv2d_gradient_destroy(NULL, s);
    else
        *state = s;
    return status;
}

void li_conv2d_gradient_destroy(device *d, void *state) {
    gradient *s = state;
    integrate_convs_destroy(d, s->mix_state);
    s->convolution->destroy(d, s->conv_state);
    integrate_convs_destroy(d, s->weights_state);
    wgrad_destroy(d, s->biases_state);
    memory_free(s);
}

/* Makes dr where the convolutions look for it. */
static braid_status make_dr(const gradient *s, device *d, const buffers *b, const buffers *conv) {
    product_finish finish = {.lanes = s->tile->lanes, .dtype = s->mix.dtype, .activation = BRAID_ACTIVATION_NONE};
    buffers mix = li_conv2d_mix_buffers(b, conv->workspace);
    memcpy(mix.plane[INTEGRATE_R], conv->plane[CONV2D_Y], sizeof mix.plane[0]);
    for (int i = 0; i < s->mix.streams; i++) finish.z[i] = b->plane[LI_CONV2D_DY][i];
    TRY(integrate_convs_pack(&s->mix, d, s->mix_state, &mix));
    integrate_convs_finish(&s->mix, s->mix_state, &mix, &finish);
    return BRAID_OK;
}

static braid_status run_weights(const gradient *s, device *d, const buffers *b, buffers *conv) {
    buffers mix = li_conv2d_mix_buffers(b, conv->workspace);
    memcpy(mix.plane[INTEGRATE_V], b->plane[LI_CONV2D_DV], sizeof mix.plane[0]);
    TRY(integrate_convs_run(&s->weights, d, s->weights_state, &mix));
    if (!s->biases_state) return BRAID_OK;
    memcpy(conv->plane[CONV2D_BIAS], b->plane[LI_CONV2D_BIAS], sizeof conv->plane[0]);
    memcpy(conv->plane[CONV2D_Y], b->plane[LI_CONV2D_DY], sizeof conv->plane[0]);
    return wgrad_launch(&s->biases, d, s->biases_state, conv);
}

braid_status li_conv2d_gradient_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const gradient *s = state;
    buffers conv = {.workspace = (unsigned char *)b->workspace + s->rest};
    memcpy(conv.plane[CONV2D_X], b->plane[LI_CONV2D_X], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_W], b->plane[LI_CONV2D_W], sizeof conv.plane[0]);
    memcpy(conv.plane[CONV2D_MASK], b->plane[LI_CONV2D_MASK], sizeof conv.plane[0]);
    fused_planes(b->workspace, s->dr, p->streams, conv.plane[CONV2D_Y]);
    TRY(make_dr(s, d, b, &conv));
    if (s->convolution->pack) TRY(s->convolution->pack(&s->conv, d, s->conv_state, &conv));
    TRY(s->convolution->run(&s->conv, d, s->conv_state, &conv));
    return p->pass == BRAID_PASS_BWD_WEIGHT ? run_weights(s, d, b, &conv) : BRAID_OK;
}
