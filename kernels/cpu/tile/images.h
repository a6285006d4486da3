/*
 * Work on images, once per instruction set: bytes to normalised pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_IMAGES_H
#define BRAID_KERNELS_CPU_TILE_IMAGES_H

#include "braid.h"
#include "kernels/cpu/tile/lanes.h"

#define IMAGES_BYTES 16 /* that one vector of outputs picks from */

#define IMAGES_LANES 16 /* of the widest vector */

/* One vector of outputs of a pattern. scale and shift are zero in the lanes behind the channels. */
typedef struct images_vector {
    int64_t first;                /* byte of the period from which it picks */
    uint8_t places[IMAGES_BYTES]; /* what it picks there */
    float scale[IMAGES_LANES], shift[IMAGES_LANES];
} images_vector;

/* How dense pixels of bytes become pixels that lie a pitch apart, vector by vector; then it repeats. */
typedef struct images_pattern {
    int64_t period, period_bytes; /* vectors, and the bytes that they use up */
    const images_vector *vectors; /* [period] */
} images_pattern;

/* `values` outputs, lanes behind the channels included, from the bytes at x, of which `room` may be read. */
typedef struct images_span {
    const uint8_t *x;
    int64_t room, values;
} images_span;

typedef struct images {
    const lanes *lanes;
    int64_t width; /* lanes of a vector */
    /* y = x * scale + shift in f32, f16 or bf16. */
    void (*normalize)(void *y, braid_dtype dtype, const images_pattern *t, const images_span *s);
} images;

extern const images images_avx512, images_avx2, images_portable;

#endif
