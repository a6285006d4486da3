/*
 * The patterns of isa/images.h: which bytes become which lanes of dense pixels, and by what factors.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ELEMENTWISE_IMAGE_PATTERNS_H
#define BRAID_KERNELS_CPU_ELEMENTWISE_IMAGE_PATTERNS_H

#include "kernels/cpu/isa/images.h"

/* What a pattern is made for: y = (x / 255 - mean) / std, or x / 255 where both are NULL. */
typedef struct images_channels {
    int64_t channels, pitch;
    const float *mean, *std; /* [channels] */
    int mirrored;            /* 1: the pixels are taken from right to left */
} images_channels;

/* How many vectors of `width` lanes a pattern has, and the pattern, with its vectors written to `vectors`. scale =
 * 1 / (255 std) and shift = -mean / std are made in double and rounded once. A period of 0: there is no such pattern,
 * which happens where a vector would hold parts of mirrored pixels. */
int64_t images_period(int64_t pitch, int64_t width);
images_pattern images_make_pattern(images_vector *vectors, const images_channels *c, int64_t width);

#endif
