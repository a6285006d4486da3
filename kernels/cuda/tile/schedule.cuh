/*
 * Which work a block has. All streams of a layer are one launch: the blocks of plane i are
 * first_block[i] up to first_block[i + 1], so that streams of unequal width waste none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_SCHEDULE_CUH
#define BRAID_KERNELS_CUDA_TILE_SCHEDULE_CUH

#include <stdint.h>

/* The plane of this block. */
static __device__ __forceinline__ int schedule_plane(const int32_t *first_block, int planes) {
    int plane = 0;
    while (plane + 1 < planes && (int32_t)blockIdx.x >= first_block[plane + 1]) plane++;
    return plane;
}

/* a / b for 0 <= a and 0 < b, in 32 bits where both fit: a 64-bit division is many times slower. */
static __device__ __forceinline__ int64_t divide(int64_t a, int64_t b) {
    if (((a | b) >> 32) == 0) return (int64_t)((uint32_t)a / (uint32_t)b);
    return a / b;
}

/* True where the mask (one bit per sample; NULL: none) blanks a sample. */
static __device__ __forceinline__ bool mask_blanks(const uint32_t *mask, int64_t sample) {
    return mask && ((mask[sample >> 5] >> (sample & 31)) & 1u);
}

#endif
