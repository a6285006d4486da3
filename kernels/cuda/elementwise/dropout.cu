/*
 * dropout, and its gradient, which is the same rule on dy: the bits are made again from the key. Element e of a plane,
 * counted densely, has number e of its sequence (src/ops/dropout.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/philox.cuh"
#include "kernels/cuda/elementwise/dropout.h"
#include "kernels/cuda/tile/pixels.cuh"

#define BITS 24 /* of a number that are compared with the limit */

/* Whole: elements are counted as they lie, the first of every pack has the first of four numbers, and the blocks of
 * four are less than 2^32, so that a part of their first two rounds is the same for all. */
template <class number, int width, bool whole> struct dropout : pixel_body<number, width, dropout_args> {
    typedef pack<number, width> inputs;
    static const int ahead = 4;
    const philox_keys keys;
    const uint64_t stream;
    const uint32_t least; /* of the numbers that are kept: no shift for each of them */
    const int64_t inside; /* channels: none where the limit lies beyond all numbers */
    __device__ __forceinline__ dropout(const dropout_args &all, int i)
        : pixel_body<number, width, dropout_args>(all, i), keys((uint64_t)all.key[0]),
          stream((uint64_t)all.key[1] * 16 + (uint64_t)i), least((uint32_t)all.limit << (32 - BITS)),
          inside(all.limit >> BITS ? 0 : all.plane[i].channels) {}
    __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
    __device__ __forceinline__ void make(const inputs &x, int64_t pixel, int64_t c, int64_t at) const {
        const uint64_t first = (uint64_t)(whole ? at : pixel * this->plane.channels + c);
        float value[width];
        philox bits = philox_block(keys, stream, block_of(first));
        pack_open(value, x);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const uint32_t number_at = whole ? (uint32_t)j : (uint32_t)first + j;
            if (j > 0 && number_at % 4 == 0) bits = philox_block(keys, stream, block_of(first + j));
            value[j] = philox_word(bits, number_at) >= least ? value[j] * this->args.kept : 0;
        }
        if (whole && inside == 0) {
#pragma unroll
            for (int j = 0; j < width; j++) value[j] = 0;
        }
        pack_write_asking((number *)this->plane.y + at, value, whole ? width : inside - c);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }

  private:
    static __device__ __forceinline__ uint64_t block_of(uint64_t element) {
        return whole ? (uint32_t)(element / 4) : element / 4;
    }
};

template <class number> static __device__ __forceinline__ void dropout_kernel(const dropout_args &args) {
    const int wide = widest<number>::width;
    const pixel_work work = pixel_work_find(args);
    const auto &plane = args.plane[work.plane];
    if (!args.map.vector[work.plane]) {
        dropout<number, 1, false> of(args, work.plane);
        pixels_run(of, work);
    } else if (plane.channels == plane.pitch && args.map.sample_pixels * plane.pitch >> 34 == 0) {
        dropout<number, wide, true> of(args, work.plane);
        pixels_run(of, work);
    } else {
        dropout<number, wide, false> of(args, work.plane);
        pixels_run(of, work);
    }
}

ENTRY_FORMATS(dropout, (BLOCK_THREADS, 4), dropout_args, dropout_kernel<number>(args))
