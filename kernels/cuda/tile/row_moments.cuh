/*
 * Statistics of what the epilogue of a convolution stores (epilogue_rows.cuh), as it is rounded. The tensor cores add
 * up the values of a tile and their squares (row_products.cuh). Behind the tile one of the four threads of a channel
 * adds that to what it has: sums of distances from an origin and of their squares. Then the origin moves to the mean of
 * all pixels so far, so that a large mean costs no digits, nor does a first tile that lies far off, such as a corner
 * where the filter sees much padding. Where the squares of values would lose too many of a variance that is small
 * beside them, all four threads add up the distances of their pixels, one by one. Only at the end do they add what they
 * have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_MOMENTS_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_MOMENTS_CUH

#include "kernels/cuda/tile/bn_finalize.cuh"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/moments.cuh"
#include "kernels/cuda/tile/row_parts.cuh"
#include "kernels/cuda/tile/row_products.cuh"

/* How often the variance may go into the mean square of a tile before that is not taken of its values any more. */
#define ROW_MOMENTS_MOST 16

/* For kernels that take no statistics. */
struct no_row_moments {
    static const bool counts = false;
    template <int pairs> __device__ __forceinline__ void include(int, const uint32_t (&)[pairs], int32_t) {}
    template <int pixels, class live_of> __device__ __forceinline__ void settle(const float *, const live_of &) {}
};

/* Of a channel. */
struct row_distances {
    float origin, sum, square;

    __device__ __forceinline__ void start(float first) { origin = isfinite(first) ? first : 0; }

    __device__ __forceinline__ void include(float value) {
        const float distance = value - origin;
        sum += distance;
        square += distance * distance;
    }

    /* So many values with this sum and sum of squares. */
    __device__ __forceinline__ void include(float count, float share, float of, float of_squares) {
        const float distance = of - count * origin;
        sum += distance;
        square += of_squares - of * (of * share) + distance * (distance * share);
    }

    /* The origin moves to the mean of `all`, or near it. */
    __device__ __forceinline__ void settle(float all, float share) {
        const float mean = origin + sum * share, next = isfinite(mean) ? mean : origin;
        const float moved = next - origin, left = sum - moved * all;
        square -= moved * (sum + left);
        sum = left;
        origin = next;
    }
};

template <class number> struct row_moments {
    static const bool sums = true, counts = true, by_x = false, in_place = false;
    int32_t count = 0; /* of the pixels that the thread has added up */
    row_distances own[2] = {{0, 0, 0}, {0, 0, 0}};
    int32_t seen = 0; /* of its pixels of the tile */
    row_products<number> tile;

    /* 4 * pairs pixels, of which `inside` are in the image: pairs as epilogue_rows_round makes them. */
    template <int pairs>
    __device__ __forceinline__ void include(int turn, const uint32_t (&pair)[pairs], int32_t inside) {
        if (inside >= 4 * pairs) {
            seen += pairs;
            tile.include(turn, pair, pair);
        } else if (inside > 0) {
            include_some(turn, pair, epilogue_rows_live(inside));
        }
    }

    /* Those that count: a bit for each of the thread's pixels. */
    template <int pairs>
    __device__ __forceinline__ void include_some(int turn, const uint32_t (&pair)[pairs], uint32_t live) {
        uint32_t some[pairs];
        row_products_mask(some, pair, live);
        seen += __popc(live & ((1 << pairs) - 1));
        tile.include(turn, some, some);
    }

    /* The same of plain sums that are rounded again, without the tensor cores. A zero is added to them, of which the
     * compiler does not know: else it would keep the rounded ones of the whole tile for this. */
    template <int pairs> __device__ __forceinline__ void include_each(const float *plain, uint32_t live) {
        const float nothing = (float)(count >> 30);
        float value[2 * pairs];
#pragma unroll
        for (int j = 0; j < 2 * pairs; j += 2) {
            const uint32_t pair = pair_made<number>(plain[j] + nothing, plain[j + 1] + nothing);
            value[j] = pair_at<number>(pair, 0);
            value[j + 1] = pair_at<number>(pair, 1);
        }
#pragma unroll
        for (int j = 2 * pairs - 1; j >= 0 && count == 0; j--) {
            if (live >> (j / 4 * 2 + j % 2) & 1) own[j / 2 % 2].start(value[j]);
        }
#pragma unroll
        for (int j = 0; j < 2 * pairs; j++) {
            if (!(live >> (j / 4 * 2 + j % 2) & 1)) continue;
            count += j / 2 % 2;
            own[j / 2 % 2].include(value[j]);
        }
    }

    /* Adds what was seen of the tile to what one thread of each channel has. False, and nothing is added, where that
     * loses too many digits for one of the warp's channels. */
    __device__ __forceinline__ bool add_tile() {
        int32_t pixels = seen;
#pragma unroll
        for (int bits = 1; bits < 4; bits *= 2) pixels += __shfl_xor_sync(0xFFFFFFFFu, pixels, bits);
        const bool adds = pixels > 0 && tile.has_products();
        const float of_tile = (float)pixels, share = __fdividef(1.0f, of_tile);
        const float all = (float)(count + pixels), of_all = __fdividef(1.0f, all);
        bool is_good = true;
        row_distances next[2] = {own[0], own[1]};
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float sum = tile.sum_of(i), square = tile.product_of(i);
            if (count == 0) next[i].start(sum * share);
            next[i].include(of_tile, share, sum, square);
            next[i].settle(all, of_all);
            is_good = is_good && square * all - ROW_MOMENTS_MOST * of_tile * next[i].square <= 0; /* nor infinite */
        }
        seen = 0;
        tile = row_products<number>();
        if (__ballot_sync(0xFFFFFFFFu, adds && !is_good)) return false;
        if (adds) {
            count += pixels;
            own[0] = next[0];
            own[1] = next[1];
        }
        return true;
    }

    /* Behind a tile: it is added up. Its plain sums are read again where that must be done one by one; live(first) says
     * which of the thread's pixels count among the 16 from `first` on. */
    template <int pixels, class live_of>
    __device__ __forceinline__ void settle(const float *plain, const live_of &live) {
        if (add_tile()) return;
#pragma unroll
        for (int first = 0; first < pixels / 16 * 16; first += 16) include_each<4>(plain + first / 2, live(first));
        if (pixels % 16) include_each<2>(plain + pixels / 2 - 4, live(pixels / 16 * 16));
        const float all = (float)count, share = count > 0 ? __fdividef(1.0f, all) : 0;
        own[0].settle(all, share);
        own[1].settle(all, share);
    }

    /* What the warpgroup found, as a part, and what follows from all of them for channels of plane i, for all threads
     * of a warpgroup. The batch is counted by the last of `finishers` where they read the count, else by the first of
     * the planes'. */
    __device__ __forceinline__ void finish(const bn_finalize_args &norm, int i, const row_parts_place<bn_moments> &at,
                                           uint32_t *finished, int32_t finishers) const {
        const int32_t channel = (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float mean = count > 0 ? own[j].sum / (float)count : 0;
            bn_moments found = {(float)count, own[j].origin + mean, own[j].square - mean * own[j].sum};
#pragma unroll
            for (int bits = 1; bits < 4; bits *= 2) found = add_across(found, bits);
            if (threadIdx.x % 4 == 0 && channel + 8 * j < at.channels) at.own()[channel + 8 * j] = found;
        }
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

/* Rounds a row of `pixels` plain sums into shared memory at `to`, and includes those that are inside the image: where
 * `is_whole` is told all of them. */
template <class number, int pixels, bool is_whole, class moments_of>
static __device__ __forceinline__ void row_moments_round(uint32_t to, const float *sum, int32_t inside,
                                                         moments_of *moments) {
#pragma unroll
    for (int g = 0; g < pixels / 16; g++) {
        uint32_t pairs[4];
        epilogue_rows_plain<number>(pairs, sum + g * 8);
        matrix_store_x4_transposed(to + (uint32_t)g * 2048, pairs);
        moments->include(g, pairs, is_whole ? 16 : inside - g * 16);
    }
    if (pixels % 16) {
        uint32_t pairs[2];
        epilogue_rows_plain<number>(pairs, sum + pixels / 2 - 4);
        matrix_store_x2_transposed(to + (uint32_t)(pixels / 16) * 2048, pairs);
        moments->include(pixels / 16, pairs, is_whole ? 8 : inside - pixels / 16 * 16);
    }
}

template <class number, int pixels, class moments_of>
static __device__ __forceinline__ void row_moments_stage(uint32_t to, const float *sum, int32_t inside,
                                                         moments_of *moments) {
    if (!moments_of::counts || inside >= pixels)
        row_moments_round<number, pixels, true>(to, sum, inside, moments);
    else
        row_moments_round<number, pixels, false>(to, sum, inside, moments);
}

#endif
