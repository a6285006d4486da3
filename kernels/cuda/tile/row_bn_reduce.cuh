/*
 * The sums of conv2d_dgrad_bn_reduce in the epilogue of a convolution (epilogue_rows.cuh): a thread has two channels, 8
 * apart, and adds g and g * (r - center) of its pixels, of dx as it is rounded, in registers over all tiles of its
 * block. r lies in shared memory as the results will. At the end the four threads of a channel add what they have, and
 * every warpgroup leaves a part (row_parts.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_ROW_BN_REDUCE_CUH
#define BRAID_KERNELS_CUDA_TILE_ROW_BN_REDUCE_CUH

#include "kernels/cuda/tile/bn_reduce.h"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/gradients.cuh"
#include "kernels/cuda/tile/row_parts.cuh"

/* Rounds sums that something is added to: the pairs hold it before, as such pairs. */
template <class number, int count>
static __device__ __forceinline__ void row_bn_reduce_added(uint32_t (&pairs)[count], const float *sum) {
#pragma unroll
    for (int i = 0; i < count; i++)
        pairs[i] =
            pair_made<number>(sum[2 * i] + pair_at<number>(pairs[i], 0), sum[2 * i + 1] + pair_at<number>(pairs[i], 1));
}

/* For kernels that add up nothing. */
struct no_row_bn_reduce {
    static const bool sums = false, counts = false, by_x = false, in_place = false;
};

/* `by_x`: the ReLU is read off x, not made again from r. */
template <class number, bool is_by_x = false> struct row_bn_reduce {
    static const bool sums = true, counts = false, by_x = is_by_x, in_place = true; /* results lie where r did */
    float scale[2], shift[2], center[2];
    bn_gradients sum[2] = {{0, 0}, {0, 0}};

    /* The channels of a warpgroup begin at `first`. */
    __device__ __forceinline__ void begin(const bn_reduce_plane &plane, int32_t first, int32_t channels) {
        const int32_t channel = first + (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int32_t c = channel + 8 * i;
            scale[i] = shift[i] = center[i] = 0;
            if (c >= channels) continue;
            if (!by_x) scale[i] = plane.scale[c];
            if (!by_x) shift[i] = plane.shift[c];
            center[i] = plane.center[c];
        }
    }

    /* 4 * pairs pixels: pairs of dx, r and, where they are read, x as epilogue_rows_round makes them, and which of them
     * count. */
    template <int pairs>
    __device__ __forceinline__ void include(const uint32_t (&dx)[pairs], const uint32_t (&r)[pairs],
                                            const uint32_t (&x)[pairs], uint32_t live) {
#pragma unroll
        for (int j = 0; j < 2 * pairs; j++) {
            const int i = j / 2 % 2;
            const float value = pair_at<number>(r[j / 2], j % 2);
            const float open = by_x ? pair_at<number>(x[j / 2], j % 2) : value * scale[i] + shift[i];
            const float g = open <= 0 ? 0 : pair_at<number>(dx[j / 2], j % 2);
            if (!(live >> (j / 4 * 2 + j % 2) & 1)) continue;
            sum[i].shift += g;
            sum[i].scale += g * (value - center[i]);
        }
    }

    /* All threads of a warpgroup take part. Nothing is left behind. */
    __device__ __forceinline__ void finish(const bn_reduce_plane &plane, const row_parts_place<bn_gradients> &at) {
        const int32_t channel = (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int bits = 1; bits < 4; bits *= 2) {
                sum[i].shift += __shfl_xor_sync(0xFFFFFFFFu, sum[i].shift, bits);
                sum[i].scale += __shfl_xor_sync(0xFFFFFFFFu, sum[i].scale, bits);
            }
            if (threadIdx.x % 4 == 0 && channel + 8 * i < at.channels)
                write_bytes<sizeof sum[i]>(at.own() + channel + 8 * i, &sum[i]);
            sum[i].shift = sum[i].scale = 0;
        }
        if (!row_parts_join(at) || !at.has_channel()) return;
        const int32_t c = at.first + (int32_t)threadIdx.x % 128;
        const bn_gradients all = row_parts_total(at);
        plane.dbeta[c] = all.shift;
        plane.dgamma[c] = all.scale * plane.rstd[c];
    }
};

#endif
