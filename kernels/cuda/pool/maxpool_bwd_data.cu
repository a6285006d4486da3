/*
 * maxpool gradient: every window hands its dy to the place that it took, which is found again from x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/pool/maxpool.h"
#include "kernels/cuda/tile/slide.cuh"
#include "kernels/cuda/pool/window2.cuh"

template <class number, int width> struct maxpool_bwd_data : pixel_body<number, width, maxpool_bwd_data_args> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width, maxpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        float sum[width];
        window_gradient(sum, *this, this->args.window, pixel, c);
        this->put(this->plane.dx, at, sum, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
    __device__ __forceinline__ void value(float (&)[width]) const {}
};

/* Windows that share no place. The pixels are those of dy: each has the places from its window up to the next one, and
 * the last of a row or column all that are left. */
template <class number, int width> struct maxpool_apart : pixel_body<number, width, maxpool_bwd_data_args> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width, maxpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void value(float (&)[width]) const {}
    __device__ __forceinline__ void blank(int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const pixel_window &window = this->args.window;
        const window_place out = window_place_of(pixel, window.out_size);
        const int64_t origin = out.sample * window.size[0] * window.size[1];
        const pack<number, width> gradient = this->take(this->plane.dy, at);
        window_largest<width> best;
        float dy[width];
        window_find<4>(best, *this, window, out, c);
        pack_open(dy, gradient);
        for (int32_t h = begin_of(out.row, 0); h < begin_of(out.row + 1, 0); h++) {
            for (int32_t w = begin_of(out.column, 1); w < begin_of(out.column + 1, 1); w++) {
                const int32_t place = h * window.size[1] + w;
                float dx[width];
#pragma unroll
                for (int j = 0; j < width; j++) dx[j] = best.pixel[j] == place ? dy[j] : 0;
                this->put(this->plane.dx, (origin + place) * this->plane.pitch + c, dx, c);
            }
        }
    }
    /* The first place of a window along an axis. */
    __device__ __forceinline__ int32_t begin_of(int32_t at, int axis) const {
        const pixel_window &window = this->args.window;
        const int32_t first = at * window.stride[axis] - window.padding[axis];
        if (at == window.out_size[axis] || first > window.size[axis]) return window.size[axis];
        return first < 0 ? 0 : first;
    }
};

/* Windows as window2.cuh has them. */
template <class number> struct maxpool_2x2 : pixel_body<number, WINDOW2_CHANNELS, maxpool_bwd_data_args> {
    struct inputs {
        window2 x;
        uint2 dy;
    };
    static const int ahead = 2;
    using pixel_body<number, WINDOW2_CHANNELS, maxpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        window2_read(in.x, (const number *)this->plane.x, this->args.window, at / WINDOW2_CHANNELS);
        read_bytes<sizeof in.dy>(&in.dy, (const number *)this->plane.dy + at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t pixel, int64_t, int64_t) const {
        window2 dx;
#pragma unroll
        for (int k = 0; k < WINDOW2_WORDS; k++) {
            const uint32_t best = window2_largest<number>(in.x, k), dy = k == 0 ? in.dy.x : in.dy.y;
            uint32_t taken = 0, nans = 0, mine[4];
            /* The first that equals the largest; or, and then none equals it, the last NaN. */
#pragma unroll
            for (int t = 0; t < 4; t++) {
                mine[t] = word<number>::equals(in.x.at(t, k), best) & ~taken;
                taken |= mine[t];
            }
#pragma unroll
            for (int t = 3; t >= 0; t--) {
                const uint32_t nan = ~word<number>::equals(in.x.at(t, k), in.x.at(t, k)) & ~nans;
                nans |= nan;
                dx.row[t / 2].at[t % 2 * WINDOW2_WORDS + k] = (mine[t] | nan) & dy;
            }
        }
        number *to = (number *)this->plane.dx + window2_at(this->args.window, pixel);
        write_bytes<sizeof dx.row[0]>(to, &dx.row[0]);
        write_bytes<sizeof dx.row[1]>(to + window2_row(this->args.window), &dx.row[1]);
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

/* Windows as tile/slide.cuh has them. */
template <class number, int width> struct maxpool_slide : pixel_body<number, width, maxpool_bwd_data_args> {
    struct factors {};
    static const bool rounds = false;
    using pixel_body<number, width, maxpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void begin(factors *, int64_t, int32_t) const {}
    __device__ __forceinline__ void use(const factors &) const {}
    __device__ __forceinline__ uint32_t key(uint32_t x, int) const { return x; }
    __device__ __forceinline__ uint32_t gate(uint32_t took, uint32_t, uint32_t, int) const { return took; }
    __device__ __forceinline__ uint32_t make(const float (&g)[word<number>::width], uint32_t, int) const {
        return word<number>::close(g);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

ENTRY_FORMATS(maxpool_bwd_data, (BLOCK_THREADS), maxpool_bwd_data_args, pixels_kernel<maxpool_bwd_data, number>(args))
ENTRY_FORMATS(maxpool_apart, (BLOCK_THREADS), maxpool_bwd_data_args, pixels_kernel_few<maxpool_apart, number>(args))
ENTRY_FORMATS(maxpool_slide, (BLOCK_THREADS, 2), maxpool_bwd_data_args, __shared__ slide_shared shared;
              slide_kernel<maxpool_slide, number>(args, shared, nullptr))
ENTRY_HALVES(maxpool_2x2, (BLOCK_THREADS), maxpool_bwd_data_args, const pixel_work work = pixel_work_find(args);
             maxpool_2x2<number> of(args, work.plane); pixels_run(of, work))
