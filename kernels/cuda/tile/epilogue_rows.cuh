/*
 * The epilogue of convolutions on sm_90a, whose accumulators have channels as rows and pixels as columns: a thread has
 * two channels, 8 apart, and pixels in pairs. What is added lies in shared memory as the results will, so it is read
 * and they are written by the same addresses, and both may be the same memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_EPILOGUE_ROWS_CUH
#define BRAID_KERNELS_CUDA_TILE_EPILOGUE_ROWS_CUH

#include "kernels/cuda/tile/epilogue.cuh"
#include "kernels/cuda/ptx/matrix.cuh"

/* The two channels of a thread. */
struct epilogue_rows {
    epilogue_channel row[2];
    float floor;
    bool is_plain; /* sums are rounded as they are, if nothing is added */
};

/* `first` is the first of the warpgroup's 64 channels. */
template <class number>
static __device__ __forceinline__ epilogue_rows epilogue_rows_find(const epilogue &of, int32_t first,
                                                                   int32_t channels) {
    const int32_t channel = first + (int32_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    epilogue_rows found;
#pragma unroll
    for (int i = 0; i < 2; i++) found.row[i] = epilogue_find<number>(of, channel + 8 * i, channels);
    found.floor = epilogue_floor(of);
    found.is_plain = !of.bias && !of.scale && !of.shift && !of.floored && !of.added;
    return found;
}

/* Where a thread's address lies in 64 channels of each pixel, 128 bytes swizzled: pixel 8 (lane / 16) + lane % 8, and
 * channels 16 warp + lane / 8 % 2 * 8 on. */
static __device__ __forceinline__ uint32_t epilogue_rows_at(void) {
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    return (lane / 16 * 8 + lane % 8) * 128 + (((warp * 2 + lane / 8 % 2) ^ (lane % 8)) << 4);
}

/* Pixels of a thread among 16, those from 2 (lane % 4) on and 8 behind them, of which the first `inside` count: a bit
 * for each of the four. */
static __device__ __forceinline__ uint32_t epilogue_rows_live(int32_t inside) {
    const int32_t first = 2 * (int32_t)(threadIdx.x % 4);
    return (uint32_t)(first < inside) | (uint32_t)(first + 1 < inside) << 1 | (uint32_t)(first + 8 < inside) << 2 |
           (uint32_t)(first + 9 < inside) << 3;
}

/* Rounds 2 * count pixels: `count` pairs of sums, in turn of the one and of the other channel. With `is_added` the
 * pairs hold what is added before, as such pairs. */
template <class number, bool is_added, int count>
static __device__ __forceinline__ void epilogue_rows_round(uint32_t (&pairs)[count], const epilogue_rows &with,
                                                           const float *sum) {
#pragma unroll
    for (int i = 0; i < count; i++) {
        const epilogue_channel &channel = with.row[i % 2];
        const float first = sum[2 * i], second = sum[2 * i + 1];
        pairs[i] = is_added
                       ? pair_made<number>(epilogue_value(first, channel, with.floor, pair_at<number>(pairs[i], 0)),
                                           epilogue_value(second, channel, with.floor, pair_at<number>(pairs[i], 1)))
                       : pair_made<number>(epilogue_value(first, channel, with.floor),
                                           epilogue_value(second, channel, with.floor));
    }
}

/* Rounds 16 pixels (8 sums of a thread) into shared memory at `to`. `added`: where what is added lies; 0: nothing. */
template <class number>
static __device__ __forceinline__ void epilogue_rows_16(uint32_t to, const epilogue_rows &with, const float *sum,
                                                        uint32_t added) {
    uint32_t pairs[4];
    if (added) {
        matrix_load_x4_transposed(pairs, added);
        epilogue_rows_round<number, true>(pairs, with, sum);
    } else {
        epilogue_rows_round<number, false>(pairs, with, sum);
    }
    matrix_store_x4_transposed(to, pairs);
}

/* The same for 8 pixels, the last of an odd number of eights. */
template <class number>
static __device__ __forceinline__ void epilogue_rows_8(uint32_t to, const epilogue_rows &with, const float *sum,
                                                       uint32_t added) {
    uint32_t pairs[2];
    if (added) {
        matrix_load_x2_transposed(pairs, added);
        epilogue_rows_round<number, true>(pairs, with, sum);
    } else {
        epilogue_rows_round<number, false>(pairs, with, sum);
    }
    matrix_store_x2_transposed(to, pairs);
}

/* Rounds plain sums: `count` pairs. */
template <class number, int count>
static __device__ __forceinline__ void epilogue_rows_plain(uint32_t (&pairs)[count], const float *sum) {
#pragma unroll
    for (int i = 0; i < count; i++) pairs[i] = pair_made<number>(sum[2 * i], sum[2 * i + 1]);
}

/* The same into shared memory. */
template <class number> static __device__ __forceinline__ void epilogue_rows_plain_16(uint32_t to, const float *sum) {
    uint32_t pairs[4];
    epilogue_rows_plain<number>(pairs, sum);
    matrix_store_x4_transposed(to, pairs);
}

template <class number> static __device__ __forceinline__ void epilogue_rows_plain_8(uint32_t to, const float *sum) {
    uint32_t pairs[2];
    epilogue_rows_plain<number>(pairs, sum);
    matrix_store_x2_transposed(to, pairs);
}

#endif
