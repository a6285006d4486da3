/*
 * The gradients of a fused op by finite differences: its three passes on the same operands, whatever they are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FUSED_GRADIENTS_H
#define BRAID_TESTS_FUSED_GRADIENTS_H

#include "tests/support/gradients.h"

#define FUSED_MOST 8

typedef struct fused_gradients {
    /* Outputs of the forward pass, and the slot in which the backward passes get their gradient; ends at 0, 0. */
    int outputs[FUSED_MOST][2];
    /* Inputs of the forward pass, the pass that gives their gradient, and its slot there; ends at 0, 0, 0. */
    int inputs[FUSED_MOST][3];
    /* Makes the operands of the forward pass agree with what the backward passes are given; NULL: they do. */
    void (*agree)(rig *forward, rig *backward);
} fused_gradients;

/* `text` is the forward problem in f64. What a backward pass reads of the forward pass is copied from there. */
void check_fused_gradients(suite *s, const char *text, const fused_gradients *g);

/* scale = gamma * rstd for the ops of batch normalisation: the forward pass on the statistics of the backward one. */
void agree_on_scale(rig *forward, rig *backward);

#endif
