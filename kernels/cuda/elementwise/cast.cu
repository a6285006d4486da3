/*
 * cast: y = x in another format. The entries are named by the format of x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/cast.h"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct cast : pixel_body<number, width, cast_args> {
    typedef pack<number, width> inputs;
    static const int ahead = 4;
    using pixel_body<number, width, cast_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
        float value[width];
        pack_open(value, x);
        write_as(value, at, this->plane.channels - c);
    }
    __device__ __forceinline__ void blank(int64_t at) const {
        const float zeros[width] = {0};
        write_as(zeros, at, 0);
    }
    __device__ __forceinline__ void write_as(const float (&value)[width], int64_t at, int64_t inside) const {
        void *y = this->plane.y;
        switch (this->args.to) {
            case BRAID_DTYPE_F16: pack_write((f16 *)y + at, value, inside); break;
            case BRAID_DTYPE_BF16: pack_write((bf16 *)y + at, value, inside); break;
            default: pack_write((f32 *)y + at, value, inside); break;
        }
    }
};

ENTRY_FORMATS(cast, (BLOCK_THREADS), cast_args, pixels_kernel_few<cast, number>(args))
