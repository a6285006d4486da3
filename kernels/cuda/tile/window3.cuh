/*
 * Windows of 3 x 3 places side by side, in packs of 16 bytes: the nine places are fetched at once and compared as they
 * lie in memory. The order comes from the body:
 *
 *     key(x, k)    word k of a pack as a window compares it: the place with the largest key is taken
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_WINDOW3_CUH
#define BRAID_KERNELS_CUDA_TILE_WINDOW3_CUH

#include "kernels/cuda/tile/window.cuh"
#include "kernels/cuda/ptx/word.cuh"

#define PACK_WORDS 4

/* A pack of 16 bytes as words. */
struct alignas(16) words {
    uint32_t at[PACK_WORDS];
};

template <class number> static __device__ __forceinline__ words words_read(const number *from) {
    words all;
    read_bytes<sizeof all>(&all, from);
    return all;
}

template <class number, int width>
static __device__ __forceinline__ void words_open(float (&to)[width], const words &from) {
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) word<number>::open(to + k * word<number>::width, from.at[k]);
}

/* Zeros behind the first `inside` numbers. */
template <class number> static __device__ __forceinline__ void words_cut(words &all, int64_t inside) {
    const int numbers = word<number>::width;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        if (inside <= k * numbers) all.at[k] = 0;
        if (numbers == 2 && inside == k * numbers + 1) all.at[k] &= 0xFFFFu;
    }
}

static __device__ __forceinline__ bool window3_fits(const pixel_window &window) {
    return window.filter[0] == 3 && window.filter[1] == 3 && window.dilation[0] == 1 && window.dilation[1] == 1;
}

static __device__ __forceinline__ int32_t clamp(int32_t at, int32_t size) {
    return at < 0 ? 0 : at < size ? at : size - 1;
}

/* The places of a window, row by row, from channels c and on of the sample at `x`. A place in the padding repeats its
 * neighbour, which leaves the largest value as it is; the first is the first place inside. */
template <class number>
static __device__ __forceinline__ void window3_read(words (&to)[9], const number *x, const pixel_window &window,
                                                    const window_place &out, int64_t pitch) {
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int32_t h = clamp(out.row * window.stride[0] - window.padding[0] + r, window.size[0]);
#pragma unroll
        for (int s = 0; s < 3; s++) {
            const int32_t w = clamp(out.column * window.stride[1] - window.padding[1] + s, window.size[1]);
            to[3 * r + s] = words_read(x + ((int64_t)h * window.size[1] + w) * pitch);
        }
    }
}

/* The largest keys. */
template <class number, class body>
static __device__ __forceinline__ words window3_largest(const body &of, const words (&x)[9]) {
    words best;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        best.at[k] = of.key(x[0].at[k], k);
#pragma unroll
        for (int t = 1; t < 9; t++) best.at[k] = word<number>::larger(best.at[k], of.key(x[t].at[k], k));
    }
    return best;
}

/* Reads the window of an output pixel of all samples and finds its largest keys. */
template <class number, class body>
static __device__ __forceinline__ words window3_find(words (&x)[9], const body &of, int64_t pixel, int64_t c) {
    const pixel_window &window = of.args.window;
    const window_place out = window_place_of(pixel, window.out_size);
    const int64_t pitch = of.plane.pitch, origin = out.sample * window.size[0] * window.size[1] * pitch + c;
    window3_read(x, (const number *)of.plane.x + origin, window, out, pitch);
    return window3_largest<number>(of, x);
}

/* A whole kernel: `three` where all windows are 3 x 3, no activation is curved and the plane allows packs. */
template <template <class, int> class any, template <class, int> class three, class number, class argument>
static __device__ __forceinline__ void windows_kernel(const argument &args, bool curved) {
    const pixel_work work = pixel_work_find(args);
    if (args.map.vector[work.plane] != widest<number>::width || !window3_fits(args.window) || curved) {
        pixels_kernel_few<any, number>(args);
        return;
    }
    three<number, widest<number>::width> of(args, work.plane);
    pixels_run(of, work);
}

#endif
