/*
 * What the launchers of integrate's data gradients on sm_90 share: the tiles, what stays in shared memory, and the rest
 * of it for copies that are under way.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_GRADIENT_LAUNCH_H
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_GRADIENT_LAUNCH_H

#include "kernels/cuda/integrate/integrate_gradient.h"
#include "kernels/cuda/integrate/integrate_panels_launch.h"

typedef struct integrate_gradient_function {
    launch_names names;
    int rows, columns;
} integrate_gradient_function;

/* The functions of a kernel. `narrow`: all sources have 64 channels at most; `staying`: else; `streaming`: where
 * neither their weights nor all outputs of a tile stay in shared memory. With `has_norm` a result has twice its bytes,
 * and channels have factors. */
typedef struct integrate_gradient_way {
    integrate_gradient_function narrow, staying, streaming;
    int has_norm;
} integrate_gradient_way;

/* Cuts the work of a problem whose argument on panels is `all`; false: it does not fit into shared memory. `shared` and
 * `blocks` are those of the launch, no blocks where there is nothing to do. */
typedef struct integrate_gradient_plan {
    const integrate_gradient_function *function;
    size_t shared;
    int64_t blocks;
} integrate_gradient_plan;
int integrate_gradient_cut(struct integrate_gradient_cut *cut, const braid_problem *p,
                           const struct integrate_panels_args *all, int processors, const integrate_gradient_way *way,
                           integrate_gradient_plan *plan);

/* The tensor maps of a source, tiles of so many pixels. */
typedef struct integrate_gradient_maps {
    cuda_tensor_map *x, *added, *weights;
} integrate_gradient_maps;
braid_status integrate_gradient_map(struct integrate_gradient_cut *cut, const integrate_gradient_maps *maps, int source,
                                    device *d, const braid_problem *p, const struct integrate_panels_source *from,
                                    int rows);

#endif
