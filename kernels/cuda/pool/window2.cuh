/*
 * Windows of 2 x 2 places that lie side by side over an image of even sizes, of four channels in halves: the two places
 * of a window in one row are 16 bytes, so that a window is two accesses. A pixel is a window, counted over all samples.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_POOL_WINDOW2_CUH
#define BRAID_KERNELS_CUDA_POOL_WINDOW2_CUH

#include "kernels/cuda/tile/window3.cuh"

#define WINDOW2_CHANNELS 4
#define WINDOW2_WORDS 2 /* of the channels of a place */

/* Where the upper left place of a window begins; the lower row is window2_row elements behind. */
static __device__ __forceinline__ int64_t window2_at(const pixel_window &window, int64_t pixel) {
    const int64_t line = divide(pixel, window.out_size[1]), column = pixel - line * window.out_size[1];
    return (2 * line * window.size[1] + 2 * column) * WINDOW2_CHANNELS;
}

static __device__ __forceinline__ int64_t window2_row(const pixel_window &window) {
    return (int64_t)window.size[1] * WINDOW2_CHANNELS;
}

/* A window: place t, counted row by row, has words 2 * (t % 2) and on of row t / 2. */
struct window2 {
    words row[2];
    __device__ __forceinline__ uint32_t at(int t, int k) const { return row[t / 2].at[t % 2 * WINDOW2_WORDS + k]; }
};

template <class number>
static __device__ __forceinline__ void window2_read(window2 &to, const number *x, const pixel_window &window,
                                                    int64_t pixel) {
    const number *from = x + window2_at(window, pixel);
    to.row[0] = words_read(from);
    to.row[1] = words_read(from + window2_row(window));
}

/* The largest numbers of word k. */
template <class number> static __device__ __forceinline__ uint32_t window2_largest(const window2 &x, int k) {
    return word<number>::larger(word<number>::larger(x.at(0, k), x.at(1, k)),
                                word<number>::larger(x.at(2, k), x.at(3, k)));
}

#endif
