/*
 * From a convolution's problem to its epilogue: which operands of which op are bias, scale, shift and added.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/conv2d_epilogue.h"

_Static_assert((int)CONV2D_SCALE_BIAS_ACT_X == (int)CONV2D_X && (int)CONV2D_SCALE_BIAS_ACT_W == (int)CONV2D_W &&
                   (int)CONV2D_SCALE_BIAS_ACT_MASK == (int)CONV2D_MASK && (int)CONV2D_SCALE_BIAS_ACT_Y == (int)CONV2D_Y,
               "x, w, mask and y are found in the slots of conv2d");

_Static_assert((int)BN_ACT_CONV2D_X == (int)CONV2D_X && (int)BN_ACT_CONV2D_W == (int)CONV2D_W &&
                   (int)BN_ACT_CONV2D_MASK == (int)CONV2D_MASK && (int)BN_ACT_CONV2D_Y == (int)CONV2D_Y,
               "so are those of bn_act_conv2d");

static int is_folded(const braid_problem *p) { return p->op == BRAID_OP_CONV2D_SCALE_BIAS_ACT; }

const char *conv2d_epilogue_refuses(const braid_problem *p) {
    if (is_folded(p) && p->activation != BRAID_ACTIVATION_RELU && p->activation != BRAID_ACTIVATION_NONE)
        return "only ReLU or no activation";
    return NULL;
}

struct epilogue conv2d_epilogue(const braid_problem *p, const buffers *b, int i) {
    if (is_folded(p))
        return (struct epilogue){.scale = b->plane[CONV2D_SCALE_BIAS_ACT_SCALE][i],
                                 .shift = b->plane[CONV2D_SCALE_BIAS_ACT_SHIFT][i],
                                 .added = b->plane[CONV2D_SCALE_BIAS_ACT_Z][i],
                                 .floored = p->activation == BRAID_ACTIVATION_RELU};
    if (p->op == BRAID_OP_BN_ACT_CONV2D) return (struct epilogue){0};
    if (p->pass == BRAID_PASS_FWD) return (struct epilogue){.bias = b->plane[CONV2D_BIAS][i]};
    return (struct epilogue){.added = b->plane[CONV2D_A][i], .keeps = 1};
}
