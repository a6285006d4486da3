/*
 * Small arithmetic and copying that every CPU kernel repeats: cutting work into parts, moving floats.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_ISA_COPY_H
#define BRAID_KERNELS_CPU_ISA_COPY_H

#include <stdint.h>
#include <string.h>

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static inline int64_t at_most(int64_t value, int64_t most) { return value < most ? value : most; }

static inline void zero_floats(float *to, int64_t count) {
    if (count > 0) memset(to, 0, (size_t)count * sizeof *to);
}

/* Element `index` of a plane whose elements have so many bytes. */
static inline const void *plane_from(const void *plane, int64_t index, size_t bytes) {
    return (const char *)plane + (size_t)index * bytes;
}
static inline void *plane_to(void *plane, int64_t index, size_t bytes) { return (char *)plane + (size_t)index * bytes; }

/* Zeros the elements behind the channels of `pixels` pixels. */
static inline void zero_gaps(void *first, int64_t pixels, int64_t channels, int64_t pitch, size_t bytes) {
    if (channels == pitch) return;
    for (int64_t i = 0; i < pixels; i++) {
        memset(plane_to(first, i * pitch + channels, bytes), 0, (size_t)(pitch - channels) * bytes);
    }
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

/* to[j] = the sum of `splits` partial sums, `distance` floats apart, in their order. */
static inline void add_splits(float *to, const float *from, int64_t distance, int64_t splits, int64_t count) {
    memcpy(to, from, (size_t)count * sizeof *to);
    for (int64_t split = 1; split < splits; split++) {
        for (int64_t j = 0; j < count; j++) to[j] += from[split * distance + j];
    }
}

/* Zeros and short copies for numbers of any format. */
static inline void zero_bytes(void *to, int64_t bytes) {
    if (bytes > 0) memset(to, 0, (size_t)bytes);
}
static inline void copy_bytes(void *to, const void *from, int64_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16) memcpy(target + i, source + i, 16);
    if (i == bytes) return;
    if (bytes >= 16) { /* some bytes twice, here and below */
        memcpy(target + bytes - 16, source + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(target, source, 8);
        memcpy(target + bytes - 8, source + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(target, source, 4);
        memcpy(target + bytes - 4, source + bytes - 4, 4);
    } else {
        memcpy(target, source, (size_t)bytes);
    }
}

#endif
