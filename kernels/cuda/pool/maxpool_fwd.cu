/*
 * maxpool forward: the largest value of every window.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/pool/maxpool.h"
#include "kernels/cuda/pool/window2.cuh"
#include "kernels/cuda/tile/window3.cuh"

template <class number, int width> struct maxpool_fwd : pixel_body<number, width, maxpool_fwd_args> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width, maxpool_fwd_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const window_place out = window_place_of(pixel, this->args.window.out_size);
        window_largest<width> best;
        window_find<4>(best, *this, this->args.window, out, c);
        this->put(this->plane.y, at, best.value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
    __device__ __forceinline__ void value(float (&)[width]) const {}
};

/* Windows of 3 x 3. */
template <class number, int width> struct maxpool_fwd_3x3 : pixel_body<number, width, maxpool_fwd_args> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width, maxpool_fwd_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        words x[9];
        float value[width];
        words_open<number>(value, window3_find<number>(x, *this, pixel, c));
        this->put(this->plane.y, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
    __device__ __forceinline__ uint32_t key(uint32_t x, int) const { return x; }
};

/* Windows as window2.cuh has them. */
template <class number> struct maxpool_fwd_2x2 : pixel_body<number, WINDOW2_CHANNELS, maxpool_fwd_args> {
    typedef window2 inputs;
    static const int ahead = 4;
    using pixel_body<number, WINDOW2_CHANNELS, maxpool_fwd_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const {
        window2_read(x, (const number *)this->plane.x, this->args.window, at / WINDOW2_CHANNELS);
    }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t, int64_t at) const {
        const uint2 best = {window2_largest<number>(x, 0), window2_largest<number>(x, 1)};
        write_bytes<sizeof best>((number *)this->plane.y + at, &best);
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

ENTRY_FORMATS(maxpool_fwd, (BLOCK_THREADS), maxpool_fwd_args,
              windows_kernel<maxpool_fwd, maxpool_fwd_3x3, number>(args, false))
ENTRY_HALVES(maxpool_fwd_2x2, (BLOCK_THREADS), maxpool_fwd_args, const pixel_work work = pixel_work_find(args);
             maxpool_fwd_2x2<number> of(args, work.plane); pixels_run(of, work))
