/*
 * What fused kernels share: the pair of tiles that their products and their passes over values are built on, the
 * natural problems inside a fused one, and the places of their workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_FUSED_H
#define BRAID_KERNELS_CPU_TILE_FUSED_H

#include "kernels/cpu/isa/gemm.h"
#include "kernels/cpu/isa/channels.h"
#include "kernels/cpu/isa/winograd.h"
#include "kernels/kernel.h"

typedef struct fused_tile {
    const gemm_tile *gemm;
    const channel_loops *loops;
} fused_tile;

extern const fused_tile fused_amx_bf16, fused_avx512_bf16, fused_avx512, fused_avx2, fused_portable;

/* The same with the products of conv/winograd.h. */
typedef struct fused_winograd {
    const winograd_tile *product;
    const fused_tile *fused;
} fused_winograd;

extern const fused_winograd fused_winograd_avx512, fused_winograd_avx2, fused_winograd_portable;

/* The problem of one natural op inside p: the same pass, and the fields of p that this op has. */
braid_problem fused_problem(const braid_problem *p, braid_op_id op);

/* Makes room in the workspace, of so many bytes, or of planes like operand `slot` of p. */
braid_status fused_reserve(size_t *workspace_bytes, size_t bytes, size_t *at);
braid_status fused_reserve_planes(const braid_problem *p, int slot, size_t *workspace_bytes,
                                  size_t at[BRAID_MAX_PLANES]);

/* The planes that were reserved. */
void fused_planes(void *workspace, const size_t at[BRAID_MAX_PLANES], int count, void *plane[BRAID_MAX_PLANES]);

/* A product of tile/indirect_gemm.h, forward, of the linear map or the convolutions inside p, with its epilogue. */
typedef struct fused_layer {
    const fused_tile *tile;
    void *product; /* of indirect_gemm_create_forward */
} fused_layer;

double fused_layer_cost(const braid_problem *p, const machine *on, const fused_tile *tile);
braid_status fused_layer_create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes);
void fused_layer_destroy(device *d, void *state);

#endif
