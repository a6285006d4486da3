/*
 * Which conversions of a tile planes need.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_GEMM_HALVES_H
#define BRAID_KERNELS_CPU_TILE_GEMM_HALVES_H

#include <stddef.h>

#include "braid.h"
#include "kernels/cpu/tile/gemm.h"

/* NULL: planes of the dtype hold floats. */
static inline const halves *gemm_halves(const gemm_tile *tile, braid_dtype dtype) {
    return dtype == BRAID_DTYPE_BF16 ? tile->bf16 : dtype == BRAID_DTYPE_F16 ? tile->f16 : NULL;
}

#endif
