/*
 * The host version of kernels/cuda/tile/number.cuh: the same functions by the portable conversions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_NUMBER_CUH
#define BRAID_KERNELS_CUDA_TILE_NUMBER_CUH

extern "C" {
#include "core/dtype.h"
}

struct f32 {
    float value;
};
struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};

static inline float load(const f32 *from) { return from->value; }

static inline float load(const f16 *from) { return f32_from_f16(from->bits); }

static inline float load(const bf16 *from) { return f32_from_bf16(from->bits); }

static inline void store(f32 *to, float value) { to->value = value; }

static inline void store(f16 *to, float value) { to->bits = f16_from_f32(value); }

static inline void store(bf16 *to, float value) { to->bits = bf16_from_f32(value); }

#endif
