/*
 * The activations and their slopes, in double: the functions that every kernel must follow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_ACT_H
#define BRAID_KERNELS_REF_ACT_H

#include <math.h>

#include "kernels/ref/ref.h"

_Static_assert(BRAID_ACTIVATION_COUNT == 4, "a new activation goes here, too: docs/add_an_op.md");

#define ACT_SQRT_HALF 0.70710678118654752440
#define ACT_INV_SQRT_2PI 0.39894228040143267794
#define ACT_SQRT_2_OVER_PI 0.79788456080286535588
#define ACT_CUBE 0.044715

/* ReLU keeps NaN and -0.0, as frameworks do. The others are written so that no digit is lost far below 0; the one by
 * tanh rests on (1 + tanh t) / 2 = 1 / (1 + exp(-2 t)). */
static inline double act_value(braid_activation activation, double x) {
    switch (activation) {
        case BRAID_ACTIVATION_GELU: return 0.5 * x * erfc(-x * ACT_SQRT_HALF);
        case BRAID_ACTIVATION_GELU_TANH: return x / (1 + exp(-2 * ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x)));
        case BRAID_ACTIVATION_NONE: return x;
        default: return x < 0 ? 0 : x;
    }
}

/* At a NaN, ReLU hands the gradient on, as frameworks do. */
static inline double act_slope(braid_activation activation, double x) {
    switch (activation) {
        case BRAID_ACTIVATION_GELU:
            return 0.5 * (1 + erf(x * ACT_SQRT_HALF)) + x * ACT_INV_SQRT_2PI * exp(-0.5 * x * x);
        case BRAID_ACTIVATION_GELU_TANH: {
            double u = 2 * ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x);
            double above = 1 / (1 + exp(-u)),
                   below = 1 / (1 + exp(u)); /* of (1 + tanh t) / 2, and what it lacks to 1 */
            return above + 2 * x * above * below * ACT_SQRT_2_OVER_PI * (1 + 3 * ACT_CUBE * x * x);
        }
        case BRAID_ACTIVATION_NONE: return 1;
        default: return x <= 0 ? 0 : 1;
    }
}

/* So near to 0, as a share of the magnitude, rounding in a dtype may change the sign. */
static inline double act_near(braid_dtype dtype) {
    return dtype == BRAID_DTYPE_BF16 ? 2e-2 : dtype == BRAID_DTYPE_F16 ? 2e-3 : 1e-5;
}

/* f(u), the activation of the problem. A ReLU that is surely closed gives exactly 0. */
static inline ref_value act_of(const braid_problem *p, ref_value u) {
    double y = (real)act_value(p->activation, u.value);
    if (p->activation != BRAID_ACTIVATION_RELU) return (ref_value){y, u.magnitude + fabs(y)};
    int open = u.value > 0 || (u.value < 0 && u.value > -act_near(p->dtype) * u.magnitude);
    return (ref_value){y, open ? u.magnitude : 0};
}

#endif
