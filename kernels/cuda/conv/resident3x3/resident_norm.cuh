/*
 * Rows of input that pass through the ring of resident_rows.cuh are normalised and activated in shared memory, between
 * the copy engine, which brings them, and the matrix units, which read them: a = relu(x * scale + shift), rounded. What
 * lies beyond the image stays zero. Three warps do it, which else have nothing to do, a thread with the same eight
 * channels of every twelfth pixel; they also store the rows of a that are the block's own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_NORM_CUH
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_NORM_CUH

#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3.h"
#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/ptx/shared.cuh"

#define RESIDENT_NORM_FIRST (RESIDENT_THREADS - RESIDENT_NORM_THREADS) /* the loading thread is in a warp before them */
#define RESIDENT_NORM_AT_ONCE 4                                        /* pixels of a thread */

/* For kernels that multiply what they load. */
struct no_resident_norm {
    static const bool changes = false;
};

template <class number> struct resident_norm_relu {
    static const bool changes = true;
    float scale[8], shift[8];

    __device__ __forceinline__ resident_norm_relu(const resident_norm &norm, int32_t channel) {
        pack_channels(scale, norm.scale + channel, norm.channels - channel);
        pack_channels(shift, norm.shift + channel, norm.channels - channel);
    }

    __device__ __forceinline__ void apply(uint32_t (&words)[4]) const {
        const act_rule<false> rule(BRAID_ACTIVATION_RELU);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float first = pair_at<number>(words[j], 0) * scale[2 * j] + shift[2 * j];
            const float second = pair_at<number>(words[j], 1) * scale[2 * j + 1] + shift[2 * j + 1];
            words[j] = pair_made<number>(rule.value(first), rule.value(second));
        }
    }
};

/* A row of input: where it lies in shared memory, and its first pixel in the image. */
struct resident_norm_row {
    uint32_t at;
    int32_t column;
    bool is_stored, is_blanked;
    void *to; /* the activated values of column 0 */
};

/* Eight channels of a pixel, as the copy engine laid them. */
static __device__ __forceinline__ uint32_t resident_norm_at(const resident_norm_row &row, int32_t pixel, int32_t pack) {
    return row.at + (uint32_t)(pixel * 128 + ((pack ^ pixel % 8) << 4));
}

/* One row; all threads of the three warps. */
template <class number, int columns, class norm_of>
static __device__ __forceinline__ void resident_norm_change(const norm_of &norm, const resident_norm &with,
                                                            int32_t width, const resident_norm_row &row) {
    const int32_t thread = (int32_t)threadIdx.x - RESIDENT_NORM_FIRST, pack = thread % 8,
                  step = RESIDENT_NORM_THREADS / 8;
    for (int32_t first = thread / 8; first < columns + 2; first += RESIDENT_NORM_AT_ONCE * step) {
        uint32_t words[RESIDENT_NORM_AT_ONCE][4];
#pragma unroll
        for (int j = 0; j < RESIDENT_NORM_AT_ONCE; j++) { /* all are read before the first is changed */
            const int32_t pixel = first + j * step;
            if (pixel < columns + 2) shared_read(words[j], resident_norm_at(row, pixel, pack));
        }
#pragma unroll
        for (int j = 0; j < RESIDENT_NORM_AT_ONCE; j++) {
            const int32_t pixel = first + j * step, column = row.column + pixel;
            if (pixel >= columns + 2 || column < 0 || column >= width) continue;
            norm.apply(words[j]);
            if (row.is_blanked) {
                for (uint32_t &word : words[j]) word = 0;
            } else {
                shared_write(resident_norm_at(row, pixel, pack), words[j]);
            }
            if (row.is_stored && pixel > 0 && pixel <= columns && pack * 8 < with.pitch)
                write_bytes<16>((number *)row.to + (int64_t)column * with.pitch + pack * 8, words[j]);
        }
    }
}

#endif
