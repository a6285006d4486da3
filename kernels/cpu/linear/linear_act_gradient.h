/*
 * The gradients of linear_act: g = dy * f'(u) is made once, in the workspace, then a product of tile/ takes it for the
 * gradient of a linear map.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LINEAR_LINEAR_ACT_GRADIENT_H
#define BRAID_KERNELS_CPU_LINEAR_LINEAR_ACT_GRADIENT_H

#include "kernels/cpu/tile/fused.h"
#include "kernels/cpu/tile/product.h"

/* `product` must outlive the state. */
braid_status linear_act_gradient_create(const braid_problem *p, const conv_product *product, const fused_tile *tile,
                                        void **state, size_t *workspace_bytes);

/* These have the types of kernel_functions. */
braid_status linear_act_gradient_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status linear_act_gradient_run(const braid_problem *p, device *d, void *state, const buffers *b);
void linear_act_gradient_destroy(device *d, void *state);

/* Predicted seconds beside those of the product. */
double linear_act_gradient_cost(const braid_problem *p, const machine *on, const fused_tile *tile);

#endif
