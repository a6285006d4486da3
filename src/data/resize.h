/*
 * Images of floats, resized: a triangle as wide as the step between samples, rows first, as PIL's bilinear resize. Rows
 * of the image are asked for one by one, so that memory is that of the result, whatever the size of the image.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_RESIZE_H
#define BRAID_DATA_RESIZE_H

#include <stdint.h>

#include "core/status.h"

typedef struct resize_shape {
    int64_t from[2], to[2]; /* height and width */
    int64_t channels;
} resize_shape;

/* Writes row y of the image, [width][channels]. */
typedef void resize_row(const void *user, int64_t y, float *row);

/* The floats of the result; refuses what is too large. */
braid_status resize_room(const resize_shape *s, int64_t *elements);

/* `out` gets [height][width][channels]. Fails without memory, and where limits_work ends it. */
braid_status resize_rows(const resize_shape *s, resize_row *row, const void *user, float *out);

#endif
