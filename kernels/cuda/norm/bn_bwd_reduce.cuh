/*
 * The bodies of bn_bwd_reduce for tile/columns.cuh, by the gradient of the normalised value.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_NORM_BN_BWD_REDUCE_CUH
#define BRAID_KERNELS_CUDA_NORM_BN_BWD_REDUCE_CUH

#include "kernels/cuda/tile/bn.cuh"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/gradients.cuh"

static __device__ __forceinline__ float column_ask(const pixel_args &args, int plane, int32_t channel,
                                                   const bn_gradients *) {
    return args.plane[plane].rstd[channel];
}

static __device__ __forceinline__ void column_write(const pixel_args &args, int plane, int32_t channel,
                                                    const bn_gradients &all, float rstd) {
    args.plane[plane].dbeta[channel] = all.shift;
    args.plane[plane].dgamma[channel] = all.scale * rstd;
}

template <template <class, int> class gradient> struct sums_of {
    template <class number, int width> struct body : gradient<number, width> {
        typedef bn_gradients sum, part;
        typedef typename gradient<number, width>::inputs inputs;
        static const int ahead = 1;
        static const bool zeros_add_nothing = true, looks_around = false;
        float center[width] = {};
        __device__ __forceinline__ body(const pixel_args &all, int i) : gradient<number, width>(all, i) {}
        __device__ __forceinline__ void settle(const column_work &, const column_live &, const column_pack *,
                                               float *) const {}
        __device__ __forceinline__ float origin_of(int) const { return 0; }
        __device__ __forceinline__ part finish(const sum &all, const column_live &, float) const { return all; }
        __device__ __forceinline__ void begin(int64_t c, const column_live &) {
            gradient<number, width>::begin(c);
            pack_channels(center, this->plane.center + c, this->plane.channels - c);
        }
        __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead],
                                                const bool (&live)[ahead], int64_t pixel, int32_t step,
                                                int64_t c) const {
#pragma unroll
            for (int p = 0; p < ahead; p++) {
                float g[width], x[width];
                if (!live[p]) continue;
                this->gradient_at(g, x, in[p], pixel + p * step, c);
#pragma unroll
                for (int j = 0; j < width; j++) {
                    mine[j].shift += g[j];
                    mine[j].scale += g[j] * (x[j] - center[j]);
                }
            }
        }
    };
};

template <bool curved> struct act_sums {
    template <class number, int width>
    using body = typename sums_of<gradient_act<curved>::template body>::template body<number, width>;
};

#endif
