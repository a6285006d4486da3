/*
 * conv2d_bn_stats: a convolution of every stream, and what a batch normalisation of its output needs when training:
 * conv2d, then bn_stats_finalize of y. Statistics are those of y as it is stored. A mask blanks the samples of a stream
 * in both.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

static int planes(const braid_problem *p, int slot) {
    switch (slot) {
        case CONV2D_BIAS: return p->bias ? p->streams : 0;
        case CONV2D_MASK: return p->mask ? p->streams : 0;
        case CONV2D_BN_STATS_BATCHES: return 1;
        default: return p->streams;
    }
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    if (slot <= CONV2D_Y) {
        conv2d_shape(p, slot, i, out);
    } else if (slot == CONV2D_BN_STATS_BATCHES) {
        shape_counter(out);
    } else {
        shape_statistics(p, p->out_channels[i], out);
    }
}

static int64_t sample_pixels(const braid_problem *p) { return conv2d_out_size(p, 0) * conv2d_out_size(p, 1); }

static double flops(const braid_problem *p) {
    double channels = 0;
    for (int i = 0; i < p->streams; i++) channels += (double)p->out_channels[i];
    return conv2d_flops(p) + 3 * channels * (double)p->batch * (double)sample_pixels(p);
}

static int64_t work(const braid_problem *p) {
    int64_t pixels = p->batch * sample_pixels(p), terms = conv2d_terms(p);
    return pixels > terms ? pixels : terms;
}

static braid_status check_values(const braid_problem *p, int i, int64_t samples) {
    if (samples * sample_pixels(p) != 1) return BRAID_OK;
    return fail_with(
        BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
        "conv2d_bn_stats: expected more than 1 value per channel, got 1 in stream %d (1 active sample of 1x1)", i);
}

static braid_status check(const braid_problem *p) {
    TRY(conv2d_check(p));
    return check_values(p, 0, p->batch);
}

static const char *steps(const braid_problem *p, op_chain *c) {
    chain_step *s = chain_add(c, p, BRAID_OP_CONV2D, BRAID_PASS_FWD);
    for (int slot = CONV2D_X; slot <= CONV2D_Y; slot++) s->place[slot] = slot;
    s = chain_add(c, p, BRAID_OP_BN_STATS_FINALIZE, BRAID_PASS_FWD);
    for (int axis = 0; axis < 2; axis++) s->problem.size[axis] = conv2d_out_size(p, axis);
    for (int i = 0; i < p->streams; i++) {
        s->problem.in_channels[i] = p->out_channels[i];
        s->problem.in_pitch[i] = p->out_pitch[i];
    }
    s->place[BN_STATS_FINALIZE_X] = CONV2D_Y;
    s->place[BN_STATS_FINALIZE_MASK] = CONV2D_MASK;
    for (int slot = BN_STATS_FINALIZE_GAMMA; slot <= BN_STATS_FINALIZE_SHIFT; slot++)
        s->place[slot] = slot - BN_STATS_FINALIZE_GAMMA + CONV2D_BN_STATS_GAMMA;
    return NULL;
}

/* Every output sees the image: padding is half the filter at most, and no image lies between two taps. Statistics of
 * zeros would tell little. */
static void draw(rng *r, braid_problem *p) {
    conv2d_draw(r, p);
    for (int axis = 0; axis < 2; axis++) {
        const int64_t half = p->dilation[axis] * (p->filter[axis] - 1) / 2;
        if (p->padding[axis] > half) p->padding[axis] = half;
        while (conv2d_out_size(p, axis) < 1 || p->size[axis] < p->dilation[axis]) p->size[axis]++;
    }
    bn_draw_average(r, p);
    if (p->batch * sample_pixels(p) < 2) p->batch = 2;
}

const op_info op_conv2d_bn_stats = {
    .name = "conv2d_bn_stats",
    .summary = "2-D convolution of every stream, and statistics, scale and shift of it",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields = CONV2D_FIELDS | FIELD_BIT(bias) | FIELD_BIT(avg) | FIELD_BIT(each) | FIELD_BIT(eps) | FIELD_BIT(mom),
    .reals = {{FIELD_eps, 1e-5, 1}, {FIELD_mom, 0.1, 1}},
    .max_streams = BRAID_MAX_STREAMS,
    .stored = CONV2D_Y,
    .operands =
        {
            [CONV2D_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_W] = {"w", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_BIAS] = {"bias", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_MASK] = {"mask", FILL_MASK, {ROLE_IN}},
            [CONV2D_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_BN_STATS_GAMMA] = {"gamma", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_BN_STATS_BETA] = {"beta", FILL_SIGNED, {ROLE_IN}},
            [CONV2D_BN_STATS_RUNNING_MEAN] = {"running_mean", FILL_SIGNED, {ROLE_INOUT}},
            [CONV2D_BN_STATS_RUNNING_VAR] = {"running_var", FILL_POSITIVE, {ROLE_INOUT}},
            [CONV2D_BN_STATS_BATCHES] = {"batches", FILL_COUNTER, {ROLE_INOUT}},
            [CONV2D_BN_STATS_CENTER] = {"center", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_BN_STATS_RSTD] = {"rstd", FILL_POSITIVE, {ROLE_OUT}},
            [CONV2D_BN_STATS_SCALE] = {"scale", FILL_SIGNED, {ROLE_OUT}},
            [CONV2D_BN_STATS_SHIFT] = {"shift", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .check_active = check_values,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = conv2d_terms,
    .chain = steps,
    .work = work,
    .draw = draw,
    .shrink = conv2d_shrink,
};
