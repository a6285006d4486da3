/*
 * The activations and their slopes, as kernels/ref/act.h has them: ReLU keeps NaN and -0.0, and at a NaN it hands the
 * gradient on. A kernel asks once whether its activation is curved, and its bodies are made for either kind.
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

/* The slope of the tanh form is made of one exponential: 1 - tanh^2 of a rounded tanh would lose its last bits. Where
 * there is no bend the squares may overflow. x - x: an infinite x has no slope. */
static __device__ __noinline__ float act_curved_slope(int32_t activation, float x) {
    if (activation == BRAID_ACTIVATION_GELU)
        return 0.5f * (1 + erff(x * ACT_SQRT_HALF)) + x * ACT_INV_SQRT_2PI * expf(-0.5f * x * x);
    const float u = ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x) + (x - x), e = expf(-2 * fabsf(u));
    const float open = (u < 0 ? e : 1) / (1 + e),
                bend = 4 * e / ((1 + e) * (1 + e)); /* (1 + tanh u) / 2, 1 - tanh^2 u */
    return bend == 0 ? open : open + 0.5f * x * bend * ACT_SQRT_2_OVER_PI * (1 + 3 * ACT_CUBE * x * x);
}

static __device__ __forceinline__ bool act_is_curved(int32_t activation) {
    return activation != BRAID_ACTIVATION_RELU && activation != BRAID_ACTIVATION_NONE;
}

/* value(x) = f(x); gradient(x, dy) = dy * f'(x). */
template <bool curved> struct act_rule {
    int32_t activation;
    __device__ __forceinline__ explicit act_rule(int32_t kind) : activation(kind) {}
    __device__ __forceinline__ float value(float x) const { return act_curved(activation, x); }
    __device__ __forceinline__ float gradient(float x, float dy) const { return dy * act_curved_slope(activation, x); }
};

/* ReLU, or none, as a floor: nothing lies below a NaN. Behind a closed ReLU the gradient is 0, even that of an infinite
 * dy. */
template <> struct act_rule<false> {
    float floor;
    __device__ __forceinline__ explicit act_rule(int32_t kind) : floor(kind == BRAID_ACTIVATION_RELU ? 0 : NAN) {}
    __device__ __forceinline__ float value(float x) const { return x < floor ? 0 : x; }
    __device__ __forceinline__ float gradient(float x, float dy) const { return x <= floor ? 0 : dy; }
};

/* Either kind, found out for every value. */
static __device__ __forceinline__ float act_value(int32_t activation, float x) {
    return act_is_curved(activation) ? act_rule<true>(activation).value(x) : act_rule<false>(activation).value(x);
}

static __device__ __forceinline__ float act_gradient(int32_t activation, float x, float dy) {
    return act_is_curved(activation) ? act_rule<true>(activation).gradient(x, dy)
                                     : act_rule<false>(activation).gradient(x, dy);
}

#endif
