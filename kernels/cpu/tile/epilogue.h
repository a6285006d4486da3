/*
 * What a product makes of its sums while they are in the cache (channels.h: epilogue), for every pixel that it stores.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_EPILOGUE_H
#define BRAID_KERNELS_CPU_TILE_EPILOGUE_H

#include "kernels/cpu/isa/channels.h"

/* A pointer for each stream, of floats [channels], or of a plane as the output's; NULL: without. Blanked pixels and
 * lanes behind the channels are zeros in `raw` too, and what becomes of them is left to the product. */
typedef struct product_epilogue {
    const channel_loops *loops;
    braid_dtype dtype; /* of the planes */
    braid_activation activation;
    const float *scale[BRAID_MAX_PLANES], *shift[BRAID_MAX_PLANES];
    const void *z[BRAID_MAX_PLANES];
    void *raw[BRAID_MAX_PLANES];
} product_epilogue;

/* `count` sums of a pixel from `channel` on, whose place is so many bytes behind the start of a plane. */
static inline void epilogue_row(const product_epilogue *f, int stream, int64_t channel, int64_t count, int64_t place,
                                const float *sums, void *out) {
    channel_epilogue row = {.dtype = f->dtype, .activation = f->activation, .count = count, .sums = sums, .out = out};
    if (f->scale[stream]) row.scale = f->scale[stream] + channel;
    if (f->shift[stream]) row.shift = f->shift[stream] + channel;
    if (f->z[stream]) row.z = (const unsigned char *)f->z[stream] + place;
    if (f->raw[stream]) row.raw = (unsigned char *)f->raw[stream] + place;
    f->loops->epilogue(&row);
}

#endif
