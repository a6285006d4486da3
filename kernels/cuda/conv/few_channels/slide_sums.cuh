/*
 * What comes back through windows as slide.cuh has them, for a thread that keeps in registers what windows above gave
 * to a row of places: gradients are added to float sums where a window took the place, by predicates. The body has,
 * beside what slide.cuh asks of it,
 *
 *     start(to, key, k)   what it makes of word k where no gradient comes back, as floats
 *     factor(j)           what a gradient of number j of the pack is multiplied by before it is added
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SLIDE_SUMS_CUH
#define BRAID_KERNELS_CUDA_CONV_FEW_CHANNELS_SLIDE_SUMS_CUH

#include "kernels/cuda/tile/slide.cuh"

/* What a window took, and its dy. */
struct slide_taken {
    words took, dy;
};

/* The sums of two columns of a row of places, from windows above it. */
template <class number> struct slide_sums { float at[2][PACK_WORDS * word<number>::width]; };

/* What two columns of rows 2 row - 1 and 2 row of places get, which windows of rows row - 1 and row may have taken:
 * `sums` is what those of row - 1 gave, and then what those of this row give to row 2 row + 1. `key` has the three
 * columns of this row's windows, whose right neighbour is `right`. */
template <class number, class body>
static __device__ __forceinline__ void slide_add_windows(words (&made)[4], slide_sums<number> &sums, const body &of,
                                                         const slide_taken &own, const slide_taken &right,
                                                         const words (&key)[9]) {
    typedef word<number> form;
    const int numbers = form::width;
#pragma unroll
    for (int k = 0; k < PACK_WORDS; k++) {
        const uint32_t took = own.took.at[k], took_right = right.took.at[k];
        float *even = sums.at[0] + k * numbers, *odd = sums.at[1] + k * numbers;
        float dy[numbers], dy_right[numbers], by[numbers];
        form::open(dy, own.dy.at[k]);
        form::open(dy_right, right.dy.at[k]);
#pragma unroll
        for (int j = 0; j < numbers; j++) by[j] = of.factor(k * numbers + j);
#pragma unroll
        for (int r = 0; r < 3; r++) {
            if (r > 0) {
                of.start(even, key[3 * r + 1].at[k], k);
                of.start(odd, key[3 * r + 2].at[k], k);
            }
            form::add(even, took, slide_code<number>(3 * r + 1), dy, by);
            form::add(odd, took, slide_code<number>(3 * r + 2), dy, by);
            form::add(odd, took_right, slide_code<number>(3 * r), dy_right, by);
            if (r == 2) continue;
            made[2 * r].at[k] = form::close(even);
            made[2 * r + 1].at[k] = form::close(odd);
        }
    }
}

#endif
