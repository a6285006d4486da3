/*
 * The weight gradient of a convolution whose output is normalised and pooled becomes one call with the gradient that
 * comes back through these, where a kernel does both in less time and nobody else needs the gradient between them: in
 * the first layer, whose input has no gradient. It has the size of the image, and is never written:
 *
 *   bn_act_pool's data pass, conv2d's weight pass -> conv2d_pool_dapply
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

static int is_pass(const call *c, braid_op_id op, braid_pass pass) {
    return c->segment == BRAID_SEGMENT_BACKWARD && !c->is_view && !c->is_absorbed && c->problem.op == op &&
           c->problem.pass == pass;
}

/* The plane of a normalisation whose gradient a tensor is; -1: none. */
static int find_plane(const call *norm, int index) {
    for (int i = 0; i < norm->problem.streams; i++) {
        if (norm->tensor[BN_FUSED_DX][i] == index) return i;
    }
    return -1;
}

/* 1 where nothing from call `first` up to `end` writes over a tensor. */
static int stays(const program *p, int first, int end, int index) {
    return !program_count_uses(p, first, end, p->tensors[index].root, op_is_output);
}

/* 1 where plane `of` of call `norm` is made for stream i of the convolution alone, and could be made there. */
static int may_move(const program *p, int norm, int of, int conv, int i) {
    const call *n = &p->calls[norm], *c = &p->calls[conv];
    const int between = n->tensor[BN_FUSED_DX][of];
    const tensor *t = &p->tensors[between];
    if (t->root != between || t->home != HOME_PLACED || t->is_kept) return 0;
    if (program_count_uses(p, 0, p->call_count, between, op_is_input) != 1 ||
        program_count_uses(p, 0, p->call_count, between, op_is_output) != 1)
        return 0;
    if (c->problem.mask && n->tensor[BN_FUSED_MASK][of] != c->tensor[CONV2D_MASK][i]) return 0;
    return stays(p, norm + 1, conv, n->tensor[BN_FUSED_X][of]) && stays(p, norm + 1, conv, n->tensor[BN_FUSED_DY][of]);
}

/* The normalisation behind call `conv`, and which of its planes the streams are; -1: there is none. */
static int find_norm(const program *p, int conv, int *plane) {
    const call *c = &p->calls[conv];
    for (int j = conv - 1; j >= 0; j--) {
        const call *norm = &p->calls[j];
        if (!is_pass(norm, BRAID_OP_BN_ACT_POOL, BRAID_PASS_BWD_DATA)) continue;
        if (find_plane(norm, c->tensor[CONV2D_Y][0]) < 0) continue;
        for (int i = 0; i < c->problem.streams; i++) {
            plane[i] = find_plane(norm, c->tensor[CONV2D_Y][i]);
            if (plane[i] < 0 || !may_move(p, j, plane[i], conv, i)) return -1;
        }
        return norm->problem.mask == c->problem.mask ? j : -1;
    }
    return -1;
}

/* 1 for the one kind of pooling that conv2d_pool_dapply knows. */
static int is_its_pooling(const braid_problem *norm, const braid_problem *known) {
    for (int axis = 0; axis < 2; axis++) {
        if (norm->filter[axis] != known->filter[axis] || norm->stride[axis] != known->stride[axis] ||
            norm->padding[axis] != known->padding[axis] || norm->dilation[axis] != known->dilation[axis])
            return 0;
    }
    return norm->ceil_mode == known->ceil_mode && norm->activation == known->activation && norm->phase == known->phase;
}

static void join(program *p, int conv) {
    const program_options *o = &p->options;
    int plane[BRAID_MAX_PLANES] = {0}, keep[BRAID_MAX_PLANES] = {0};
    call *to = &p->calls[conv];
    const int index = to->problem.bias ? -1 : find_norm(p, conv, plane);
    if (index < 0) return;
    call *norm = &p->calls[index], c = call_start(p, BRAID_OP_CONV2D_POOL_DAPPLY, BRAID_PASS_FWD, &to->problem);
    const int streams = to->problem.streams;
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    c.problem.dtype = to->problem.dtype;
    if (braid_problem_check(&c.problem) != BRAID_OK) return;
    const braid_problem known = conv2d_pool_dapply_norm(&c.problem);
    if (!is_its_pooling(&norm->problem, &known) || !o->has_kernel(o->user, &c.problem)) return;
    for (int slot = BN_FUSED_SCALE; slot < BN_FUSED_DX; slot++) {
        for (int i = 0; i < streams && slot != BN_FUSED_Y; i++) c.tensor[slot][i] = norm->tensor[slot][plane[i]];
    }
    for (int i = 0; i < streams; i++) c.tensor[CONV2D_POOL_DAPPLY_R][i] = norm->tensor[BN_FUSED_X][plane[i]];
    call_bind(&c, CONV2D_POOL_DAPPLY_X, to->tensor[CONV2D_X], streams);
    call_bind(&c, CONV2D_POOL_DAPPLY_DW, to->tensor[CONV2D_W], streams);
    *to = c;
    for (int i = 0; i < norm->problem.streams; i++) keep[i] = 1;
    for (int i = 0; i < streams; i++) keep[plane[i]] = 0;
    if (norm->problem.streams > streams)
        call_narrow(norm, keep);
    else
        norm->is_absorbed = 1;
}

void program_join_pool(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        if (is_pass(&p->calls[j], BRAID_OP_CONV2D, BRAID_PASS_BWD_WEIGHT)) join(p, j);
    }
}
