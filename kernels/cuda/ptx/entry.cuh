/*
 * The functions that launchers name, one line for each, or one for all number formats of it:
 *
 *     ENTRY_HALVES(conv2d_fwd_wide, (THREADS, 1), conv2d_args, conv2d_wide<number, 128>(args))
 *
 * makes conv2d_fwd_wide_f16 and conv2d_fwd_wide_bf16. The bounds are those of __launch_bounds__; the body reads `args`
 * and, where a line stands for several formats, the type `number`. The host emulator has its own version, which also
 * tells it the function's name.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_PTX_ENTRY_CUH
#define BRAID_KERNELS_CUDA_PTX_ENTRY_CUH

#include "kernels/cuda/ptx/number.cuh"

#ifndef EMU_ENTRY
#define ENTRY(name, bounds, argument, ...) \
    extern "C" __global__ void __launch_bounds__ bounds name(const __grid_constant__ argument args) { __VA_ARGS__; }
#else
#define ENTRY EMU_ENTRY
#endif

#define ENTRY_OF(name, suffix, type, bounds, argument, ...) \
    ENTRY(name##_##suffix, bounds, argument, {              \
        typedef type number;                                \
        __VA_ARGS__;                                        \
    })
#define ENTRY_HALVES(name, bounds, argument, ...)           \
    ENTRY_OF(name, f16, f16, bounds, argument, __VA_ARGS__) \
    ENTRY_OF(name, bf16, bf16, bounds, argument, __VA_ARGS__)
#define ENTRY_FORMATS(name, bounds, argument, ...)          \
    ENTRY_OF(name, f32, f32, bounds, argument, __VA_ARGS__) \
    ENTRY_HALVES(name, bounds, argument, __VA_ARGS__)

#endif
