/*
 * integrate forward on Hopper's matrix units (tile/integrate_fwd.cuh) with the statistics of its inputs and of its
 * output, where there are more than 128 outputs: few pixels, and many channels. There are blocks of two kinds. The first
 * read the streams from memory, each 64 channels and a part of the pixels, and leave them in the cache for the others;
 * the last of those that share 64 channels adds what they found. The others make tiles; they take the statistics of the
 * outputs from their sums, as they are stored, keep to one column of tiles, and leave what they found as a part, which
 * the last of them add (tile/moments_join.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/integrate_prepare.h"
#include "kernels/cuda/tile/integrate_fwd.cuh"
#include "kernels/cuda/tile/moments_join.cuh"

#define STREAM_THREADS INTEGRATE_PREPARE_WIDE_THREADS /* all of a block */
#define STREAM_WARPS (STREAM_THREADS / 32)
#define OUTPUT_BARRIER 3
#define GROUP_WARPS 8 /* of both groups that multiply: 16 rows of a tile each */

/* ---- The outputs ----------------------------------------------------------------------------------- */

/* Mean and squared distances from it of two columns in `count` rows. */
struct pair_moments {
    float mean[2], square[2];
};

/* `share` is what the rows of `more` are of both; `weight` is the count of the first times that. */
static __device__ __forceinline__ void pair_add(pair_moments *to, const pair_moments &more, float share, float weight) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float distance = more.mean[i] - to->mean[i];
        to->mean[i] += distance * share;
        to->square[i] += more.square[i] + distance * distance * weight;
    }
}

#define PAIRS 8 /* of a thread's columns at a time */

/* Moments of the two rows that a thread has, of PAIRS pairs of columns from sum `at` on. */
template <class number, int count>
static __device__ __forceinline__ void find_pairs(pair_moments (&pair)[PAIRS], const float (&sum)[count], int at,
                                                  float first, float second) {
    const float share = second > 0 ? second / (first + second) : 0, weight = first * share;
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
        const float *four = sum + at + 4 * j;
        const uint32_t row[2] = {pair_made<number>(four[0], four[1]), pair_made<number>(four[2], four[3])};
        pair_moments below;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            pair[j].mean[i] = pair_at<number>(row[0], i);
            below.mean[i] = pair_at<number>(row[1], i);
            pair[j].square[i] = below.square[i] = 0;
        }
        pair_add(&pair[j], below, share, weight);
    }
}

/* Adds what the lanes of a warp have whose numbers differ by `bits`, and divides the pairs among them: the lane with
 * the bit keeps the second half. */
template <int pairs>
static __device__ __forceinline__ void halve_pairs(pair_moments (&pair)[PAIRS], float *count, int bits) {
    const bool upper = threadIdx.x & (uint32_t)bits;
    const float others = __shfl_xor_sync(0xFFFFFFFFu, *count, bits);
    const float share = others > 0 ? others / (*count + others) : 0, weight = *count * share;
#pragma unroll
    for (int j = 0; j < pairs / 2; j++) {
        pair_moments mine = upper ? pair[j + pairs / 2] : pair[j], theirs = upper ? pair[j] : pair[j + pairs / 2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            theirs.mean[i] = __shfl_xor_sync(0xFFFFFFFFu, theirs.mean[i], bits);
            theirs.square[i] = __shfl_xor_sync(0xFFFFFFFFu, theirs.square[i], bits);
        }
        pair_add(&mine, theirs, share, weight);
        pair[j] = mine;
    }
    *count += others;
}

/* How many of 16 rows from `first` on there are. */
static __device__ __forceinline__ int32_t rows_left(const integrate_panels_args &all, int32_t first, int32_t most) {
    const int32_t left = all.pixels - first;
    return left < 0 ? 0 : left < most ? left : most;
}

/* Where the warps of both groups leave the moments of a tile's columns: [warp][column], a mean and a square. */
template <int columns> static __device__ __forceinline__ uint32_t room_at(const integrate_tma_args &args, int warp) {
    return shared_address(shared_memory()) + (uint32_t)(args.squares_at + warp * columns * 8);
}

/* Stores the results, and adds their moments to those of the thread's column. */
template <class number, int columns> struct counted_results {
    column_total<bn_moments> *total;

    template <int count>
    __device__ __forceinline__ void write(const float (&sum)[count], const integrate_tma_args &args,
                                          int32_t first_pixel, int32_t first_column) const {
        const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
        const int32_t tile_pixel = first_pixel - panel_group() * 64, pixel = first_pixel + panel_sum_row();
        const float first = pixel < args.all.pixels, second = pixel + 8 < args.all.pixels;
        direct_results<number>().write(sum, args, first_pixel, first_column);
#pragma unroll
        for (int at = 0; at < count; at += 4 * PAIRS) {
            pair_moments pair[PAIRS];
            float rows = first + second;
            uint32_t word[4];
            find_pairs<number>(pair, sum, at, first, second);
            halve_pairs<PAIRS>(pair, &rows, 16);
            halve_pairs<PAIRS / 2>(pair, &rows, 8);
            halve_pairs<PAIRS / 4>(pair, &rows, 4);
            const float found[4] = {pair[0].mean[0], pair[0].square[0], pair[0].mean[1], pair[0].square[1]};
            memcpy(word, found, sizeof word);
            const int own = at / 4 + (lane >> 4 & 1) * 4 + (lane >> 3 & 1) * 2 + (lane >> 2 & 1);
            shared_write(room_at<columns>(args, warp) + (uint32_t)(own * 8 + lane % 4 * 2) * 8, word);
        }
        named_sync(OUTPUT_BARRIER, 2 * PANEL_GROUP);
        if ((int)threadIdx.x < columns) {
#pragma unroll 1
            for (int w = 0; w < GROUP_WARPS; w++) {
                float found[2];
                shared_read_pair(found, room_at<columns>(args, w) + threadIdx.x * 8);
                const bn_moments more = {(float)rows_left(args.all, tile_pixel + 16 * w, 16), found[0], found[1]};
                total->include(more);
            }
        }
        named_sync(OUTPUT_BARRIER, 2 * PANEL_GROUP); /* all have read before the next tile */
    }
};

template <class number, int columns>
static __device__ __forceinline__ void make_outputs(const integrate_prepare_args &all, const ring_cursor &at) {
    const integrate_tma_args &args = all.mix;
    const int32_t part = tile_block(args) / args.all.columns;
    const int32_t output = tile_block(args) % args.all.columns * columns + (int32_t)threadIdx.x;
    column_total<bn_moments> total = {};
    consume<number, columns, 2>(args, at, counted_results<number, columns>{&total});
    if (part >= all.parts.parts || (int)threadIdx.x >= columns || output >= args.all.outputs) return;
    const bn_moments found = total.finish();
    write_bytes<sizeof found>(all.parts.moments + (int64_t)part * all.parts.pitch + args.stream_channels + output,
                              &found);
}

/* ---- The streams ----------------------------------------------------------------------------------- */

/* 64 channels of a stream and a part of the pixels. */
struct stream_work {
    int32_t source, c, channel; /* the first channel, in the source and among all of a part */
    int32_t panel, part, begin, end;
};

static __device__ __forceinline__ stream_work find_work(const integrate_prepare_args &all, int32_t item) {
    const integrate_panels_args &mix = all.mix.all;
    const int32_t panel = item % all.panels, part = item / all.panels, begin = part * all.part_pixels;
    stream_work work = {0, panel, 0, panel, part, begin, begin + all.part_pixels};
    if (work.end > mix.pixels) work.end = mix.pixels;
    for (; work.source < mix.sources; work.source++) {
        const integrate_panels_source &source = mix.source[work.source];
        const int32_t panels = (source.channels + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
        if (source.is_pathway) continue;
        if (work.c < panels) break;
        work.c -= panels;
        work.channel += source.channels;
    }
    work.c *= PANEL_COLUMNS;
    work.channel += work.c;
    return work;
}

/* Sums of eight channels over the pixels of a thread: distances from an origin, a value of each. */
struct stream_sums {
    float origin[8], sum[8], square[8], count;

    template <class number> __device__ __forceinline__ void begin(const uint32_t (&word)[4]) {
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const float value = pair_at<number>(word[c / 2], c % 2);
            origin[c] = isfinite(value) ? value : 0;
        }
    }
    template <class number> __device__ __forceinline__ void include(const uint32_t (&word)[4]) {
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const float distance = pair_at<number>(word[c / 2], c % 2) - origin[c];
            sum[c] += distance;
            square[c] += distance * distance;
        }
        count += 1;
    }
    /* The origin moves to the mean, or near it, so that a first value that lies far off costs no digits. */
    __device__ __forceinline__ void settle() {
        const float share = count > 0 ? 1 / count : 0;
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const float mean = origin[c] + sum[c] * share, next = isfinite(mean) ? mean : origin[c];
            const float moved = next - origin[c], left = sum[c] - moved * count;
            square[c] -= moved * (sum[c] + left);
            sum[c] = left;
            origin[c] = next;
        }
    }
    __device__ __forceinline__ bn_moments at(int c) const {
        const float mean = count > 0 ? sum[c] / count : 0;
        const bn_moments found = {count, origin[c] + mean, square[c] - mean * sum[c]};
        return found;
    }
};

/* What the thread's pixels have: eight lanes have a pixel, eight channels each, and `ahead` pixels are on their way. */
template <class number>
static __device__ __forceinline__ void add_pixels(stream_sums *sums, const integrate_panels_args &all,
                                                  const stream_work &work) {
    const int ahead = 8;
    const integrate_panels_source &source = all.source[work.source];
    const uint32_t sample_pixels = (uint32_t)(all.out_size[0] * all.out_size[1]), whole = (1u << ahead) - 1;
    const int32_t step = STREAM_THREADS / 8, c = work.c + (int32_t)threadIdx.x % 8 * 8, last = work.end - 1;
    const number *x = (const number *)source.x + c;
    if (c >= source.channels) return;
#pragma unroll 1
    for (int32_t pixel = work.begin + (int32_t)threadIdx.x / 8; pixel < work.end; pixel += ahead * step) {
        uint32_t word[ahead][4], live = 0;
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int32_t at = pixel + j * step;
            read_bytes<16>(word[j], x + (int64_t)(at < last ? at : last) * source.pitch);
            if (at < work.end && !(source.mask && mask_blanks(source.mask, (uint32_t)at / sample_pixels)))
                live |= 1u << j;
        }
        if (live == whole && sums->count > 0) {
#pragma unroll
            for (int j = 0; j < ahead; j++) sums->include<number>(word[j]);
            continue;
        }
        const bool is_first = sums->count == 0;
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (!(live >> j & 1)) continue;
            if (sums->count == 0) sums->begin<number>(word[j]);
            sums->include<number>(word[j]);
        }
        if (is_first && live) sums->settle();
    }
}

/* Where the warps leave what they found: [warp][64 channels]. */
static __device__ __forceinline__ uint32_t stream_room(int32_t warp) {
    return shared_address(shared_memory()) + (uint32_t)(warp * PANEL_COLUMNS) * 16;
}

/* Leaves what the lanes of a warp found. */
static __device__ __forceinline__ void leave_sums(const stream_sums &sums) {
    const int32_t lane = (int32_t)threadIdx.x % 32;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        uint32_t word[4] = {0, 0, 0, 0};
        bn_moments found = sums.at(c);
        found = add_across(found, 8);
        found = add_across(found, 16);
        memcpy(word, &found, 3 * sizeof(float));
        if (lane < 8) shared_write(stream_room((int32_t)threadIdx.x / 32) + (uint32_t)(lane * 8 + c) * 16, word);
    }
}

/* The moments of the block's channels as a part, by a thread for each. */
static __device__ __forceinline__ void write_part(const integrate_prepare_args &all, const stream_work &work) {
    bn_moments found = {};
#pragma unroll 4
    for (int32_t warp = 0; warp < STREAM_WARPS; warp++) {
        uint32_t word[4];
        bn_moments more;
        shared_read(word, stream_room(warp) + threadIdx.x * 16);
        memcpy(&more, word, sizeof more);
        found = add(found, more);
    }
    write_bytes<sizeof found>(
        all.parts.moments + (int64_t)work.part * all.parts.pitch + work.channel + (int32_t)threadIdx.x, &found);
}

/* All of a block that reads a stream. */
template <class number>
static __device__ __forceinline__ void add_streams(const integrate_prepare_args &all, int32_t item) {
    const stream_work work = find_work(all, item);
    const int32_t left = all.mix.all.source[work.source].channels - work.c;
    const bool has_channel = (int32_t)threadIdx.x < (left < PANEL_COLUMNS ? left : PANEL_COLUMNS);
    uint32_t *const counter = all.parts.counters + MOMENTS_COUNTERS(all.parts) + work.panel;
    stream_sums sums = {};
    add_pixels<number>(&sums, all.mix.all, work);
    leave_sums(sums);
    __syncthreads();
    if (has_channel) write_part(all, work);
    if (!arrives_last(counter, all.panel_parts)) return;
    const int64_t batches = all.norm.cumulative ? *all.norm.batches : 0;
    if (has_channel)
        moments_finish<8>(all.parts, all.norm, 1, all.panel_parts, work.channel + (int32_t)threadIdx.x, batches);
    if (all.norm.cumulative && arrives_last(moments_finished(all.parts), all.parts.finishers) && threadIdx.x == 0)
        *all.norm.batches += bn_counted(all.norm);
}

/* ---- All ------------------------------------------------------------------------------------------- */

/* The outputs of the block's column of tiles. */
template <int columns> struct column_outputs {
    int32_t first, outputs, before, count;
    __device__ __forceinline__ int32_t channel(int32_t k) const {
        return first + k < outputs ? before + first + k : -1;
    }
};

template <class number, int columns>
static __device__ __forceinline__ void integrate_prepare(const integrate_prepare_args &all) {
    const integrate_tma_args &args = all.mix;
    if (tile_block(args) < 0) {
        add_streams<number>(all, (int32_t)blockIdx.x);
        return;
    }
    const ring_cursor at = open_ring(args, 2);
    if (is_consumer(2)) {
        registers_take<192>();
        make_outputs<number, columns>(all, at);
    } else {
        registers_give<120>();
        if (is_producer(2)) produce<columns, 2>(args, at);
    }
    __syncwarp(); /* the lanes beside the one that asks for the copies have waited for it */
    const int32_t first = tile_block(args) % args.all.columns * columns;
    const column_outputs<columns> outputs = {first, args.all.outputs, args.stream_channels, columns};
    moments_join<16>(all.parts, all.norm, outputs, tile_block(args));
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_f16_128(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 128>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_f16_256(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<f16, 256>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_bf16_128(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 128>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_PREPARE_WIDE_THREADS, 1)
    integrate_prepare_wgmma_bf16_256(const __grid_constant__ integrate_prepare_args args) {
    integrate_prepare<bf16, 256>(args);
}
