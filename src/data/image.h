/*
 * Images as they come out of a file. A decoder takes (pointer, length), trusts nothing, and either gives the whole
 * image or a status with a message that has no file name in it: the caller, who knows the file, puts it in front.
 * Warnings of a decoder are errors here: pixels that may be wrong are never used. Decoders keep to the limits of their
 * thread (data/limits.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_IMAGE_H
#define BRAID_DATA_IMAGE_H

#include "core/status.h"

#define IMAGE_MAX_SIDE 65535
#define IMAGE_MAX_BYTES ((size_t)512 << 20) /* of a file */

typedef struct image {
    int64_t height, width;
    int channels; /* 1 or 3 */
    int bits;     /* 8; 16 in the order of the machine; 32: floats */
    void *pixels; /* [height][width][channels], for memory_free */
    size_t share; /* of the memory for decoded images, which image_free gives back */
} image;

/* Refuses, before anything is allocated, what has more pixels than the limits allow, or too long a side. */
braid_status image_check_size(const char *format, int64_t height, int64_t width);

/* Takes a share of the memory for decoded images, once for each, before its pixels. */
braid_status image_take(image *i, size_t bytes);

/* Palettes are resolved, alpha is dropped, fewer than 8 bits become 8. */
braid_status png_decode(const void *data, size_t bytes, image *out);

/* Returns a file in memory for memory_free. */
braid_status png_encode(const image *from, void **data, size_t *bytes);

/* Grey and colour, baseline and progressive; turned upright where EXIF says how the camera was held. */
braid_status jpeg_decode(const void *data, size_t bytes, image *out);

/* PNG, JPEG or npy (u8, u16, f16 or f32, [height][width] or [height][width][channels]), by its first bytes. */
braid_status image_decode(const void *data, size_t bytes, image *out);

/* The same from a file, which must lie in `root` (core/within.h; NULL: anywhere); a message names it. */
braid_status image_read(const char *root, const char *path, image *out);

/* 16 bits to 8: the upper half of v * 255 / 65535, cut off. */
uint8_t image_byte_of_u16(uint16_t value);

/* An image of 8 bits as [height][width][channels] bytes at `out`, resized where the size differs: a triangle as wide as
 * the step between samples, rows first, as PIL's bilinear resize. Refuses another number of channels. */
braid_status image_to_bytes(const image *from, int64_t height, int64_t width, int channels, uint8_t *out);

void image_free(image *i);

#endif
