/*
 * The host version of kernels/cuda/ptx/number.cuh: the same functions by the portable conversions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_NUMBER_CUH
#define BRAID_KERNELS_CUDA_PTX_NUMBER_CUH

#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "tests/emu/block.h"

extern "C" {
#include "core/dtype.h"
}

struct f32 {
    float value;
};
struct tf32 {
    float value;
};
struct f16 {
    uint16_t bits;
};
struct bf16 {
    uint16_t bits;
};

/* A wrong address is reported as one out of range is. */
template <int bytes> static inline void check_address(const void *address) {
    if (reinterpret_cast<uintptr_t>(address) % (bytes < 16 ? bytes : 16) != 0) (void)raise(SIGBUS);
}

template <int bytes> static inline void read_bytes(void *to, const void *from) {
    check_address<bytes>(from);
    memcpy(to, from, bytes);
}

template <int bytes> static inline void write_bytes(void *to, const void *from) {
    check_address<bytes>(to);
    memcpy(to, from, bytes);
}

static inline float load(const f32 *from) { return from->value; }
static inline float load(const tf32 *from) { return from->value; }

static inline float load(const f16 *from) { return emu_f16_values[from->bits]; }

static inline float load(const bf16 *from) { return emu_bf16_values[from->bits]; }

static inline void store(f32 *to, float value) { to->value = value; }

static inline void store(f16 *to, float value) { to->bits = f16_from_f32(value); }

static inline void store(bf16 *to, float value) { to->bits = bf16_from_f32(value); }

#endif
