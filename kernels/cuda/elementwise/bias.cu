/*
 * bias: y = x + bias, channel by channel, with zeros for blanked samples and for the lanes between the channels and the
 * pitch; and its gradient, the sum of dy over the active pixels of every channel, in an order that depends on the
 * problem alone. The bias is z of the planes, and its gradient dz, both in the type of the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/tile/columns.cuh"

template <class number, int width> struct biased : pixel_body<number, width> {
    typedef pack<number, width> inputs;
    static const int ahead = 4;
    float bias[width];
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        const number *from = (const number *)this->plane.z + c;
#pragma unroll
        for (int j = 0; j < width; j++) bias[j] = c + j < this->plane.channels ? load(from + j) : 0;
    }
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
        float value[width];
        pack_open(value, x);
#pragma unroll
        for (int j = 0; j < width; j++) value[j] += bias[j];
        this->put(this->plane.y, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
};

/* A part of the sum behind one number of this type. */
template <class number> struct bias_part : bias_sum {};

template <class number>
static __device__ __forceinline__ bias_part<number> add(const bias_part<number> &a, const bias_part<number> &b) {
    bias_part<number> both;
    both.dy = a.dy + b.dy;
    return both;
}

template <class number>
static __device__ __forceinline__ column_nothing column_ask(const pixel_args &, int, int32_t,
                                                            const bias_part<number> *) {
    return column_nothing();
}

template <class number>
static __device__ __forceinline__ void column_write(const pixel_args &args, int plane, int32_t channel,
                                                    const bias_part<number> &all, const column_nothing &) {
    store((number *)args.plane[plane].dz + channel, all.dy);
}

template <class number, int width> struct bias_sums : pixel_body<number, width> {
    typedef bias_part<number> sum, part;
    typedef pack<number, width> inputs;
    typedef number format;
    static const int ahead = width > 1 ? 1 : 4, sources = 1;
    static const bool zeros_add_nothing = true, looks_around = false;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t, const column_live &) const {}
    __device__ __forceinline__ void settle(const column_work &, const column_live &, const column_pack *,
                                           float *) const {}
    __device__ __forceinline__ float origin_of(int) const { return 0; }
    __device__ __forceinline__ part finish(const sum &all, const column_live &, float) const { return all; }
    __device__ __forceinline__ const void *source(int) const { return this->plane.dy; }
    __device__ __forceinline__ void fetch(inputs &dy, int64_t at) const { dy = this->take(this->plane.dy, at); }
    __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead], const bool (&live)[ahead],
                                            int64_t, int32_t, int64_t) const {
#pragma unroll
        for (int p = 0; p < ahead; p++) {
            float dy[width];
            if (!live[p]) continue;
            pack_open(dy, in[p]);
#pragma unroll
            for (int j = 0; j < width; j++) mine[j].dy += dy[j];
        }
    }
};

ENTRY_FORMATS(bias_fwd, (BLOCK_THREADS, 3), pixel_args, pixels_kernel<biased, number>(args))
ENTRY_FORMATS(bias_bwd_weight, (BLOCK_THREADS, 3), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<bias_sums, number>(args, ring))
ENTRY_FORMATS(bias_bwd_weight_parts, (BLOCK_THREADS), pixel_args, __shared__ bias_part<number> shared[BLOCK_THREADS];
              columns_second(args, shared))
