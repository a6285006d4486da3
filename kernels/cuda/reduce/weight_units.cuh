/*
 * How the units of the weight gradients by tiles are shared among CTAs (kernels/cuda/reduce/weight_tiles.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_REDUCE_WEIGHT_UNITS_CUH
#define BRAID_KERNELS_CUDA_REDUCE_WEIGHT_UNITS_CUH

#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/reduce/weight_tiles.h"

static __device__ __forceinline__ int64_t weight_first_unit(const weight_tiles_args &args, int64_t cta) {
    return cta * args.units / args.ctas;
}

/* The CTA whose run holds a unit. */
static __device__ __forceinline__ int32_t weight_cta_of(int64_t unit, int64_t units, int32_t ctas) {
    return (int32_t)divide((unit + 1) * ctas - 1, units);
}

/* The CTAs that have a part of a tile: the first, and how many. */
struct weight_sharers {
    int32_t first, parts;
};

static __device__ __forceinline__ weight_sharers weight_find_sharers(int64_t tile, int64_t tile_units, int64_t units,
                                                                     int32_t ctas) {
    weight_sharers of;
    of.first = weight_cta_of(tile * tile_units, units, ctas);
    of.parts = weight_cta_of((tile + 1) * tile_units - 1, units, ctas) + 1 - of.first;
    return of;
}

#endif
