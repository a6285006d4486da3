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
#include "kernels/cuda/tile/row_dsums.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/tile/shared.cuh"
#include "kernels/cuda/tile/tma.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

/* The named barriers: 1 and 2 of each warpgroup alone, and that of the second one's delay. */
#define IM2COL_LEAD 3

/* `transposed`: the weights are summed over K, not over C. `sums_of`: what is added up of the results. */
template <class number_type, int columns_each, int split_pixels, int transposed_weights, class sums_of = no_row_dsums>
struct im2col_shape {
    typedef number_type number;
    typedef sums_of beside;
    static const bool in_place = beside::sums && !beside::by_x; /* r lies where the results will */
    static const int tiles = beside::by_x ? 2 : 0;              /* that the epilogue reads for sums: r, x */
    static const int reads = 1 + tiles;                         /* all of them, at most */
    static const int columns = columns_each, split = split_pixels, transposed = transposed_weights;
    static const int lanes = IM2COL_LANES(split), pixels = IM2COL_PIXELS(columns, split);
    static const int stages = in_place ? IM2COL_SUMS_STAGES(columns) : IM2COL_STAGES(columns, split);
    static const int buffers = in_place ? IM2COL_SUMS_BUFFERS(columns) : 2; /* of results, of a warpgroup */
    static const int lead = stages > 4 ? 2 : 1; /* steps that the first warpgroup begins before the second */
    static const uint32_t stage_bytes = IM2COL_STAGE_BYTES(columns, split), weight_bytes = lanes * 128;
    static const uint32_t results = stages * stage_bytes, barriers = results + 2 * buffers * IM2COL_RESULT_BYTES;
    static const uint32_t turned = barriers + 2 * stages * BARRIER_BYTES; /* of buffers, where r is in place */
    static const uint32_t words = in_place ? turned + 4 * buffers * BARRIER_BYTES : turned;
};

static __device__ __forceinline__ const cuda_tensor_map *im2col_map(const conv2d_im2col_args &args, int kind,
                                                                    int plane) {
    return &args.map[kind * args.planes + plane];
}

/* A tile: `first_lane` and `first_pixel` are those of its corner. */
struct im2col_work {
    int plane, pixel_class;
    int32_t first_lane, first_pixel;
};

/* The tiles of a block: `first`, `first` + `step`, ... before `end`. */
struct im2col_turns {
    int32_t first, end, step;
};

/* Every gridDim-th tile of all; of kernels that add up their results every so many-th of one plane, whose lanes are the
 * same in all of them. */
template <class shape> static __device__ __forceinline__ im2col_turns im2col_turns_of(const conv2d_im2col_args &args) {
    im2col_turns turns = {(int32_t)blockIdx.x, args.tiles, (int32_t)gridDim.x};
    if (!shape::beside::sums) return turns;
    int at = 0;
    while (at + 1 < args.segments && (int32_t)blockIdx.x >= args.plane[args.segment[at + 1].plane].first_block) at++;
    const im2col_plane &plane = args.plane[args.segment[at].plane];
    turns.first = args.segment[at].first_tile + (int32_t)blockIdx.x - plane.first_block;
    turns.step = plane.blocks;
    if (at + 1 < args.segments) turns.end = args.segment[at + 1].first_tile;
    return turns;
}

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
        tma_load_3d(place.weights() + part * 8192, im2col_map(args, IM2COL_WEIGHTS, work.plane), place.full(),
                    shape::transposed ? lane : channel, index, shape::transposed ? channel : lane);
    }
}

/* Tiles that the epilogue of a plane reads. */
template <class shape>
static __device__ __forceinline__ int im2col_reads(const conv2d_im2col_args &args, const im2col_work &work) {
    return shape::tiles + (args.plane[work.plane].epilogue.added != nullptr);
}

/* What the epilogue of a tile reads: for every 64 lanes a stage of each. */
template <class shape>
static __device__ __forceinline__ void im2col_load_read(const conv2d_im2col_args &args, const im2col_work &work,
                                                        im2col_place<shape> *place) {
    const im2col_class &from = args.pixel_class[work.pixel_class];
    const int32_t row = work.first_pixel / args.count[1], sample = row / args.count[0];
    const int32_t h = (row - sample * args.count[0]) * args.step[0];
    const int32_t w = (work.first_pixel - row * args.count[1]) * args.step[1];
    const int reads = im2col_reads<shape>(args, work);
    for (int j = 0; j < shape::lanes / 64 * reads; j++, place->advance()) {
        const int part = j / reads;
        barrier_wait(place->empty(), place->parity);
        barrier_expect(place->full(), shape::pixels * 128);
        tma_load_im2col_4d(place->weights(), im2col_map(args, IM2COL_READ + j - part * reads, work.plane),
                           place->full(), work.first_lane + part * 64, w, h, sample, (uint16_t)from.first[1],
                           (uint16_t)from.first[0]);
    }
}

/* The one thread that loads. */
template <class shape>
static __device__ __forceinline__ void im2col_produce(const conv2d_im2col_args &args, uint32_t memory) {
    im2col_place<shape> place = {0, 1, memory};
    const im2col_turns turns = im2col_turns_of<shape>(args);
    for (int32_t tile = turns.first; tile < turns.end; tile += turns.step) {
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
                tma_load_im2col_4d(place.pixels(), im2col_map(args, IM2COL_GATHERED, work.plane), place.full(),
                                   block * 64, w, h, sample, tap.offset[1], tap.offset[0]);
                im2col_load_weights<shape>(args, work, place, tap.index, block * 64);
                place.advance();
            }
        }
        if (im2col_reads<shape>(args, work) > 0) im2col_load_read<shape>(args, work, &place);
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

/* Which of the four pixels of a thread among the 16 from `begin` on (row_dsums.cuh) are neither beyond the edge nor
 * blanked. */
template <class shape>
static __device__ __forceinline__ uint32_t im2col_live(const im2col_places<shape> &places, int begin) {
    uint32_t live = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int from = begin % 32 + 2 * (int)(threadIdx.x % 4) + j % 2 + j / 2 * 8;
        const int32_t place = __shfl_sync(0xFFFFFFFFu, places.at[begin / 32], from);
        live |= (uint32_t)(place >= 0 && place < IM2COL_BLANKED) << j;
    }
    return live;
}

/* im2col_turn for results that are added up, all of them or (not `whole`) those that are there. `read`: where column 0
 * of what the epilogue reads lies. */
template <class shape>
static __device__ __forceinline__ void im2col_turn_summed(uint32_t buffer, const float (&sums)[shape::columns / 2],
                                                          int begin, const epilogue_rows &with,
                                                          const uint32_t (&read)[shape::reads], bool whole,
                                                          const im2col_places<shape> &places,
                                                          typename shape::beside *beside) {
    typedef typename shape::number number;
    const uint32_t within = epilogue_rows_at();
#pragma unroll
    for (int at = begin; at < begin + 32 && at < shape::columns; at += 16) {
        uint32_t dx[4], r[4], x[4];
        const uint32_t live = whole ? 15 : im2col_live<shape>(places, at);
        matrix_load_x4_transposed(r, read[0] + within + at * 128);
        matrix_load_x4_transposed(x, read[1] + within + at * 128);
        if (with.is_plain) {
            epilogue_rows_plain<number>(dx, sums + at / 2);
        } else {
            matrix_load_x4_transposed(dx, read[shape::reads - 1] + within + at * 128);
            epilogue_rows_round<number, true>(dx, with, sums + at / 2);
        }
        matrix_store_x4_transposed(buffer + within + (at - begin) * 128, dx);
        beside->include(dx, r, x, live);
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

/* Stores the sums of a warpgroup through its two buffers of results. `turn` says which of them is free; `read`: where
 * column 0 of what the epilogue reads lies. */
template <class shape>
static __device__ __forceinline__ void im2col_store(const conv2d_im2col_args &args, const im2col_work &work,
                                                    const float (&sums)[shape::columns / 2],
                                                    const uint32_t (&read)[shape::reads], uint32_t results, int *turn,
                                                    typename shape::beside *beside) {
    typedef typename shape::number number;
    const im2col_plane &plane = args.plane[work.plane];
    const int thread = (int)threadIdx.x % 128, meeting = 1 + (int)threadIdx.x / 128;
    const epilogue_rows with = epilogue_rows_find<number>(plane.epilogue, work.first_lane, plane.lanes);
    const bool dense = plane.dense && !im2col_blanks(args, plane.mask, work.first_pixel, shape::columns);
    const bool whole = dense && work.first_pixel + shape::columns <= args.batch * args.count[0] * args.count[1];
    im2col_places<shape> places = {};
    if (shape::beside::sums ? !whole : !dense) places.find(args, work);
#pragma unroll
    for (int begin = 0; begin < shape::columns; begin += 32) {
        const uint32_t buffer = results + (uint32_t)*turn * IM2COL_RESULT_BYTES;
        *turn ^= 1;
        if constexpr (shape::beside::by_x)
            im2col_turn_summed<shape>(buffer, sums, begin, with, read, whole, places, beside);
        else
            im2col_turn<shape>(buffer, sums, begin, with, read[0]);
        fence_async();
        if (thread == 0) tma_wait_read<0>(); /* then the other buffer is free */
        named_sync(meeting, 128);
        if (!dense) {
            im2col_write<shape>(plane, places, buffer, begin, work.first_lane);
        } else if (thread == 0) {
#pragma unroll
            for (int at = begin; at < begin + 32 && at < shape::columns; at += 16)
                tma_store_2d(im2col_map(args, IM2COL_OUT, work.plane), buffer + (at - begin) * 128, work.first_lane,
                             work.first_pixel + at);
            tma_commit();
        }
    }
}

/* ---- Results in the place of r --------------------------------------------------------------------- */

/* The buffers of a warpgroup, in turns. */
template <class shape> struct im2col_buffers {
    uint32_t first, barriers; /* in shared memory */
    uint32_t index, parity;

    __device__ __forceinline__ im2col_buffers(uint32_t memory, int group)
        : first(memory + shape::results + (uint32_t)(group * shape::buffers) * IM2COL_RESULT_BYTES),
          barriers(memory + shape::turned + (uint32_t)(group * 2 * shape::buffers) * BARRIER_BYTES), index(0),
          parity(0) {}
    __device__ __forceinline__ uint32_t buffer() const { return this->first + this->index * IM2COL_RESULT_BYTES; }
    __device__ __forceinline__ uint32_t filled() const { return this->barriers + this->index * BARRIER_BYTES; }
    __device__ __forceinline__ uint32_t ready() const { return this->filled() + shape::buffers * BARRIER_BYTES; }
    __device__ __forceinline__ void advance() {
        if (++this->index < shape::buffers) return;
        this->index = 0;
        this->parity ^= 1;
    }
};

/* The pixels of a block's tiles, 32 at a time; the last 16 of a tile may be alone. */
template <class shape> struct im2col_pieces {
    im2col_turns turns;
    im2col_work work;
    int32_t tile;
    int begin; /* of the piece in its tile */

    __device__ __forceinline__ explicit im2col_pieces(const conv2d_im2col_args &args)
        : turns(im2col_turns_of<shape>(args)), work(im2col_find<shape>(args, turns.first)), tile(turns.first),
          begin(0) {}
    __device__ __forceinline__ bool is_over() const { return this->tile >= this->turns.end; }
    __device__ __forceinline__ int sixteens() const { return shape::columns - this->begin < 32 ? 1 : 2; }
    __device__ __forceinline__ int32_t pixel() const { return this->work.first_pixel + this->begin; }
    __device__ __forceinline__ void advance(const conv2d_im2col_args &args) {
        this->begin += 32;
        if (this->begin < shape::columns) return;
        this->begin = 0;
        this->tile += this->turns.step;
        if (!this->is_over()) this->work = im2col_find<shape>(args, this->tile);
    }
};

/* Asks for r of the next piece, if there is one. */
template <class shape>
static __device__ __forceinline__ void im2col_ask(const conv2d_im2col_args &args, im2col_pieces<shape> *piece,
                                                  im2col_buffers<shape> *to, int32_t lane) {
    if (piece->is_over()) return;
    barrier_expect(to->filled(), piece->sixteens() * 2048);
    for (int j = 0; j < piece->sixteens(); j++)
        tma_load_2d(to->buffer() + j * 2048, im2col_map(args, IM2COL_READ, piece->work.plane), to->filled(), lane,
                    piece->pixel() + j * 16);
    to->advance();
    piece->advance(args);
}

/* One thread beside a warpgroup asks for r and hands results to the copy engine, but those of tiles with blanked samples
 * or lanes apart, which the warpgroup writes. A buffer is filled anew when the results behind its own are on their way. */
template <class shape>
static __device__ __forceinline__ void im2col_move(const conv2d_im2col_args &args, uint32_t memory, int group) {
    im2col_pieces<shape> asked(args), stored(args);
    im2col_buffers<shape> to(memory, group), from(memory, group);
    const im2col_plane &plane = args.plane[stored.work.plane];
    const int32_t lane = stored.work.first_lane + group * 64;
    if (lane >= plane.pitch) return;
    for (int j = 0; j < shape::buffers; j++) im2col_ask<shape>(args, &asked, &to, lane);
    for (bool is_first = true; !stored.is_over(); is_first = false) {
        barrier_wait(from.ready(), from.parity);
        if (plane.dense && !im2col_blanks(args, plane.mask, stored.work.first_pixel, shape::columns)) {
            for (int j = 0; j < stored.sixteens(); j++)
                tma_store_2d(im2col_map(args, IM2COL_OUT, stored.work.plane), from.buffer() + j * 2048, lane,
                             stored.pixel() + j * 16);
        }
        tma_commit();
        from.advance();
        stored.advance(args);
        if (is_first) continue;
        tma_wait_read<1>();
        im2col_ask<shape>(args, &asked, &to, lane);
    }
    tma_wait<0>();
}

/* Stores the sums of a warpgroup where r lies, and adds them up. */
template <class shape>
static __device__ __forceinline__ void im2col_store_in_place(const conv2d_im2col_args &args, const im2col_work &work,
                                                             const float (&sums)[shape::columns / 2],
                                                             im2col_buffers<shape> *to,
                                                             typename shape::beside *beside) {
    typedef typename shape::number number;
    const im2col_plane &plane = args.plane[work.plane];
    const bool dense = plane.dense && !im2col_blanks(args, plane.mask, work.first_pixel, shape::columns);
    const bool whole = dense && work.first_pixel + shape::columns <= args.batch * args.count[0] * args.count[1];
    im2col_places<shape> places = {};
    if (!whole) places.find(args, work);
#pragma unroll
    for (int begin = 0; begin < shape::columns; begin += 32) {
        const uint32_t at_first = to->buffer() + epilogue_rows_at();
        barrier_wait(to->filled(), to->parity);
#pragma unroll
        for (int at = begin; at < begin + 32 && at < shape::columns; at += 16) {
            uint32_t dx[4], r[4];
            const uint32_t live = whole ? 15 : im2col_live<shape>(places, at);
            matrix_load_x4_transposed(r, at_first + (at - begin) * 128);
            epilogue_rows_plain<number>(dx, sums + at / 2);
            matrix_store_x4_transposed(at_first + (at - begin) * 128, dx);
            beside->include(dx, r, r, live);
        }
        if (!dense) {
            named_sync(1 + (int)threadIdx.x / 128, 128);
            im2col_write<shape>(plane, places, to->buffer(), begin, work.first_lane);
        }
        fence_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(to->ready());
        to->advance();
    }
}

/* ---- The warpgroups -------------------------------------------------------------------------------- */

/* Waits for a stage of what the epilogue reads. */
template <class shape> static __device__ __forceinline__ void im2col_await(const im2col_place<shape> &place) {
    barrier_wait(place.full(), place.parity);
}

/* Hands it back. */
template <class shape> static __device__ __forceinline__ void im2col_release(im2col_place<shape> *place) {
    if (threadIdx.x % 32 == 0) barrier_arrive(place->empty());
    place->advance();
}

/* The same of `count` stages of the other warpgroup's lanes. */
template <class shape> static __device__ __forceinline__ void im2col_skip(im2col_place<shape> *place, int count) {
    for (int j = 0; j < count; j++) {
        im2col_await(*place);
        im2col_release(place);
    }
}

/* Where a warpgroup leaves its sums of the lanes of `work`, one of its tiles. */
template <class shape>
static __device__ __forceinline__ row_dsums_place im2col_sums_place(const conv2d_im2col_args &args,
                                                                    const im2col_work &work, uint32_t memory,
                                                                    int group) {
    const im2col_plane &plane = args.plane[work.plane];
    const int32_t parts = plane.blocks / plane.lane_tiles;
    const row_dsums_place at = {plane.gradients,
                                plane.counters + work.first_lane / 64 * DSUMS_COUNTERS(parts),
                                plane.lanes,
                                ((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles,
                                parts,
                                work.first_lane,
                                plane.lanes - work.first_lane,
                                memory + shape::words + (uint32_t)group * 4,
                                1 + group};
    return at;
}

/* One of the two warpgroups that multiply. The second begins some steps later than the first and stays behind, so that
 * one multiplies while the other stores. */
template <class shape>
static __device__ __forceinline__ void im2col_consume(const conv2d_im2col_args &args, uint32_t memory, int group) {
    im2col_place<shape> place = {0, 0, memory};
    float sums[shape::columns / 2];
    int turn = 0;
    bool leads = group == 0;
    const im2col_turns turns = im2col_turns_of<shape>(args);
    im2col_buffers<shape> buffers(memory, group);
    typename shape::beside beside;
    im2col_work first = {};
    if constexpr (shape::beside::sums) {
        first = im2col_find<shape>(args, turns.first);
        first.first_lane += group * 64;
        beside.begin(args.plane[first.plane].sums, first.first_lane, args.plane[first.plane].lanes);
    }
    if (group == 1) named_sync(IM2COL_LEAD, 256);
    for (int32_t tile = turns.first; tile < turns.end; tile += turns.step) {
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
        const bool has_lanes = work.first_lane < args.plane[work.plane].pitch; /* else this half of the tile has none */
        if constexpr (shape::in_place) {
            if (has_lanes) im2col_store_in_place<shape>(args, work, sums, &buffers, &beside);
            continue;
        }
        const int reads = im2col_reads<shape>(args, work);
        uint32_t read[shape::reads] = {};
        if (!shape::split && group == 1) im2col_skip(&place, reads);
        im2col_place<shape> held = place;
#pragma unroll
        for (int j = 0; j < shape::reads; j++) {
            if (j >= reads) break;
            im2col_await(place);
            read[j] = place.weights() + (shape::split ? group * shape::columns * 128 : 0);
            place.advance();
        }
        if (has_lanes)
            im2col_store<shape>(args, work, sums, read, memory + shape::results + group * 2 * IM2COL_RESULT_BYTES,
                                &turn, &beside);
        for (int j = 0; j < reads; j++) im2col_release(&held);
        if (!shape::split && group == 0) im2col_skip(&place, reads);
    }
    if constexpr (shape::beside::sums) {
        if (first.first_lane < args.plane[first.plane].lanes)
            beside.finish(args.plane[first.plane].sums, im2col_sums_place<shape>(args, first, memory, group));
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
        for (uint32_t i = 0; shape::in_place && i < 4 * shape::buffers; i++) /* r is there; the warps of one are done */
            barrier_init(memory + shape::turned + i * BARRIER_BYTES, i / shape::buffers % 2 ? 4 : 1);
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<40>();
        if (threadIdx.x == 256) im2col_produce<shape>(args, memory);
        if constexpr (shape::in_place) {
            const int warp = warp_uniform((int)threadIdx.x / 32) - 8;
            if ((warp == 1 || warp == 2) && threadIdx.x % 32 == 0) im2col_move<shape>(args, memory, warp - 1);
        }
    } else {
        registers_take<232>();
        im2col_consume<shape>(args, memory, group);
    }
}

#endif
