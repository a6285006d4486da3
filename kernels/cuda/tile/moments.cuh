/*
 * Mean and biased variance of every channel over the active pixels, as sums over pixels (columns.cuh). Distances are
 * taken from the mean of the first few values of a part of the pixels, so that a large mean costs no digits, nor does a
 * first value that lies far off; what follows for the part is then added to that of others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MOMENTS_CUH
#define BRAID_KERNELS_CUDA_TILE_MOMENTS_CUH

#include "kernels/cuda/sums.h"
#include "kernels/cuda/tile/columns.cuh"

static __device__ __forceinline__ bn_moments add(const bn_moments &a, const bn_moments &b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float count = a.count + b.count;
    const float share = b.count / count, distance = b.mean - a.mean;
    bn_moments both;
    both.count = count;
    both.mean = a.mean + distance * share;
    both.square = a.square + b.square + distance * distance * a.count * share;
    return both;
}

static __device__ __forceinline__ float moments_var(const bn_moments &all) {
    return all.count > 0 ? all.square / all.count : 0;
}

/* Sums of distances from a value of the channel, the same for all pixels of a part. */
struct bn_distances {
    float sum, square;
};

static __device__ __forceinline__ bn_distances add(const bn_distances &a, const bn_distances &b) {
    bn_distances both;
    both.sum = a.sum + b.sum;
    both.square = a.square + b.square;
    return both;
}

template <class number, int width> struct moments : pixel_body<number, width> {
    typedef bn_distances sum;
    typedef bn_moments part;
    typedef pack<number, width> inputs;
    static const int ahead = 4;
    float origin[width];
    __device__ __forceinline__ moments(const pixel_args &all, int i) : pixel_body<number, width>(all, i), origin{} {}
    __device__ __forceinline__ void begin(int64_t c, const column_live &live) {
        const int few = live.count < 8 ? (int)live.count : 8;
        const float share = 1.0f / (float)few;
        int64_t pixel = live.first;
#pragma unroll 1
        for (int found = 0; found < few; found++, pixel++) {
            float x[width];
            while (this->is_blanked(pixel)) pixel = this->behind_sample(pixel);
            pack_open(x, this->take(this->plane.x, pixel * this->plane.pitch + c));
#pragma unroll
            for (int j = 0; j < width; j++) origin[j] += x[j] * share;
        }
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (!isfinite(origin[j])) origin[j] = 0;
        }
    }
    __device__ __forceinline__ bool is_blanked(int64_t pixel) const {
        return this->plane.mask && mask_blanks(this->plane.mask, divide(pixel, this->args.columns.sample_pixels));
    }
    __device__ __forceinline__ int64_t behind_sample(int64_t pixel) const {
        const pixel_columns &columns = this->args.columns;
        return (divide(pixel, columns.sample_pixels) + 1) * columns.sample_pixels;
    }
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead], const bool (&live)[ahead],
                                            int64_t, int32_t, int64_t) const {
#pragma unroll
        for (int p = 0; p < ahead; p++) {
            float x[width];
            if (!live[p]) continue;
            pack_open(x, in[p]);
#pragma unroll
            for (int j = 0; j < width; j++) {
                const float distance = x[j] - origin[j];
                mine[j].sum += distance;
                mine[j].square += distance * distance;
            }
        }
    }
    __device__ __forceinline__ part finish(const sum &all, const column_live &live, int j) const {
        part none = {0, 0, 0};
        if (live.count == 0) return none;
        const float mean = all.sum / (float)live.count;
        part some = {(float)live.count, origin[j] + mean, all.square - mean * all.sum};
        return some;
    }
};

#endif
