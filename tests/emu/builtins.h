/*
 * What CUDA C adds to C++, for the host compiler: every .cu file is compiled with this in front of
 * it. One fibre plays one CUDA thread (emu.cpp), so plain variables tell a thread who it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_BUILTINS_H
#define BRAID_TESTS_EMU_BUILTINS_H

#include <math.h>
#include <stdint.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline, unused))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

/* Shared memory: one block runs at a time, and the section of its file is poisoned before each. */
#define __shared__ static __attribute__((section(EMU_SHARED)))

struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};

struct emu_index {
    unsigned x, y, z;
};
extern emu_index threadIdx, blockIdx, blockDim, gridDim;

/* Waits until all threads of the block are here; the place is checked and reported. */
void emu_barrier(const char *file, int line);
#define __syncthreads() (emu_barrier(__FILE__, __LINE__), (void)(emu_sleeps = 0))

/* The same, and tells whether any of them has a value that is not 0. */
int emu_barrier_or(int value, const char *file, int line);
#define __syncthreads_or(value) emu_barrier_or(value, __FILE__, __LINE__)

/* The same for the 32 threads of a warp. */
#define EMU_WARP 32
void emu_warp_barrier(const char *file, int line);
#define __syncwarp() emu_warp_barrier(__FILE__, __LINE__)

/* Shuffles of a whole warp. */
#include "tests/emu/warp.h"

static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

/* Every access is seen at once, and one block runs at a time. */
static inline void __threadfence() {}
static unsigned emu_sleeps; /* since a counter last changed or a barrier was passed */
static inline unsigned atomicInc(unsigned *at, unsigned last) {
    const unsigned before = *at;
    emu_sleeps = 0;
    *at = before >= last ? 0 : before + 1;
    return before;
}

/* A look at memory that others write may be late: every other one is, and sees zero, as if nobody had come. */
static inline unsigned __ldcv(const unsigned *at) {
    static unsigned looks;
    return looks++ % 2 ? 0 : *at;
}

/* What has not come after a second look never will: no other block runs. */
static inline void __nanosleep(unsigned, EMU_HERE_PARAMETERS) {
    if (++emu_sleeps > 2) emu_fail("a block waits for one that cannot run before it ends", EMU_HERE);
}

static inline float __fdividef(float a, float b) { return a / b; }
static inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

#endif
