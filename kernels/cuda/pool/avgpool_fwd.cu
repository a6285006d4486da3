/*
 * avgpool forward: the mean of every window. A block has one window, or where windows are few and large a part of one,
 * and a tile of channels: its rows of threads share the pixels, and their sums are added in a fixed order. The last
 * block of a window adds the parts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/pool/avgpool.h"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/window.cuh"

#define STAGES (COLUMN_RING_PACKS / BLOCK_THREADS)

/* The pixels of a window that a thread adds: first, first + step, ... before count. */
template <class number> struct window_share {
    const number *x; /* the thread's channels of the window's first pixel */
    int64_t pitch;
    int32_t first, step, count, across, line; /* columns of the window and of the image */
    __device__ __forceinline__ const number *from(int32_t at) const {
        return x + (across == line ? at : at / across * line + at % across) * pitch;
    }
};

/* Packs are on their way in a ring of which a thread sees its own: there may be one block to a multiprocessor. */
template <class number, int width>
static __device__ __forceinline__ void add_packs(float (&sum)[width], const window_share<number> &of,
                                                 column_pack *ring) {
    column_pack *const own = ring + threadIdx.x;
    int32_t next = of.first, here = 0, last = STAGES - 1; /* the pixel that is sent next; stages */
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++, next += of.step) {
        if (next < of.count) copy_async(own + s * BLOCK_THREADS, of.from(next), true);
        copy_async_commit();
    }
#pragma unroll 2
    for (int32_t at = of.first; at < of.count; at += of.step, next += of.step) {
        float value[width];
        copy_async_wait<STAGES - 2>();
        if (next < of.count) copy_async(own + last * BLOCK_THREADS, of.from(next), true);
        copy_async_commit();
        pack_open(value, *(const pack<number, width> *)(own + here * BLOCK_THREADS));
#pragma unroll
        for (int j = 0; j < width; j++) sum[j] += value[j];
        last = here;
        here = here + 1 < STAGES ? here + 1 : 0;
    }
    copy_async_wait<0>();
}

template <class number>
static __device__ __forceinline__ void add_packs(float (&sum)[1], const window_share<number> &of, column_pack *) {
#pragma unroll 4
    for (int32_t at = of.first; at < of.count; at += of.step) sum[0] += load(of.from(at));
}

/* A window of a tile of channels, and what this block has of it. */
struct window_part {
    int64_t output, first_channel; /* the window, counted over all samples; of the tile */
    int32_t lanes, parts, part;
};

/* True in the last block of a window, which finds the sums of all its parts in `sums`. */
static __device__ __forceinline__ bool is_last_part(const avgpool_fwd_args &args, const window_part &of) {
    return arrives_last(args.counters + blockIdx.x / (uint32_t)of.parts, of.parts);
}

/* Leaves the sums of a part; the last block makes the means of the tile's channels, one to a thread. */
template <class number, int width>
static __device__ __forceinline__ void join_parts(const avgpool_fwd_args &args, int i, const window_part &of,
                                                  const float (&sum)[width], float pixels) {
    const auto &plane = args.plane[i];
    const int32_t thread = (int32_t)threadIdx.x;
    float *const sums = args.sums + (int64_t)(blockIdx.x - of.part) * WINDOW_SUMS;
#pragma unroll
    for (int j = 0; j < width; j++) {
        if (thread < of.lanes) sums[of.part * WINDOW_SUMS + thread * width + j] = sum[j];
    }
    if (!is_last_part(args, of)) return;
    const int64_t c = of.first_channel + thread;
    if (thread >= of.lanes * width || c >= plane.pitch) return;
    float total = 0;
#pragma unroll 4
    for (int32_t part = 0; part < of.parts; part++) total += sums[part * WINDOW_SUMS + thread];
    store((number *)plane.y + of.output * plane.pitch + c, c < plane.channels ? total / pixels : 0);
}

template <class number, int width>
static __device__ __forceinline__ void average(const avgpool_fwd_args &args, int i, int32_t block, column_pack *ring) {
    const auto &plane = args.plane[i];
    const pixel_window &window = args.window;
    const int32_t tiles = args.map.blocks[i], parts = args.parts, whole = block / parts;
    const window_part of = {whole / tiles, (int64_t)(whole % tiles) * args.map.lanes[i] * width, args.map.lanes[i],
                            parts, block % parts};
    const int64_t c = of.first_channel + (int32_t)threadIdx.x % of.lanes * width;
    const window_place out = window_place_of(of.output, window.out_size);
    const int32_t top = share_begin(out.row, window.out_size[0], window.size[0]);
    const int32_t left = share_begin(out.column, window.out_size[1], window.size[1]);
    const int32_t height = share_end(out.row, window.out_size[0], window.size[0]) - top;
    const int32_t across = share_end(out.column, window.out_size[1], window.size[1]) - left;
    const int64_t corner = (out.sample * window.size[0] + top) * window.size[1] + left;
    const int32_t pixels = height * across, share = (pixels + parts - 1) / parts, begin = of.part * share;
    const int32_t end = begin + share < pixels ? begin + share : pixels;
    const window_share<number> mine = {(const number *)plane.x + corner * plane.pitch + c,
                                       plane.pitch,
                                       begin + (int32_t)threadIdx.x / of.lanes,
                                       BLOCK_THREADS / of.lanes,
                                       c < plane.channels ? end : 0,
                                       across,
                                       window.size[1]};
    float sum[width] = {0};
    add_packs(sum, mine, ring);
    __syncthreads(); /* nobody reads packs any more */
    column_add_rows((float *)ring, sum, of.lanes);
    if (parts > 1) {
        join_parts<number>(args, i, of, sum, (float)pixels);
        return;
    }
    if ((int32_t)threadIdx.x >= of.lanes || c >= plane.pitch) return;
#pragma unroll
    for (int j = 0; j < width; j++) sum[j] /= (float)pixels;
    pack_write((number *)plane.y + of.output * plane.pitch + c, sum, plane.channels - c);
}

template <class number>
static __device__ __forceinline__ void avgpool_fwd(const avgpool_fwd_args &args, column_pack *ring) {
    const int i = schedule_plane(args.map.first_block, args.planes);
    const int32_t block = (int32_t)blockIdx.x - args.map.first_block[i];
    if (args.map.vector[i]) {
        average<number, widest<number>::width>(args, i, block, ring);
    } else {
        average<number, 1>(args, i, block, ring);
    }
}

ENTRY_FORMATS(avgpool_fwd, (BLOCK_THREADS, 4), avgpool_fwd_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              avgpool_fwd<number>(args, ring))
