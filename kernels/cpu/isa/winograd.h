/*
 * The transforms of Winograd's convolution F(2x2, 3x3), channel by channel: conv/winograd.h has the matrices.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_WINOGRAD_H
#define BRAID_KERNELS_CPU_ISA_WINOGRAD_H

#include "kernels/cpu/isa/gemm.h"

#define WINOGRAD_PLACES 16 /* of a patch: rows, then columns */
#define WINOGRAD_OUTPUTS 4
#define WINOGRAD_TAPS 9

/* The transforms of one instruction set. Place t of a result lies t * stride floats behind the first. */
typedef struct winograd_tile {
    const gemm_tile *gemm;
    /* to[t][c] = B^T d B of the pixels at `patch`, for c < channels; whole vectors are written. */
    void (*input)(float *to, int64_t stride, const float *const patch[WINOGRAD_PLACES], int64_t channels);
    /* to[t][j] = G g G^T of the taps from[tap * tap_stride + j], for j < gemm->columns. */
    void (*weights)(float *to, int64_t stride, const float *from, int64_t tap_stride);
    /* pixel[t][j] = A^T m A + bias[j] for j < channels; a pixel that is NULL is left out, and so is a NULL bias. */
    void (*output)(float *const pixel[WINOGRAD_OUTPUTS], const float *from, int64_t stride, const float *bias,
                   int64_t channels);
    /* to[t][k] = A dy A^T of the pixels at `pixel`, for k < channels; whole vectors are written. */
    void (*gradient)(float *to, int64_t stride, const float *const pixel[WINOGRAD_OUTPUTS], int64_t channels);
    /* to[tap * tap_stride + c] = G^T m G of the sums from[t][c], for c < channels. */
    void (*filter)(float *to, int64_t tap_stride, const float *from, int64_t stride, int64_t channels);
} winograd_tile;

extern const winograd_tile winograd_avx512, winograd_avx2, winograd_portable;

#endif
