/*
 * The gradients of integrate are those of 1 x 1 convolutions with one dy: one for all streams, whose pixels are those
 * of the output, and one for the integrated pathway, which is read with the layer's stride. So their kernels are those
 * of conv2d.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_CONV2D_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_CONV2D_H

#include "kernels/cuda/launch/launch.h"

extern const kernel_functions conv2d_bwd_data__cuda_direct, conv2d_bwd_weight__cuda_direct;

/* The convolutions of the streams of a (checked) problem. */
static inline braid_problem integrate_streams(const braid_problem *p) {
    braid_problem conv = *p;
    conv.op = BRAID_OP_CONV2D;
    conv.groups = 1;
    conv.bias = 0;
    conv.add = (p->add & INTEGRATE_ADD_R) != 0;
    for (int axis = 0; axis < 2; axis++) {
        conv.size[axis] = integrate_out_size(p, axis);
        conv.filter[axis] = conv.stride[axis] = conv.dilation[axis] = 1;
    }
    for (int i = 0; i < p->streams; i++) conv.out_channels[i] = conv.out_pitch[i] = p->integrated_out;
    return conv;
}

/* The convolution of the integrated pathway, which has the bias; without channels where the problem has no z. */
static inline braid_problem integrate_pathway(const braid_problem *p) {
    braid_problem conv = integrate_streams(p);
    conv.streams = 1;
    conv.mask = 0;
    conv.bias = p->bias;
    conv.add = (p->add & INTEGRATE_ADD_Z) != 0;
    conv.in_channels[0] = conv.in_pitch[0] = p->integrated_in;
    for (int axis = 0; axis < 2; axis++) {
        conv.size[axis] = p->size[axis];
        conv.stride[axis] = p->stride[axis];
    }
    return conv;
}

/* Their operands. */
static inline buffers integrate_streams_buffers(const braid_problem *p, const buffers *b) {
    buffers to = {.workspace = b->workspace};
    for (int i = 0; i < p->streams; i++) {
        to.plane[CONV2D_X][i] = b->plane[INTEGRATE_R][i];
        to.plane[CONV2D_W][i] = b->plane[INTEGRATE_V][i];
        to.plane[CONV2D_MASK][i] = b->plane[INTEGRATE_MASK][i];
        to.plane[CONV2D_Y][i] = b->plane[INTEGRATE_Y][0];
        to.plane[CONV2D_A][i] = b->plane[INTEGRATE_A][i];
    }
    return to;
}

static inline buffers integrate_pathway_buffers(const buffers *b) {
    buffers to = {.workspace = b->workspace};
    to.plane[CONV2D_X][0] = b->plane[INTEGRATE_Z][0];
    to.plane[CONV2D_W][0] = b->plane[INTEGRATE_W][0];
    to.plane[CONV2D_BIAS][0] = b->plane[INTEGRATE_BIAS][0];
    to.plane[CONV2D_Y][0] = b->plane[INTEGRATE_Y][0];
    to.plane[CONV2D_A][0] = b->plane[INTEGRATE_AZ][0];
    return to;
}

#endif
