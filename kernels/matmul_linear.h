/*
 * matmul by the kernels of linear. With trans1 the second matrix lies as the weights of a linear layer do, and every
 * pass is the same pass of linear. With trans0 it lies as the weights of the layer from K to C channels: the forward
 * pass is then that layer's data gradient, the data gradient is its forward pass, and the weight gradient is its own
 * with x and dy in each other's place. Nothing is copied or transposed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_MATMUL_LINEAR_H
#define BRAID_KERNELS_MATMUL_LINEAR_H

#include "kernels/kernel.h"

/* The kernels of linear that do one pass of matmul; NULL: that layout is left to others. */
typedef struct matmul_linear {
    const kernel_functions *straight; /* trans1 */
    const kernel_functions *turned;   /* trans0 */
} matmul_linear;

refusal matmul_linear_refuses(const matmul_linear *m, const braid_problem *p, const device *d);
double matmul_linear_cost(const matmul_linear *m, const braid_problem *p, const machine *on);
braid_status matmul_linear_create(const matmul_linear *m, const braid_problem *p, device *d, void **state,
                                  size_t *workspace_bytes);
braid_status matmul_linear_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void matmul_linear_destroy(device *d, void *state);

/* `const kernel_functions name` from the two kernels of linear, or from one of them. */
#define MATMUL_KERNEL(name, straight, turned)       \
    extern const kernel_functions straight, turned; \
    MATMUL_FORMS(name, &straight, &turned)
#define MATMUL_STRAIGHT(name, straight)     \
    extern const kernel_functions straight; \
    MATMUL_FORMS(name, &straight, NULL)
#define MATMUL_TURNED(name, turned)       \
    extern const kernel_functions turned; \
    MATMUL_FORMS(name, NULL, &turned)

#define MATMUL_FORMS(name, straight, turned)                                                            \
    static const matmul_linear name##_forms = {straight, turned};                                       \
    static refusal name##_refuses(const braid_problem *p, const device *d) {                            \
        return matmul_linear_refuses(&name##_forms, p, d);                                              \
    }                                                                                                   \
    static double name##_cost(const braid_problem *p, const machine *on) {                              \
        return matmul_linear_cost(&name##_forms, p, on);                                                \
    }                                                                                                   \
    static braid_status name##_create(const braid_problem *p, device *d, void **state, size_t *bytes) { \
        return matmul_linear_create(&name##_forms, p, d, state, bytes);                                 \
    }                                                                                                   \
    const kernel_functions name = {.refuses = name##_refuses,                                           \
                                   .cost = name##_cost,                                                 \
                                   .create = name##_create,                                             \
                                   .launch = matmul_linear_launch,                                      \
                                   .destroy = matmul_linear_destroy};

#endif
