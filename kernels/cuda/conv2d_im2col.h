/*
 * The argument of the general tensor-core convolutions. Forward and data gradient are the same sum of matrix
 * products: `lanes` (output channels of the pass) are rows, pixels are columns, and every tap adds 64 channels of the
 * other side at a time. The forward pass gathers from x; the data gradient gathers from dy, once for each class of
 * input pixels that the same taps reach: one class at stride 1, four at stride 2.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV2D_IM2COL_H
#define BRAID_KERNELS_CUDA_CONV2D_IM2COL_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/bn_finalize.h"
#include "kernels/cuda/dsums.h"
#include "kernels/cuda/epilogue.h"

/* So that the argument has 4096 bytes at most. */
#define IM2COL_MOST_STREAMS 5
#define IM2COL_MOST_MAPS 20

#define IM2COL_MAX_TAPS 64
#define IM2COL_MAX_CLASSES 4
#define IM2COL_MAX_SEGMENTS (IM2COL_MOST_STREAMS * IM2COL_MAX_CLASSES)

/* A block is two warpgroups that multiply and one that loads. Each multiplies 64 lanes by `columns` pixels: two
 * neighbouring runs of lanes, or (split) two neighbouring runs of pixels. */
#define IM2COL_THREADS 384
#define IM2COL_LANES(split) ((split) ? 64 : 128)
#define IM2COL_PIXELS(columns, split) ((split) ? 2 * (columns) : (columns))

/* Shared memory: a ring of stages, each a tap's weights and pixels of 64 channels; then, for each warpgroup, buffers of
 * 32 pixels of results, two and those that fit in behind the stages; then the barriers, and a word of each. What is
 * added to a tile comes as stages of their own behind its taps, 64 lanes of all pixels in each. */
#define IM2COL_STAGE_BYTES(columns, split) ((IM2COL_LANES(split) + IM2COL_PIXELS(columns, split)) * 128)
#define IM2COL_RESULT_BYTES 4096
#define IM2COL_MOST_BYTES 232448
#define IM2COL_RING_BYTES (IM2COL_MOST_BYTES - 4 * IM2COL_RESULT_BYTES - 256)
#define IM2COL_FITTING(columns, split) (IM2COL_RING_BYTES / IM2COL_STAGE_BYTES(columns, split))
#define IM2COL_STAGES(columns, split) (IM2COL_FITTING(columns, split) < 8 ? IM2COL_FITTING(columns, split) : 8)
#define IM2COL_BEHIND(columns, split) \
    (IM2COL_RING_BYTES - IM2COL_STAGES(columns, split) * IM2COL_STAGE_BYTES(columns, split))
#define IM2COL_BUFFERS(columns, split) (2 + IM2COL_BEHIND(columns, split) / (2 * IM2COL_RESULT_BYTES))
#define IM2COL_SHARED_BYTES(columns, split)                                      \
    (IM2COL_STAGES(columns, split) * (IM2COL_STAGE_BYTES(columns, split) + 16) + \
     IM2COL_BUFFERS(columns, split) * 2 * IM2COL_RESULT_BYTES + 16)

/* With sums of conv2d_dsums each warpgroup has more of those buffers, and fewer stages: what the epilogue reads comes
 * to them, results take the place of r there, and every buffer has two barriers. It holds 32 pixels of r, or (by_x) 16
 * of r, x and what is added. */
#define IM2COL_SUMS_PIXELS(by_x) ((by_x) ? 16 : 32)
#define IM2COL_SUMS_PLANE_BYTES(by_x) (IM2COL_SUMS_PIXELS(by_x) * 128)
#define IM2COL_SUMS_BUFFER_BYTES(by_x) (((by_x) ? 3 : 1) * IM2COL_SUMS_PLANE_BYTES(by_x))
#define IM2COL_SUMS_STAGES(columns, by_x) (((columns) >= 176 ? 4 : (columns) >= 144 ? 5 : 6) - ((by_x) ? 1 : 0))
#define IM2COL_SUMS_FITTING(columns, by_x)                                                            \
    ((IM2COL_MOST_BYTES - 512 - IM2COL_SUMS_STAGES(columns, by_x) * IM2COL_STAGE_BYTES(columns, 0)) / \
     (2 * IM2COL_SUMS_BUFFER_BYTES(by_x)))
#define IM2COL_SUMS_BUFFERS(columns, by_x) \
    (IM2COL_SUMS_FITTING(columns, by_x) < 8 ? IM2COL_SUMS_FITTING(columns, by_x) : 8)
#define IM2COL_SUMS_BYTES(columns, by_x)                                         \
    (IM2COL_SUMS_STAGES(columns, by_x) * (IM2COL_STAGE_BYTES(columns, 0) + 16) + \
     IM2COL_SUMS_BUFFERS(columns, by_x) * (2 * IM2COL_SUMS_BUFFER_BYTES(by_x) + 32) + 16)

/* The kinds of maps, each with one for every stream. Behind the last: what the epilogue reads. That is what is
 * added, if anything is, 64 lanes of a tile's pixels at a time; with the sums of conv2d_dsums r, x if the ReLU is read
 * off it, and what is added, all read like out is written. */
enum {
    IM2COL_GATHERED, /* 64 channels of a tile's pixels */
    IM2COL_WEIGHTS,  /* [K][tap][C]: 64 x 1 x 64 */
    IM2COL_OUT,      /* [pixel][lane]: 16 x 64; of dense planes */
    IM2COL_READ,
};

#define IM2COL_BLOCKS(slices) (((slices) + 3) / 4) /* of 64 channels */

/* The weights of a tap, and how far from its pixel's first place it reads. */
struct im2col_tap {
    uint8_t offset[2];
    uint16_t index; /* r * S + s */
};

/* Pixels that the same taps reach: rows first[0], first[0] + step[0], ..., and columns likewise. */
struct im2col_class {
    int32_t first_tap, taps;
    int32_t first[2];
};

/* The tiles of one class of one plane, up to those of the next segment. */
struct im2col_segment {
    int32_t first_tile;
    int16_t plane, pixel_class;
};

struct im2col_plane {
    void *out;
    struct epilogue epilogue;
    const uint32_t *mask;
    int64_t pitch; /* of out */
    int32_t lanes; /* the others up to the pitch are written as zeros */
    int32_t lane_tiles;
    int32_t slices;              /* of 16 channels to sum over; a step loads four and multiplies those that are there */
    int32_t dense;               /* 1: pixels lie side by side and all lanes are real: the copy engine stores */
    struct dsums_plane sums;     /* of conv2d_dsums */
    void *parts;                 /* [part][lanes]: of conv2d_dsums bn_gradients, of conv2d_prepare bn_moments */
    uint32_t *counters;          /* ROW_PARTS_COUNTERS(parts) for every 64 lanes */
    int32_t first_block, blocks; /* that take the tiles of this plane alone, lane_tiles for each part */
};

struct conv2d_im2col_args {
    union {
        cuda_tensor_map map[IM2COL_MOST_MAPS]; /* [kind][plane] */
        struct {
            cuda_tensor_map map[IM2COL_READ * IM2COL_MOST_STREAMS];
            struct bn_finalize_args norm;
        } of_prepare; /* whose epilogue reads nothing */
    };
    struct im2col_plane plane[IM2COL_MOST_STREAMS];
    struct im2col_segment segment[IM2COL_MAX_SEGMENTS];
    struct im2col_tap tap[IM2COL_MAX_TAPS];
    struct im2col_class pixel_class[IM2COL_MAX_CLASSES];
    int32_t planes, segments, tiles, batch;
    int32_t count[2];   /* rows and columns of the pixels of a class */
    int32_t stride[2];  /* from pixel to pixel in what is gathered ... */
    int32_t lower[2];   /* ... and where the first one begins to read */
    int32_t step[2];    /* from pixel to pixel in out, which has ... */
    int32_t size[2];    /* ... so many rows and columns */
    int32_t finishers;  /* of conv2d_prepare: warpgroups that do what bn_finalize does, one for every 64 lanes, ... */
    uint32_t *finished; /* ... and the counter that they come to */
};

#define CONV2D_IM2COL_ARGS_BYTES 4032

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_im2col_args) == CONV2D_IM2COL_ARGS_BYTES, "kernel and launcher agree on it");
#else
_Static_assert(sizeof(struct conv2d_im2col_args) == CONV2D_IM2COL_ARGS_BYTES, "kernel and launcher agree on it");
#endif

#endif
