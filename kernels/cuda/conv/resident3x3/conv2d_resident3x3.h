/*
 * The tiles and the arguments of the 3x3 convolution kernels that keep rows of input in shared memory. "Input" and
 * "output" are those of the pass: x and y forwards, dy and dx in the data gradient. The kernels for stride 2 (parity)
 * have the size, strips and pixels of dy, their input.
 *
 * A stream's image is cut into strips of columns, and a strip's rows lie behind each other with `pitch` pixels each,
 * of which the first `width` are outputs: pixel p is row p / pitch, column p % pitch. A single strip needs one pixel
 * more than its width, because the right border of a row is the left border of the next; more strips need two.
 *
 * All arguments begin with a head and with the planes, whose tensor maps lie behind them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_CONV2D_RESIDENT3X3_H
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_CONV2D_RESIDENT3X3_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/tile/bn_reduce.h"
#include "kernels/cuda/tile/epilogue.h"

/* ---- Tiles ----------------------------------------------------------------------------------------- */

/* Weights streamed: name, output channels, pixels. Of 128 channels each of the two warpgroups that compute has 64 and a
 * ring of weights of its own; of 64 each has half of the pixels, and they share a ring. */
#define RESIDENT_TILES(X) \
    X(128x232, 128, 232)  \
    X(64x240, 64, 240)

/* The same at stride 2: pixels of dy. */
#define RESIDENT_PARITY_TILES(X) \
    X(128, 64, 128)              \
    X(160, 64, 160)

/* All weights resident, for 64 output channels: pixels of a row; at stride 2 of dy. */
#define RESIDENT_ROW_PIXELS 136
#define RESIDENT_PARITY_ROW_PIXELS 72

#define RESIDENT_RINGS(channels) ((channels) / 64) /* of weights */

/* ---- Shared memory --------------------------------------------------------------------------------- */

#define RESIDENT_THREADS 384        /* two warpgroups that compute, one that loads */
#define RESIDENT_NORM_THREADS 96    /* of the last, three warps that change what is loaded */
#define RESIDENT_BLOCK 64           /* channels that one copy brings: 128 bytes of a pixel */
#define RESIDENT_TAPS 9             /* of the filter */
#define RESIDENT_WEIGHT_BYTES 8192  /* 64 x 64 weights of one tap */
#define RESIDENT_STAGING_BYTES 8192 /* 64 output pixels of 64 channels, for each warpgroup */
#define RESIDENT_STAGES 2           /* blocks of input channels in shared memory */
#define RESIDENT_BARRIER_BYTES 512
#define RESIDENT_ROWS 6 /* input rows in the ring of resident_rows */
#define RESIDENT_ROW_BYTES(pixels) ((((pixels) + 2) * 128 + 1023) / 1024 * 1024) /* of one of them */
#define RESIDENT_ROW_STAGING_BYTES(pixels) (((pixels)*128 + 1023) / 1024 * 1024) /* of a row of outputs */
#define RESIDENT_ROWS_BYTES                                                                        \
    (RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES + 2 * RESIDENT_ROW_STAGING_BYTES(RESIDENT_ROW_PIXELS) + \
     RESIDENT_ROWS * RESIDENT_ROW_BYTES(RESIDENT_ROW_PIXELS) + RESIDENT_BARRIER_BYTES)

/* Of conv2d_dgrad_bn_reduce, where r and x lie beside the rows (`by_x`): rows in its ring, bytes. */
#define RESIDENT_BN_REDUCE_ROWS(by_x) ((by_x) ? 4 : RESIDENT_ROWS)
#define RESIDENT_BN_REDUCE_BYTES(by_x)                                                                            \
    (RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES + (2 + 2 * (by_x)) * RESIDENT_ROW_STAGING_BYTES(RESIDENT_ROW_PIXELS) + \
     RESIDENT_BN_REDUCE_ROWS(by_x) * RESIDENT_ROW_BYTES(RESIDENT_ROW_PIXELS) + RESIDENT_BARRIER_BYTES)

/* Of parity: rows of dy in the ring, and blocks of channels to sum over, at most. */
#define RESIDENT_PARITY_ROWS 3
#define RESIDENT_PARITY_BLOCKS 2
#define RESIDENT_PARITY_BYTES                                                                         \
    (RESIDENT_PARITY_BLOCKS * RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES +                                 \
     2 * RESIDENT_ROW_STAGING_BYTES(RESIDENT_PARITY_ROW_PIXELS) +                                     \
     RESIDENT_PARITY_ROWS * RESIDENT_PARITY_BLOCKS * RESIDENT_ROW_BYTES(RESIDENT_PARITY_ROW_PIXELS) + \
     RESIDENT_BARRIER_BYTES)

/* ---- Arguments ------------------------------------------------------------------------------------- */

/* Streams at most, so that an argument has 4096 bytes at most. */
#define RESIDENT_MOST_STREAMS 6
#define RESIDENT_BN_STATS_STREAMS 5
#define RESIDENT_BN_REDUCE_X_STREAMS 4

struct resident_head {
    int32_t first_tile[BRAID_MAX_PLANES + 1]; /* as first_block of other kernels */
    int32_t planes, samples;
    int32_t size[2];      /* of the image, which the output has too, but at stride 2 */
    int32_t out_size[2];  /* of the output at stride 2 */
    int32_t strips;       /* of columns */
    int32_t width, pitch; /* of a strip */
    uint32_t reciprocal;  /* p / pitch = (p * reciprocal) >> 32 */
    int32_t strip_tiles;  /* tiles of pixels in one strip of one sample; of rows the shares of a group's rows */
};

struct resident_plane {
    void *output;
    struct epilogue epilogue;
    const uint32_t *mask;
    int32_t pitch;    /* elements of an output pixel */
    int32_t channels; /* outputs */
    int32_t blocks;   /* of 64 input channels */
    int32_t groups;   /* tiles of output channels */
};

/* What every kernel loads. */
struct resident_maps {
    cuda_tensor_map input;  /* [sample][row][column][channel] */
    cuda_tensor_map weight; /* [k][tap][c] */
};

/* Of kernels that go row by row: boxes of one row of a strip, of the output and of what is added to it. With the sums
 * of conv2d_dgrad_bn_reduce r takes the place of what is added, unless it is read beside. */
struct resident_row_maps {
    cuda_tensor_map input, weight, output, added;
};

/* Where the last blocks find the sums of the others, as bn_moments or bn_gradients: [part][pitch], two of a block. */
struct resident_parts {
    void *of[RESIDENT_MOST_STREAMS];
    uint32_t *counters; /* ROW_PARTS_COUNTERS of each group of channels, and one */
    int32_t pitch;
};

/* resident3x3.cuh: tiles of pixels, weights streamed. */
struct resident_tiles_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_MOST_STREAMS];
    struct resident_maps map[RESIDENT_MOST_STREAMS];
    int32_t rows;         /* that one load brings */
    uint32_t stage_bytes; /* of shared memory for one block of input channels */
    int32_t stages;       /* of weights */
};

/* resident_rows.cuh: rows of outputs, all weights resident. */
struct resident_rows_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_MOST_STREAMS];
    struct resident_row_maps map[RESIDENT_MOST_STREAMS];
};

/* What is done to the input before it is multiplied, and where that is stored, with the input's pitch. */
struct resident_norm {
    const float *scale, *shift;
    void *activated;
    int32_t channels, pitch;
};

/* The same for bn_act_conv2d. */
struct resident_norm_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_MOST_STREAMS];
    struct resident_row_maps map[RESIDENT_MOST_STREAMS];
    struct resident_norm norm[RESIDENT_MOST_STREAMS];
};

/* The same for conv2d_bn_stats. */
struct resident_bn_stats_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_BN_STATS_STREAMS];
    struct resident_row_maps map[RESIDENT_BN_STATS_STREAMS];
    struct resident_parts parts;
    struct bn_finalize_args finalize;
};

/* resident_bn_reduce.cuh: conv2d_dgrad_bn_reduce, which reads the ReLU off r. */
struct resident_bn_reduce_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_MOST_STREAMS];
    struct resident_row_maps map[RESIDENT_MOST_STREAMS];
    struct bn_reduce_plane sums[RESIDENT_MOST_STREAMS];
    struct resident_parts parts;
};

/* The same where something is added, and the ReLU is read off x: both come beside what is added. */
struct resident_bn_reduce_x_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_BN_REDUCE_X_STREAMS];
    struct resident_row_maps map[RESIDENT_BN_REDUCE_X_STREAMS];
    struct bn_reduce_plane sums[RESIDENT_BN_REDUCE_X_STREAMS];
    struct resident_parts parts;
    cuda_tensor_map read[RESIDENT_BN_REDUCE_X_STREAMS][2]; /* r and x, as what is added */
};

/* resident_parity.cuh: rows of dy, and every other column of dx, even ones and odd ones. */
struct resident_parity_maps {
    cuda_tensor_map input, weight, columns[2];
};

struct resident_parity_args {
    struct resident_head head;
    struct resident_plane plane[RESIDENT_MOST_STREAMS];
    struct resident_parity_maps map[RESIDENT_MOST_STREAMS];
};

#ifdef __cplusplus
#define RESIDENT_FITS(type) static_assert(sizeof(struct type) <= 4096, "the argument fits in a launch")
#else
#define RESIDENT_FITS(type) _Static_assert(sizeof(struct type) <= 4096, "the argument fits in a launch")
#endif
RESIDENT_FITS(resident_tiles_args);
RESIDENT_FITS(resident_rows_args);
RESIDENT_FITS(resident_norm_args);
RESIDENT_FITS(resident_bn_stats_args);
RESIDENT_FITS(resident_bn_reduce_args);
RESIDENT_FITS(resident_bn_reduce_x_args);
RESIDENT_FITS(resident_parity_args);

#endif
