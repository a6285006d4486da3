/*
 * What convolutions do to a sum before it is rounded and stored:
 *
 *   out = f(sum * scale + shift + added)
 *
 * channel by channel, in f32. A bias is a shift in the type of the numbers. The same struct serves a plain convolution
 * (all of it absent), one with its normalisation and residual folded in, and a data gradient that is added to another.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_EPILOGUE_H
#define BRAID_KERNELS_CUDA_TILE_EPILOGUE_H

#include <stdint.h>

struct epilogue {
    const void *bias;           /* of the numbers' type; NULL: none */
    const float *scale, *shift; /* NULL: 1 and 0 */
    const void *added;          /* pixels, channels and pitch of the output; NULL: nothing */
    int32_t floored;            /* 1: f is ReLU; 0: f is nothing */
    int32_t keeps;              /* what a blanked sample gets: 1 what is added, 0 zeros */
};

#endif
