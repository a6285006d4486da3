/*
 * The activations and their slopes, as kernels/ref/act.h has them: ReLU keeps NaN and -0.0, and at a NaN it hands the
 * gradient on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ACT_CUH
#define BRAID_KERNELS_CUDA_TILE_ACT_CUH

#include <math.h>

#include "braid.h"

#define ACT_SQRT_HALF 0.70710678f
#define ACT_INV_SQRT_2PI 0.39894228f
#define ACT_SQRT_2_OVER_PI 0.79788456f
#define ACT_CUBE 0.044715f

/* The curved ones are calls: inlined for every value of a pack they would take the registers of all kernels. */
static __device__ __noinline__ float act_curved(int32_t activation, float x) {
    if (activation == BRAID_ACTIVATION_GELU) return 0.5f * x * erfcf(-x * ACT_SQRT_HALF);
    return x / (1 + expf(-2 * ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x)));
}

static __device__ __noinline__ float act_curved_slope(int32_t activation, float x) {
    if (activation == BRAID_ACTIVATION_GELU)
        return 0.5f * (1 + erff(x * ACT_SQRT_HALF)) + x * ACT_INV_SQRT_2PI * expf(-0.5f * x * x);
    const float t = tanhf(ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x));
    const float open = 0.5f * (1 + t), bend = 1 - t * t; /* no bend: the squares may overflow there */
    return bend == 0 ? open : open + 0.5f * x * bend * ACT_SQRT_2_OVER_PI * (1 + 3 * ACT_CUBE * x * x);
}

static __device__ __forceinline__ float act_value(int32_t activation, float x) {
    if (activation == BRAID_ACTIVATION_RELU) return x < 0 ? 0 : x;
    return activation == BRAID_ACTIVATION_NONE ? x : act_curved(activation, x);
}

/* dy * f'(x); behind a closed ReLU 0, even of an infinite dy. */
static __device__ __forceinline__ float act_gradient(int32_t activation, float x, float dy) {
    if (activation == BRAID_ACTIVATION_RELU) return x <= 0 ? 0 : dy;
    return activation == BRAID_ACTIVATION_NONE ? dy : dy * act_curved_slope(activation, x);
}

#endif
