/*
 * normalize: y = (x / 255 - mean) / std, from dense bytes to numbers with a pitch. Where the numbers are dense too, the
 * launcher folds several pixels into one, so that they fill a pack; args.folded then has the channels of a pixel.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/normalize.h"
#include "kernels/cuda/tile/pixels.cuh"

template <class number, int width> struct normalize : pixel_body<number, width, normalize_args> {
    struct alignas(width) inputs {
        uint8_t at[width];
    };
    static const int ahead = 4;
    float factor[width], offset[width];
    using pixel_body<number, width, normalize_args>::pixel_body;
    __device__ __forceinline__ void begin(int64_t c) {
        const int32_t folded = (int32_t)this->args.folded[this->index];
#pragma unroll
        for (int j = 0; j < width; j++) {
            const int32_t channel = folded ? (int32_t)(c + j) % folded : (int32_t)(c + j);
            const bool inside = c + j < this->plane.channels;
            const float deviation = inside ? this->plane.deviation[channel] : 1;
            factor[j] = 1 / (255 * deviation);
            offset[j] = inside ? -this->plane.mean[channel] / deviation : 0;
        }
    }
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const {
        const int64_t pitch = this->plane.pitch, pixel = divide(at, pitch), c = at - pixel * pitch;
        const uint8_t *from = (const uint8_t *)this->plane.x + pixel * this->plane.channels + c;
        if (width > 1 && this->args.folded[this->index]) {
            read_bytes<width>(&x, from);
            return;
        }
#pragma unroll
        for (int j = 0; j < width; j++) x.at[j] = c + j < this->plane.channels ? from[j] : 0;
    }
    __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
        float value[width];
#pragma unroll
        for (int j = 0; j < width; j++) value[j] = (float)x.at[j] * factor[j] + offset[j];
        this->put(this->plane.y, at, value, c);
    }
    __device__ __forceinline__ void blank(int64_t) const {}
};

ENTRY_FORMATS(normalize, (BLOCK_THREADS), normalize_args, pixels_kernel<normalize, number>(args))
