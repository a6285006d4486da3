/*
 * The general convolution on the matrix units: a product of lanes x pixels summed over (64 channels, tap). One thread
 * asks the copy engine for the pixels that a tap reads (im2col maps walk over flattened pixels, with stride and zeros
 * beyond the edge, so a tile is any run of pixels, across rows and samples) and for the tap's weights; two
 * warpgroups multiply. Blocks stay and take every gridDim-th tile, so that the loads of a tile begin while the one
 * before is stored. Sums are float, in an order that the problem alone decides.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_IM2COL_CUH
#define BRAID_KERNELS_CUDA_TILE_IM2COL_CUH

#include "kernels/cuda/conv2d_im2col.h"
#include "kernels/cuda/tile/barrier.cuh"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/number.cuh"
#include "kernels/cuda/tile/registers.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shared.cuh"
#include "kernels/cuda/tile/tma.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

/* The named barriers: 1 and 2 of each warpgroup alone, and that of the second one's delay. */
#define IM2COL_LEAD 3

/* `transposed`: the weights are summed over K, not over C. */
template <class number_type, int columns_each, int split_pixels, int transposed_weights> struct im2col_shape {
    typedef number_type number;
    static const int columns = columns_each, split = split_pixels, transposed = transposed_weights;
    static const int lanes = IM2COL_LANES(split), pixels = IM2COL_PIXELS(columns, split);
    static const int stages = IM2COL_STAGES(columns, split);
    static const int lead = stages > 4 ? 2 : 1; /* steps that the first warpgroup begins before the second */
    static const uint32_t stage_bytes = IM2COL_STAGE_BYTES(columns, split), weight_bytes = lanes * 128;
    static const uint32_t results = stages * stage_bytes, barriers = results + 4 * IM2COL_RESULT_BYTES;
};

/* A tile: `first_lane` and `first_pixel` are those of its corner. */
struct im2col_work {
    int plane, pixel_class;
    int32_t first_lane, first_pixel;
};

template <class shape>
static __device__ __forceinline__ im2col_work im2col_find(const conv2d_im2col_args &args, int32_t tile) {
    int at = 0;
    while (at + 1 < args.segments && tile >= args.segment[at + 1].first_tile) at++;
    im2col_work work;
    work.plane = args.segment[at].plane;
    work.pixel_class = args.segment[at].pixel_class;
    const int32_t rest = tile - args.segment[at].first_tile, lane_tiles = args.plane[work.plane].lane_tiles;
    work.first_pixel = rest / lane_tiles * shape::pixels;
    work.first_lane = rest % lane_tiles * shape::lanes;
    return work;
}

/* A place in the ring of stages, and the parity of its phase. */
template <class shape> struct im2col_place {
    int stage;
    uint32_t parity, memory; /* the shared memory of the block */

    __device__ __forceinline__ uint32_t weights() const { return this->memory + this->stage * shape::stage_bytes; }
    __device__ __forceinline__ uint32_t pixels() const { return this->weights() + shape::weight_bytes; }
    __device__ __forceinline__ uint32_t full() const {
        return this->memory + shape::barriers + this->stage * BARRIER_BYTES;
    }
    __device__ __forceinline__ uint32_t empty() const { return this->full() + shape::stages * BARRIER_BYTES; }
    __device__ __forceinline__ void advance() {
        if (++this->stage < shape::stages) return;
        this->stage = 0;
        this->parity ^= 1;
    }
};

template <class shape>
static __device__ __forceinline__ void im2col_load_weights(const conv2d_im2col_args &args, const im2col_work &work,
                                                           const im2col_place<shape> &place, int index, int channel) {
#pragma unroll
    for (int part = 0; part < shape::lanes / 64; part++) {
        const int lane = work.first_lane + part * 64;
        tma_load_3d(place.weights() + part * 8192, &args.weights[work.plane], place.full(),
                    shape::transposed ? lane : channel, index, shape::transposed ? channel : lane);
    }
}

/* What is added to a tile: for every 64 lanes a stage. */
template <class shape>
static __device__ __forceinline__ void im2col_load_added(const conv2d_im2col_args &args, const im2col_work &work,
                                                         im2col_place<shape> *place) {
    const im2col_class &from = args.pixel_class[work.pixel_class];
    const int32_t row = work.first_pixel / args.count[1], sample = row / args.count[0];
    const int32_t h = (row - sample * args.count[0]) * args.step[0];
    const int32_t w = (work.first_pixel - row * args.count[1]) * args.step[1];
    for (int part = 0; part < shape::lanes / 64; part++, place->advance()) {
        barrier_wait(place->empty(), place->parity);
        barrier_expect(place->full(), shape::pixels * 128);
        tma_load_im2col_4d(place->weights(), &args.added[work.plane], place->full(), work.first_lane + part * 64, w, h,
                           sample, (uint16_t)from.first[1], (uint16_t)from.first[0]);
    }
}

/* The one thread that loads. */
template <class shape>
static __device__ __forceinline__ void im2col_produce(const conv2d_im2col_args &args, uint32_t memory) {
    im2col_place<shape> place = {0, 1, memory};
    for (int32_t tile = (int32_t)blockIdx.x; tile < args.tiles; tile += (int32_t)gridDim.x) {
        const im2col_work work = im2col_find<shape>(args, tile);
        const im2col_class taps = args.pixel_class[work.pixel_class];
        const int32_t row = work.first_pixel / args.count[1], sample = row / args.count[0];
        const int32_t h = (row - sample * args.count[0]) * args.stride[0] + args.lower[0];
        const int32_t w = (work.first_pixel - row * args.count[1]) * args.stride[1] + args.lower[1];
        for (int32_t block = 0; block < IM2COL_BLOCKS(args.plane[work.plane].slices); block++) {
            for (int32_t at = taps.first_tap; at < taps.first_tap + taps.taps; at++) {
                const im2col_tap tap = args.tap[at];
                barrier_wait(place.empty(), place.parity);
                barrier_expect(place.full(), shape::stage_bytes);
                tma_load_im2col_4d(place.pixels(), &args.pixels[work.plane], place.full(), block * 64, w, h, sample,
                                   tap.offset[1], tap.offset[0]);
                im2col_load_weights<shape>(args, work, place, tap.index, block * 64);
                place.advance();
            }
        }
        if (args.plane[work.plane].epilogue.added) im2col_load_added<shape>(args, work, &place);
    }
}

/* Where a tile's products are: which step is next, and the stage that the one before used. */
template <class shape> struct im2col_progress {
    im2col_place<shape> *place;
    int32_t step;
    uint32_t used;
};

/* The products of one step: of all four slices of 16 channels, or (few) of the first `depth`. A stage is handed back
 * when the products behind it are under way. */
template <class shape, bool few>
static __device__ __forceinline__ void im2col_step(float (&sums)[shape::columns / 2], im2col_progress<shape> *at,
                                                   int32_t depth, int group, bool leads) {
    const im2col_place<shape> &place = *at->place;
    const uint32_t weights_at = shape::split ? 0 : (uint32_t)group * 8192;
    const uint32_t pixels_at = shape::split ? (uint32_t)group * shape::columns * 128 : 0;
    const shared_matrix a = shape::transposed ? matrix_down_rows(place.weights() + weights_at, 16)
                                              : matrix_along_rows(place.weights() + weights_at);
    const shared_matrix b = matrix_along_rows(place.pixels() + pixels_at);
    barrier_wait(place.full(), place.parity);
    wgmma_hold(sums);
    if (few) {
#pragma unroll 1
        for (int k = 0; k < depth; k++) {
            wgmma_begin();
            wgmma<typename shape::number, shape::columns, shape::transposed>(
                sums, matrix_moved(a, k * (shape::transposed ? 2048 : 32)), matrix_moved(b, k * 32), at->step | k);
            wgmma_commit();
        }
    } else {
        wgmma_begin();
#pragma unroll
        for (int k = 0; k < 4; k++) {
            wgmma<typename shape::number, shape::columns, shape::transposed>(
                sums, matrix_moved(a, k * (shape::transposed ? 2048 : 32)), matrix_moved(b, k * 32), at->step | k);
        }
        wgmma_commit();
    }
    if (leads && at->step + 1 == shape::lead) named_arrive(IM2COL_LEAD, 256);
    wgmma_wait<1>();
    if (at->step > 0 && threadIdx.x % 32 == 0) barrier_arrive(at->used);
    at->used = place.empty();
    at->place->advance();
}

/* The products of one tile: so many steps, the last `few` of which have `depth` slices of 16 channels. `leads`: the
 * other warpgroup waits to begin. */
template <class shape>
static __device__ __forceinline__ void im2col_multiply(float (&sums)[shape::columns / 2], im2col_place<shape> *place,
                                                       int32_t steps, int32_t few, int32_t depth, int group,
                                                       bool leads) {
    im2col_progress<shape> at = {place, 0, 0};
    for (; at.step < steps - few; at.step++) im2col_step<shape, false>(sums, &at, 4, group, leads);
    for (; at.step < steps; at.step++) im2col_step<shape, true>(sums, &at, depth, group, leads);
    wgmma_wait<0>();
    wgmma_hold(sums);
    if (steps > 0 && threadIdx.x % 32 == 0) barrier_arrive(at.used);
    if (leads && steps < shape::lead) named_arrive(IM2COL_LEAD, 256);
}

/* The sums of a warpgroup, rounded and turned to [pixel][lane]: 32 pixels from column `begin` on (the last 16 may be
 * missing) in a buffer of results under the 128-byte swizzle. `added`: where what is added to column 0 lies; 0:
 * nothing. */
template <class shape>
static __device__ __forceinline__ void im2col_turn(uint32_t buffer, const float (&sums)[shape::columns / 2], int begin,
                                                   const epilogue_rows &with, uint32_t added) {
    const uint32_t within = epilogue_rows_at();
    if (with.is_plain) {
#pragma unroll
        for (int at = begin; at < begin + 32 && at < shape::columns; at += 16)
            epilogue_rows_plain_16<typename shape::number>(buffer + within + (at - begin) * 128, sums + at / 2);
        return;
    }
#pragma unroll
    for (int at = begin; at < begin + 32 && at < shape::columns; at += 16)
        epilogue_rows_16<typename shape::number>(buffer + within + (at - begin) * 128, with, sums + at / 2,
                                                 added ? added + within + at * 128 : 0);
}

#define IM2COL_BLANKED (1 << 30)

/* Where the pixels of a warpgroup lie in out, counted in pixels, for threads that write. Every warp knows all: lane l
 * of it knows pixels l, l + 32, ... of the tile. -1: beyond the edge; from IM2COL_BLANKED on: a zero. */
template <class shape> struct im2col_places {
    int32_t at[(shape::columns + 31) / 32];

    __device__ __forceinline__ void find(const conv2d_im2col_args &args, const im2col_work &work) {
        const im2col_class &from = args.pixel_class[work.pixel_class];
        const uint32_t *mask = args.plane[work.plane].mask;
        const int32_t first = work.first_pixel + (int32_t)threadIdx.x % 32, all = first / args.count[1];
        int32_t column = first - all * args.count[1], sample = all / args.count[0], row = all - sample * args.count[0];
#pragma unroll
        for (int i = 0; i < (shape::columns + 31) / 32; i++) {
            const int32_t h = from.first[0] + row * args.step[0], w = from.first[1] + column * args.step[1];
            this->at[i] = -1;
            if (sample < args.batch && h < args.size[0] && w < args.size[1]) {
                this->at[i] = (sample * args.size[0] + h) * args.size[1] + w;
                if (mask_blanks(mask, sample)) this->at[i] += IM2COL_BLANKED;
            }
            for (column += 32; column >= args.count[1]; column -= args.count[1]) {
                if (++row < args.count[0]) continue;
                row = 0;
                sample++;
            }
        }
    }
};

/* Writes a buffer of results, 16 pixels at a time, 16 bytes for each thread. */
template <class shape>
static __device__ __forceinline__ void im2col_write(const im2col_plane &plane, const im2col_places<shape> &places,
                                                    uint32_t buffer, int begin, int32_t first_lane) {
    typedef typename shape::number number;
    const int thread = (int)threadIdx.x % 128;
    const int32_t lane = first_lane + thread % 8 * 8;
    const uint32_t from = buffer + thread / 8 * 128 + (thread % 8 ^ thread / 8 % 8) * 16;
#pragma unroll
    for (int at = begin; at < begin + 32 && at < shape::columns; at += 16) {
        const int32_t place = __shfl_sync(0xFFFFFFFFu, places.at[at / 32], at % 32 + thread / 8);
        if (place < 0 || lane >= plane.pitch) continue;
        uint32_t words[4] = {0, 0, 0, 0};
        const int64_t to = (place & (IM2COL_BLANKED - 1)) * plane.pitch + lane;
        if (lane < plane.lanes && place < IM2COL_BLANKED)
            shared_read(words, from + (at - begin) * 128);
        else if (lane < plane.lanes && plane.epilogue.added && plane.epilogue.keeps)
            read_bytes<16>(words, (const number *)plane.epilogue.added + to);
        write_bytes<16>((number *)plane.out + to, words);
    }
}

/* True where the mask blanks a sample of some pixels. */
static __device__ __forceinline__ bool im2col_blanks(const conv2d_im2col_args &args, const uint32_t *mask,
                                                     int32_t first_pixel, int32_t pixels) {
    if (!mask) return false;
    const int32_t each = args.count[0] * args.count[1];
    for (int32_t sample = first_pixel / each; sample < args.batch && sample * each < first_pixel + pixels; sample++) {
        if (mask_blanks(mask, sample)) return true;
    }
    return false;
}

/* Stores the sums of a warpgroup through its two buffers of results. `turn` says which of them is free. */
template <class shape>
static __device__ __forceinline__ void im2col_store(const conv2d_im2col_args &args, const im2col_work &work,
                                                    const float (&sums)[shape::columns / 2], uint32_t added,
                                                    uint32_t results, int *turn) {
    typedef typename shape::number number;
    const im2col_plane &plane = args.plane[work.plane];
    const int thread = (int)threadIdx.x % 128, meeting = 1 + (int)threadIdx.x / 128;
    const epilogue_rows with = epilogue_rows_find<number>(plane.epilogue, work.first_lane, plane.lanes);
    const bool dense = plane.dense && !im2col_blanks(args, plane.mask, work.first_pixel, shape::columns);
    im2col_places<shape> places = {};
    if (!dense) places.find(args, work);
#pragma unroll
    for (int begin = 0; begin < shape::columns; begin += 32) {
        const uint32_t buffer = results + (uint32_t)*turn * IM2COL_RESULT_BYTES;
        *turn ^= 1;
        im2col_turn<shape>(buffer, sums, begin, with, added);
        fence_async();
        if (thread == 0) tma_wait_read<0>(); /* then the other buffer is free */
        named_sync(meeting, 128);
        if (!dense) {
            im2col_write<shape>(plane, places, buffer, begin, work.first_lane);
        } else if (thread == 0) {
#pragma unroll
            for (int at = begin; at < begin + 32 && at < shape::columns; at += 16)
                tma_store_2d(&args.out[work.plane], buffer + (at - begin) * 128, work.first_lane,
                             work.first_pixel + at);
            tma_commit();
        }
    }
}

/* Waits for a stage of what is added. */
template <class shape> static __device__ __forceinline__ void im2col_await(const im2col_place<shape> &place) {
    barrier_wait(place.full(), place.parity);
}

/* Hands it back. */
template <class shape> static __device__ __forceinline__ void im2col_release(im2col_place<shape> *place) {
    if (threadIdx.x % 32 == 0) barrier_arrive(place->empty());
    place->advance();
}

/* One of the two warpgroups that multiply. The second begins some steps later than the first and stays behind, so that
 * one multiplies while the other stores. */
template <class shape>
static __device__ __forceinline__ void im2col_consume(const conv2d_im2col_args &args, uint32_t memory, int group) {
    im2col_place<shape> place = {0, 0, memory};
    float sums[shape::columns / 2];
    int turn = 0;
    bool leads = group == 0;
    if (group == 1) named_sync(IM2COL_LEAD, 256);
    for (int32_t tile = (int32_t)blockIdx.x; tile < args.tiles; tile += (int32_t)gridDim.x) {
        im2col_work work = im2col_find<shape>(args, tile);
        const int32_t taps = args.pixel_class[work.pixel_class].taps, slices = args.plane[work.plane].slices;
        const int32_t steps = taps * IM2COL_BLOCKS(slices), few = slices % 4 ? taps : 0;
        if (steps == 0) {
#pragma unroll
            for (int i = 0; i < shape::columns / 2; i++) sums[i] = 0;
        }
        im2col_multiply<shape>(sums, &place, steps, few, slices % 4, group, leads);
        leads = false;
        if (shape::split)
            work.first_pixel += group * shape::columns;
        else
            work.first_lane += group * 64;
        const bool is_added = args.plane[work.plane].epilogue.added != nullptr;
        uint32_t added = 0;
        if (is_added) { /* stages of the other warpgroup's lanes are waited for too, and handed back */
            im2col_await(place);
            if (!shape::split && group == 1) {
                im2col_release(&place);
                im2col_await(place);
            }
            added = place.weights() + (shape::split ? group * shape::columns * 128 : 0);
        }
        if (work.first_lane < args.plane[work.plane].pitch) /* else this half of the tile has no lanes */
            im2col_store<shape>(args, work, sums, added, memory + shape::results + group * 2 * IM2COL_RESULT_BYTES,
                                &turn);
        if (is_added) {
            im2col_release(&place);
            if (!shape::split && group == 0) {
                im2col_await(place);
                im2col_release(&place);
            }
        }
    }
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

template <class shape> static __device__ __forceinline__ void im2col_run(const conv2d_im2col_args &args) {
    const uint32_t memory = shared_address(shared_memory());
    const int group = warp_uniform((int)threadIdx.x / 128);
    if (threadIdx.x == 0) {
        for (im2col_place<shape> place = {0, 0, memory}; place.parity == 0; place.advance()) {
            barrier_init(place.full(), 1);
            barrier_init(place.empty(), 8); /* the warps of two warpgroups */
        }
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<40>();
        if (threadIdx.x == 256) im2col_produce<shape>(args, memory);
    } else {
        registers_take<232>();
        im2col_consume<shape>(args, memory, group);
    }
}

#endif
