/*
 * How many samples of a stream are active.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_MASK_CUH
#define BRAID_KERNELS_CUDA_TILE_MASK_CUH

#include <stdint.h>

/* Every thread counts for itself: a mask has few words, and all threads read the same one at a time. */
static __device__ __forceinline__ int64_t mask_active(const uint32_t *mask, int64_t batch) {
    int64_t blanked = 0;
    for (int64_t word = 0; mask && word * 32 < batch; word++) {
        const int64_t rest = batch - word * 32;
        const uint32_t valid = rest < 32 ? (1u << rest) - 1 : 0xFFFFFFFFu;
        blanked += __popc(mask[word] & valid);
    }
    return batch - blanked;
}

#endif
