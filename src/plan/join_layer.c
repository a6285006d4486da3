/*
 * The weight gradients of a layer of convolutions and their learned mix become one call, where a kernel does both and
 * nobody needs the gradient between them: in the first layer, whose input has no gradient. It reads the gradients of
 * the layer's outputs, and the sum of what comes back through the mix and past it is never written:
 *
 *   integrate's weight pass, its data pass with add1, conv2d's weight pass -> li_conv2d's weight pass
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

static int is_pass(const call *c, braid_op_id op, braid_pass pass) {
    return c->segment == BRAID_SEGMENT_BACKWARD && !c->is_view && !c->is_absorbed && c->problem.op == op &&
           c->problem.pass == pass;
}

static int same_tensors(const int *a, const int *b, int count) {
    for (int i = 0; i < count; i++) {
        if (a[i] != b[i]) return 0;
    }
    return 1;
}

/* The data pass of a mix that alone makes what a convolution's weight pass reads, for nobody else; NULL: none. */
static call *find_data(program *p, const call *conv) {
    const int streams = conv->problem.streams;
    for (int j = 0; j < p->call_count; j++) {
        call *mix = &p->calls[j];
        if (!is_pass(mix, BRAID_OP_INTEGRATE, BRAID_PASS_BWD_DATA) || mix->problem.streams != streams) continue;
        if (!same_tensors(mix->tensor[INTEGRATE_R], conv->tensor[CONV2D_Y], streams)) continue;
        if (mix->problem.integrated_in || mix->problem.add != INTEGRATE_ADD_R) return NULL;
        for (int i = 0; i < streams; i++) {
            const int between = mix->tensor[INTEGRATE_R][i];
            const tensor *t = &p->tensors[between];
            if (t->root != between || t->home != HOME_PLACED || t->is_kept) return NULL;
            if (program_count_uses(p, 0, p->call_count, between, op_is_input) != 1 ||
                program_count_uses(p, 0, p->call_count, between, op_is_output) != 1)
                return NULL;
        }
        return mix;
    }
    return NULL;
}

/* The weight pass of the same mix. */
static call *find_weights(program *p, const call *data) {
    for (int j = 0; j < p->call_count; j++) {
        call *mix = &p->calls[j];
        if (is_pass(mix, BRAID_OP_INTEGRATE, BRAID_PASS_BWD_WEIGHT) && !mix->problem.bias &&
            mix->problem.streams == data->problem.streams &&
            mix->tensor[INTEGRATE_Y][0] == data->tensor[INTEGRATE_Y][0])
            return mix;
    }
    return NULL;
}

/* 1 if what the data pass reads is the same at the convolution's place: nothing between the two writes over it. */
static int may_wait(const program *p, const call *data, const call *conv) {
    const int first = (int)(data - p->calls) + 1, end = (int)(conv - p->calls);
    for (int i = 0; i < data->problem.streams; i++) {
        const int dy = p->tensors[data->tensor[INTEGRATE_A][i]].root;
        if (program_count_uses(p, first, end, dy, op_is_output)) return 0;
    }
    return !program_count_uses(p, first, end, p->tensors[data->tensor[INTEGRATE_Y][0]].root, op_is_output);
}

static void join(program *p, call *conv) {
    const program_options *o = &p->options;
    const int streams = conv->problem.streams;
    call *data = conv->problem.bias ? NULL : find_data(p, conv), *weights = data ? find_weights(p, data) : NULL;
    if (!weights || !may_wait(p, data, conv) || data->problem.mask != conv->problem.mask ||
        weights->problem.mask != conv->problem.mask)
        return;
    if (conv->problem.mask && (!same_tensors(conv->tensor[CONV2D_MASK], data->tensor[INTEGRATE_MASK], streams) ||
                               !same_tensors(conv->tensor[CONV2D_MASK], weights->tensor[INTEGRATE_MASK], streams)))
        return;
    call c = call_start(p, BRAID_OP_LI_CONV2D, BRAID_PASS_BWD_WEIGHT, &conv->problem);
    c.segment = BRAID_SEGMENT_BACKWARD;
    c.natural = 0;
    c.problem.dtype = conv->problem.dtype;
    c.problem.integrated_in = 0;
    c.problem.integrated_out = data->problem.integrated_out;
    if (braid_problem_check(&c.problem) != BRAID_OK || !o->has_kernel(o->user, &c.problem)) return;
    call_bind(&c, LI_CONV2D_X, conv->tensor[CONV2D_X], streams);
    call_bind(&c, LI_CONV2D_W, conv->tensor[CONV2D_W], streams);
    call_bind(&c, LI_CONV2D_MASK, conv->tensor[CONV2D_MASK], streams);
    call_bind(&c, LI_CONV2D_R, weights->tensor[INTEGRATE_R], streams);
    call_bind(&c, LI_CONV2D_DY, data->tensor[INTEGRATE_A], streams);
    call_bind(&c, LI_CONV2D_V, data->tensor[INTEGRATE_V], streams);
    call_bind(&c, LI_CONV2D_ZY, data->tensor[INTEGRATE_Y], 1);
    call_bind(&c, LI_CONV2D_DV, weights->tensor[INTEGRATE_V], streams);
    data->is_absorbed = weights->is_absorbed = 1;
    *conv = c;
}

void program_join_layer(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        if (is_pass(&p->calls[j], BRAID_OP_CONV2D, BRAID_PASS_BWD_WEIGHT)) join(p, &p->calls[j]);
    }
}
