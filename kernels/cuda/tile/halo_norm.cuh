/*
 * Rows of input that pass through the ring of halo_rows.cuh are normalised and activated in shared memory, between the
 * copy engine, which brings them, and the matrix units, which read them: a = relu(x * scale + shift), rounded. What
 * lies beyond the image stays zero. Three warps do it, which else have nothing to do, a thread with the same eight
 * channels of every twelfth pixel; they also store the rows of a that are the block's own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_HALO_NORM_CUH
#define BRAID_KERNELS_CUDA_TILE_HALO_NORM_CUH

#include "kernels/cuda/conv2d_halo.h"
#include "kernels/cuda/tile/act.cuh"
#include "kernels/cuda/tile/pack.cuh"
#include "kernels/cuda/tile/pair.cuh"
#include "kernels/cuda/tile/shared.cuh"

#define HALO_NORM_FIRST (HALO_THREADS - HALO_NORM_THREADS) /* the loading thread is in a warp before them */
#define HALO_NORM_AT_ONCE 4                                /* pixels of a thread */

/* For kernels that multiply what they load. */
struct no_halo_norm {
    static const bool changes = false;
};

template <class number> struct halo_norm_relu {
    static const bool changes = true;
    float scale[8], shift[8];

    __device__ __forceinline__ halo_norm_relu(const halo_norm &norm, int32_t channel) {
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
struct halo_norm_row {
    uint32_t at;
    int32_t column;
    bool is_stored, is_blanked;
    void *to; /* the activated values of column 0 */
};

/* Eight channels of a pixel, as the copy engine laid them. */
static __device__ __forceinline__ uint32_t halo_norm_at(const halo_norm_row &row, int32_t pixel, int32_t pack) {
    return row.at + (uint32_t)(pixel * 128 + ((pack ^ pixel % 8) << 4));
}

/* One row; all threads of the three warps. */
template <class number, int columns, class norm_of>
static __device__ __forceinline__ void halo_norm_change(const norm_of &norm, const halo_norm &with, int32_t width,
                                                        const halo_norm_row &row) {
    const int32_t thread = (int32_t)threadIdx.x - HALO_NORM_FIRST, pack = thread % 8, step = HALO_NORM_THREADS / 8;
    for (int32_t first = thread / 8; first < columns + 2; first += HALO_NORM_AT_ONCE * step) {
        uint32_t words[HALO_NORM_AT_ONCE][4];
#pragma unroll
        for (int j = 0; j < HALO_NORM_AT_ONCE; j++) { /* all are read before the first is changed */
            const int32_t pixel = first + j * step;
            if (pixel < columns + 2) shared_read(words[j], halo_norm_at(row, pixel, pack));
        }
#pragma unroll
        for (int j = 0; j < HALO_NORM_AT_ONCE; j++) {
            const int32_t pixel = first + j * step, column = row.column + pixel;
            if (pixel >= columns + 2 || column < 0 || column >= width) continue;
            norm.apply(words[j]);
            if (row.is_blanked) {
                for (uint32_t &word : words[j]) word = 0;
            } else {
                shared_write(halo_norm_at(row, pixel, pack), words[j]);
            }
            if (row.is_stored && pixel > 0 && pixel <= columns && pack * 8 < with.pitch)
                write_bytes<16>((number *)row.to + (int64_t)column * with.pitch + pack * 8, words[j]);
        }
    }
}

#endif
