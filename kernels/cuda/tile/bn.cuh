/*
 * Batch normalisation: the gradient of the normalised value in its four kinds. Each reads what it needs of a pack and
 * gives g and x:
 *
 *     gradient_plain    g = dy
 *     gradient_act      g = dy * f'(x * scale + shift)
 *     gradient_add_act  g = y > 0 ? dy : 0, the ReLU being read off y
 *     gradient_pool     g = f' times the dy of the windows that took the place, for all windows and activations
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_BN_CUH
#define BRAID_KERNELS_CUDA_TILE_BN_CUH

#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/tile/mask.cuh"
#include "kernels/cuda/tile/norm.cuh"
#include "kernels/cuda/tile/window3.cuh"

template <class number, int width> struct gradient_plain : pixel_body<number, width> {
    struct inputs {
        pack<number, width> x, dy;
    };
    static const int sources = 2;
    typedef number format;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ const void *source(int j) const { return j == 0 ? this->plane.x : this->plane.dy; }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.dy = this->take(this->plane.dy, at);
    }
    __device__ __forceinline__ void gradient_at(float (&g)[width], float (&x)[width], const inputs &in, int64_t,
                                                int64_t) const {
        pack_open(g, in.dy);
        pack_open(x, in.x);
    }
};

template <bool curved> struct gradient_act {
    template <class number, int width> struct body : gradient_plain<number, width> {
        typedef typename gradient_plain<number, width>::inputs inputs;
        static const int ahead = curved ? 2 : 4;
        float scale[width] = {}, shift[width] = {};
        using gradient_plain<number, width>::gradient_plain;
        __device__ __forceinline__ void begin(int64_t c) {
            pack_channels(scale, this->plane.scale + c, this->plane.channels - c);
            pack_channels(shift, this->plane.shift + c, this->plane.channels - c);
        }
        __device__ __forceinline__ void gradient_at(float (&g)[width], float (&x)[width], const inputs &in, int64_t,
                                                    int64_t) const {
            const act_rule<curved, sizeof(number) == 2> rule(this->args.activation);
            float u[width];
            pack_open(g, in.dy);
            pack_open(x, in.x);
#pragma unroll
            for (int j = 0; j < width; j++) u[j] = x[j] * scale[j] + shift[j];
            rule.gradients(u, g);
        }
    };
};

template <class number, int width> struct gradient_add_act : pixel_body<number, width> {
    struct inputs {
        pack<number, width> x, y, dy;
    };
    static const int sources = 3;
    typedef number format;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ const void *source(int j) const {
        return j == 0 ? this->plane.x : j == 1 ? this->plane.y : this->plane.dy;
    }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.y = this->take(this->plane.y, at);
        in.dy = this->take(this->plane.dy, at);
    }
    __device__ __forceinline__ void gradient_at(float (&g)[width], float (&x)[width], const inputs &in, int64_t,
                                                int64_t) const {
        float y[width];
        pack_open(y, in.y);
        pack_open(g, in.dy);
        pack_open(x, in.x);
#pragma unroll
        for (int j = 0; j < width; j++) g[j] = act_gradient(BRAID_ACTIVATION_RELU, y[j], g[j]);
    }
};

template <class number, int width> struct gradient_pool : pixel_body<number, width> {
    typedef pack<number, width> inputs;
    static const int ahead = 1; /* windows take enough registers */
    float scale[width], shift[width];
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        pack_channels(scale, this->plane.scale + c, this->plane.channels - c);
        pack_channels(shift, this->plane.shift + c, this->plane.channels - c);
    }
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void gradient_at(float (&g)[width], float (&x)[width], const inputs &in, int64_t pixel,
                                                int64_t c) const {
        pack_open(x, in);
        window_gradient(g, *this, this->args.window, pixel, c);
#pragma unroll
        for (int j = 0; j < width; j++) g[j] = act_gradient(this->args.activation, x[j] * scale[j] + shift[j], g[j]);
    }
    /* What the windows compare: f(x * scale + shift). */
    __device__ __forceinline__ void value(float (&y)[width]) const {
#pragma unroll
        for (int j = 0; j < width; j++) y[j] = act_value(this->args.activation, y[j] * scale[j] + shift[j]);
    }
};

/* How x of the channels of a pack are ordered by f(x * scale + shift), f being straight: as they are, the other way
 * round where the scale is negative, and all alike where it is 0. */
template <class number, int width> struct bn_order {
    uint32_t kept[PACK_WORDS], flipped[PACK_WORDS];
    __device__ __forceinline__ void begin(const float (&scale)[width]) {
        const int numbers = width / PACK_WORDS;
        const uint32_t all = numbers == 2 ? 0xFFFFu : 0xFFFFFFFFu, sign = numbers == 2 ? 0x8000u : 0x80000000u;
#pragma unroll
        for (int k = 0; k < PACK_WORDS; k++) {
            kept[k] = flipped[k] = 0;
#pragma unroll
            for (int j = 0; j < numbers; j++) {
                kept[k] |= (scale[k * numbers + j] != 0 ? all : 0) << 16 * j;
                flipped[k] |= (scale[k * numbers + j] < 0 ? sign : 0) << 16 * j;
            }
        }
    }
    __device__ __forceinline__ uint32_t key(uint32_t x, int k) const { return (x & kept[k]) ^ flipped[k]; }
    /* x of keys; 0 where the scale is. */
    __device__ __forceinline__ void open(float (&x)[width], words keys) const {
#pragma unroll
        for (int k = 0; k < PACK_WORDS; k++) keys.at[k] ^= flipped[k];
        words_open<number>(x, keys);
    }
};

/* The bits of a number, and those of infinity. */
template <class number> struct bn_bits {
    typedef uint16_t type;
    static const int32_t infinity = 0x7C00, sign = 0x8000;
};
template <> struct bn_bits<bf16> {
    typedef uint16_t type;
    static const int32_t infinity = 0x7F80, sign = 0x8000;
};
template <> struct bn_bits<f32> {
    typedef uint32_t type;
    static const int64_t infinity = 0x7F800000, sign = 0x80000000;
};

/* The largest key of a channel at which a ReLU is closed, all larger ones and NaN opening it: found by halving the
 * numbers of the format in their order, since key * |scale| + shift never falls as the key grows. */
template <class number> static __device__ __forceinline__ int64_t bn_threshold(float scale, float shift) {
    typedef bn_bits<number> bits;
    int64_t low = -(int64_t)bits::infinity, high = bits::infinity;
    if (scale == 0) return shift <= 0 ? bits::infinity : bits::sign | bits::infinity; /* all keys are 0 */
    if (!(-INFINITY * fabsf(scale) + shift <= 0)) return bits::infinity + 1;          /* a NaN: nothing closes it */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const typename bits::type form = (typename bits::type)(middle < 0 ? bits::sign | -middle : middle);
        if (load((const number *)&form) * fabsf(scale) + shift <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low < 0 ? bits::sign | -low : low;
}

/* What windows behind a ReLU know of a pack of channels: keys are x ^ flipped; `kept` has no bits where the scale is 0,
 * which makes all keys alike. */
struct bn_gate {
    words kept, flipped, threshold;
};

/* Readies channel j of a pack; one thread does it. */
template <class number>
static __device__ __forceinline__ void bn_gate_set(bn_gate &to, int j, float scale, float shift) {
    typedef typename bn_bits<number>::type type;
    ((type *)&to.kept)[j] = (type)(scale != 0 ? -1 : 0);
    ((type *)&to.flipped)[j] = (type)(scale < 0 ? bn_bits<number>::sign : 0);
    ((type *)&to.threshold)[j] = (type)bn_threshold<number>(scale, shift);
}

static __device__ __forceinline__ float bn_share(const pixel_args &args, const pixel_plane &plane) {
    return args.train ? 1 / (float)(mask_active(plane.mask, args.map.batch) * args.map.sample_pixels) : 0;
}

#endif
