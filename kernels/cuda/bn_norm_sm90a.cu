/*
 * bn_norm: bn_prepare and the normalisation behind it in one launch that reads x once, as far as shared memory holds
 * it. A block sums up one unit after the other, until all are taken; the last pixels of the last one stay in its ring.
 * Then it waits for the other parts of its units' channels, adds the parts by itself and makes y of its pixels, of
 * those that are not in the ring from memory again. Nobody waits before all units are taken by blocks that run, so
 * that somebody can always go on, however many blocks there are and whoever comes first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_norm.h"
#include "kernels/cuda/tile/bn_apply.cuh"
#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/tile/shared.cuh"

static_assert(BN_NORM_SUMS_BYTES >= COLUMN_SUMS_BYTES && BN_NORM_SUMS_BYTES >= BLOCK_THREADS * sizeof(bn_moments),
              "parts and sums fit in");

/* The number of a unit that nobody has, for the first thread. */
static __device__ __forceinline__ uint32_t norm_take(const bn_norm_args &args) {
    return threadIdx.x == 0 ? atomicInc(args.taken, UINT32_MAX) : 0;
}

/* For all threads: what the first one has. */
static __device__ __forceinline__ int32_t norm_share(uint32_t mine, bn_norm_shared *memory) {
    if (threadIdx.x == 0) memory->unit = mine;
    __syncthreads();
    const uint32_t shared = memory->unit;
    __syncthreads();
    return (int32_t)shared;
}

static __device__ __forceinline__ column_work norm_work(const bn_norm_args &args, int pack_width, int32_t unit) {
    const int32_t *first = args.sums.columns.first_block;
    int plane = 0;
    while (plane + 1 < args.sums.planes && unit >= first[plane + 1]) plane++;
    return column_work_of(args.sums, pack_width, plane, (uint32_t)(unit - first[plane]));
}

/* The same of its residual: the same tile and pixels. */
static __device__ __forceinline__ column_work norm_residual(const bn_norm_args &args, const column_work &work) {
    const int32_t *first = args.sums.columns.first_block;
    column_work other = work;
    other.plane -= args.skip;
    other.counter += first[other.plane] - first[work.plane];
    return other;
}

/* Waits for the parts of a tile, and finds what normalises its channels. One block of a tile writes it, too. */
template <int width>
static __device__ __forceinline__ void norm_learn(const bn_norm_args &args, const column_work &mine,
                                                  bn_norm_shared *memory, int row, bool writes) {
    const bn_finalize_args &norm = args.norm;
    const bn_finalize_plane &plane = norm.plane[mine.plane];
    const int32_t thread = (int32_t)threadIdx.x, channels = mine.lanes * width;
    const int half = args.own && mine.plane >= args.skip;
    column_work work = mine;
    work.lanes = channels;
    work.channel = mine.channel - column_rest(thread, mine.lanes) * width + column_rest(thread, channels);
    const bool knows = thread < channels && work.channel < plane.channels;
    bn_channel of = {};
    if (knows && writes) of = bn_channel_of(plane, work.channel);
    if (knows && !writes) of.gamma = plane.gamma[work.channel], of.beta = plane.beta[work.channel];
    const int64_t batches = writes && norm.cumulative ? *args.batches[half] : 0;
    arrive_wait(args.sums.counters + mine.counter, (uint32_t)args.sums.columns.parts);
    const bn_moments all = columns_sum(args.sums, work, (bn_moments *)memory->sums);
    const float var = moments_var(all);
    if (thread < channels) {
        const bn_line line = knows ? bn_line_of(norm, of.gamma, of.beta, all.mean, var) : bn_line();
        memory->scale[row][thread] = line.scale;
        memory->shift[row][thread] = line.shift;
    }
    if (knows && writes)
        bn_finish(norm, plane, work.channel, of, all.mean, var,
                  bn_factor(norm, mine.plane - half * args.skip, batches));
    __syncthreads();
}

/* Counts the batch: the block that wrote the first tile, or, where all that write read the count, the last of them. */
static __device__ __forceinline__ void norm_count(const bn_norm_args &args, const column_work &work) {
    const pixel_columns &columns = args.sums.columns;
    const int half = args.own && work.plane >= args.skip, first = half * args.skip,
              end = args.own ? first + args.skip : args.sums.planes;
    const bool counts = args.norm.cumulative
                            ? arrives_last(args.counted + half, columns.first_tile[end] - columns.first_tile[first])
                            : work.counter == columns.first_block[first];
    if (counts && threadIdx.x == 0) *args.batches[half] += bn_counted(args.norm);
}

/* Sends the residuals of a unit on their way to the cache, while its block waits for others. */
static __device__ __forceinline__ void norm_ask(const bn_norm_args &args, const column_work &work, int number_bytes) {
#ifdef __CUDA_ARCH__
    const pixel_plane &plane = args.sums.plane[work.plane];
    const int64_t bytes = number_bytes, step = work.step * plane.pitch * bytes;
    const char *next = (const char *)plane.z + (work.begin * plane.pitch + work.channel) * bytes;
    if (work.channel >= plane.channels) return;
#pragma unroll 4
    for (int32_t left = column_count(work); left > 0; left--, next += step)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(next));
#else
    (void)args, (void)work, (void)number_bytes;
#endif
}

/* y of a unit's pixels; those of the last unit are in the ring, as far as that holds them. */
template <class body, bool adds>
static __device__ __forceinline__ void norm_make(const bn_norm_args &args, const column_work &work,
                                                 const bn_norm_shared *memory, bool is_last) {
    const int ahead = adds ? 8 : 4; /* pixels on their way */
    const int32_t count = column_count(work), at = column_rest((int32_t)threadIdx.x, work.lanes) * body::lanes;
    const int32_t over = count > BN_NORM_STAGES ? count - BN_NORM_STAGES : 0, kept = is_last ? over : count;
    body of(args.sums, work.plane);
    const int64_t pitch = of.plane.pitch, c = work.channel;
    if (c >= pitch) return;
    of.know(memory->scale[0] + at, memory->shift[0] + at, body::lanes);
    if constexpr (adds) {
        if (args.own) {
            of.know_residual(memory->scale[1] + at, memory->shift[1] + at, body::lanes);
        } else if (of.plane.zscale) {
            of.know_residual(of.plane.zscale + c, of.plane.zshift + c, of.plane.channels - c);
        }
    }
#pragma unroll 1
    for (int32_t k = 0; k < count; k += ahead) {
        typename body::inputs in[ahead];
        bool live[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t pixel = work.begin + (int64_t)(k + j) * work.step, from = pixel * pitch + c;
            live[j] = k + j < count && c < of.plane.channels && !column_blanks(of, pixel);
            if (!live[j]) continue;
            of.fetch_others(in[j], from);
            if (k + j >= kept) {
                memcpy(&body::x_of(in[j]), memory->ring[(k + j) % BN_NORM_STAGES * BLOCK_THREADS + threadIdx.x], 16);
            } else {
                body::x_of(in[j]) = of.take(of.plane.x, from);
            }
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t pixel = work.begin + (int64_t)(k + j) * work.step, to = pixel * pitch + c;
            if (live[j]) {
                of.make(in[j], pixel, c, to);
            } else if (k + j < count) {
                of.blank(to);
            }
        }
    }
}

template <class body, bool adds, class number>
static __device__ __forceinline__ void norm_kernel(const bn_norm_args &args) {
    typedef moments<number, body::lanes> sums;
    bn_norm_shared *const memory = (bn_norm_shared *)shared_memory();
    int32_t last = -1;
    for (int32_t unit = norm_share(norm_take(args), memory); unit < args.units;) {
        const column_work work = norm_work(args, body::lanes, unit);
        const uint32_t next = norm_take(args);
        columns_make_part<sums, BN_NORM_STAGES>(args.sums, work, (column_pack *)memory->ring, memory->sums);
        __syncthreads();
        if (threadIdx.x == 0) {
            arrive_count(args.sums.counters + work.counter, UINT32_MAX);
            args.before[unit] = last;
        }
        last = unit;
        unit = norm_share(next, memory);
    }
    for (int32_t unit = last; unit >= 0; unit = args.before[unit]) {
        const column_work work = norm_work(args, body::lanes, unit);
        const bool writes = work.part == 0, makes = work.plane >= args.skip;
        if (adds && makes) norm_ask(args, work, (int)sizeof(number));
        if (writes || makes) norm_learn<body::lanes>(args, work, memory, 0, writes);
        if (writes) norm_count(args, work);
        if (makes && args.own) norm_learn<body::lanes>(args, norm_residual(args, work), memory, 1, false);
        if (makes) norm_make<body, adds>(args, work, memory, unit == last);
    }
    if (!arrives_last(args.left, (int32_t)gridDim.x)) return;
    for (int32_t unit = (int32_t)threadIdx.x; unit < args.units; unit += BLOCK_THREADS) args.sums.counters[unit] = 0;
    if (threadIdx.x == 0) *args.taken = 0;
}

template <class number> static __device__ __forceinline__ void bn_norm(const bn_norm_args &args) {
    const int width = widest<number>::width;
    if (act_is_curved(args.sums.activation)) {
        norm_kernel<bn_apply<true>::body<number, width>, false, number>(args);
    } else {
        norm_kernel<bn_apply<false>::body<number, width>, false, number>(args);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1) bn_norm_f32(const __grid_constant__ bn_norm_args args) {
    bn_norm<f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1) bn_norm_f16(const __grid_constant__ bn_norm_args args) {
    bn_norm<f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1) bn_norm_bf16(const __grid_constant__ bn_norm_args args) {
    bn_norm<bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    bn_norm_add_f32(const __grid_constant__ bn_norm_args args) {
    norm_kernel<bn_add_act<f32, 4>, true, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    bn_norm_add_f16(const __grid_constant__ bn_norm_args args) {
    norm_kernel<bn_add_act<f16, 8>, true, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    bn_norm_add_bf16(const __grid_constant__ bn_norm_args args) {
    norm_kernel<bn_add_act<bf16, 8>, true, bf16>(args);
}
