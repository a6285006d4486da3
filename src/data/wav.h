/*
 * WAV. The chunks are walked here, each held against the bytes that are there, up to the data, and no further: a file
 * that was cut short is refused, and what follows the data is never looked at. libsndfile turns the samples into
 * floats.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_WAV_H
#define BRAID_DATA_WAV_H

#include "core/status.h"

#define WAV_MAX_BYTES ((size_t)512 << 20)
#define WAV_HEADER_BYTES ((size_t)65536) /* the start of a file that wav_look wants to see */
#define WAV_MAX_CHANNELS 64

typedef struct wav_info {
    int64_t frames;
    int channels, rate;
} wav_info;

/* What the header of a file of `file_bytes` tells, from its first `bytes` bytes (all, or WAV_HEADER_BYTES). The whole
 * of the data must be there. */
braid_status wav_look(const void *data, size_t bytes, size_t file_bytes, wav_info *out);

/* All channels added up to one and divided by their number, -1 to 1. *samples is for memory_free. */
braid_status wav_read(const void *data, size_t bytes, wav_info *info, float **samples);

/* A file of 16 bits and one channel. Returns memory. */
braid_status wav_write(const float *samples, int64_t frames, int rate, void **data, size_t *bytes);

#endif
