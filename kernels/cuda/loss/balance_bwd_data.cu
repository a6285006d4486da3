/*
 * balance gradient: every stream times a factor that follows from the norms of the forward pass and is the same for all
 * of its elements; each thread makes it in double. The equation is in src/ops/balance.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/loss/balance_bwd_data.h"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct balance_bwd_data : pixel_body<number, width, balance_bwd_data_args> {
    typedef pack<number, width> inputs;
    float factor;
    __device__ __forceinline__ balance_bwd_data(const balance_bwd_data_args &all, int i)
        : pixel_body<number, width, balance_bwd_data_args>(all, i) {
        const double norm = (double)all.norms[i];
        double mean = 0;
        for (int k = 0; k < all.planes; k++) mean += log((double)all.norms[k] + all.eps) / all.planes;
        const double slope = 2.0 * (double)*all.dloss / (all.planes - 1) / (norm + all.eps) / norm;
        factor = norm == 0 ? 0 : (float)(slope * (log(norm + all.eps) - mean));
    }
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
        float value[width];
        pack_open(value, x);
#pragma unroll
        for (int j = 0; j < width; j++) value[j] *= factor;
        this->put(this->plane.dx, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

ENTRY_FORMATS(balance_bwd_data, (BLOCK_THREADS), balance_bwd_data_args, pixels_kernel<balance_bwd_data, number>(args))
