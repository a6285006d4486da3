/*
 * ssae: the forward pass of the spectral-shape autoencoder (src/nets/ssae.c) in one op, for inference: x and y are
 * [B][F * M], F = segments slices of M = in_channels numbers; a slice is encoded to S = out_channels numbers, a sample
 * to L = integrated_out.
 *
 *   e = gelu(layernorm(x) encoder' + encoder_bias)   rows [B*F][M] -> [B*F][S]
 *   h = e unit'                                      [B][F*S] -> [B][L], unit: the rows of basis by their lengths
 *   h = gelu(layernorm(h) mixer' + mixer_bias)       [B][L]
 *   y = (h unit) decoder' + decoder_bias             [B][F*S], rows [B*F][S] -> [B*F][M]
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

typedef struct sizes {
    int64_t mels, slices, slice, latent, combined; /* M, F, S, L, F * S */
} sizes;

static sizes sizes_of(const braid_problem *p) {
    return (sizes){p->in_channels[0], p->segments, p->out_channels[0], p->integrated_out,
                   p->segments * p->out_channels[0]};
}

static int planes(const braid_problem *p, int slot) {
    (void)slot;
    return p->streams;
}

static void shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    const sizes s = sizes_of(p);
    (void)i;
    switch (slot) {
        case SSAE_SLICE_GAMMA:
        case SSAE_SLICE_BETA: shape_statistics(p, s.mels, out); break;
        case SSAE_ENCODER: shape_matrix(p, s.slice, s.mels, out); break;
        case SSAE_ENCODER_BIAS: shape_vector(p, s.slice, out); break;
        case SSAE_BASIS: shape_matrix(p, s.latent, s.combined, out); break;
        case SSAE_LATENT_GAMMA:
        case SSAE_LATENT_BETA: shape_statistics(p, s.latent, out); break;
        case SSAE_MIXER: shape_matrix(p, s.latent, s.latent, out); break;
        case SSAE_MIXER_BIAS: shape_vector(p, s.latent, out); break;
        case SSAE_DECODER: shape_matrix(p, s.mels, s.slice, out); break;
        case SSAE_DECODER_BIAS: shape_vector(p, s.mels, out); break;
        default: shape_matrix(p, p->batch, s.slices * s.mels, out); break;
    }
}

static braid_status check(const braid_problem *p) {
    if (p->integrated_out <= SSAE_MOST_LATENT) return BRAID_OK;
    return fail(BRAID_ERROR_ARGUMENT, "ssae: expected zo (rows of the basis) of at most %d, got %lld", SSAE_MOST_LATENT,
                (long long)p->integrated_out);
}

/* Multiply-adds of one sample. */
static double products(const braid_problem *p) {
    const sizes s = sizes_of(p);
    return 2 * (double)s.combined * (double)s.mels + 2 * (double)s.combined * (double)s.latent +
           (double)s.latent * (double)s.latent;
}

static double flops(const braid_problem *p) { return 2 * (double)p->batch * products(p); }

/* The longest sum, and the operations behind it. */
static int64_t terms(const braid_problem *p) {
    const sizes s = sizes_of(p);
    int64_t most = s.combined > s.mels ? s.combined : s.mels;
    return (s.latent > most ? s.latent : most) + 8;
}

/* The reference makes a whole sample for every output. */
static int64_t work(const braid_problem *p) {
    double all = products(p);
    return all < 1e15 ? (int64_t)all : (int64_t)1e15;
}

/* ---- The chain ----------------------------------------------------------------------------- */

static chain_step *add(op_chain *c, const braid_problem *p, braid_op_id op, int64_t rows, int64_t from, int64_t to) {
    chain_step *s = chain_add(c, p, op, BRAID_PASS_FWD);
    s->problem.batch = rows;
    s->problem.in_channels[0] = from;
    s->problem.out_channels[0] = to;
    return s;
}

static void add_norm(op_chain *c, const braid_problem *p, int64_t rows, int64_t width, const int places[4]) {
    chain_step *s = add(c, p, BRAID_OP_LAYERNORM, rows, width, 0);
    s->problem.size[0] = s->problem.size[1] = 1;
    for (int slot = LAYERNORM_X; slot <= LAYERNORM_Y; slot++) s->place[slot] = places[slot];
}

static void add_layer(op_chain *c, const braid_problem *p, int64_t rows, const int64_t widths[2], const int places[4]) {
    chain_step *s = add(c, p, BRAID_OP_LINEAR_ACT, rows, widths[0], widths[1]);
    s->problem.bias = 1;
    s->problem.phase = BRAID_PHASE_EVAL;
    s->problem.activation = BRAID_ACTIVATION_GELU;
    s->place[LINEAR_ACT_X] = places[0];
    s->place[LINEAR_ACT_W] = places[1];
    s->place[LINEAR_ACT_BIAS] = places[2];
    s->place[LINEAR_ACT_Y] = places[3];
}

static void add_product(op_chain *c, const braid_problem *p, int to_latent, const int places[3]) {
    const sizes of = sizes_of(p);
    chain_step *s =
        add(c, p, BRAID_OP_MATMUL, p->batch, to_latent ? of.combined : of.latent, to_latent ? of.latent : of.combined);
    s->problem.transpose = to_latent;
    for (int slot = MATMUL_X; slot <= MATMUL_Y; slot++) s->place[slot] = places[slot];
}

static const char *steps(const braid_problem *p, op_chain *c) {
    enum { NORMED = CHAIN_TEMP(0), CODED, UNIT, LATENT, LATENT_NORMED, MIXED, BACK };
    const sizes s = sizes_of(p);
    if (p->batch > INT32_MAX / s.slices || s.combined > INT32_MAX) return "its slices are more than 2^31";
    add_norm(c, p, p->batch * s.slices, s.mels, (int[]){SSAE_X, SSAE_SLICE_GAMMA, SSAE_SLICE_BETA, NORMED});
    add_layer(c, p, p->batch * s.slices, (int64_t[]){s.mels, s.slice},
              (int[]){NORMED, SSAE_ENCODER, SSAE_ENCODER_BIAS, CODED});
    chain_step *norm = add(c, p, BRAID_OP_ROWNORM, s.latent, s.combined, 0);
    norm->problem.eps = SSAE_BASIS_EPS;
    norm->place[ROWNORM_X] = SSAE_BASIS;
    norm->place[ROWNORM_Y] = UNIT;
    add_product(c, p, 1, (int[]){CODED, UNIT, LATENT});
    add_norm(c, p, p->batch, s.latent, (int[]){LATENT, SSAE_LATENT_GAMMA, SSAE_LATENT_BETA, LATENT_NORMED});
    add_layer(c, p, p->batch, (int64_t[]){s.latent, s.latent},
              (int[]){LATENT_NORMED, SSAE_MIXER, SSAE_MIXER_BIAS, MIXED});
    add_product(c, p, 0, (int[]){MIXED, UNIT, BACK});
    chain_step *last = add(c, p, BRAID_OP_LINEAR, p->batch * s.slices, s.slice, s.mels);
    last->problem.bias = 1;
    last->place[LINEAR_X] = BACK;
    last->place[LINEAR_W] = SSAE_DECODER;
    last->place[LINEAR_BIAS] = SSAE_DECODER_BIAS;
    last->place[LINEAR_Y] = SSAE_Y;
    return NULL;
}

static void of_steps(const braid_problem *const *steps, braid_problem *p) {
    enum { SLICE_NORM, ENCODER, UNIT, TO_LATENT, LATENT_NORM, MIXER, BACK, DECODER };
    p->batch = steps[BACK]->batch;
    p->in_channels[0] = steps[ENCODER]->in_channels[0];
    p->out_channels[0] = steps[ENCODER]->out_channels[0];
    p->segments = steps[BACK]->out_channels[0] / p->out_channels[0];
    p->integrated_out = steps[BACK]->in_channels[0];
    p->eps = steps[SLICE_NORM]->eps;
}

/* ---- Random problems ----------------------------------------------------------------------- */

/* One in ten has the sizes of the smallest network, for which there are kernels. */
static void draw(rng *r, braid_problem *p) {
    const int whole = draw_chance(r, 10);
    p->batch = whole ? rng_between(r, 1, 2) : rng_between(r, 1, 5);
    p->segments = whole ? 5 : rng_between(r, 1, 4);
    p->in_channels[0] = whole ? 64 : draw_size(r, 19);
    p->out_channels[0] = whole ? 64 : draw_size(r, 19);
    p->integrated_out = whole ? 32 : draw_size(r, 19);
    p->eps = draw_chance(r, 70) ? 1e-5 : 0.1;
}

static void shrink(braid_problem *p) {
    if (p->batch > 5) p->batch = 5;
}

const op_info op_ssae = {
    .name = "ssae",
    .summary = "the spectral-shape autoencoder, forward",
    .passes = 1u << BRAID_PASS_FWD,
    .single_pass = 1,
    .fields =
        FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(eps) | FIELD_BIT(zo) | FIELD_BIT(seg),
    .reals = {{FIELD_eps, 1e-5, 1}},
    .max_streams = 1,
    .operands =
        {
            [SSAE_X] = {"x", FILL_SIGNED, {ROLE_IN}},
            [SSAE_SLICE_GAMMA] = {"slice_gamma", FILL_SIGNED, {ROLE_IN}},
            [SSAE_SLICE_BETA] = {"slice_beta", FILL_SIGNED, {ROLE_IN}},
            [SSAE_ENCODER] = {"encoder", FILL_SIGNED, {ROLE_IN}},
            [SSAE_ENCODER_BIAS] = {"encoder_bias", FILL_SIGNED, {ROLE_IN}},
            [SSAE_BASIS] = {"basis", FILL_SIGNED, {ROLE_IN}},
            [SSAE_LATENT_GAMMA] = {"latent_gamma", FILL_SIGNED, {ROLE_IN}},
            [SSAE_LATENT_BETA] = {"latent_beta", FILL_SIGNED, {ROLE_IN}},
            [SSAE_MIXER] = {"mixer", FILL_SIGNED, {ROLE_IN}},
            [SSAE_MIXER_BIAS] = {"mixer_bias", FILL_SIGNED, {ROLE_IN}},
            [SSAE_DECODER] = {"decoder", FILL_SIGNED, {ROLE_IN}},
            [SSAE_DECODER_BIAS] = {"decoder_bias", FILL_SIGNED, {ROLE_IN}},
            [SSAE_Y] = {"y", FILL_SIGNED, {ROLE_OUT}},
        },
    .check = check,
    .planes = planes,
    .shape = shape,
    .flops = flops,
    .terms = terms,
    .chain = steps,
    .of_steps = of_steps,
    .work = work,
    .draw = draw,
    .shrink = shrink,
};
