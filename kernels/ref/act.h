/*
 * The activations and their slopes, in double: the functions that every kernel must follow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_ACT_H
#define BRAID_KERNELS_REF_ACT_H

#include <math.h>

#include "kernels/ref/ref.h"

#define ACT_SQRT_HALF 0.70710678118654752440
#define ACT_INV_SQRT_2PI 0.39894228040143267794
#define ACT_SQRT_2_OVER_PI 0.79788456080286535588
#define ACT_CUBE 0.044715

/* ReLU keeps NaN and -0.0, as frameworks do. */
static inline double act_value(braid_activation activation, double x) {
    switch (activation) {
        case BRAID_ACTIVATION_GELU: return 0.5 * x * (1 + erf(x * ACT_SQRT_HALF));
        case BRAID_ACTIVATION_GELU_TANH: return 0.5 * x * (1 + tanh(ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x)));
        default: return x < 0 ? 0 : x;
    }
}

/* At a NaN, ReLU hands the gradient on, as frameworks do. */
static inline double act_slope(braid_activation activation, double x) {
    switch (activation) {
        case BRAID_ACTIVATION_GELU:
            return 0.5 * (1 + erf(x * ACT_SQRT_HALF)) + x * ACT_INV_SQRT_2PI * exp(-0.5 * x * x);
        case BRAID_ACTIVATION_GELU_TANH: {
            double t = tanh(ACT_SQRT_2_OVER_PI * (x + ACT_CUBE * x * x * x));
            return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ACT_SQRT_2_OVER_PI * (1 + 3 * ACT_CUBE * x * x);
        }
        default: return x <= 0 ? 0 : 1;
    }
}

#endif
