/*
 * fuse, forward and data gradient: the features of a stream, times its factor, are some columns of y. Those lie at any
 * address, so that they are moved one by one. A sample is a pixel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/fuse.cuh"

template <class number, int width> struct fuse_fwd : pixel_body<number, width, fuse_args> {
    typedef pack<number, width> inputs;
    using pixel_body<number, width, fuse_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t sample, int64_t c, int64_t) const {
        const float factor = fuse_factor(this->args, this->index, sample);
        number *y = (number *)this->args.y + sample * this->args.width + this->args.column[this->index] + c;
        float value[width];
        pack_open(value, x);
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (c + j < this->plane.channels) store(y + j, value[j] * factor);
        }
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

template <class number, int width> struct fuse_bwd_data : pixel_body<number, width, fuse_args> {
    typedef pixel_nothing inputs;
    using pixel_body<number, width, fuse_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t sample, int64_t c, int64_t at) const {
        const float factor = fuse_factor(this->args, this->index, sample);
        const number *dy =
            (const number *)this->args.dy + sample * this->args.width + this->args.column[this->index] + c;
        float value[width];
#pragma unroll
        for (int j = 0; j < width; j++) value[j] = c + j < this->plane.channels ? load(dy + j) * factor : 0;
        this->put(this->plane.dx, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

ENTRY_FORMATS(fuse_fwd, (BLOCK_THREADS), fuse_args, pixels_kernel<fuse_fwd, number>(args))
ENTRY_FORMATS(fuse_bwd_data, (BLOCK_THREADS), fuse_args, pixels_kernel<fuse_bwd_data, number>(args))
