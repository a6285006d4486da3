/*
 * A product of this folder by its functions, for kernels that run one on problems of their own: those of convolutions
 * and linear maps inside another op.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_PRODUCT_H
#define BRAID_KERNELS_CPU_TILE_PRODUCT_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/kernel.h"

/* pack is NULL where it packs no weights. */
typedef struct conv_product {
    braid_status (*create)(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *workspace_bytes);
    braid_status (*pack)(const braid_problem *conv, device *d, void *state, const buffers *b);
    braid_status (*run)(const braid_problem *conv, device *d, void *state, const buffers *b);
    void (*destroy)(device *d, void *state);
} conv_product;

#endif
