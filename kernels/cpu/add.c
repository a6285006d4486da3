/*
 * add in f32: one addition per value, chunk by chunk of pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/points.h"

static void make(const braid_problem *p, const lanes *l, float *out, const lanes_pixels *pixels) {
    (void)p;
    l->add(out, pixels);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const int slots[3] = {ADD_X, ADD_Z, ADD_Y};
    (void)d;
    points_run(p, state, b, slots, make);
    return BRAID_OK;
}

TILE_KERNEL(add_f32__cpu_lanes_avx512, lanes_avx512, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
TILE_KERNEL(add_f32__cpu_lanes_avx2, lanes_avx2, supports_all, chunks_cost, chunks_create_bare, launch, chunks_destroy)
TILE_KERNEL(add_f32__cpu_lanes_portable, lanes_portable, supports_all, chunks_cost, chunks_create_bare, launch,
            chunks_destroy)
