/*
 * The gradients of integrate as those of 1x1 convolutions that share dy: r_i with v_i for every stream,
 * and z with w. They are one problem for the products of tile/, streams and integrated plane together,
 * where z is read without a stride; with one, z has a geometry of its own and is a second problem.
 *
 * dbias is that of the plane behind the streams, which no mask blanks: it is there for the weight
 * gradient even where there is no z, then without channels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_INTEGRATE_INTEGRATE_CONVS_H
#define BRAID_KERNELS_CPU_INTEGRATE_INTEGRATE_CONVS_H

#include "kernels/cpu/tile/product.h"
#include "kernels/kernel.h"

/* Readies the product for all planes of an integrate problem. `product` must outlive the state. */
braid_status integrate_convs_create(const braid_problem *p, const conv_product *product, const gemm_tile *tile,
                                    void **state, size_t *workspace_bytes);

/* These have the types of kernel_functions. */
braid_status integrate_convs_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status integrate_convs_run(const braid_problem *p, device *d, void *state, const buffers *b);
void integrate_convs_destroy(device *d, void *state);

/* Predicted seconds: the arithmetic at the tile's rate. */
double integrate_cost(const braid_problem *p, const machine *on, const gemm_tile *tile);

#endif
