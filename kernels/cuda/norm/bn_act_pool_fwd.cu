/*
 * bn_act_pool forward: the largest f(x * scale + shift) of every window.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/bn.cuh"

template <class number, int width> struct bn_act_pool_fwd : gradient_pool<number, width> {
    typedef pixel_nothing inputs;
    using gradient_pool<number, width>::gradient_pool;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const window_place out = window_place_of(pixel, this->args.window.out_size);
        window_largest<width> best;
        window_find<1>(best, *this, this->args.window, out, c);
        this->put(this->plane.y, at, best.value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
};

/* Windows of 3 x 3 behind a ReLU, which is made of their largest alone. */
template <class number, int width> struct bn_act_pool_fwd_3x3 : pixel_body<number, width> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    float scale[width], shift[width];
    bn_order<number, width> order;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        pack_channels(scale, this->plane.scale + c, this->plane.channels - c);
        pack_channels(shift, this->plane.shift + c, this->plane.channels - c);
        order.begin(scale);
    }
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const act_rule<false> rule(this->args.activation);
        words x[9];
        float value[width];
        order.open(value, window3_find<number>(x, *this, pixel, c));
#pragma unroll
        for (int j = 0; j < width; j++) value[j] = rule.value(value[j] * scale[j] + shift[j]);
        this->put(this->plane.y, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
    __device__ __forceinline__ uint32_t key(uint32_t x, int k) const { return order.key(x, k); }
};

ENTRY_FORMATS(bn_act_pool_fwd, (BLOCK_THREADS), pixel_args,
              windows_kernel<bn_act_pool_fwd, bn_act_pool_fwd_3x3, number>(args, act_is_curved(args.activation)))
