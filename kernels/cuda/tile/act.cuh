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

static_assert(BRAID_ACTIVATION_COUNT == 4, "a new activation goes here, too: docs/add_an_op.md");

#define ACT_SQRT_HALF 0.70710678f
#define ACT_INV_SQRT_2PI 0.39894228f
#define ACT_SQRT_2_OVER_PI 0.79788456f
#define ACT_CUBE 0.044715f
#define ACT_POWER_OF_TANH -2.3022082f /* -2 sqrt(2 / pi) / ln 2 */

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

/* 2^x and 1 / x by the units for them, to a few units of the last place. */
static __device__ __forceinline__ float act_power(float x) {
#ifdef __CUDA_ARCH__
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#else
    return exp2f(x);
#endif
}

static __device__ __forceinline__ float act_inverse(float x) {
#ifdef __CUDA_ARCH__
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
#else
    return 1 / x;
#endif
}

/* The normal distribution at x, and its density over the one at 0. The share beyond |x| is that density times t p(t),
 * t = 1 / (1 + 0.285 |x|), with p fitted so that it is off by 4e-8 at most, and by 4e-5 of itself up to |x| = 8. */
struct act_normal {
    float below, density;
    __device__ __forceinline__ explicit act_normal(float x) {
        const float t = act_inverse(1 + 0.285f * fabsf(x));
        float p = -0.0967991874f;
        p = p * t + 0.333248436f;
        p = p * t - 0.156855911f;
        p = p * t + 0.217210129f;
        p = p * t + 0.0869454965f;
        p = p * t + 0.116251066f;
        density = act_power(x * x * -0.72134752f);
        const float beyond = p * t * density;
        below = x < 0 ? beyond : 1 - beyond;
    }
};

/* What a rule makes of several numbers: f(x) in the place of x, dy * f'(x) in that of dy. */
template <class rule> struct act_each {
    template <int width> __device__ __forceinline__ void values(float (&x)[width]) const {
#pragma unroll
        for (int j = 0; j < width; j++) x[j] = ((const rule *)this)->value(x[j]);
    }
    template <int width> __device__ __forceinline__ void gradients(const float (&x)[width], float (&dy)[width]) const {
#pragma unroll
        for (int j = 0; j < width; j++) dy[j] = ((const rule *)this)->gradient(x[j], dy[j]);
    }
};

/* value(x) = f(x); gradient(x, dy) = dy * f'(x). Halves: numbers of 16 bits, for which a few units of the last place of
 * a float are nothing. */
template <bool curved, bool halves = false> struct act_rule : act_each<act_rule<curved, halves>> {
    int32_t activation;
    __device__ __forceinline__ explicit act_rule(int32_t kind) : activation(kind) {}
    __device__ __forceinline__ float value(float x) const { return act_curved(activation, x); }
    __device__ __forceinline__ float gradient(float x, float dy) const { return dy * act_curved_slope(activation, x); }
};

template <> struct act_rule<true, true> : act_each<act_rule<true, true>> {
    typedef act_each<act_rule<true, true>> each;
    int32_t activation;
    __device__ __forceinline__ explicit act_rule(int32_t kind) : activation(kind) {}
    __device__ __forceinline__ float value(float x) const {
        if (activation == BRAID_ACTIVATION_GELU) return x * act_normal(x).below;
        return x * act_inverse(1 + act_power(ACT_POWER_OF_TANH * (x + ACT_CUBE * x * x * x)));
    }
    __device__ __forceinline__ float gradient(float x, float dy) const {
        if (activation != BRAID_ACTIVATION_GELU) return dy * act_curved_slope(activation, x);
        const act_normal normal(x);
        return dy * (normal.below + x * ACT_INV_SQRT_2PI * normal.density);
    }
    /* Which of the two it is is asked once for all, so that they are worked on side by side. */
    template <int width> __device__ __forceinline__ void values(float (&x)[width]) const {
        if (activation == BRAID_ACTIVATION_GELU) {
            act_rule(BRAID_ACTIVATION_GELU).each::values(x);
        } else {
            act_rule(BRAID_ACTIVATION_GELU_TANH).each::values(x);
        }
    }
    template <int width> __device__ __forceinline__ void gradients(const float (&x)[width], float (&dy)[width]) const {
        if (activation == BRAID_ACTIVATION_GELU) {
            act_rule(BRAID_ACTIVATION_GELU).each::gradients(x, dy);
        } else {
            act_rule(BRAID_ACTIVATION_GELU_TANH).each::gradients(x, dy);
        }
    }
};

/* ReLU, or none, as a floor: nothing lies below a NaN. Behind a closed ReLU the gradient is 0, even that of an infinite
 * dy. */
template <bool halves> struct act_rule<false, halves> : act_each<act_rule<false, halves>> {
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
