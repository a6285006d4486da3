/*
 * bn_apply, bn_act and bn_add_act forward: y = f(x * scale + shift + z), channel by channel. z may be missing, or have
 * a scale and a shift of its own. Zeros for blanked samples and for the lanes between the channels and the pitch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/tile/pixels.cuh"

template <bool curved> struct bn_apply {
    template <class number, int width> struct body : pixel_body<number, width> {
        typedef pack<number, width> inputs;
        static const int ahead = 4;
        float scale[width], shift[width];
        using pixel_body<number, width>::pixel_body;
        __device__ __forceinline__ void know(const float *scales, const float *shifts, int64_t inside) {
            pack_channels(scale, scales, inside);
            pack_channels(shift, shifts, inside);
        }
        __device__ __forceinline__ void begin(int64_t c) {
            know(this->plane.scale + c, this->plane.shift + c, this->plane.channels - c);
        }
        __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
        __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
            const act_rule<curved, sizeof(number) == 2> rule(this->args.activation);
            float value[width];
            pack_open(value, x);
#pragma unroll
            for (int j = 0; j < width; j++) value[j] = value[j] * scale[j] + shift[j];
            rule.values(value);
            this->put(this->plane.y, at, value, c);
        }
        __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
    };
};

template <class number, int width> struct bn_add_act : bn_apply<false>::body<number, width> {
    struct inputs {
        pack<number, width> x, z;
    };
    static const int ahead = 2;
    float zscale[width];
    typedef bn_apply<false>::body<number, width> plain;
    using plain::plain;
    __device__ __forceinline__ void know_residual(const float *scales, const float *shifts, int64_t inside) {
        float zshift[width];
        pack_channels(zscale, scales, inside);
        pack_channels(zshift, shifts, inside);
#pragma unroll
        for (int j = 0; j < width; j++) this->shift[j] += zshift[j];
    }
    __device__ __forceinline__ void begin(int64_t c) {
        plain::begin(c);
        if (this->plane.zscale) know_residual(this->plane.zscale + c, this->plane.zshift + c, this->plane.channels - c);
    }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.z = this->take(this->plane.z, at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t at) const {
        const act_rule<false> rule(BRAID_ACTIVATION_RELU);
        float value[width], z[width];
        pack_open(value, in.x);
        pack_open(z, in.z);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const float residual = this->plane.zscale ? z[j] * zscale[j] : z[j];
            value[j] = rule.value(value[j] * this->scale[j] + this->shift[j] + residual);
        }
        this->put(this->plane.y, at, value, c);
    }
};

ENTRY_FORMATS(bn_apply, (BLOCK_THREADS, 4), pixel_args, pixels_kernel_act<bn_apply, number>(args))
ENTRY_FORMATS(bn_add_act, (BLOCK_THREADS, 4), pixel_args, pixels_kernel<bn_add_act, number>(args))
