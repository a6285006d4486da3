/*
 * add: y = x + z, element by element: the residual connection.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/add.h"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct add : pixel_body<number, width, add_args> {
    struct inputs {
        pack<number, width> x, z;
    };
    using pixel_body<number, width, add_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
        in.x = this->take(this->plane.x, at);
        in.z = this->take(this->plane.z, at);
    }
    __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t at) const {
        float x[width], z[width];
        pack_open(x, in.x);
        pack_open(z, in.z);
#pragma unroll
        for (int j = 0; j < width; j++) x[j] += z[j];
        this->put(this->plane.y, at, x, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
};

ENTRY_FORMATS(add, (BLOCK_THREADS), add_args, pixels_kernel<add, number>(args))
