/*
 * The memory of all operands of one problem as one block: every plane at its own place, with red zones
 * before and behind it. A check fills a block on the host (inputs, poisoned outputs, patterned red
 * zones), uploads it whole, runs a kernel, downloads it whole and sees every byte that changed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_IMAGE_H
#define BRAID_RACE_IMAGE_H

#include "kernels/kernel.h"

#define RED_ZONE_BYTES 4096
#define RED_ZONE_BYTE 0xA5
#define POISON_BYTE 0xFF /* a NaN in every floating format */

typedef struct image {
    size_t bytes;
    size_t offset[OP_MAX_OPERANDS][BRAID_MAX_PLANES];
    size_t plane_bytes[OP_MAX_OPERANDS][BRAID_MAX_PLANES];
} image;

braid_status image_lay(const braid_problem *p, image *out);

/* The planes inside a block of image.bytes at `base`. */
void image_buffers(const braid_problem *p, const image *m, void *base, buffers *out);

typedef enum image_mode {
    IMAGE_REAL,  /* real numbers */
    IMAGE_EXACT, /* small integers, sparse enough that no sum leaves the mantissa of a float */
} image_mode;

/* Fills a block on the host: inputs from the seed, outputs poisoned, red zones patterned. */
void image_fill(const braid_problem *p, const image *m, image_mode mode, uint64_t seed, void *base);

/* The numbers of one input plane as image_fill writes them in real mode, as far as they are drawn: behind `drawn` bytes
 * they come again, up to the end of the plane. Returns memory for memory_free. */
braid_status image_draw(const braid_problem *p, const image *m, int slot, int i, uint64_t seed, void **memory,
                        size_t *drawn);

/* The floating inputs of a filled block as doubles, laid out as the op says, for the reference; the mask and
 * counters stay as they are. Outputs are NULL. Returns memory for memory_free. */
braid_status image_truth(const braid_problem *p, const image *m, void *base, buffers *truth, void **memory);

/* The same of one output, as a kernel left it, besides what is there. */
braid_status image_widen(const braid_problem *p, const image *m, const void *base, int slot, buffers *truth,
                         double **memory);

/* NULL where the red zones and the pure inputs of `after` still hold what `before` holds and every output element
 * was written; else what is wrong, in words (borrowed until this thread's next call). */
const char *image_damage(const braid_problem *p, const image *m, const void *before, const void *after);

#endif
