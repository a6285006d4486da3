/*
 * The gradients of li_conv2d: dr = dy + v^T dzy is made once, in the workspace, dy being added to the products while
 * they are in the cache; then the convolutions' own gradient takes it. The weight pass also makes those of the mix,
 * and dbias from dy.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LI_CONV2D_GRADIENT_H
#define BRAID_KERNELS_CPU_LI_CONV2D_GRADIENT_H

#include "kernels/cpu/fused.h"
#include "kernels/cpu/integrate_convs.h"

/* `convolution` makes the gradient of conv2d that the pass wants, and must outlive the state. */
braid_status li_conv2d_gradient_create(const braid_problem *p, const conv_product *convolution, const fused_tile *tile,
                                       void **state, size_t *workspace_bytes);

/* These have the types of kernel_functions. */
braid_status li_conv2d_gradient_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void li_conv2d_gradient_destroy(device *d, void *state);

/* Predicted seconds beside those of the convolution's gradient. */
double li_conv2d_gradient_cost(const braid_problem *p, const fused_tile *tile);

#endif
