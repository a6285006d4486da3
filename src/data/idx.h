/*
 * IDX, the format of MNIST: big-endian magic (2049 for labels, 2051 for images), sizes, bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_IDX_H
#define BRAID_DATA_IDX_H

#include "core/status.h"

#define IDX_MAX_RANK 3
#define IDX_MAX_HEADER 16

typedef struct idx {
    int rank; /* 1: labels, 3: images */
    int64_t dims[IDX_MAX_RANK];
    const uint8_t *data; /* into the file */
} idx;

/* Unsigned bytes of rank 1 to 3; the file must be exactly as long as its sizes say. Borrows the data. */
braid_status idx_read(const void *data, size_t bytes, idx *out);

/* Writes the header of an array of bytes. Returns its length. */
size_t idx_write_header(uint8_t out[IDX_MAX_HEADER], int rank, const int64_t *dims);

#endif
