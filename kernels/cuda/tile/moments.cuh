/*
 * Mean and biased variance of every channel over the active pixels, as sums over pixels (columns.cuh). Distances are
 * taken from the mean of the first few values of a part of the pixels, so that a large mean costs no digits, nor does a
 * first value that lies far off; what follows for the part is then added to that of others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MOMENTS_CUH
#define BRAID_KERNELS_CUDA_TILE_MOMENTS_CUH

#include "kernels/cuda/tile/sums.h"
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

/* Those of this lane and of the one whose number differs by `bits`. All lanes of a warp take part. */
static __device__ __forceinline__ bn_moments add_across(const bn_moments &mine, int bits) {
    bn_moments theirs;
    theirs.count = __shfl_xor_sync(0xFFFFFFFFu, mine.count, bits);
    theirs.mean = __shfl_xor_sync(0xFFFFFFFFu, mine.mean, bits);
    theirs.square = __shfl_xor_sync(0xFFFFFFFFu, mine.square, bits);
    return (int)threadIdx.x % 32 & bits ? add(theirs, mine) : add(mine, theirs);
}

/* Rounding may leave a little less than nothing. */
static __device__ __forceinline__ float moments_var(const bn_moments &all) {
    return all.count > 0 && !(all.square < 0) ? all.square / all.count : 0;
}

/* Parts are added by their distances from the first of them, without a division for each. */
template <> struct column_total<bn_moments> {
    float count, origin, sum, square;
    __device__ __forceinline__ void include(const bn_moments &part) {
        const bool some = part.count > 0;
        if (some && count == 0) origin = part.mean;
        const float distance = some ? part.mean - origin : 0, moved = part.count * distance;
        count += part.count;
        sum += moved;
        square += part.square + moved * distance;
    }
    __device__ __forceinline__ bn_moments finish() const {
        const float mean = count > 0 ? sum / count : 0;
        const bn_moments all = {count, origin + mean, square - mean * sum};
        return all;
    }
};

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
    typedef number format;
    static const int ahead = width > 1 ? 1 : 4, sources = 1;
    static const bool zeros_add_nothing = false, looks_around = true;
    static const int most = 8; /* of the first values */
    float origin[width];
    __device__ __forceinline__ moments(const pixel_args &all, int i) : pixel_body<number, width>(all, i), origin{} {}
    __device__ __forceinline__ void add_first(const pack<number, width> &values, float share) {
        float x[width];
        pack_open(x, values);
#pragma unroll
        for (int j = 0; j < width; j++) origin[j] += x[j] * share;
    }
    __device__ __forceinline__ void end_first() {
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (!isfinite(origin[j])) origin[j] = 0;
        }
    }
    /* From memory where samples may be blanked: the first values of the first that is not. */
    __device__ __forceinline__ void begin(int64_t c, const column_live &live) {
        if (width > 1 && !this->plane.mask) return;
        int64_t few = live.count < most ? live.count : most;
        if (this->plane.mask && few > behind_sample(live.first) - live.first)
            few = behind_sample(live.first) - live.first;
        const float share = 1.0f / (float)few;
#pragma unroll 1
        for (int64_t pixel = live.first; pixel < live.first + few; pixel++)
            add_first(this->take(this->plane.x, pixel * this->plane.pitch + c), share);
        end_first();
    }
    /* Else as they came: those of the first rows of threads. The lanes of a warp share the channels. */
    __device__ __forceinline__ void settle(const column_work &work, const column_live &live, const column_pack *first,
                                           float *room) {
        const int32_t rows = work.step < most ? work.step : most, few = live.count < rows ? (int32_t)live.count : rows;
        const int32_t channels = work.lanes * width;
        const float share = 1.0f / (float)few;
#pragma unroll 1
        for (int32_t c = (int32_t)threadIdx.x % 32; c < channels; c += 32) {
            const number *value = (const number *)first + c;
            float mean = 0;
#pragma unroll
            for (int32_t row = 0; row < most; row++, value += channels) {
                if (row < few) mean += load(value) * share;
            }
            room[c] = isfinite(mean) ? mean : 0;
        }
        __syncwarp();
        pack_channels(origin, room + column_rest((int32_t)threadIdx.x, work.lanes) * width, width);
    }
    __device__ __forceinline__ float origin_of(int j) const { return origin[j]; }
    __device__ __forceinline__ int64_t behind_sample(int64_t pixel) const {
        const pixel_columns &columns = this->args.columns;
        return (divide(pixel, columns.sample_pixels) + 1) * columns.sample_pixels;
    }
    __device__ __forceinline__ const void *source(int) const { return this->plane.x; }
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
    __device__ __forceinline__ part finish(const sum &all, const column_live &live, float from) const {
        const float mean = all.sum / (float)live.count;
        const part none = {0, 0, 0}, some = {(float)live.count, from + mean, all.square - mean * all.sum};
        return live.count > 0 ? some : none;
    }
};

#endif
