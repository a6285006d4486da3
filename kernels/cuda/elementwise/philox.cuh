/*
 * Philox4x32-10, the numbers of core/rng.h on the device.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_ELEMENTWISE_PHILOX_CUH
#define BRAID_KERNELS_CUDA_ELEMENTWISE_PHILOX_CUH

#include <stdint.h>

/* Four numbers: those with the indices 4 * block to 4 * block + 3 of the sequence (seed, stream). */
struct philox {
    uint32_t word[4];
};

/* The keys of all rounds, for those who make many blocks. */
struct philox_keys {
    uint32_t low[10], high[10];
    __device__ __forceinline__ explicit philox_keys(uint64_t seed) {
#pragma unroll
        for (uint32_t round = 0; round < 10; round++) {
            low[round] = (uint32_t)seed + round * 0x9E3779B9u;
            high[round] = (uint32_t)(seed >> 32) + round * 0xBB67AE85u;
        }
    }
};

static __device__ __forceinline__ philox philox_block(const philox_keys &keys, uint64_t stream, uint64_t block) {
    uint32_t c0 = (uint32_t)block, c1 = (uint32_t)(block >> 32), c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const uint64_t product0 = (uint64_t)0xD2511F53u * c0, product1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ keys.low[round];
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ keys.high[round];
        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
    }
    const philox made = {{c0, c1, c2, c3}};
    return made;
}

static __device__ __forceinline__ philox philox_block(uint64_t seed, uint64_t stream, uint64_t block) {
    return philox_block(philox_keys(seed), stream, block);
}

/* One of the four, chosen without an index, which would put them into memory. */
static __device__ __forceinline__ uint32_t philox_word(const philox &from, uint32_t index) {
    const uint32_t low = index & 1 ? from.word[1] : from.word[0], high = index & 1 ? from.word[3] : from.word[2];
    return index & 2 ? high : low;
}

#endif
