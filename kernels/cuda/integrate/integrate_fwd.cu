/*
 * integrate forward: one matrix product whose reduction runs over the channels of all sources, the integrated pathway
 * and then the streams, so that y is written once. Rows are output pixels, columns are outputs. Sums are float.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate.h"
#include "kernels/cuda/tile/gemm.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* The channels of a source at an output pixel; NULL beyond the last pixel, and where the sample is blanked. */
template <class number>
static __device__ __forceinline__ const number *find_pixel(const integrate_args &args, const integrate_source &source,
                                                           int64_t pixel) {
    const int64_t line = divide(pixel, args.out_size[1]), sample = divide(line, args.out_size[0]);
    if (sample >= args.batch || mask_blanks(source.mask, sample)) return nullptr;
    const int64_t row = (line - sample * args.out_size[0]) * source.stride[0];
    const int64_t column = (pixel - line * args.out_size[1]) * source.stride[1];
    return (const number *)source.x + ((sample * source.size[0] + row) * source.size[1] + column) * source.pitch;
}

template <class number>
static __device__ __forceinline__ void integrate_fwd(const integrate_args &args, gemm_slice *slice) {
    const int32_t column_tiles = (args.outputs + TILE_N - 1) / TILE_N, tile = (int32_t)blockIdx.x;
    const int32_t first_column = tile % column_tiles * TILE_N;
    const int64_t first_pixel = (int64_t)(tile / column_tiles) * TILE_M;
    const int64_t pixels = args.batch * args.out_size[0] * args.out_size[1];
    const int lane = (int)threadIdx.x % TILE_K, first_row = (int)threadIdx.x / TILE_K;
    gemm_sums sums;
    gemm_clear(&sums);
    for (int32_t i = 0; i < args.sources; i++) {
        const integrate_source &source = args.source[i];
        const number *x[4];
        for (int j = 0; j < 4; j++) x[j] = find_pixel<number>(args, source, first_pixel + first_row + 16 * j);
        for (int32_t begin = 0; begin < source.channels; begin += TILE_K) {
            const int32_t c = begin + lane;
            for (int j = 0; j < 4; j++) {
                const int32_t output = first_column + first_row + 16 * j;
                slice->a[lane][first_row + 16 * j] = c < source.channels && x[j] ? load(x[j] + c) : 0;
                slice->b[lane][first_row + 16 * j] =
                    c < source.channels && output < args.outputs
                        ? load((const number *)source.weights + (int64_t)output * source.channels + c)
                        : 0;
            }
            __syncthreads();
            gemm_add(&sums, slice);
            __syncthreads();
        }
    }
    const number *bias = (const number *)args.bias;
    for (int row = 0; row < 4; row++) {
        const int64_t pixel = first_pixel + gemm_row() + row;
        if (pixel >= pixels) break;
        for (int j = 0; j < 4; j++) {
            const int32_t output = first_column + gemm_column() + j;
            if (output >= args.outputs) break;
            store((number *)args.y + pixel * args.outputs + output, sums.at[row][j] + (bias ? load(bias + output) : 0));
        }
    }
}

ENTRY_FORMATS(integrate_fwd, (BLOCK_THREADS), integrate_args, __shared__ gemm_slice slice;
              integrate_fwd<number>(args, &slice))
