/*
 * Random numbers from a counter (Philox4x32-10): the same (seed, stream, index) gives the same
 * number on every machine, in any order, at any number of threads. There is no hidden state to save.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_RNG_H
#define BRAID_CORE_RNG_H

#include <stdint.h>

/* The published function: 128 bits of counter and 64 bits of key give 128 bits. */
void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A position in one sequence; copy it to branch, set index to jump. */
typedef struct rng {
    uint64_t seed;   /* the run */
    uint64_t stream; /* what the numbers are for */
    uint64_t index;  /* how many were drawn */
} rng;

uint32_t rng_u32(rng *r);
double rng_uniform(rng *r);                             /* [0, 1), 32 bits */
double rng_normal(rng *r);                              /* mean 0, variance 1 */
void rng_normals(rng *r, double *out, int64_t count);   /* rng_normal's next ones, in less time */
int64_t rng_between(rng *r, int64_t low, int64_t high); /* both ends included; low <= high */

#endif
