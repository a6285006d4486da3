/*
 * avgpool forward: the mean of every window. A block has one window and a tile of channels: its rows of threads share
 * the pixels of the window, and their sums are added in a fixed order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/window.cuh"

#define AHEAD 6 /* pixels that a thread has on their way from memory: there may be one block to a multiprocessor */

template <class number, int width>
static __device__ __forceinline__ void average(const pixel_args &args, int i, int32_t block, float *shared) {
    const pixel_plane &plane = args.plane[i];
    const pixel_window &window = args.window;
    const int32_t lanes = args.map.lanes[i], tiles = args.map.blocks[i];
    const int64_t c = (int64_t)(block % tiles * lanes + (int32_t)threadIdx.x % lanes) * width;
    const int64_t output = block / tiles;
    const window_place out = window_place_of(output, window.out_size);
    const int32_t top = share_begin(out.row, window.out_size[0], window.size[0]);
    const int32_t left = share_begin(out.column, window.out_size[1], window.size[1]);
    const int32_t height = share_end(out.row, window.out_size[0], window.size[0]) - top;
    const int32_t across = share_end(out.column, window.out_size[1], window.size[1]) - left;
    const int64_t corner = (out.sample * window.size[0] + top) * window.size[1] + left;
    const number *x = (const number *)plane.x + corner * plane.pitch + c;
    const int32_t step = BLOCK_THREADS / lanes, pixels = height * across;
    const bool has_rows = across == window.size[1]; /* whole ones, one behind the other */
    float sum[width] = {0};
    for (int32_t first = (int32_t)threadIdx.x / lanes; first < pixels && c < plane.channels; first += AHEAD * step) {
        pack<number, width> in[AHEAD];
#pragma unroll
        for (int p = 0; p < AHEAD; p++) {
            const int32_t at = first + p * step;
            const int32_t place = has_rows ? at : at / across * window.size[1] + at % across;
            if (at < pixels) in[p] = pack_read<width>(x + place * plane.pitch);
        }
#pragma unroll
        for (int p = 0; p < AHEAD; p++) {
            float value[width];
            if (first + p * step >= pixels) continue;
            pack_open(value, in[p]);
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += value[j];
        }
    }
    column_add_rows(shared, sum, lanes);
    if ((int32_t)threadIdx.x >= lanes || c >= plane.pitch) return;
#pragma unroll
    for (int j = 0; j < width; j++) sum[j] /= (float)(height * across);
    pack_write((number *)plane.y + output * plane.pitch + c, sum, plane.channels - c);
}

template <class number> static __device__ __forceinline__ void avgpool_fwd(const pixel_args &args, float *shared) {
    const int i = schedule_plane(args.map.first_block, args.planes);
    const int32_t block = (int32_t)blockIdx.x - args.map.first_block[i];
    if (args.map.vector[i]) {
        average<number, widest<number>::width>(args, i, block, shared);
    } else {
        average<number, 1>(args, i, block, shared);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    avgpool_fwd_f32(const __grid_constant__ pixel_args args) {
    __shared__ float shared[widest<f32>::width * BLOCK_THREADS];
    avgpool_fwd<f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    avgpool_fwd_f16(const __grid_constant__ pixel_args args) {
    __shared__ float shared[widest<f16>::width * BLOCK_THREADS];
    avgpool_fwd<f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 4)
    avgpool_fwd_bf16(const __grid_constant__ pixel_args args) {
    __shared__ float shared[widest<bf16>::width * BLOCK_THREADS];
    avgpool_fwd<bf16>(args, shared);
}
