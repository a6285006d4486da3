/*
 * The factor of the loss, which keeps gradients in f16 clear of zero: what clip_norm keeps of it from update to update,
 * and what an update makes of it. Kernels for the CPU and for CUDA include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_SCALING_H
#define BRAID_OPS_SCALING_H

#include <math.h>
#include <stdint.h>

/* The table `scaling` of int64. batches: whose gradients are added up in g. good, bad: updates in a row that were made
 * or skipped; good is counted with SCALING_DYNAMIC alone. skipped: all of them. */
enum { SCALING_MODE, SCALING_BATCHES, SCALING_GOOD, SCALING_BAD, SCALING_SKIPPED, SCALING_COUNT };

/* Modes: the factor stays as it is; it becomes NaN with the first update that is skipped, so that all later ones are
 * skipped, too; it follows the overflows, and becomes NaN where that does not help. */
enum { SCALING_FIXED, SCALING_HALTS, SCALING_DYNAMIC };

#define SCALING_FIRST 65536.0
#define SCALING_GROWS_AFTER 2000 /* good updates */
#define SCALING_MOST_BAD 20
#define SCALING_LEAST (1.0 / 1024)
#define SCALING_MOST (65536.0 * 65536.0)

#ifdef __cplusplus
#define SCALING_FUNCTION static __device__ __forceinline__
#else
#define SCALING_FUNCTION static inline
#endif

/* The factor of the next loss, and the counts in the table `s`. fine: the update is made. */
SCALING_FUNCTION double scaling_next(double loss_scale, int fine, int loss_is_finite, int64_t *s) {
    const int dynamic = s[SCALING_MODE] == SCALING_DYNAMIC;
    if (fine) {
        s[SCALING_BAD] = 0;
        if (!dynamic || ++s[SCALING_GOOD] < SCALING_GROWS_AFTER) return loss_scale;
        s[SCALING_GOOD] = 0;
        return loss_scale < SCALING_MOST ? 2 * loss_scale : loss_scale;
    }
    s[SCALING_BAD]++;
    s[SCALING_SKIPPED]++;
    s[SCALING_GOOD] = 0;
    if (s[SCALING_MODE] == SCALING_FIXED) return loss_scale;
    const int hopeless = !loss_is_finite || s[SCALING_BAD] > SCALING_MOST_BAD || loss_scale / 2 < SCALING_LEAST;
    return !dynamic || hopeless ? (double)NAN : loss_scale / 2;
}

#endif
