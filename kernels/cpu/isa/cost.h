/*
 * Assumed speeds of CPU candidates, for effort `estimate`: before anything is measured, only the
 * order among candidates matters. The figures are for one core of a server of the 2020s.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_COST_H
#define BRAID_KERNELS_CPU_ISA_COST_H

#include "kernels/kernel.h"

#define COST_VENDOR_FLOPS 60e9 /* per second and core, in f32 */
#define COST_COPY_BYTES 10e9   /* per second, all cores together: memory is shared */
#define COST_VENDOR_CALL 5e-6  /* seconds to start a call of a vendor library */

/* Seconds to move `bytes`, counted once when read and once when written. */
static inline double cost_copy_seconds(double bytes) { return bytes / COST_COPY_BYTES; }

/* Seconds of a problem at a rate per core, started with `calls` calls of `call_s` seconds: arithmetic or
 * memory, whichever is slower. */
static inline double cost_seconds(const braid_problem *p, const machine *on, double flops_per_core, int calls,
                                  double call_s) {
    const double arithmetic = op_of(p)->flops(p) / (flops_per_core * on->threads);
    const double memory = cost_copy_seconds(op_bytes(p));
    return calls * call_s + (arithmetic > memory ? arithmetic : memory);
}

#endif
