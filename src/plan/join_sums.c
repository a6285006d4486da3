/*
 * The data gradient of a convolution is added up by the normalisation in front of it, which needs its sums before it
 * can hand the gradient on. They are made where the gradient is, which is then not read for them:
 *
 *   conv2d's data pass, bn_act's weight pass      -> conv2d_dsums
 *   conv2d's data pass, bn_add_act's weight pass  -> conv2d_dsums with add2
 *
 * where a kernel does both in less time. The weight pass keeps the planes that no convolution of the call makes, such
 * as the integrated one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

static int is_pass(const call *c, braid_op_id op, braid_pass pass) {
    return c->segment == BRAID_SEGMENT_BACKWARD && !c->is_view && !c->is_absorbed && c->problem.op == op &&
           c->problem.pass == pass;
}

static int is_sums(const call *c) {
    return is_pass(c, BRAID_OP_BN_ACT, BRAID_PASS_BWD_WEIGHT) || is_pass(c, BRAID_OP_BN_ADD_ACT, BRAID_PASS_BWD_WEIGHT);
}

/* The plane of a weight pass that a gradient belongs to; -1: none. */
static int find_plane(const call *sums, int index) {
    for (int i = 0; i < sums->problem.streams; i++) {
        if (sums->tensor[BN_FUSED_DY][i] == index) return i;
    }
    return -1;
}

/* 1 where nothing between two calls writes to a tensor. */
static int stays(const program *p, int first, int end, int index) {
    return !program_count_uses(p, first + 1, end, p->tensors[index].root, op_is_output);
}

/* 1 where plane `of` of call `sums` could be added up in call `conv`, which makes it as stream i. */
static int may_move(const program *p, int conv, int i, int sums, int of) {
    const call *c = &p->calls[conv], *s = &p->calls[sums];
    if (c->problem.mask && c->tensor[CONV2D_MASK][i] != s->tensor[BN_FUSED_MASK][of]) return 0;
    if (s->problem.op == BRAID_OP_BN_ADD_ACT && !stays(p, conv, sums, s->tensor[BN_FUSED_Y][of])) return 0;
    return stays(p, conv, sums, s->tensor[BN_FUSED_DY][of]) && stays(p, conv, sums, s->tensor[BN_FUSED_X][of]);
}

/* The weight pass that adds up what call `conv` makes, and which of its planes the streams are; -1: there is none. */
static int find_sums(const program *p, int conv, int *plane) {
    const call *c = &p->calls[conv];
    for (int j = conv + 1; j < p->call_count; j++) {
        const call *sums = &p->calls[j];
        if (!is_sums(sums) || find_plane(sums, c->tensor[CONV2D_X][0]) < 0) continue;
        for (int i = 0; i < c->problem.streams; i++) {
            plane[i] = find_plane(sums, c->tensor[CONV2D_X][i]);
            if (plane[i] < 0 || !may_move(p, conv, i, j, plane[i])) return -1;
        }
        return sums->problem.mask == c->problem.mask && sums->problem.activation == BRAID_ACTIVATION_RELU ? j : -1;
    }
    return -1;
}

static call join(const program *p, const call *conv, const call *sums, const int *plane) {
    static const int slots[][2] = {{CONV2D_DSUMS_R, BN_FUSED_X},           {CONV2D_DSUMS_X, BN_FUSED_Y},
                                   {CONV2D_DSUMS_SCALE, BN_FUSED_SCALE},   {CONV2D_DSUMS_SHIFT, BN_FUSED_SHIFT},
                                   {CONV2D_DSUMS_CENTER, BN_FUSED_CENTER}, {CONV2D_DSUMS_RSTD, BN_FUSED_RSTD},
                                   {CONV2D_DSUMS_DGAMMA, BN_FUSED_DGAMMA}, {CONV2D_DSUMS_DBETA, BN_FUSED_DBETA}};
    const int streams = conv->problem.streams;
    call c = call_start(p, BRAID_OP_CONV2D_DSUMS, BRAID_PASS_FWD, &conv->problem);
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    c.problem.dtype = conv->problem.dtype;
    c.problem.add = conv->problem.add ? CONV2D_DSUMS_ADD_A : 0;
    if (sums->problem.op == BRAID_OP_BN_ADD_ACT) c.problem.add |= CONV2D_DSUMS_ADD_Z;
    for (size_t j = 0; j < sizeof slots / sizeof slots[0]; j++) {
        for (int i = 0; i < streams; i++) c.tensor[slots[j][0]][i] = sums->tensor[slots[j][1]][plane[i]];
    }
    call_bind(&c, CONV2D_DSUMS_DY, conv->tensor[CONV2D_Y], streams);
    call_bind(&c, CONV2D_DSUMS_W, conv->tensor[CONV2D_W], streams);
    call_bind(&c, CONV2D_DSUMS_MASK, conv->tensor[CONV2D_MASK], streams);
    call_bind(&c, CONV2D_DSUMS_A, conv->tensor[CONV2D_A], streams);
    call_bind(&c, CONV2D_DSUMS_DX, conv->tensor[CONV2D_X], streams);
    return c;
}

static void join_sums(program *p, int conv) {
    const program_options *o = &p->options;
    int plane[BRAID_MAX_PLANES] = {0}, keep[BRAID_MAX_PLANES] = {0};
    const int index = find_sums(p, conv, plane);
    if (index < 0) return;
    call *sums = &p->calls[index], c = join(p, &p->calls[conv], sums, plane);
    if (braid_problem_check(&c.problem) != BRAID_OK || !o->has_kernel(o->user, &c.problem)) return;
    for (int i = 0; i < sums->problem.streams; i++) keep[i] = 1;
    for (int i = 0; i < c.problem.streams; i++) keep[plane[i]] = 0;
    p->calls[conv] = c;
    if (sums->problem.streams > c.problem.streams)
        call_narrow(sums, keep);
    else
        sums->is_absorbed = 1;
}

void program_join_sums(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        if (is_pass(&p->calls[j], BRAID_OP_CONV2D, BRAID_PASS_BWD_DATA)) join_sums(p, j);
    }
}
