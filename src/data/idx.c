/*
 * IDX, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/idx.h"

#include "core/sizes.h"

#define UNSIGNED_BYTES 8 /* the third byte of the magic; the fourth is the rank */

static int64_t big_endian(const uint8_t *at) {
    return (int64_t)at[0] << 24 | (int64_t)at[1] << 16 | (int64_t)at[2] << 8 | at[3];
}

braid_status idx_read(const void *data, size_t bytes, idx *out) {
    const uint8_t *file = data;
    int64_t elements;
    *out = (idx){0};
    if (bytes < 8) return fail(BRAID_ERROR_DATA, "IDX: expected a header of 8 bytes or more, got %zu", bytes);
    if (file[0] || file[1] || file[2] != UNSIGNED_BYTES || file[3] < 1 || file[3] > IDX_MAX_RANK)
        return fail(BRAID_ERROR_DATA, "IDX: expected the magic 2049 (labels) or 2051 (images), got %lld",
                    (long long)big_endian(file));
    out->rank = file[3];
    size_t header = 4 + 4 * (size_t)out->rank;
    if (bytes < header) return fail(BRAID_ERROR_DATA, "IDX: expected a header of %zu bytes, got %zu", header, bytes);
    for (int i = 0; i < out->rank; i++) out->dims[i] = big_endian(file + 4 + 4 * i);
    if (size_elements(out->dims, out->rank, "IDX", &elements) || (size_t)elements != bytes - header)
        return fail(BRAID_ERROR_DATA, "IDX: expected %lld x %lld x %lld bytes after the header, got %zu",
                    (long long)out->dims[0], (long long)(out->rank > 1 ? out->dims[1] : 1),
                    (long long)(out->rank > 2 ? out->dims[2] : 1), bytes - header);
    out->data = file + header;
    return BRAID_OK;
}

size_t idx_write_header(uint8_t out[IDX_MAX_HEADER], int rank, const int64_t *dims) {
    size_t used = 0;
    const uint8_t magic[] = {0, 0, UNSIGNED_BYTES, (uint8_t)rank};
    for (int i = 0; i < 4; i++) out[used++] = magic[i];
    for (int d = 0; d < rank; d++)
        for (int shift = 24; shift >= 0; shift -= 8) out[used++] = (uint8_t)(dims[d] >> shift);
    return used;
}
