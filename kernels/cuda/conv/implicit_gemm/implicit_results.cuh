/*
 * The general convolution on the matrix units (implicit_gemm.cuh): where its results go, and results that lie where r
 * did.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_RESULTS_CUH
#define BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_IMPLICIT_RESULTS_CUH

#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/conv/implicit_gemm/implicit_shape.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"

#define IMPLICIT_BLANKED (1 << 30)

/* Where the pixels of a warpgroup lie in out, counted in pixels, for threads that write. Every warp knows all: lane l
 * of it knows pixels l, l + 32, ... of the tile. -1: beyond the edge; from IMPLICIT_BLANKED on: a zero. */
template <class shape> struct implicit_places {
    int32_t at[(shape::columns + 31) / 32];

    __device__ __forceinline__ void find(const conv2d_implicit_gemm_args &args, const implicit_work &work) {
        const implicit_class &from = args.pixel_class[work.pixel_class];
        const uint32_t *mask = args.plane[work.plane].mask;
        const int32_t first = work.first_pixel + (int32_t)threadIdx.x % 32, all = first / args.count[1];
        int32_t column = first - all * args.count[1], sample = all / args.count[0], row = all - sample * args.count[0];
#pragma unroll
        for (int i = 0; i < (shape::columns + 31) / 32; i++) {
            const int32_t h = from.first[0] + row * args.step[0], w = from.first[1] + column * args.step[1];
            this->at[i] = -1;
            if (sample < args.batch && h < args.size[0] && w < args.size[1]) {
                this->at[i] = (sample * args.size[0] + h) * args.size[1] + w;
                if (mask_blanks(mask, sample)) this->at[i] += IMPLICIT_BLANKED;
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
static __device__ __forceinline__ void implicit_write(const implicit_plane &plane, const implicit_places<shape> &places,
                                                      uint32_t buffer, int begin, int32_t first_lane) {
    typedef typename shape::number number;
    const int thread = (int)threadIdx.x % 128;
    const int32_t lane = first_lane + thread % 8 * 8;
    const uint32_t from = buffer + thread / 8 * 128 + (thread % 8 ^ thread / 8 % 8) * 16;
#pragma unroll
    for (int at = begin; at < begin + shape::piece && at < shape::columns; at += 16) {
        const int32_t place = __shfl_sync(0xFFFFFFFFu, places.at[at / 32], at % 32 + thread / 8);
        if (place < 0 || lane >= plane.pitch) continue;
        uint32_t words[4] = {0, 0, 0, 0};
        const int64_t to = (place & (IMPLICIT_BLANKED - 1)) * plane.pitch + lane;
        if (lane < plane.lanes && place < IMPLICIT_BLANKED)
            shared_read(words, from + (at - begin) * 128);
        else if (lane < plane.lanes && plane.epilogue.added && plane.epilogue.keeps)
            read_bytes<16>(words, (const number *)plane.epilogue.added + to);
        write_bytes<16>((number *)plane.out + to, words);
    }
}

/* Which of the four pixels of a thread among the 16 from `begin` on (row_bn_reduce.cuh) are neither beyond the edge nor
 * blanked. */
template <class shape>
static __device__ __forceinline__ uint32_t implicit_live(const implicit_places<shape> &places, int begin) {
    uint32_t live = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int from = begin % 32 + 2 * (int)(threadIdx.x % 4) + j % 2 + j / 2 * 8;
        const int32_t place = __shfl_sync(0xFFFFFFFFu, places.at[begin / 32], from);
        live |= (uint32_t)(place >= 0 && place < IMPLICIT_BLANKED) << j;
    }
    return live;
}

/* True where the mask blanks a sample of some pixels. */
static __device__ __forceinline__ bool implicit_blanks(const conv2d_implicit_gemm_args &args, const uint32_t *mask,
                                                       int32_t first_pixel, int32_t pixels) {
    if (!mask) return false;
    const int32_t each = args.count[0] * args.count[1];
    for (int32_t sample = first_pixel / each; sample < args.batch && sample * each < first_pixel + pixels; sample++) {
        if (mask_blanks(mask, sample)) return true;
    }
    return false;
}

/* ---- Results in the place of r --------------------------------------------------------------------- */

/* The buffers of a warpgroup, in turns. */
template <class shape> struct implicit_buffers {
    uint32_t first, barriers; /* in shared memory */
    uint32_t index, parity;

    __device__ __forceinline__ implicit_buffers(uint32_t memory, int group)
        : first(memory + shape::results + (uint32_t)(group * shape::buffers) * shape::buffer_bytes),
          barriers(memory + shape::turned + (uint32_t)(group * 2 * shape::buffers) * BARRIER_BYTES), index(0),
          parity(0) {}
    __device__ __forceinline__ uint32_t buffer() const { return this->first + this->index * shape::buffer_bytes; }
    __device__ __forceinline__ uint32_t filled() const { return this->barriers + this->index * BARRIER_BYTES; }
    __device__ __forceinline__ uint32_t ready() const { return this->filled() + shape::buffers * BARRIER_BYTES; }
    __device__ __forceinline__ void advance() {
        if (++this->index < shape::buffers) return;
        this->index = 0;
        this->parity ^= 1;
    }
};

/* The pixels of a block's tiles, a buffer at a time; the last 16 of a tile may be alone. */
template <class shape> struct implicit_pieces {
    implicit_turns turns;
    implicit_work work;
    int32_t tile;
    int begin; /* of the piece in its tile */

    __device__ __forceinline__ explicit implicit_pieces(const conv2d_implicit_gemm_args &args)
        : turns(implicit_turns_of<shape>(args)), work(implicit_find<shape>(args, turns.first)), tile(turns.first),
          begin(0) {}
    __device__ __forceinline__ bool is_over() const { return this->tile >= this->turns.end; }
    __device__ __forceinline__ int sixteens() const {
        return shape::columns - this->begin < shape::piece ? 1 : shape::piece / 16;
    }
    __device__ __forceinline__ int32_t pixel() const { return this->work.first_pixel + this->begin; }
    __device__ __forceinline__ void advance(const conv2d_implicit_gemm_args &args) {
        this->begin += shape::piece;
        if (this->begin < shape::columns) return;
        this->begin = 0;
        this->tile += this->turns.step;
        if (!this->is_over()) this->work = implicit_find<shape>(args, this->tile);
    }
};

/* Planes that the sums of a tile need: r; with x r, x and what is added, if anything is. */
template <class shape> static __device__ __forceinline__ int implicit_needs(const implicit_plane &plane) {
    return shape::beside::by_x ? 2 + (plane.epilogue.added != nullptr) : 1;
}

/* Asks for what the next piece needs, if there is one. */
template <class shape>
static __device__ __forceinline__ void implicit_ask(const conv2d_implicit_gemm_args &args,
                                                    implicit_pieces<shape> *piece, implicit_buffers<shape> *to,
                                                    int32_t lane) {
    if (piece->is_over()) return;
    const int planes = implicit_needs<shape>(args.plane[piece->work.plane]);
    barrier_expect(to->filled(), planes * piece->sixteens() * 2048);
    for (int i = 0; i < planes; i++) {
        for (int j = 0; j < piece->sixteens(); j++)
            tma_load_2d(to->buffer() + i * shape::plane_bytes + j * 2048,
                        implicit_map(args, IMPLICIT_READ + i, piece->work.plane), to->filled(), lane,
                        piece->pixel() + j * 16);
    }
    to->advance();
    piece->advance(args);
}

/* One thread beside a warpgroup asks for what it reads and hands results to the copy engine, but those of tiles with
 * blanked samples or lanes apart, which the warpgroup writes. A buffer is filled anew when the results behind its own
 * are on their way. */
template <class shape>
static __device__ __forceinline__ void implicit_move(const conv2d_implicit_gemm_args &args, uint32_t memory,
                                                     int group) {
    implicit_pieces<shape> asked(args), stored(args);
    implicit_buffers<shape> to(memory, group), from(memory, group);
    const implicit_plane &plane = args.plane[stored.work.plane];
    const int32_t lane = stored.work.first_lane + group * 64;
    if (lane >= plane.pitch) return;
    for (int j = 0; j < shape::buffers; j++) implicit_ask<shape>(args, &asked, &to, lane);
    for (bool is_first = true; !stored.is_over(); is_first = false) {
        barrier_wait(from.ready(), from.parity);
        if (plane.dense && !implicit_blanks(args, plane.mask, stored.work.first_pixel, shape::columns)) {
            for (int j = 0; j < stored.sixteens(); j++)
                tma_store_2d(implicit_map(args, IMPLICIT_OUT, stored.work.plane), from.buffer() + j * 2048, lane,
                             stored.pixel() + j * 16);
        }
        tma_commit();
        from.advance();
        stored.advance(args);
        if (is_first) continue;
        tma_wait_read<1>();
        implicit_ask<shape>(args, &asked, &to, lane);
    }
    tma_wait<0>();
}

/* Stores the sums of a warpgroup where r lies, and adds them up. */
template <class shape>
static __device__ __forceinline__ void implicit_store_in_place(const conv2d_implicit_gemm_args &args,
                                                               const implicit_work &work,
                                                               const float (&sums)[shape::columns / 2],
                                                               implicit_buffers<shape> *to,
                                                               typename shape::beside *beside) {
    typedef typename shape::number number;
    const implicit_plane &plane = args.plane[work.plane];
    const bool dense = plane.dense && !implicit_blanks(args, plane.mask, work.first_pixel, shape::columns);
    const bool whole = dense && work.first_pixel + shape::columns <= args.batch * args.count[0] * args.count[1];
    implicit_places<shape> places = {};
    if (!whole) places.find(args, work);
#pragma unroll
    for (int begin = 0; begin < shape::columns; begin += shape::piece) {
        const uint32_t at_first = to->buffer() + epilogue_rows_at();
        barrier_wait(to->filled(), to->parity);
#pragma unroll
        for (int at = begin; at < begin + shape::piece && at < shape::columns; at += 16) {
            const uint32_t place = at_first + (at - begin) * 128;
            const uint32_t live = whole ? 15 : implicit_live<shape>(places, at);
            uint32_t dx[4], r[4], x[4];
            matrix_load_x4_transposed(r, place);
            if (shape::beside::by_x) matrix_load_x4_transposed(x, place + shape::plane_bytes);
            if (shape::beside::by_x && plane.epilogue.added) {
                matrix_load_x4_transposed(dx, place + 2 * shape::plane_bytes);
                row_bn_reduce_added<number>(dx, sums + at / 2);
            } else {
                epilogue_rows_plain<number>(dx, sums + at / 2);
            }
            matrix_store_x4_transposed(place, dx);
            beside->include(dx, r, shape::beside::by_x ? x : r, live);
        }
        if (!dense) {
            named_sync(1 + (int)threadIdx.x / 128, 128);
            implicit_write<shape>(plane, places, to->buffer(), begin, work.first_lane);
        }
        fence_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(to->ready());
        to->advance();
    }
}

#endif
