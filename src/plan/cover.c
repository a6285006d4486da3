/*
 * Runs of natural ops become fused ones, where nobody else reads what lies between:
 *
 *   bn_apply, act, maxpool          -> bn_act_pool
 *   bn_apply, act                   -> bn_act
 *   bn_apply, [bn_apply,] add, relu -> bn_add_act
 *   bn_stats, bn_finalize           -> bn_prepare
 *   integrate, bn_prepare           -> integrate_prepare, where the device has a kernel for it
 *   conv2d, bn_prepare              -> conv2d_prepare, where the device has a kernel that pays
 *   linear, act                     -> linear_act
 *   conv2d, bn_apply, [add,] [act]  -> conv2d_scale_bias_act, in evaluation
 *   all of an autoencoder           -> ssae, in evaluation, where a kernel does it
 *   relu, maxpool                   -> maxpool, relu: the same numbers and gradients from fewer pixels
 *
 * A fused op races its own chain, so that covering costs nothing where the chain is faster. The gradient of a
 * covered op is the fused op's, but for the normalisation of a residual, which keeps its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "plan/program.h"

/* Who makes and who reads every tensor, forward. */
typedef struct uses {
    const program *program;
    int *maker;   /* call; -1: none */
    int *readers; /* how many calls */
    int *reader;  /* the last of them */
} uses;

static void uses_free(uses *u) {
    memory_free(u->maker);
    memory_free(u->readers);
    memory_free(u->reader);
}

static void count_call(uses *u, const program *p, int j) {
    const call *c = &p->calls[j];
    const op_info *o = op_of(&c->problem);
    if (c->is_view) {
        u->readers[c->tensor[0][0]] += 2; /* a view keeps its memory in place */
        u->maker[c->tensor[1][0]] = j;
        return;
    }
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        operand_role role = op_role(&c->problem, slot);
        for (int i = 0; role != ROLE_NONE && i < o->planes(&c->problem, slot); i++) {
            int index = c->tensor[slot][i];
            if (op_is_output(role)) u->maker[index] = j;
            if (!op_is_input(role)) continue;
            u->readers[index]++;
            u->reader[index] = j;
        }
    }
}

/* For uses_free in any case. */
static braid_status uses_find(const program *p, uses *u) {
    size_t count = (size_t)p->tensor_count;
    *u = (uses){.program = p};
    braid_status status = memory_calloc(count, sizeof(int), "uses", (void **)&u->maker);
    if (!status) status = memory_calloc(count, sizeof(int), "uses", (void **)&u->readers);
    if (!status) status = memory_calloc(count, sizeof(int), "uses", (void **)&u->reader);
    for (int t = 0; t < p->tensor_count && !status; t++) u->maker[t] = -1;
    for (int j = 0; j < p->call_count && !status; j++) {
        if (!p->calls[j].is_absorbed) count_call(u, p, j);
    }
    return status;
}

/* The call of an op that alone reads all planes of a slot of c, in the same order, in its slot `to`; NULL: there is no
 * such call. */
static call *sole_reader(program *p, const uses *u, const call *c, int slot, braid_op_id op, int to) {
    call *reader = NULL;
    for (int i = 0; i < c->problem.streams; i++) {
        int index = c->tensor[slot][i];
        if (u->readers[index] != 1 || p->tensors[index].is_kept) return NULL;
        call *found = &p->calls[u->reader[index]];
        if (found->is_view || found->is_absorbed || found->problem.op != op || found->tensor[to][i] != index)
            return NULL;
        if (reader && found != reader) return NULL;
        reader = found;
    }
    return reader && reader->problem.streams == c->problem.streams ? reader : NULL;
}

/* The call of an op that makes all planes of a slot of c; NULL: there is no such call. */
static call *sole_maker(program *p, const uses *u, const call *c, int slot, braid_op_id op) {
    int first = u->maker[c->tensor[slot][0]];
    if (first < 0) return NULL;
    call *maker = &p->calls[first];
    for (int i = 0; i < c->problem.streams; i++) {
        int index = c->tensor[slot][i];
        if (u->maker[index] != first || u->readers[index] != 1 || p->tensors[index].is_kept) return NULL;
    }
    return !maker->is_view && !maker->is_absorbed && maker->problem.op == op &&
                   maker->problem.streams == c->problem.streams
               ? maker
               : NULL;
}

/* ---- Batch normalisation ------------------------------------------------------------------- */

static void absorb(call *c, int with_gradient) {
    c->is_absorbed = 1;
    c->gradient_absorbed = with_gradient;
}

/* What the gradients of a normalisation need. */
static void bind_statistics(const program *p, const call *apply, call *fused) {
    for (int i = 0; i < apply->problem.streams; i++) {
        norm_tensors norm = program_norm(p, apply->tensor[BN_APPLY_SCALE][i]);
        fused->tensor[BN_FUSED_CENTER][i] = norm.center;
        fused->tensor[BN_FUSED_RSTD][i] = norm.rstd;
        fused->tensor[BN_FUSED_GAMMA][i] = fused->tensor[BN_FUSED_DGAMMA][i] = norm.gamma;
        fused->tensor[BN_FUSED_DBETA][i] = norm.beta;
    }
}

/* The fused call in the place of `last`, with the normalisation `apply` as its own. */
static call fuse_norm(const program *p, braid_op_id op, const call *apply, const call *last) {
    call c = call_start(p, op, BRAID_PASS_FWD, &last->problem);
    call from_apply = call_start(p, op, BRAID_PASS_FWD, &apply->problem);
    braid_problem own = c.problem;
    c.problem = from_apply.problem; /* sizes, channels and mask are those before a pooling */
    if (op == BRAID_OP_BN_ACT_POOL) {
        memcpy(c.problem.filter, own.filter, sizeof own.filter);
        memcpy(c.problem.stride, own.stride, sizeof own.stride);
        memcpy(c.problem.padding, own.padding, sizeof own.padding);
        memcpy(c.problem.dilation, own.dilation, sizeof own.dilation);
        c.problem.ceil_mode = own.ceil_mode;
    }
    c.problem.phase = p->options.phase;
    call_bind(&c, BN_FUSED_X, apply->tensor[BN_APPLY_X], BRAID_MAX_PLANES);
    call_bind(&c, BN_FUSED_SCALE, apply->tensor[BN_APPLY_SCALE], BRAID_MAX_PLANES);
    call_bind(&c, BN_FUSED_SHIFT, apply->tensor[BN_APPLY_SHIFT], BRAID_MAX_PLANES);
    call_bind(&c, BN_FUSED_MASK, apply->tensor[BN_APPLY_MASK], BRAID_MAX_PLANES);
    bind_statistics(p, apply, &c);
    return c;
}

static braid_status replace(call *place, call *fused, int natural) {
    fused->natural = natural;
    TRY(braid_problem_check(&fused->problem));
    *place = *fused;
    return BRAID_OK;
}

static braid_status cover_act(program *p, const uses *u, call *apply, call *act) {
    call *pool = sole_reader(p, u, act, ACT_Y, BRAID_OP_MAXPOOL, MAXPOOL_X), *last = pool ? pool : act;
    call fused = fuse_norm(p, pool ? BRAID_OP_BN_ACT_POOL : BRAID_OP_BN_ACT, apply, last);
    fused.problem.activation = act->problem.activation;
    call_bind(&fused, BN_FUSED_Y, last->tensor[pool ? MAXPOOL_Y : ACT_Y], BRAID_MAX_PLANES);
    absorb(apply, 1);
    if (pool) absorb(act, 1);
    return replace(last, &fused, pool ? 3 : 2);
}

/* 1 where the blanked samples of both operands of an addition are the same: a fused call knows one mask. */
static int same_masks(const program *p, const call *add) {
    for (int i = 0; i < add->problem.streams && p->options.mask; i++) {
        int x = p->tensors[add->tensor[ADD_X][i]].plane, z = p->tensors[add->tensor[ADD_Z][i]].plane;
        const graph_plane *second = &p->graph->planes[z];
        if (p->graph->planes[x].stream != second->stream || second->kind == PLANE_INPUT) return 0;
    }
    return 1;
}

static braid_status cover_add(program *p, const uses *u, call *apply, call *add) {
    call *act = sole_reader(p, u, add, ADD_Y, BRAID_OP_ACT, ACT_X);
    if (!act || act->problem.activation != BRAID_ACTIVATION_RELU || !same_masks(p, add)) return BRAID_OK;
    call *other = sole_maker(p, u, add, ADD_Z, BRAID_OP_BN_APPLY);
    call fused = fuse_norm(p, BRAID_OP_BN_ADD_ACT, apply, act);
    fused.problem.residual_norm = other != NULL;
    fused.problem.activation = BRAID_ACTIVATION_RELU;
    call_bind(&fused, BN_FUSED_Y, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&fused, BN_FUSED_Z, other ? other->tensor[BN_APPLY_X] : add->tensor[ADD_Z], BRAID_MAX_PLANES);
    call_bind(&fused, BN_FUSED_DZ, add->tensor[ADD_Z], BRAID_MAX_PLANES); /* before the normalisation of z */
    if (other) {
        call_bind(&fused, BN_FUSED_ZSCALE, other->tensor[BN_APPLY_SCALE], BRAID_MAX_PLANES);
        call_bind(&fused, BN_FUSED_ZSHIFT, other->tensor[BN_APPLY_SHIFT], BRAID_MAX_PLANES);
        absorb(other, 0);
    }
    absorb(apply, 1);
    absorb(add, 1);
    return replace(act, &fused, other ? 4 : 3);
}

/* The statistics of a batch and what follows from them, where one call of bn_finalize reads them all. */
static braid_status cover_statistics(program *p, const uses *u, call *stats) {
    call *finalize = sole_reader(p, u, stats, BN_STATS_MEAN, BRAID_OP_BN_FINALIZE, BN_FINALIZE_MEAN);
    if (!finalize || sole_reader(p, u, stats, BN_STATS_VAR, BRAID_OP_BN_FINALIZE, BN_FINALIZE_VAR) != finalize)
        return BRAID_OK;
    static const int slots[][2] = {
        {BN_PREPARE_GAMMA, BN_FINALIZE_GAMMA},
        {BN_PREPARE_BETA, BN_FINALIZE_BETA},
        {BN_PREPARE_RUNNING_MEAN, BN_FINALIZE_RUNNING_MEAN},
        {BN_PREPARE_RUNNING_VAR, BN_FINALIZE_RUNNING_VAR},
        {BN_PREPARE_BATCHES, BN_FINALIZE_BATCHES},
        {BN_PREPARE_SCALE, BN_FINALIZE_SCALE},
        {BN_PREPARE_SHIFT, BN_FINALIZE_SHIFT},
        {BN_PREPARE_CENTER, BN_FINALIZE_CENTER},
        {BN_PREPARE_RSTD, BN_FINALIZE_RSTD},
    };
    call fused = call_start(p, BRAID_OP_BN_PREPARE, BRAID_PASS_FWD, &stats->problem);
    fused.problem.average = finalize->problem.average;
    fused.problem.each = finalize->problem.each;
    fused.problem.eps = finalize->problem.eps;
    fused.problem.momentum = finalize->problem.momentum;
    call_bind(&fused, BN_PREPARE_X, stats->tensor[BN_STATS_X], BRAID_MAX_PLANES);
    call_bind(&fused, BN_PREPARE_MASK, stats->tensor[BN_STATS_MASK], BRAID_MAX_PLANES);
    for (size_t j = 0; j < sizeof slots / sizeof slots[0]; j++)
        call_bind(&fused, slots[j][0], finalize->tensor[slots[j][1]], BRAID_MAX_PLANES);
    absorb(stats, 1);
    return replace(finalize, &fused, 2);
}

/* 1 where bn_prepare is of the streams of a mix and of the mix itself, and counts the same samples. */
static int is_norm_of_mix(const program *p, const call *mix, const call *norm) {
    const int n = mix->problem.streams, nothing = p->graph->mask[BRAID_MAX_PLANES - 1];
    if (norm->problem.streams != n + 1 || norm->problem.mask != mix->problem.mask || norm->problem.each) return 0;
    if (norm->tensor[BN_PREPARE_X][n] != mix->tensor[INTEGRATE_Y][0]) return 0;
    if (norm->problem.mask && norm->tensor[BN_PREPARE_MASK][n] != nothing) return 0;
    for (int i = 0; i < n; i++) {
        if (norm->tensor[BN_PREPARE_X][i] != mix->tensor[INTEGRATE_R][i]) return 0;
        if (norm->problem.mask && norm->tensor[BN_PREPARE_MASK][i] != mix->tensor[INTEGRATE_MASK][i]) return 0;
    }
    return 1;
}

/* 1 where bn_prepare is of what a convolution makes, and counts the same samples. */
static int is_norm_of_conv(const program *p, const call *conv, const call *norm) {
    (void)p;
    if (norm->problem.streams != conv->problem.streams || norm->problem.mask != conv->problem.mask) return 0;
    for (int i = 0; i < conv->problem.streams; i++) {
        if (norm->tensor[BN_PREPARE_X][i] != conv->tensor[CONV2D_Y][i]) return 0;
        if (norm->problem.mask && norm->tensor[BN_PREPARE_MASK][i] != conv->tensor[CONV2D_MASK][i]) return 0;
    }
    return 1;
}

/* Ops that take the statistics of what they make: the op and bn_prepare as one, whose slots are those of the op up to
 * `last`, then those of bn_prepare from gamma on. */
typedef struct prepared_op {
    braid_op_id op, joined;
    int last;
    int (*is_norm)(const program *p, const call *maker, const call *norm);
} prepared_op;

static const prepared_op prepared_ops[] = {
    {BRAID_OP_INTEGRATE, BRAID_OP_INTEGRATE_PREPARE, INTEGRATE_Y, is_norm_of_mix},
    {BRAID_OP_CONV2D, BRAID_OP_CONV2D_PREPARE, CONV2D_Y, is_norm_of_conv},
};

/* A call and the statistics of what it makes, in the place of the call; its gradient stays its own. */
static braid_status cover_prepared(program *p, const prepared_op *of, call *maker, call *norm) {
    const program_options *o = &p->options;
    call fused = call_start(p, of->joined, BRAID_PASS_FWD, &maker->problem);
    fused.problem.average = norm->problem.average;
    fused.problem.each = norm->problem.each;
    fused.problem.eps = norm->problem.eps;
    fused.problem.momentum = norm->problem.momentum;
    for (int slot = 0; slot <= of->last; slot++) call_bind(&fused, slot, maker->tensor[slot], BRAID_MAX_PLANES);
    for (int slot = BN_PREPARE_GAMMA; slot <= BN_PREPARE_SHIFT; slot++)
        call_bind(&fused, slot - BN_PREPARE_GAMMA + of->last + 1, norm->tensor[slot], BRAID_MAX_PLANES);
    TRY(braid_problem_check(&fused.problem));
    if (!o->has_kernel(o->user, &fused.problem)) return BRAID_OK;
    fused.gradient_absorbed = 1;
    int natural = maker->natural + norm->natural;
    *norm = *maker;
    absorb(norm, 0);
    return replace(maker, &fused, natural);
}

static braid_status cover_all_prepared(program *p, const prepared_op *of) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        call *maker = &p->calls[j];
        if (maker->is_view || maker->is_absorbed || maker->problem.op != of->op) continue;
        for (int k = j + 1; k < p->call_count; k++) {
            call *norm = &p->calls[k];
            if (norm->is_view || norm->is_absorbed || norm->problem.op != BRAID_OP_BN_PREPARE) continue;
            if (!of->is_norm(p, maker, norm)) continue;
            TRY(cover_prepared(p, of, maker, norm));
            break;
        }
    }
    return BRAID_OK;
}

/* ---- Folded inference ---------------------------------------------------------------------- */

/* conv2d, bn_apply and what follows as one call, where nobody else reads the raw output. True where it was done. */
static braid_status cover_folded(program *p, const uses *u, call *apply, int *done) {
    call *conv = sole_maker(p, u, apply, BN_APPLY_X, BRAID_OP_CONV2D), *add = NULL, *act = NULL, *last = apply;
    *done = 0;
    if (!conv || conv->problem.bias || p->options.phase != BRAID_PHASE_EVAL) return BRAID_OK;
    add = sole_reader(p, u, apply, BN_APPLY_Y, BRAID_OP_ADD, ADD_X);
    if (add && !same_masks(p, add)) add = NULL;
    if (add) last = add;
    act = sole_reader(p, u, last, add ? ADD_Y : BN_APPLY_Y, BRAID_OP_ACT, ACT_X);
    if (act) last = act;
    call fused = call_start(p, BRAID_OP_CONV2D_SCALE_BIAS_ACT, BRAID_PASS_FWD, &conv->problem);
    fused.problem.add = add != NULL;
    fused.problem.activation = act ? act->problem.activation : BRAID_ACTIVATION_NONE;
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_X, conv->tensor[CONV2D_X], BRAID_MAX_PLANES);
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_W, conv->tensor[CONV2D_W], BRAID_MAX_PLANES);
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_MASK, conv->tensor[CONV2D_MASK], BRAID_MAX_PLANES);
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_SCALE, apply->tensor[BN_APPLY_SCALE], BRAID_MAX_PLANES);
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_SHIFT, apply->tensor[BN_APPLY_SHIFT], BRAID_MAX_PLANES);
    if (add) call_bind(&fused, CONV2D_SCALE_BIAS_ACT_Z, add->tensor[ADD_Z], BRAID_MAX_PLANES);
    call_bind(&fused, CONV2D_SCALE_BIAS_ACT_Y, last->tensor[act ? ACT_Y : add ? ADD_Y : BN_APPLY_Y], BRAID_MAX_PLANES);
    absorb(conv, 1);
    absorb(apply, 1);
    if (add) absorb(add, 1);
    *done = 1;
    return replace(last, &fused, 2 + (add != NULL) + (act != NULL));
}

static braid_status cover_norm(program *p, const uses *u, call *apply) {
    int folded;
    TRY(cover_folded(p, u, apply, &folded));
    if (folded) return BRAID_OK;
    call *act = sole_reader(p, u, apply, BN_APPLY_Y, BRAID_OP_ACT, ACT_X);
    if (act) return cover_act(p, u, apply, act);
    call *add = sole_reader(p, u, apply, BN_APPLY_Y, BRAID_OP_ADD, ADD_X);
    return add ? cover_add(p, u, apply, add) : BRAID_OK;
}

/* ---- Linear -------------------------------------------------------------------------------- */

static braid_status cover_linear(program *p, const uses *u, call *linear) {
    call *act = sole_reader(p, u, linear, LINEAR_Y, BRAID_OP_ACT, ACT_X);
    if (!act) return BRAID_OK;
    call fused = call_start(p, BRAID_OP_LINEAR_ACT, BRAID_PASS_FWD, &linear->problem);
    fused.problem.phase = p->options.phase;
    fused.problem.activation = act->problem.activation;
    for (int slot = LINEAR_X; slot < LINEAR_Y; slot++) call_bind(&fused, slot, linear->tensor[slot], BRAID_MAX_PLANES);
    call_bind(&fused, LINEAR_ACT_Y, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&fused, LINEAR_ACT_U, linear->tensor[LINEAR_Y], BRAID_MAX_PLANES); /* where it is kept */
    absorb(linear, 1);
    return replace(act, &fused, 2);
}

/* ---- The autoencoder ----------------------------------------------------------------------- */

/* The calls of ops/ssae.c, first to last. */
typedef struct autoencoder {
    call *slice_norm, *encoder, *unit, *project, *latent_norm, *mixer, *back, *decoder;
} autoencoder;

/* The call of an op that makes what c reads in a slot, which so many calls read, seen in another shape or not. NULL:
 * there is no such call. */
static call *maker_behind(program *p, const uses *u, const call *c, int slot, braid_op_id op, int readers) {
    int index = c->tensor[slot][0], maker = u->maker[index];
    if (maker < 0 || u->readers[index] != readers || p->tensors[p->tensors[index].root].is_kept) return NULL;
    if (p->calls[maker].is_view) {
        index = p->calls[maker].tensor[0][0];
        maker = u->maker[index];
        if (maker < 0 || u->readers[index] != 2) return NULL; /* by the view alone */
    }
    call *found = &p->calls[maker];
    return !found->is_view && !found->is_absorbed && found->problem.op == op && found->problem.streams == 1 ? found
                                                                                                            : NULL;
}

/* False where the calls before `decoder` are others. */
static int find_autoencoder(program *p, const uses *u, call *decoder, autoencoder *a) {
    *a = (autoencoder){.decoder = decoder};
    a->back = maker_behind(p, u, decoder, LINEAR_X, BRAID_OP_MATMUL, 1);
    if (a->back) a->unit = maker_behind(p, u, a->back, MATMUL_W, BRAID_OP_ROWNORM, 2);
    if (a->unit) a->mixer = maker_behind(p, u, a->back, MATMUL_X, BRAID_OP_LINEAR_ACT, 1);
    if (a->mixer) a->latent_norm = maker_behind(p, u, a->mixer, LINEAR_ACT_X, BRAID_OP_LAYERNORM, 1);
    if (a->latent_norm) a->project = maker_behind(p, u, a->latent_norm, LAYERNORM_X, BRAID_OP_MATMUL, 1);
    if (a->project) a->encoder = maker_behind(p, u, a->project, MATMUL_X, BRAID_OP_LINEAR_ACT, 1);
    if (a->encoder) a->slice_norm = maker_behind(p, u, a->encoder, LINEAR_ACT_X, BRAID_OP_LAYERNORM, 1);
    return a->slice_norm && a->project->tensor[MATMUL_W][0] == a->back->tensor[MATMUL_W][0];
}

static int is_layer(const braid_problem *p) {
    return p->bias && !p->mask && (p->op == BRAID_OP_LINEAR || p->activation == BRAID_ACTIVATION_GELU);
}

/* False where the sizes or options of the calls are none of the op; else its problem. */
static int autoencoder_problem(const autoencoder *a, braid_problem *out) {
    const braid_problem *encoder = &a->encoder->problem, *decoder = &a->decoder->problem, *back = &a->back->problem;
    const braid_problem *project = &a->project->problem;
    const int64_t slice = decoder->in_channels[0];
    if (!is_layer(encoder) || !is_layer(&a->mixer->problem) || !is_layer(decoder)) return 0;
    if (!project->transpose || back->transpose || a->unit->problem.eps != SSAE_BASIS_EPS ||
        a->slice_norm->problem.eps != a->latent_norm->problem.eps)
        return 0;
    if (encoder->out_channels[0] != slice || encoder->in_channels[0] != decoder->out_channels[0] ||
        encoder->batch != decoder->batch || project->in_channels[0] != back->out_channels[0] ||
        back->out_channels[0] % slice)
        return 0;
    *out = (braid_problem){.op = BRAID_OP_SSAE,
                           .dtype = decoder->dtype,
                           .streams = 1,
                           .batch = back->batch,
                           .segments = back->out_channels[0] / slice,
                           .in_channels = {encoder->in_channels[0]},
                           .out_channels = {slice},
                           .integrated_out = back->in_channels[0],
                           .eps = a->slice_norm->problem.eps};
    return 1;
}

static braid_status cover_autoencoder(program *p, const uses *u, call *decoder) {
    autoencoder a;
    call fused = call_start(p, BRAID_OP_SSAE, BRAID_PASS_FWD, NULL);
    const program_options *o = &p->options;
    if (o->phase != BRAID_PHASE_EVAL || !o->has_kernel || decoder->problem.streams != 1) return BRAID_OK;
    if (!find_autoencoder(p, u, decoder, &a) || !autoencoder_problem(&a, &fused.problem)) return BRAID_OK;
    TRY(braid_problem_check(&fused.problem));
    if (!o->has_kernel(o->user, &fused.problem)) return BRAID_OK;
    const int *const bound[] = {
        [SSAE_X] = a.slice_norm->tensor[LAYERNORM_X],
        [SSAE_SLICE_GAMMA] = a.slice_norm->tensor[LAYERNORM_GAMMA],
        [SSAE_SLICE_BETA] = a.slice_norm->tensor[LAYERNORM_BETA],
        [SSAE_ENCODER] = a.encoder->tensor[LINEAR_ACT_W],
        [SSAE_ENCODER_BIAS] = a.encoder->tensor[LINEAR_ACT_BIAS],
        [SSAE_BASIS] = a.unit->tensor[ROWNORM_X],
        [SSAE_LATENT_GAMMA] = a.latent_norm->tensor[LAYERNORM_GAMMA],
        [SSAE_LATENT_BETA] = a.latent_norm->tensor[LAYERNORM_BETA],
        [SSAE_MIXER] = a.mixer->tensor[LINEAR_ACT_W],
        [SSAE_MIXER_BIAS] = a.mixer->tensor[LINEAR_ACT_BIAS],
        [SSAE_DECODER] = a.decoder->tensor[LINEAR_W],
        [SSAE_DECODER_BIAS] = a.decoder->tensor[LINEAR_BIAS],
        [SSAE_Y] = a.decoder->tensor[LINEAR_Y],
    };
    for (int slot = 0; slot <= SSAE_Y; slot++) call_bind(&fused, slot, bound[slot], BRAID_MAX_PLANES);
    call *const absorbed[] = {a.slice_norm, a.encoder, a.unit, a.project, a.latent_norm, a.mixer, a.back};
    int natural = decoder->natural;
    for (size_t j = 0; j < sizeof absorbed / sizeof absorbed[0]; j++) {
        natural += absorbed[j]->natural;
        absorb(absorbed[j], 1);
    }
    return replace(decoder, &fused, natural);
}

/* ---- Pooling before activation ------------------------------------------------------------- */

/* The largest of rectified values is the rectified largest value, and the gradient takes the same way. */
static braid_status swap_pool(program *p, const uses *u, call *act) {
    call *pool = sole_reader(p, u, act, ACT_Y, BRAID_OP_MAXPOOL, MAXPOOL_X);
    if (!pool || act->problem.activation != BRAID_ACTIVATION_RELU) return BRAID_OK;
    call first = *pool, second = *act;
    call_bind(&first, MAXPOOL_X, act->tensor[ACT_X], BRAID_MAX_PLANES);
    call_bind(&first, MAXPOOL_Y, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&second, ACT_X, act->tensor[ACT_Y], BRAID_MAX_PLANES);
    call_bind(&second, ACT_Y, pool->tensor[MAXPOOL_Y], BRAID_MAX_PLANES);
    for (int axis = 0; axis < 2; axis++) second.problem.size[axis] = maxpool_out_size(&first.problem, axis);
    for (int i = 0; i < act->problem.streams; i++) {
        tensor *between = &p->tensors[act->tensor[ACT_Y][i]];
        const tensor *pooled = &p->tensors[pool->tensor[MAXPOOL_Y][i]];
        between->shape = pooled->shape;
        between->bytes = pooled->bytes;
    }
    TRY(braid_problem_check(&second.problem));
    *act = first;
    *pool = second;
    return BRAID_OK;
}

/* What is made of calls that are fused already. */
static braid_status cover_again(program *p) {
    uses u;
    braid_status status = uses_find(p, &u);
    for (int j = 0; j < p->call_count && !status; j++) {
        call *c = &p->calls[j];
        if (!c->is_view && !c->is_absorbed && c->problem.op == BRAID_OP_LINEAR) status = cover_autoencoder(p, &u, c);
    }
    uses_free(&u);
    return status;
}

braid_status program_cover(program *p) {
    uses u;
    braid_status status = uses_find(p, &u);
    for (int j = 0; j < p->call_count && !status; j++) {
        call *c = &p->calls[j];
        if (c->is_view || c->is_absorbed) continue;
        if (c->problem.op == BRAID_OP_BN_APPLY) status = cover_norm(p, &u, c);
        if (c->problem.op == BRAID_OP_BN_STATS) status = cover_statistics(p, &u, c);
        if (c->problem.op == BRAID_OP_LINEAR) status = cover_linear(p, &u, c);
    }
    for (int j = 0; j < p->call_count && !status; j++) {
        call *c = &p->calls[j];
        if (!c->is_view && !c->is_absorbed && c->problem.op == BRAID_OP_ACT) status = swap_pool(p, &u, c);
    }
    uses_free(&u);
    for (size_t j = 0; j < sizeof prepared_ops / sizeof prepared_ops[0] && !status; j++)
        status = cover_all_prepared(p, &prepared_ops[j]);
    return status ? status : cover_again(p);
}
