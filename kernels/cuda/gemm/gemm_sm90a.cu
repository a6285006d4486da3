/*
 * The products of linear layers on the matrix units of sm_90a (gemm.cuh), a function for each pass and tile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/gemm/gemm.cuh"
#include "kernels/cuda/ptx/entry.cuh"

#define ENTRIES(tile, columns, stages)                                                                                 \
    ENTRY_HALVES(gemm_fwd_##tile, (GEMM_THREADS, 1), gemm_args, gemm<number, false, false, columns, stages>(args))     \
    ENTRY_HALVES(gemm_bwd_data_##tile, (GEMM_THREADS, 1), gemm_args, gemm<number, false, true, columns, stages>(args)) \
    ENTRY_HALVES(gemm_bwd_weight_##tile, (GEMM_THREADS, 1), gemm_args, gemm<number, true, true, columns, stages>(args))

GEMM_TILES(ENTRIES)
