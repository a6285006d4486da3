/*
 * conv2d_scale_bias_act, one element. The equation is in src/ops/conv2d_scale_bias_act.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/conv2d_scale_bias_act.h"

ref_value REF(conv2d_scale_bias_act)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t sample = index / p->out_channels[i] / (conv2d_out_size(p, 0) * conv2d_out_size(p, 1));
    if (mask_blanks(b->plane[CONV2D_SCALE_BIAS_ACT_MASK][i], sample)) return (ref_value){0, 0};
    return conv2d_scaled(p, b, i, index, conv2d_unscaled(p, b, i, index));
}
