/*
 * Windows of pooling: which pixels a window reads, and which windows read a pixel. Values come through a function of
 * the body, so that fused ops can normalise and activate on the way.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_WINDOW_CUH
#define BRAID_KERNELS_CUDA_TILE_WINDOW_CUH

#include <math.h>

#include "kernels/cuda/tile/pixels.cuh"

/* A pixel of all samples as sample, row and column of an image of the given size. */
struct window_place {
    int64_t sample;
    int32_t row, column;
};

static __device__ __forceinline__ window_place window_place_of(int64_t pixel, const int32_t *size) {
    const int64_t line = divide(pixel, size[1]);
    window_place place;
    place.sample = divide(line, size[0]);
    place.row = (int32_t)(line - place.sample * size[0]);
    place.column = (int32_t)(pixel - line * size[1]);
    return place;
}

/* Adaptive windows: the places [begin, end) of an axis of `of` places that window `at` of `size` reads; and with the
 * two sizes exchanged, the windows that read a place. */
static __device__ __forceinline__ int32_t share_begin(int32_t at, int32_t size, int32_t of) {
    return (int32_t)divide((int64_t)at * of, size);
}

static __device__ __forceinline__ int32_t share_end(int32_t at, int32_t size, int32_t of) {
    return (int32_t)divide((int64_t)(at + 1) * of + size - 1, size);
}

/* The largest value of a window, and the pixel of the sample that has it: the first of equal values in row order, a
 * NaN before every number. Minus infinity and -1 where all its places lie in the padding. */
template <int width> struct window_largest {
    float value[width];
    int32_t pixel[width];
};

/* Of the x of channels c and on of a window; `ahead` places are on their way from memory. body.value(float (&)[width])
 * makes of them what is compared. */
template <int ahead, int width, class body>
static __device__ __forceinline__ void window_find(window_largest<width> &best, const body &from,
                                                   const pixel_window &window, const window_place &out, int64_t c) {
    const int32_t top = out.row * window.stride[0] - window.padding[0];
    const int32_t left = out.column * window.stride[1] - window.padding[1];
    const int64_t origin = out.sample * window.size[0] * window.size[1], pitch = from.plane.pitch;
    int32_t r = 0, s = 0;
#pragma unroll
    for (int j = 0; j < width; j++) {
        best.value[j] = -INFINITY;
        best.pixel[j] = -1;
    }
    while (r < window.filter[0]) {
        decltype(from.take(from.plane.x, 0)) in[ahead];
        int32_t pixel[ahead];
#pragma unroll
        for (int t = 0; t < ahead; t++) {
            const int32_t h = top + r * window.dilation[0], w = left + s * window.dilation[1];
            const bool inside = r < window.filter[0] && h >= 0 && h < window.size[0] && w >= 0 && w < window.size[1];
            pixel[t] = inside ? h * window.size[1] + w : -1;
            if (inside) in[t] = from.take(from.plane.x, (origin + pixel[t]) * pitch + c);
            if (++s < window.filter[1]) continue;
            s = 0;
            r++;
        }
#pragma unroll
        for (int t = 0; t < ahead; t++) {
            float value[width];
            if (pixel[t] < 0) continue;
            pack_open(value, in[t]);
            from.value(value);
#pragma unroll
            for (int j = 0; j < width; j++) {
                if (best.pixel[j] >= 0 && !(value[j] > best.value[j]) && !isnan(value[j])) continue;
                best.value[j] = value[j];
                best.pixel[j] = pixel[t];
            }
        }
    }
}

/* The sum of dy over the windows that took a pixel. */
template <int width, class body>
static __device__ __forceinline__ void window_gradient(float (&sum)[width], const body &from,
                                                       const pixel_window &window, int64_t pixel, int64_t c) {
    const window_place in = window_place_of(pixel, window.size);
    const int32_t own = in.row * window.size[1] + in.column;
#pragma unroll
    for (int j = 0; j < width; j++) sum[j] = 0;
    for (int32_t r = window.filter[0] - 1; r >= 0; r--) {
        const int32_t from_row = in.row + window.padding[0] - r * window.dilation[0], row = from_row / window.stride[0];
        if (from_row < 0 || from_row % window.stride[0] || row >= window.out_size[0]) continue;
        for (int32_t s = window.filter[1] - 1; s >= 0; s--) {
            const int32_t from_column = in.column + window.padding[1] - s * window.dilation[1];
            const int32_t column = from_column / window.stride[1];
            if (from_column < 0 || from_column % window.stride[1] || column >= window.out_size[1]) continue;
            const window_place out = {in.sample, row, column};
            window_largest<width> taken;
            window_find<1>(taken, from, window, out, c);
            const int64_t output = (in.sample * window.out_size[0] + row) * window.out_size[1] + column;
            float dy[width];
            pack_open(dy, from.take(from.plane.dy, output * from.plane.pitch + c));
#pragma unroll
            for (int j = 0; j < width; j++) sum[j] += taken.pixel[j] == own ? dy[j] : 0;
        }
    }
}

#endif
