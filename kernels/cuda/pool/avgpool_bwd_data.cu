/*
 * avgpool gradient: every input gets the shares of the windows that it is in, which are those from floor(h P / H) up to
 * ceil((h + 1) P / H).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/pool/avgpool.h"
#include "kernels/cuda/tile/window.cuh"

template <class number, int width> struct avgpool_bwd_data : pixel_body<number, width, avgpool_bwd_data_args> {
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    using pixel_body<number, width, avgpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t pixel, int64_t c, int64_t at) const {
        const int32_t *size = this->args.window.size, *out = this->args.window.out_size;
        const window_place in = window_place_of(pixel, size);
        float sum[width] = {0};
        for (int32_t row = share_begin(in.row, size[0], out[0]); row < share_end(in.row, size[0], out[0]); row++) {
            const int32_t height = share_end(row, out[0], size[0]) - share_begin(row, out[0], size[0]);
            for (int32_t column = share_begin(in.column, size[1], out[1]);
                 column < share_end(in.column, size[1], out[1]); column++) {
                const int32_t across = share_end(column, out[1], size[1]) - share_begin(column, out[1], size[1]);
                const int64_t output = (in.sample * out[0] + row) * out[1] + column;
                float dy[width];
                pack_open(dy, this->take(this->plane.dy, output * this->plane.pitch + c));
#pragma unroll
                for (int j = 0; j < width; j++) sum[j] += dy[j] / (float)(height * across);
            }
        }
        this->put(this->plane.dx, at, sum, c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

/* One window for the whole image: all places of a sample get the same. Kernels of their own, whose few registers let
 * twice as many blocks wait for their one value side by side. */
template <class number, int width> struct avgpool_bwd_data_whole : pixel_body<number, width, avgpool_bwd_data_args> {
    typedef pixel_nothing inputs;
    pack<number, width> share;
    using pixel_body<number, width, avgpool_bwd_data_args>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        float dy[width];
        pack_open(dy, this->take(this->plane.dy, this->in_sample * this->plane.pitch + c));
#pragma unroll
        for (int j = 0; j < width; j++)
            store(&share.at[j], c + j < this->plane.channels ? dy[j] / (float)this->args.map.sample_pixels : 0);
    }
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void make(const inputs &, int64_t, int64_t, int64_t at) const {
        write_bytes<sizeof share>((number *)this->plane.dx + at, &share);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

ENTRY_FORMATS(avgpool_bwd_data, (BLOCK_THREADS), avgpool_bwd_data_args, pixels_kernel<avgpool_bwd_data, number>(args))
ENTRY_FORMATS(avgpool_bwd_data_whole, (BLOCK_THREADS, 8), avgpool_bwd_data_args,
              pixels_kernel<avgpool_bwd_data_whole, number>(args))
