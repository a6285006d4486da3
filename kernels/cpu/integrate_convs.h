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
#ifndef BRAID_KERNELS_CPU_INTEGRATE_CONVS_H
#define BRAID_KERNELS_CPU_INTEGRATE_CONVS_H

#include "kernels/cpu/tile/igemm.h"
#include "kernels/kernel.h"

/* A product of tile/ by its functions; pack is NULL where it packs no weights. */
typedef struct conv_product {
    braid_status (*create)(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *workspace_bytes);
    braid_status (*pack)(const braid_problem *conv, device *d, void *state, const buffers *b);
    braid_status (*run)(const braid_problem *conv, device *d, void *state, const buffers *b);
    void (*destroy)(device *d, void *state);
} conv_product;

/* Readies the product for all planes of an integrate problem. `product` must outlive the state. */
braid_status integrate_convs_create(const braid_problem *p, const conv_product *product, const gemm_tile *tile,
                                    void **state, size_t *workspace_bytes);

/* These have the types of kernel_functions. */
braid_status integrate_convs_pack(const braid_problem *p, device *d, void *state, const buffers *b);
braid_status integrate_convs_run(const braid_problem *p, device *d, void *state, const buffers *b);
void integrate_convs_destroy(device *d, void *state);

/* The run of a product of tile/igemm.h, with an end of its own for the planes of r and z, in this order. */
void integrate_convs_finish(const braid_problem *p, const void *state, const buffers *b, const product_finish *finish);

/* Predicted seconds: the arithmetic at the tile's rate. */
double integrate_cost(const braid_problem *p, const gemm_tile *tile);

#endif
