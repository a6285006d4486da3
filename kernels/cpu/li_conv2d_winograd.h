/*
 * What the two gradients of li_conv2d by Winograd's products share: a kernel for each instruction set from the
 * functions of tile/winograd.h or tile/winograd_weight.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LI_CONV2D_WINOGRAD_H
#define BRAID_KERNELS_CPU_LI_CONV2D_WINOGRAD_H

#include "kernels/cpu/li_conv2d_gradient.h"

/* What the kernel of one instruction set is made of. */
typedef struct winograd_gradient {
    const fused_winograd *tile;
    conv_product convolution;
} winograd_gradient;

/* `const winograd_gradient gradient_<set>`. The matrix tile that a product is handed is part of its own. */
#define WINOGRAD_GRADIENT(set, create, pack, run, destroy)                                                            \
    static braid_status create_##set(const braid_problem *conv, const gemm_tile *tile, void **state, size_t *bytes) { \
        (void)tile;                                                                                                   \
        return create(conv, &winograd_##set, state, bytes);                                                           \
    }                                                                                                                 \
    static const winograd_gradient gradient_##set = {&fused_winograd_##set, {create_##set, pack, run, destroy}};

static inline braid_status winograd_gradient_create(const braid_problem *p, const winograd_gradient *g, void **state,
                                                    size_t *workspace_bytes) {
    return li_conv2d_gradient_create(p, &g->convolution, g->tile->fused, state, workspace_bytes);
}

#endif
