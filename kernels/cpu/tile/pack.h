/*
 * Packing of weights into panels for gemm_rows: [depth][width], with zeros behind the last of n columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_PACK_H
#define BRAID_KERNELS_CPU_TILE_PACK_H

#include "kernels/cpu/tile/parts.h"

/* to[d][j] = from[j][d]: rows of the weights lie `pitch` floats apart and are read a cache line at a time. */
static inline void pack_transposed(float *to, const float *from, int64_t pitch, int64_t depth, int n, int width) {
    for (int64_t first = 0; first < depth; first += 16) {
        int64_t end = at_most(first + 16, depth);
        for (int j = 0; j < n; j++) {
            for (int64_t d = first; d < end; d++) to[d * width + j] = from[j * pitch + d];
        }
        for (int64_t d = first; d < end && n < width; d++) {
            zero_floats(to + d * width + n, width - n);
        }
    }
}

/* to[d][j] = from[d][j]. */
static inline void pack_straight(float *to, const float *from, int64_t pitch, int64_t depth, int n, int width) {
    for (int64_t d = 0; d < depth; d++) {
        copy_floats(to + d * width, from + d * pitch, n);
        zero_floats(to + d * width + n, width - n);
    }
}

#endif
