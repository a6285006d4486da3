/*
 * The predicted time of linear layers by the kernels of conv2d.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/launch/linear_conv2d.h"

#include <math.h>

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/tile/shape.h"

double linear_direct_cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double launch_s = 4e-6, slice_s = 2e-6, side_by_side = 2 * LAUNCH_PROCESSORS, parts_of_weights = 512;
    const int weights = p->pass == BRAID_PASS_BWD_WEIGHT;
    double tiles = 0, slices = 1;
    for (int i = 0; i < p->streams; i++) {
        double rows = (double)(weights ? p->out_channels[i] : p->batch);
        double columns = (double)(p->pass == BRAID_PASS_FWD ? p->out_channels[i] : p->in_channels[i]);
        double terms = (double)(weights                     ? p->batch
                                : p->pass == BRAID_PASS_FWD ? p->in_channels[i]
                                                            : p->out_channels[i]);
        tiles += ceil(rows / TILE_M) * ceil(columns / TILE_N);
        slices = fmax(slices, ceil(terms / TILE_K));
    }
    if (weights) {
        double parts = fmax(1, fmin(parts_of_weights / fmax(tiles, 1), slices / 4));
        slices = ceil(slices / parts);
        tiles *= parts;
    }
    return launch_s * (weights ? 2 : 1) + slice_s * slices * fmax(1, tiles / side_by_side);
}
