/*
 * The epilogue of convolutions (kernels/cuda/tile/epilogue.h) on one sum.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_EPILOGUE_CUH
#define BRAID_KERNELS_CUDA_TILE_EPILOGUE_CUH

#include <math.h>

#include "kernels/cuda/tile/epilogue.h"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/ptx/pair.cuh"

/* What one channel needs. */
struct epilogue_channel {
    float scale, shift;
};

template <class number>
static __device__ __forceinline__ epilogue_channel epilogue_find(const epilogue &of, int32_t channel,
                                                                 int32_t channels) {
    epilogue_channel found = {1, 0};
    if (channel >= channels) return found;
    if (of.bias) found.shift = load((const number *)of.bias + channel);
    if (of.scale) found.scale = of.scale[channel];
    if (of.shift) found.shift = of.shift[channel];
    return found;
}

/* ReLU, or none, as a floor: nothing lies below a NaN. */
static __device__ __forceinline__ float epilogue_floor(const epilogue &of) { return of.floored ? 0 : NAN; }

static __device__ __forceinline__ float epilogue_value(float sum, const epilogue_channel &channel, float floor) {
    const float value = sum * channel.scale + channel.shift;
    return value < floor ? 0 : value;
}

static __device__ __forceinline__ float epilogue_value(float sum, const epilogue_channel &channel, float floor,
                                                       float added) {
    const float value = sum * channel.scale + channel.shift + added;
    return value < floor ? 0 : value;
}

#endif
