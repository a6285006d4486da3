/*
 * A convolution that reads what a normalisation with its activation made becomes one call with it, where a kernel does
 * both in less time: what is between them is written, for the backward pass reads it, but not read again before.
 *
 *   bn_act, conv2d -> bn_act_conv2d
 *
 * The normalisation keeps the planes that the convolution does not read, such as the integrated one. Only where nothing
 * is made again to save memory: remake.c makes the result of a bn_act again, not that of a convolution.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

static int is_forward(const call *c, braid_op_id op) {
    return c->segment == BRAID_SEGMENT_FORWARD && !c->is_view && !c->is_absorbed && c->problem.op == op &&
           c->problem.pass == BRAID_PASS_FWD;
}

/* The plane of a normalisation that a tensor is; -1: none. */
static int find_plane(const call *norm, int index) {
    for (int i = 0; i < norm->problem.streams; i++) {
        if (norm->tensor[BN_FUSED_Y][i] == index) return i;
    }
    return -1;
}

/* 1 where plane `of` of call `norm` may be made by call `conv`, for its stream i. */
static int may_move(const program *p, int norm, int of, int conv, int i) {
    const call *n = &p->calls[norm], *c = &p->calls[conv];
    const int between = n->tensor[BN_FUSED_Y][of];
    const tensor *t = &p->tensors[between];
    if (t->root != between || t->home != HOME_PLACED || t->is_kept) return 0;
    if (program_count_uses(p, norm + 1, conv, between, op_is_input) ||
        program_count_uses(p, norm + 1, conv, p->tensors[n->tensor[BN_FUSED_X][of]].root, op_is_output))
        return 0;
    return !c->problem.mask || n->tensor[BN_FUSED_MASK][of] == c->tensor[CONV2D_MASK][i];
}

/* The normalisation before call `conv`, and which of its planes the streams are; -1: there is none. */
static int find_norm(const program *p, int conv, int *plane) {
    const call *c = &p->calls[conv];
    for (int j = conv - 1; j >= 0; j--) {
        const call *norm = &p->calls[j];
        if (!is_forward(norm, BRAID_OP_BN_ACT) || find_plane(norm, c->tensor[CONV2D_X][0]) < 0) continue;
        for (int i = 0; i < c->problem.streams; i++) {
            plane[i] = find_plane(norm, c->tensor[CONV2D_X][i]);
            if (plane[i] < 0 || !may_move(p, j, plane[i], conv, i)) return -1;
        }
        return norm->problem.mask == c->problem.mask ? j : -1;
    }
    return -1;
}

static void join(program *p, int conv) {
    const program_options *o = &p->options;
    int plane[BRAID_MAX_PLANES] = {0}, keep[BRAID_MAX_PLANES] = {0};
    call *to = &p->calls[conv];
    const int streams = to->problem.streams, index = to->problem.bias ? -1 : find_norm(p, conv, plane);
    if (index < 0) return;
    call *norm = &p->calls[index], c = call_start(p, BRAID_OP_BN_ACT_CONV2D, BRAID_PASS_FWD, &to->problem);
    c.natural = to->natural;
    c.problem.dtype = to->problem.dtype;
    c.problem.activation = norm->problem.activation;
    if (braid_problem_check(&c.problem) != BRAID_OK || !o->has_kernel(o->user, &c.problem)) return;
    call_bind(&c, BN_ACT_CONV2D_W, to->tensor[CONV2D_W], streams);
    call_bind(&c, BN_ACT_CONV2D_MASK, to->tensor[CONV2D_MASK], streams);
    call_bind(&c, BN_ACT_CONV2D_Y, to->tensor[CONV2D_Y], streams);
    call_bind(&c, BN_ACT_CONV2D_A, to->tensor[CONV2D_X], streams);
    for (int i = 0; i < streams; i++) {
        c.tensor[BN_ACT_CONV2D_X][i] = norm->tensor[BN_FUSED_X][plane[i]];
        c.tensor[BN_ACT_CONV2D_SCALE][i] = norm->tensor[BN_FUSED_SCALE][plane[i]];
        c.tensor[BN_ACT_CONV2D_SHIFT][i] = norm->tensor[BN_FUSED_SHIFT][plane[i]];
    }
    for (int i = 0; i < norm->problem.streams; i++) keep[i] = 1;
    for (int i = 0; i < streams; i++) keep[plane[i]] = 0;
    if (norm->problem.streams > streams) {
        call_narrow(norm, keep);
    } else {
        norm->is_absorbed = 1;
        c.natural += norm->natural;
    }
    *to = c;
}

void program_join_conv(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel && p->options.keep_all; j++) {
        if (is_forward(&p->calls[j], BRAID_OP_CONV2D)) join(p, j);
    }
}
