/*
 * The gradient of bn_act_pool's input in training, behind a ReLU, as a body of slide.cuh makes it: which place a
 * window takes, whether the ReLU lets its dy through, and what a place makes of its sum.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_POOL_RULE_CUH
#define BRAID_KERNELS_CUDA_TILE_POOL_RULE_CUH

#include "kernels/cuda/tile/bn.cuh"

/* Of a pack of channels; of_x is that of keys. */
template <class number, int width> struct alignas(16) pool_factors {
    bn_gate gate;
    float of_g[width], of_x[width], rest[width];
    /* Readies number j of the pack for channel c of a plane; one thread does it. */
    template <class plane> __device__ __forceinline__ void set(int j, const plane &from, int64_t c, float share) {
        bn_factors of = {0, 0, 0};
        float scale = 0, shift = 0;
        if (c < from.channels) {
            scale = from.scale[c];
            shift = from.shift[c];
            of = bn_factors_of(from.gamma[c], from.rstd[c], from.center[c], from.dgamma[c], from.dbeta[c], share);
        }
        bn_gate_set<number>(gate, j, scale, shift);
        of_g[j] = of.of_g;
        of_x[j] = scale < 0 ? -of.of_x : of.of_x;
        rest[j] = of.rest;
    }
};

template <class number, int width> struct pool_rule {
    typedef pool_factors<number, width> factors;
    static const bool rounds = true;
    const factors *mine;
    __device__ __forceinline__ void use(const factors &from) { mine = &from; }
    __device__ __forceinline__ uint32_t key(uint32_t x, int k) const { return x ^ mine->gate.flipped.at[k]; }
    __device__ __forceinline__ uint32_t gate(uint32_t took, uint32_t best, uint32_t first, int k) const {
        const uint32_t kept = mine->gate.kept.at[k];
        return ((took & kept) | (first & ~kept)) & word<number>::above(best & kept, mine->gate.threshold.at[k]);
    }
    __device__ __forceinline__ void start(float *to, uint32_t from, int k) const {
        const int numbers = word<number>::width;
        float x[numbers];
        word<number>::open(x, from);
#pragma unroll
        for (int j = 0; j < numbers; j++) to[j] = x[j] * mine->of_x[k * numbers + j] + mine->rest[k * numbers + j];
    }
    __device__ __forceinline__ float factor(int j) const { return mine->of_g[j]; }
    __device__ __forceinline__ uint32_t make(const float (&g)[word<number>::width], uint32_t from, int k) const {
        const int numbers = word<number>::width;
        float made[numbers];
        start(made, from, k);
#pragma unroll
        for (int j = 0; j < numbers; j++) made[j] = g[j] * factor(k * numbers + j) + made[j];
        return word<number>::close(made);
    }
};

#endif
