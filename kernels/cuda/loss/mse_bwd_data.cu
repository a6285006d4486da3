/*
 * mse gradient: dx = 2 (x - t) dloss / (B C), the difference taken in float.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/loss/mse_bwd_data.h"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct mse_bwd_data : pixel_body<number, width, mse_bwd_data_args> {
    struct inputs {
        pack<number, width> x, t;
    };
    float factor;
    __device__ __forceinline__ mse_bwd_data(const mse_bwd_data_args &all, int i)
        : pixel_body<number, width, mse_bwd_data_args>(all, i) {
        factor = (float)(2 * (double)*all.dloss / ((double)all.map.sample_pixels * (double)this->plane.channels));
    }
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.t = this->take(this->plane.t, at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t at) const {
        float x[width], t[width];
        pack_open(x, in.x);
        pack_open(t, in.t);
#pragma unroll
        for (int j = 0; j < width; j++) x[j] = factor * (x[j] - t[j]);
        this->put(this->plane.dx, at, x, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

ENTRY_FORMATS(mse_bwd_data, (BLOCK_THREADS), mse_bwd_data_args, pixels_kernel<mse_bwd_data, number>(args))
