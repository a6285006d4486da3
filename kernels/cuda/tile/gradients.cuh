/*
 * How the two sums behind the gradients of a scale and a shift are added.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_GRADIENTS_CUH
#define BRAID_KERNELS_CUDA_TILE_GRADIENTS_CUH

#include "kernels/cuda/tile/sums.h"

static __device__ __forceinline__ bn_gradients add(const bn_gradients &a, const bn_gradients &b) {
    bn_gradients both;
    both.shift = a.shift + b.shift;
    both.scale = a.scale + b.scale;
    return both;
}

#endif
