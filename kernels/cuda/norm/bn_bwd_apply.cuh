/*
 * The bodies of bn_bwd_apply for tile/pixels.cuh, by the gradient of the normalised value.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_BN_BWD_APPLY_CUH
#define BRAID_KERNELS_CUDA_NORM_BN_BWD_APPLY_CUH

#include "kernels/cuda/tile/bn.cuh"

template <template <class, int> class gradient> struct bn_bwd_apply_of {
    template <class number, int width> struct body : gradient<number, width> {
        typedef typename gradient<number, width>::inputs inputs;
        float of_g[width] = {}, of_x[width] = {}, rest[width] = {};
        float share;
        __device__ __forceinline__ body(const pixel_args &all, int i)
            : gradient<number, width>(all, i), share(bn_share(all, this->plane)) {}
        __device__ __forceinline__ void begin(int64_t c) {
            const int64_t inside = this->plane.channels - c;
            float gamma[width], rstd[width], center[width], dgamma[width], dbeta[width];
            gradient<number, width>::begin(c);
            pack_channels(gamma, this->plane.gamma + c, inside);
            pack_channels(rstd, this->plane.rstd + c, inside);
            pack_channels(center, this->plane.center + c, inside);
            pack_channels(dgamma, this->plane.dgamma + c, inside);
            pack_channels(dbeta, this->plane.dbeta + c, inside);
#pragma unroll
            for (int j = 0; j < width; j++) {
                const bn_factors all = bn_factors_of(gamma[j], rstd[j], center[j], dgamma[j], dbeta[j], share);
                of_g[j] = all.of_g;
                of_x[j] = all.of_x;
                rest[j] = all.rest;
            }
        }
        __device__ __forceinline__ void make(const inputs &in, int64_t pixel, int64_t c, int64_t at) const {
            float g[width], x[width];
            this->gradient_at(g, x, in, pixel, c);
            write(g, x, c, at);
        }
        __device__ __forceinline__ void write(float (&g)[width], const float (&x)[width], int64_t c, int64_t at) const {
            if (this->plane.dz) this->put(this->plane.dz, at, g, c);
#pragma unroll
            for (int j = 0; j < width; j++) {
                g[j] *= of_g[j];
                if (this->args.train) g[j] += x[j] * of_x[j] + rest[j];
            }
            this->put(this->plane.dx, at, g, c);
        }
        __device__ __forceinline__ void blank(int64_t at) const {
            this->clear(this->plane.dx, at);
            if (this->plane.dz) this->clear(this->plane.dz, at);
        }
    };
};

template <bool curved> struct act_bn_bwd_apply {
    template <class number, int width>
    using body = typename bn_bwd_apply_of<gradient_act<curved>::template body>::template body<number, width>;
};

#endif
