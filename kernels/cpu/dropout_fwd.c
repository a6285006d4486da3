/*
 * dropout in f32, f16 and bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/dropout.h"
#include "kernels/cpu/tile/isa.h"
#include "kernels/cpu/tile/run_parts.h"

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d;
    dropout_run(p, state, b, DROPOUT_X, DROPOUT_Y);
    return BRAID_OK;
}

TILE_KERNEL(dropout_fwd__cpu_runs_avx512, runs_avx512, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
TILE_KERNEL(dropout_fwd__cpu_runs_avx2, runs_avx2, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
TILE_KERNEL(dropout_fwd__cpu_runs_portable, runs_portable, supports_all, run_parts_cost, run_parts_create, launch,
            run_parts_destroy)
