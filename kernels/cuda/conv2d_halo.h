/*
 * The argument of the 3x3 convolution kernels that keep a halo of input rows in shared memory. "Input" and "output"
 * are those of the pass: x and y forwards, dy and dx in the data gradient. The kernel for stride 2 (parity) has the
 * size, strips and pixels of dy, its input.
 *
 * A stream's image is cut into strips of columns, and a strip's rows lie behind each other with `pitch` pixels each,
 * of which the first `width` are outputs: pixel p is row p / pitch, column p % pitch. A single strip needs one pixel
 * more than its width, because the right border of a row is the left border of the next; more strips need two.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_HALO_H
#define BRAID_KERNELS_CUDA_CONV2D_HALO_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/dsums.h"
#include "kernels/cuda/epilogue.h"

#define HALO_MOST_STREAMS 6     /* so that the argument has 4096 bytes at most */
#define HALO_THREADS 384        /* two warpgroups that compute, one that loads */
#define HALO_NORM_THREADS 96    /* of the last, three warps that change what is loaded */
#define HALO_BLOCK 64           /* channels that one copy brings: 128 bytes of a pixel */
#define HALO_TAPS 9             /* of the filter */
#define HALO_WEIGHT_BYTES 8192  /* 64 x 64 weights of one tap */
#define HALO_STAGING_BYTES 8192 /* 64 output pixels of 64 channels, for each warpgroup */
#define HALO_STAGES 2           /* blocks of input channels in shared memory */
#define HALO_BARRIER_BYTES 512
#define HALO_ROWS 6                                                          /* input rows in the ring of halo_rows */
#define HALO_ROW_BYTES(pixels) ((((pixels) + 2) * 128 + 1023) / 1024 * 1024) /* of one of them */
#define HALO_ROW_STAGING_BYTES(pixels) (((pixels)*128 + 1023) / 1024 * 1024) /* of a row of outputs */

/* Of conv2d_prepare: streams at most. */
#define HALO_PREPARE_STREAMS 5

/* Of conv2d_dsums, where r and x lie beside the rows (`by_x`): rows in its ring, streams at most, bytes. */
#define HALO_DSUMS_ROWS(pixels, by_x) ((by_x) && (pixels) > 112 ? 4 : HALO_ROWS)
#define HALO_DSUMS_STREAMS 4
#define HALO_DSUMS_BYTES(pixels, by_x)                                                   \
    (HALO_TAPS * HALO_WEIGHT_BYTES + (2 + 2 * (by_x)) * HALO_ROW_STAGING_BYTES(pixels) + \
     HALO_DSUMS_ROWS(pixels, by_x) * HALO_ROW_BYTES(pixels) + HALO_BARRIER_BYTES)

/* Of parity: rows of dy in the ring, and blocks of channels to sum over, at most. */
#define HALO_PARITY_ROWS 3
#define HALO_PARITY_BLOCKS 2
#define HALO_PARITY_BYTES(pixels)                                                              \
    (HALO_PARITY_BLOCKS * HALO_TAPS * HALO_WEIGHT_BYTES + 2 * HALO_ROW_STAGING_BYTES(pixels) + \
     HALO_PARITY_ROWS * HALO_PARITY_BLOCKS * HALO_ROW_BYTES(pixels) + HALO_BARRIER_BYTES)

/* What is done to the input before it is multiplied, and where that is stored, with the input's pitch. */
struct halo_norm {
    const float *scale, *shift;
    void *activated;
    int32_t channels, pitch;
};

struct conv2d_halo_plane {
    cuda_tensor_map input;  /* [sample][row][column][channel] */
    cuda_tensor_map weight; /* [k][tap][c] */
    cuda_tensor_map row;    /* of the output, for halo_rows: boxes of one row of a strip; of parity: even columns */
    cuda_tensor_map added;  /* the same of what is added, or of r; of parity, which adds nothing: odd columns */
    void *output;
    struct epilogue epilogue;
    const uint32_t *mask;
    void *parts; /* of conv2d_prepare bn_moments, of conv2d_dsums bn_gradients: [part][parts_pitch], two of a block */
    union {
        struct dsums_plane sums; /* of conv2d_dsums */
        struct halo_norm norm;   /* of bn_act_conv2d */
    };
    int32_t pitch;    /* elements of an output pixel */
    int32_t channels; /* outputs */
    int32_t blocks;   /* of 64 input channels */
    int32_t groups;   /* tiles of output channels */
};

struct conv2d_halo_args {
    union {
        struct conv2d_halo_plane plane[HALO_MOST_STREAMS];
        struct {
            struct conv2d_halo_plane plane[HALO_DSUMS_STREAMS];
            cuda_tensor_map read[2 * HALO_DSUMS_STREAMS]; /* r and x of each, as `added` */
        } of_dsums;
        struct {
            struct conv2d_halo_plane plane[HALO_PREPARE_STREAMS];
            struct bn_finalize_args norm;
        } of_prepare;
    };
    int32_t first_tile[BRAID_MAX_PLANES + 1]; /* as first_block of other kernels */
    int32_t planes, samples;
    int32_t size[2];      /* of the image, which the output has too, but at stride 2 */
    int32_t strips;       /* of columns */
    int32_t width, pitch; /* of a strip */
    uint32_t reciprocal;  /* p / pitch = (p * reciprocal) >> 32 */
    int32_t strip_tiles;  /* tiles of pixels in one strip of one sample; of halo_rows the shares of a group's rows */
    int32_t rows;         /* that one load brings */
    uint32_t stage_bytes; /* of shared memory for one block of input channels */
    int32_t stages;       /* of weights */
    int32_t out_size[2];  /* of the output at stride 2 */
    int32_t parts_pitch;
    uint32_t *counters; /* of conv2d_dsums and conv2d_prepare: ROW_PARTS_COUNTERS of each group of channels, and one */
};

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_halo_args) <= 4096, "the argument fits in a launch");
#else
_Static_assert(sizeof(struct conv2d_halo_args) <= 4096, "the argument fits in a launch");
#endif

#endif
