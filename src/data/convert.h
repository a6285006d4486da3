/*
 * From an image as its file has it to a sample of a batch. Files are read as they are stored (8 or 16 bits, floats);
 * what a stored value means is decided here, in one place, and here alone.
 *
 * An image of 8 bits has values v / 255. A quantity has a range: (v - low) / (high - low), cut off at 0 and 1; its
 * zeros, and numbers that are not finite, are holes. A batch of u8 has such values times 255, and a hole is the byte
 * nearest to the mean. A batch of f32 has the values themselves, and a hole is NaN until it is normalised: then it is
 * the mean, 0.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_CONVERT_H
#define BRAID_DATA_CONVERT_H

#include "data/image.h"
#include "data/manifest.h"

typedef struct convert_format {
    braid_dtype dtype; /* of the batch: u8 or f32 */
    int64_t size[2];
    braid_fit fit;
    const manifest_stream *stream;
    double mean; /* of the stream, where holes become bytes */
} convert_format;

/* Channels of a sample: those of the files, and the mask. */
int convert_channels(const manifest_stream *s);

/* Refuses an image of other bits, and colours where grey is expected; grey among colours has three equal channels. */
braid_status convert_check(const image *from, const manifest_stream *s);

/* Writes the sample, [height][width][channels]. */
braid_status convert_image(const image *from, const convert_format *f, void *out);

/* A stored value as it is in the file, and as a share of the range; 0 of *is_hole where it is one. */
double convert_stored(const image *from, int64_t index);
double convert_share(const manifest_stream *s, double stored, int *is_hole);

#endif
