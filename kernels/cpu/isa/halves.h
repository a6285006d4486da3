/*
 * Halves (bf16 and f16, as uint16_t) made floats and back, for the instruction set of a tile. Every result has
 * the bits of core/dtype.h: nearest even, bf16 without denormals, quiet NaN.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_HALVES_H
#define BRAID_KERNELS_CPU_ISA_HALVES_H

#include <stdint.h>

/* `count` numbers of one format; nothing beside them is touched. `to` and `from` are apart. */
typedef struct halves {
    void (*widen)(float *to, const uint16_t *from, int64_t count);
    void (*narrow)(uint16_t *to, const float *from, int64_t count);
} halves;

#endif
