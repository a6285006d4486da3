/*
 * Small arithmetic and copying that every CPU kernel repeats: cutting work into parts, moving floats.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_PARTS_H
#define BRAID_KERNELS_CPU_TILE_PARTS_H

#include <stdint.h>
#include <string.h>

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline int64_t at_most(int64_t value, int64_t most) { return value < most ? value : most; }

static inline void zero_floats(float *to, int64_t count) {
    if (count > 0) memset(to, 0, (size_t)count * sizeof *to);
}

/* For short pieces, where a call of memcpy would cost more than the copy. */
static inline void copy_floats(float *to, const float *from, int64_t count) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) memcpy(to + i, from + i, 8 * sizeof *to);
    if (i < count && count > 8)
        memcpy(to + count - 8, from + count - 8, 8 * sizeof *to); /* some floats twice */
    else
        for (; i < count; i++) to[i] = from[i];
}

/* Both of the above for numbers of any format. */
static inline void zero_bytes(void *to, int64_t bytes) {
    if (bytes > 0) memset(to, 0, (size_t)bytes);
}
static inline void copy_bytes(void *to, const void *from, int64_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16) memcpy(target + i, source + i, 16);
    if (i < bytes && bytes > 16)
        memcpy(target + bytes - 16, source + bytes - 16, 16); /* some bytes twice */
    else
        for (; i < bytes; i += 2) memcpy(target + i, source + i, 2);
}

#endif
