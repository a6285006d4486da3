/*
 * The general convolution on the matrix units: a product of lanes x pixels summed over (64 channels, tap). One thread
 * asks the copy engine for the pixels that a tap reads (im2col maps walk over flattened pixels, with stride and zeros
 * beyond the edge, so a tile is any run of pixels, across rows and samples) and for the tap's weights; two
 * warpgroups multiply. Blocks stay and take every gridDim-th tile, so that the loads of a tile begin while the one
 * before is stored. Sums are float, in an order that the problem alone decides.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_GEMM_CUH
#define BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_GEMM_CUH

#include "kernels/cuda/conv/implicit_gemm/implicit_results.cuh"
#include "kernels/cuda/ptx/number.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

/* The named barriers: 1 and 2 of each warpgroup alone, and that of the second one's delay. */
#define IMPLICIT_LEAD 3

/* A place in the ring of stages, and the parity of its phase. */
template <class shape> struct implicit_place {
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
static __device__ __forceinline__ void implicit_load_weights(const conv2d_implicit_gemm_args &args,
                                                             const implicit_work &work,
                                                             const implicit_place<shape> &place, int index,
                                                             int channel) {
#pragma unroll
    for (int part = 0; part < shape::lanes / 64; part++) {
        const int lane = work.first_lane + part * 64;
        tma_load_3d(place.weights() + part * 8192, implicit_map(args, IMPLICIT_WEIGHTS, work.plane), place.full(),
                    shape::transposed ? lane : channel, index, shape::transposed ? channel : lane);
    }
}

/* True where what is added to a tile comes as stages. */
template <class shape>
static __device__ __forceinline__ bool implicit_adds(const conv2d_implicit_gemm_args &args, const implicit_work &work) {
    return !shape::beside::sums && args.plane[work.plane].epilogue.added;
}

/* What is added to a tile: a stage for every 64 lanes. */
template <class shape>
static __device__ __forceinline__ void implicit_load_added(const conv2d_implicit_gemm_args &args,
                                                           const implicit_work &work, implicit_place<shape> *place) {
    const implicit_class &from = args.pixel_class[work.pixel_class];
    const int32_t row = work.first_pixel / args.count[1], sample = row / args.count[0];
    const int32_t h = (row - sample * args.count[0]) * args.step[0];
    const int32_t w = (work.first_pixel - row * args.count[1]) * args.step[1];
    for (int part = 0; part < shape::lanes / 64; part++, place->advance()) {
        barrier_wait(place->empty(), place->parity);
        barrier_expect(place->full(), shape::pixels * 128);
        tma_load_im2col_4d(place->weights(), implicit_map(args, IMPLICIT_READ, work.plane), place->full(),
                           work.first_lane + part * 64, w, h, sample, (uint16_t)from.first[1], (uint16_t)from.first[0]);
    }
}

/* The one thread that loads. */
template <class shape>
static __device__ __forceinline__ void implicit_produce(const conv2d_implicit_gemm_args &args, uint32_t memory) {
    implicit_place<shape> place = {0, 1, memory};
    const implicit_turns turns = implicit_turns_of<shape>(args);
    for (int32_t tile = turns.first; tile < turns.end; tile += turns.step) {
        const implicit_work work = implicit_find<shape>(args, tile);
        const implicit_class taps = args.pixel_class[work.pixel_class];
        const int32_t row = work.first_pixel / args.count[1], sample = row / args.count[0];
        const int32_t h = (row - sample * args.count[0]) * args.stride[0] + args.lower[0];
        const int32_t w = (work.first_pixel - row * args.count[1]) * args.stride[1] + args.lower[1];
        for (int32_t block = 0; block < IMPLICIT_BLOCKS(args.plane[work.plane].slices); block++) {
            for (int32_t at = taps.first_tap; at < taps.first_tap + taps.taps; at++) {
                const implicit_tap tap = args.tap[at];
                barrier_wait(place.empty(), place.parity);
                barrier_expect(place.full(), shape::stage_bytes);
                tma_load_im2col_4d(place.pixels(), implicit_map(args, IMPLICIT_GATHERED, work.plane), place.full(),
                                   block * 64, w, h, sample, tap.offset[1], tap.offset[0]);
                implicit_load_weights<shape>(args, work, place, tap.index, block * 64);
                place.advance();
            }
        }
        if (implicit_adds<shape>(args, work)) implicit_load_added<shape>(args, work, &place);
    }
}

/* Where a tile's products are: which step is next, and the stage that the one before used. */
template <class shape> struct implicit_progress {
    implicit_place<shape> *place;
    int32_t step;
    uint32_t used;
};

/* The products of one step: of all four slices of 16 channels, or (few) of the first `depth`. A stage is handed back
 * when the products behind it are under way. */
template <class shape, bool few>
static __device__ __forceinline__ void implicit_step(float (&sums)[shape::columns / 2], implicit_progress<shape> *at,
                                                     int32_t depth, int group, bool leads) {
    const implicit_place<shape> &place = *at->place;
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
    if (leads && at->step + 1 == shape::lead) named_arrive(IMPLICIT_LEAD, 256);
    wgmma_wait<1>();
    if (at->step > 0 && threadIdx.x % 32 == 0) barrier_arrive(at->used);
    at->used = place.empty();
    at->place->advance();
}

/* The products of one tile: so many steps, the last `few` of which have `depth` slices of 16 channels. `leads`: the
 * other warpgroup waits to begin. */
template <class shape>
static __device__ __forceinline__ void implicit_multiply(float (&sums)[shape::columns / 2],
                                                         implicit_place<shape> *place, int32_t steps, int32_t few,
                                                         int32_t depth, int group, bool leads) {
    implicit_progress<shape> at = {place, 0, 0};
    for (; at.step < steps - few; at.step++) implicit_step<shape, false>(sums, &at, 4, group, leads);
    for (; at.step < steps; at.step++) implicit_step<shape, true>(sums, &at, depth, group, leads);
    wgmma_wait<0>();
    wgmma_hold(sums);
    if (steps > 0 && threadIdx.x % 32 == 0) barrier_arrive(at.used);
    if (leads && steps < shape::lead) named_arrive(IMPLICIT_LEAD, 256);
}

/* The sums of a warpgroup, rounded and turned to [pixel][lane]: 32 pixels from column `begin` on (the last 16 may be
 * missing) in a buffer of results under the 128-byte swizzle. `added`: where what is added to column 0 lies; 0:
 * nothing. */
template <class shape>
static __device__ __forceinline__ void implicit_turn(uint32_t buffer, const float (&sums)[shape::columns / 2],
                                                     int begin, const epilogue_rows &with, uint32_t added) {
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

/* implicit_turn for plain results whose statistics are taken. */
template <class shape>
static __device__ __forceinline__ void implicit_turn_counted(uint32_t buffer, const float (&sums)[shape::columns / 2],
                                                             int begin, bool whole,
                                                             const implicit_places<shape> &places,
                                                             typename shape::beside *beside) {
#pragma unroll
    for (int at = begin; at < begin + 32 && at < shape::columns; at += 16) {
        uint32_t pairs[4];
        epilogue_rows_plain<typename shape::number>(pairs, sums + at / 2);
        matrix_store_x4_transposed(buffer + epilogue_rows_at() + (at - begin) * 128, pairs);
        if (whole)
            beside->include(pairs, 16);
        else
            beside->include_some(pairs, implicit_live<shape>(places, at));
    }
}

/* Stores the sums of a warpgroup through its buffers of results. `turn` says which of them is free; `added`: where
 * what is added to column 0 lies; 0: nothing. */
template <class shape>
static __device__ __forceinline__ void implicit_store(const conv2d_implicit_gemm_args &args, const implicit_work &work,
                                                      const float (&sums)[shape::columns / 2], uint32_t added,
                                                      uint32_t results, int *turn, typename shape::beside *beside) {
    typedef typename shape::number number;
    const implicit_plane &plane = args.plane[work.plane];
    const int thread = (int)threadIdx.x % 128, meeting = 1 + (int)threadIdx.x / 128;
    const epilogue_rows with = epilogue_rows_find<number>(plane.epilogue, work.first_lane, plane.lanes);
    const bool dense = plane.dense && !implicit_blanks(args, plane.mask, work.first_pixel, shape::columns);
    const bool whole = dense && work.first_pixel + shape::columns <= args.batch * args.count[0] * args.count[1];
    implicit_places<shape> places = {};
    if (shape::beside::sums ? !whole : !dense) places.find(args, work);
    if constexpr (shape::beside::counts) {
        if (whole) beside->begin(sums);
    }
#pragma unroll
    for (int begin = 0; begin < shape::columns; begin += 32) {
        const uint32_t buffer = results + (uint32_t)*turn * IMPLICIT_RESULT_BYTES;
        if (++*turn == shape::buffers) *turn = 0;
        if constexpr (shape::beside::counts)
            implicit_turn_counted<shape>(buffer, sums, begin, whole, places, beside);
        else
            implicit_turn<shape>(buffer, sums, begin, with, added);
        fence_async();
        if (thread == 0) tma_wait_read<shape::buffers - 2>(); /* then the next buffer is free */
        named_sync(meeting, 128);
        if (!dense) {
            implicit_write<shape>(plane, places, buffer, begin, work.first_lane);
        } else if (thread == 0) {
#pragma unroll
            for (int at = begin; at < begin + 32 && at < shape::columns; at += 16)
                tma_store_2d(implicit_map(args, IMPLICIT_OUT, work.plane), buffer + (at - begin) * 128, work.first_lane,
                             work.first_pixel + at);
        }
        if (thread == 0) tma_commit(); /* one for every buffer, as is counted above */
    }
    if constexpr (shape::beside::counts) beside->settle();
}

/* Waits for a stage of what is added. */
template <class shape> static __device__ __forceinline__ void implicit_await(const implicit_place<shape> &place) {
    barrier_wait(place.full(), place.parity);
}

/* Hands it back. */
template <class shape> static __device__ __forceinline__ void implicit_release(implicit_place<shape> *place) {
    if (threadIdx.x % 32 == 0) barrier_arrive(place->empty());
    place->advance();
}

/* The same of the stage of the other warpgroup's lanes. */
template <class shape> static __device__ __forceinline__ void implicit_skip(implicit_place<shape> *place) {
    implicit_await(*place);
    implicit_release(place);
}

/* Where a warpgroup leaves its sums of the lanes of `work`, one of its tiles. */
template <class shape, class sum>
static __device__ __forceinline__ row_parts_place<sum> implicit_sums_place(const conv2d_implicit_gemm_args &args,
                                                                           const implicit_work &work, uint32_t memory,
                                                                           int group) {
    const implicit_plane &plane = args.plane[work.plane];
    const int32_t parts = plane.blocks / plane.lane_tiles;
    const row_parts_place<sum> at = {(sum *)plane.parts,
                                     plane.counters + work.first_lane / 64 * ROW_PARTS_COUNTERS(parts),
                                     plane.lanes,
                                     ((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles,
                                     parts,
                                     work.first_lane,
                                     plane.lanes - work.first_lane,
                                     memory + shape::words + (uint32_t)group * 4,
                                     1 + group};
    return at;
}

/* Behind the last tile: what the warpgroup found is added to what others did. */
template <class shape>
static __device__ __forceinline__ void implicit_finish(const conv2d_implicit_gemm_args &args, const implicit_work &work,
                                                       uint32_t memory, int group, typename shape::beside *beside) {
    if (work.first_lane >= args.plane[work.plane].lanes) return;
    if constexpr (shape::beside::counts)
        beside->finish(args.of_bn_stats.norm, work.plane,
                       implicit_sums_place<shape, bn_moments>(args, work, memory, group), args.finished,
                       args.finishers);
    else
        beside->finish(args.plane[work.plane].sums,
                       implicit_sums_place<shape, bn_gradients>(args, work, memory, group));
}

/* One of the two warpgroups that multiply. The second begins some steps later than the first and stays behind, so that
 * one multiplies while the other stores. */
template <class shape>
static __device__ __forceinline__ void implicit_consume(const conv2d_implicit_gemm_args &args, uint32_t memory,
                                                        int group) {
    implicit_place<shape> place = {0, 0, memory};
    float sums[shape::columns / 2];
    int turn = 0;
    bool leads = group == 0;
    const implicit_turns turns = implicit_turns_of<shape>(args);
    implicit_buffers<shape> buffers(memory, group);
    typename shape::beside beside;
    implicit_work first = {};
    if constexpr (shape::beside::sums) {
        first = implicit_find<shape>(args, turns.first);
        first.first_lane += group * 64;
    }
    if constexpr (shape::beside::sums && !shape::beside::counts)
        beside.begin(args.plane[first.plane].sums, first.first_lane, args.plane[first.plane].lanes);
    if (group == 1) named_sync(IMPLICIT_LEAD, 256);
    for (int32_t tile = turns.first; tile < turns.end; tile += turns.step) {
        implicit_work work = implicit_find<shape>(args, tile);
        const int32_t taps = args.pixel_class[work.pixel_class].taps, slices = args.plane[work.plane].slices;
        const int32_t steps = taps * IMPLICIT_BLOCKS(slices), few = slices % 4 ? taps : 0;
        if (steps == 0) {
#pragma unroll
            for (int i = 0; i < shape::columns / 2; i++) sums[i] = 0;
        }
        implicit_multiply<shape>(sums, &place, steps, few, slices % 4, group, leads);
        leads = false;
        if (shape::split)
            work.first_pixel += group * shape::columns;
        else
            work.first_lane += group * 64;
        const bool has_lanes = work.first_lane < args.plane[work.plane].pitch; /* else this half of the tile has none */
        if constexpr (shape::in_place) {
            if (has_lanes) implicit_store_in_place<shape>(args, work, sums, &buffers, &beside);
            continue;
        }
        const bool adds = implicit_adds<shape>(args, work);
        if (adds && !shape::split && group == 1) implicit_skip(&place);
        if (adds) implicit_await(place);
        const uint32_t added = adds ? place.weights() + (shape::split ? group * shape::columns * 128 : 0) : 0;
        if (has_lanes)
            implicit_store<shape>(args, work, sums, added,
                                  memory + shape::results + group * shape::buffers * IMPLICIT_RESULT_BYTES, &turn,
                                  &beside);
        if (adds) implicit_release(&place);
        if (adds && !shape::split && group == 0) implicit_skip(&place);
    }
    if constexpr (shape::beside::sums) implicit_finish<shape>(args, first, memory, group, &beside);
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

template <class shape> static __device__ __forceinline__ void implicit_run(const conv2d_implicit_gemm_args &args) {
    const uint32_t memory = shared_address(shared_memory());
    const int group = warp_uniform((int)threadIdx.x / 128);
    if (threadIdx.x == 0) {
        for (implicit_place<shape> place = {0, 0, memory}; place.parity == 0; place.advance()) {
            barrier_init(place.full(), 1);
            barrier_init(place.empty(), 8); /* the warps of two warpgroups */
        }
        for (uint32_t i = 0; shape::in_place && i < 4 * shape::buffers; i++) /* r is there; the warps of one are done */
            barrier_init(memory + shape::turned + i * BARRIER_BYTES, i / shape::buffers % 2 ? 4 : 1);
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<40>();
        if (threadIdx.x == 256) implicit_produce<shape>(args, memory);
        if constexpr (shape::in_place) {
            const int warp = warp_uniform((int)threadIdx.x / 32) - 8;
            if ((warp == 1 || warp == 2) && threadIdx.x % 32 == 0) implicit_move<shape>(args, memory, warp - 1);
        }
    } else {
        registers_take<232>();
        implicit_consume<shape>(args, memory, group);
    }
}

#endif
