/*
 * Statistics of what the epilogue of a convolution stores (epilogue_rows.cuh), as it is rounded: a thread has two
 * channels, and adds up the distances of its pixels from an origin and their squares in registers over all tiles of its
 * block. Behind each tile the origin moves to the mean of all pixels so far, so that a large mean costs no digits, nor
 * does a first tile that lies far off, such as a corner where the filter sees much padding. Only at the end do the four
 * threads of a channel add what they have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_MOMENTS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_MOMENTS_CUH

#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/tile/row_parts.cuh"

/* For kernels that take no statistics. */
struct no_row_moments {
    static const bool counts = false;
    template <int count> __device__ __forceinline__ void include(const uint32_t (&)[count], int32_t) {}
    __device__ __forceinline__ void begin(const float *) {}
    __device__ __forceinline__ void settle() {}
};

template <class number> struct row_moments {
    static const bool sums = true, counts = true, by_x = false, in_place = false;
    int32_t count = 0; /* of the thread's pixels */
    float origin[2] = {0, 0}, sum[2] = {0, 0}, square[2] = {0, 0};

    __device__ __forceinline__ void start(int i, float first) { origin[i] = isfinite(first) ? first : 0; }

    /* Before the first tile: a value of each channel, as it is stored, so that none is left where all are alike. */
    __device__ __forceinline__ void begin(const float *values) {
        if (count > 0) return;
#pragma unroll
        for (int i = 0; i < 2; i++) start(i, pair_at<number>(pair_made<number>(values[2 * i], 0.0f), 0));
    }

    __device__ __forceinline__ void include_one(int i, float value) {
        const float distance = value - origin[i];
        sum[i] += distance;
        square[i] += distance * distance;
    }

    /* 4 * pairs pixels, of which `inside` are in the image: pairs as epilogue_rows_round makes them. */
    template <int pairs> __device__ __forceinline__ void include(const uint32_t (&pair)[pairs], int32_t inside) {
        if (inside >= 4 * pairs) {
            count += pairs;
#pragma unroll
            for (int j = 0; j < 2 * pairs; j++) include_one(j / 2 % 2, pair_at<number>(pair[j / 2], j % 2));
            return;
        }
        include_some(pair, epilogue_rows_live(inside));
    }

    /* Those that count: a bit for each of the thread's pixels. */
    template <int pairs> __device__ __forceinline__ void include_some(const uint32_t (&pair)[pairs], uint32_t live) {
#pragma unroll
        for (int j = 2 * pairs - 1; j >= 0 && count == 0; j--) {
            if (live >> (j / 4 * 2 + j % 2) & 1) start(j / 2 % 2, pair_at<number>(pair[j / 2], j % 2));
        }
#pragma unroll
        for (int j = 0; j < 2 * pairs; j++) {
            if (!(live >> (j / 4 * 2 + j % 2) & 1)) continue;
            count += j / 2 % 2;
            include_one(j / 2 % 2, pair_at<number>(pair[j / 2], j % 2));
        }
    }

    /* Behind a tile: the origin moves to the mean, or near it. */
    __device__ __forceinline__ void settle() {
        const float all = (float)count, share = count > 0 ? __fdividef(1.0f, all) : 0;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float mean = origin[i] + sum[i] * share, next = isfinite(mean) ? mean : origin[i];
            const float moved = next - origin[i], left = sum[i] - moved * all;
            square[i] -= moved * (sum[i] + left);
            sum[i] = left;
            origin[i] = next;
        }
    }

    /* As a part. All lanes of a warp take part. */
    __device__ __forceinline__ void write(const row_parts_place<bn_moments> &at) const {
        const int32_t channel = (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float mean = count > 0 ? sum[i] / (float)count : 0;
            bn_moments found = {(float)count, origin[i] + mean, square[i] - mean * sum[i]};
#pragma unroll
            for (int bits = 1; bits < 4; bits *= 2) found = add_across(found, bits);
            if (threadIdx.x % 4 == 0 && channel + 8 * i < at.channels) at.own()[channel + 8 * i] = found;
        }
    }

    /* The same as a part, and what follows from all of them for channels of plane i, for all threads of a warpgroup.
     * The batch is counted by the last of `finishers` where they read the count, else by the first of the planes'. */
    __device__ __forceinline__ void finish(const bn_finalize_args &norm, int i, const row_parts_place<bn_moments> &at,
                                           uint32_t *finished, int32_t finishers) const {
        write(at);
        if (!row_parts_join(at)) return;
        const int64_t batches = norm.cumulative ? *norm.batches : 0;
        if (at.has_channel()) {
            const int32_t c = at.first + (int32_t)threadIdx.x % 128;
            const bn_channel of = bn_channel_of(norm.plane[i], c);
            const bn_moments all = row_parts_total(at);
            bn_finish(norm, norm.plane[i], c, of, all.mean, moments_var(all), bn_factor(norm, i, batches));
        }
        const bool is_last = norm.cumulative ? row_parts_arrives_last(finished, finishers, at) : i + at.first == 0;
        if (is_last && threadIdx.x % 128 == 0) *norm.batches += bn_counted(norm);
    }
};

/* Rounds a row of `pixels` plain sums into shared memory at `to`, and includes those that are inside the image. */
template <class number, int pixels, class moments_of>
static __device__ __forceinline__ void row_moments_stage(uint32_t to, const float *sum, int32_t inside,
                                                         moments_of *moments) {
#pragma unroll
    for (int g = 0; g < pixels / 16; g++) {
        uint32_t pairs[4];
        epilogue_rows_plain<number>(pairs, sum + g * 8);
        moments->include(pairs, inside - g * 16);
        matrix_store_x4_transposed(to + (uint32_t)g * 2048, pairs);
    }
    if (pixels % 16) {
        uint32_t pairs[2];
        epilogue_rows_plain<number>(pairs, sum + pixels / 2 - 4);
        moments->include(pairs, inside - pixels / 16 * 16);
        matrix_store_x2_transposed(to + (uint32_t)(pixels / 16) * 2048, pairs);
    }
}

#endif
