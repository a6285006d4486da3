/*
 * The tiles and the argument of the general tensor-core convolutions. Forward and data gradient are the same sum of
 * matrix products: `lanes` (output channels of the pass) are rows, pixels are columns, and every tap adds 64 channels
 * of the other side at a time. The forward pass gathers from x; the data gradient gathers from dy, once for each class
 * of input pixels that the same taps reach: one class at stride 1, four at stride 2.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_CONV2D_IMPLICIT_GEMM_H
#define BRAID_KERNELS_CUDA_CONV_IMPLICIT_GEMM_CONV2D_IMPLICIT_GEMM_H

#include <stdint.h>

#include "backend/cuda/tensor_map.h"
#include "braid.h"
#include "kernels/cuda/tile/bn_finalize.h"
#include "kernels/cuda/tile/bn_reduce.h"
#include "kernels/cuda/tile/epilogue.h"

/* So that the argument has 4096 bytes at most. */
#define IMPLICIT_MOST_STREAMS 5
#define IMPLICIT_MOST_MAPS 20

#define IMPLICIT_MAX_TAPS 64
#define IMPLICIT_MAX_CLASSES 4
#define IMPLICIT_MAX_SEGMENTS (IMPLICIT_MOST_STREAMS * IMPLICIT_MAX_CLASSES)

/* A block is two warpgroups that multiply and one that loads. Each multiplies 64 lanes by `columns` pixels: two
 * neighbouring runs of lanes, or (split) two neighbouring runs of pixels. */
#define IMPLICIT_THREADS 384
#define IMPLICIT_LANES(split) ((split) ? 64 : 128)
#define IMPLICIT_PIXELS(columns, split) ((split) ? 2 * (columns) : (columns))

/* What is added up of the results: nothing, for conv2d_dgrad_bn_reduce by what the ReLU is read off, or the statistics
 * of conv2d_bn_stats. */
typedef enum implicit_sums { IMPLICIT_NO_SUMS, IMPLICIT_SUMS_BY_R, IMPLICIT_SUMS_BY_X, IMPLICIT_MOMENTS } implicit_sums;

/* Tiles: name, pixels that each warpgroup multiplies, 1 where the warpgroups split the pixels, what is added up. */
#define IMPLICIT_LANES_TILES_OF(X, sums) \
    X(lanes64, 64, 0, sums)              \
    X(lanes112, 112, 0, sums)            \
    X(lanes144, 144, 0, sums)            \
    X(lanes176, 176, 0, sums)            \
    X(lanes192, 192, 0, sums)            \
    X(lanes208, 208, 0, sums)            \
    X(lanes224, 224, 0, sums)            \
    X(lanes256, 256, 0, sums)
#define IMPLICIT_LANES_TILES(X) IMPLICIT_LANES_TILES_OF(X, IMPLICIT_NO_SUMS)
#define IMPLICIT_BN_STATS_TILES(X) IMPLICIT_LANES_TILES_OF(X, IMPLICIT_MOMENTS)
#define IMPLICIT_PIXELS_TILES(X)           \
    X(pixels32, 32, 1, IMPLICIT_NO_SUMS)   \
    X(pixels64, 64, 1, IMPLICIT_NO_SUMS)   \
    X(pixels112, 112, 1, IMPLICIT_NO_SUMS) \
    X(pixels144, 144, 1, IMPLICIT_NO_SUMS) \
    X(pixels176, 176, 1, IMPLICIT_NO_SUMS)
#define IMPLICIT_BN_REDUCE_TILES(X)         \
    X(lanes112, 112, 0, IMPLICIT_SUMS_BY_R) \
    X(lanes144, 144, 0, IMPLICIT_SUMS_BY_R) \
    X(lanes176, 176, 0, IMPLICIT_SUMS_BY_R) \
    X(lanes192, 192, 0, IMPLICIT_SUMS_BY_R) \
    X(lanes224, 224, 0, IMPLICIT_SUMS_BY_R) \
    X(lanes256, 256, 0, IMPLICIT_SUMS_BY_R)
#define IMPLICIT_BN_REDUCE_X_TILES(X)       \
    X(lanes112, 112, 0, IMPLICIT_SUMS_BY_X) \
    X(lanes144, 144, 0, IMPLICIT_SUMS_BY_X) \
    X(lanes176, 176, 0, IMPLICIT_SUMS_BY_X) \
    X(lanes224, 224, 0, IMPLICIT_SUMS_BY_X)

/* Shared memory: a ring of stages, each a tap's weights and pixels of 64 channels; then, for each warpgroup, buffers of
 * 32 pixels of results, two and those that fit in behind the stages; then the barriers, and a word of each. What is
 * added to a tile comes as stages of their own behind its taps, 64 lanes of all pixels in each. */
#define IMPLICIT_STAGE_BYTES(columns, split) ((IMPLICIT_LANES(split) + IMPLICIT_PIXELS(columns, split)) * 128)
#define IMPLICIT_RESULT_BYTES 4096
#define IMPLICIT_MOST_BYTES 232448
#define IMPLICIT_RING_BYTES (IMPLICIT_MOST_BYTES - 4 * IMPLICIT_RESULT_BYTES - 256)
#define IMPLICIT_FITTING(columns, split) (IMPLICIT_RING_BYTES / IMPLICIT_STAGE_BYTES(columns, split))
#define IMPLICIT_STAGES(columns, split) (IMPLICIT_FITTING(columns, split) < 8 ? IMPLICIT_FITTING(columns, split) : 8)
#define IMPLICIT_BEHIND(columns, split) \
    (IMPLICIT_RING_BYTES - IMPLICIT_STAGES(columns, split) * IMPLICIT_STAGE_BYTES(columns, split))
#define IMPLICIT_BUFFERS(columns, split) (2 + IMPLICIT_BEHIND(columns, split) / (2 * IMPLICIT_RESULT_BYTES))
#define IMPLICIT_SHARED_BYTES(columns, split)                                        \
    (IMPLICIT_STAGES(columns, split) * (IMPLICIT_STAGE_BYTES(columns, split) + 16) + \
     IMPLICIT_BUFFERS(columns, split) * 2 * IMPLICIT_RESULT_BYTES + 16)

/* With sums of conv2d_dgrad_bn_reduce each warpgroup has more of those buffers, and fewer stages: what the epilogue
 * reads comes to them, results take the place of r there, and every buffer has two barriers. It holds 32 pixels of r,
 * or (by_x) 16 of r, x and what is added. */
#define IMPLICIT_SUMS_PIXELS(by_x) ((by_x) ? 16 : 32)
#define IMPLICIT_SUMS_PLANE_BYTES(by_x) (IMPLICIT_SUMS_PIXELS(by_x) * 128)
#define IMPLICIT_SUMS_BUFFER_BYTES(by_x) (((by_x) ? 3 : 1) * IMPLICIT_SUMS_PLANE_BYTES(by_x))
#define IMPLICIT_SUMS_STAGES(columns, by_x) (((columns) >= 176 ? 4 : (columns) >= 144 ? 5 : 6) - ((by_x) ? 1 : 0))
#define IMPLICIT_SUMS_FITTING(columns, by_x)                                                                \
    ((IMPLICIT_MOST_BYTES - 512 - IMPLICIT_SUMS_STAGES(columns, by_x) * IMPLICIT_STAGE_BYTES(columns, 0)) / \
     (2 * IMPLICIT_SUMS_BUFFER_BYTES(by_x)))
#define IMPLICIT_SUMS_BUFFERS(columns, by_x) \
    (IMPLICIT_SUMS_FITTING(columns, by_x) < 8 ? IMPLICIT_SUMS_FITTING(columns, by_x) : 8)
#define IMPLICIT_SUMS_BYTES(columns, by_x)                                           \
    (IMPLICIT_SUMS_STAGES(columns, by_x) * (IMPLICIT_STAGE_BYTES(columns, 0) + 16) + \
     IMPLICIT_SUMS_BUFFERS(columns, by_x) * (2 * IMPLICIT_SUMS_BUFFER_BYTES(by_x) + 32) + 16)

/* The kinds of maps, each with one for every stream. Behind the last: what the epilogue reads. That is what is added,
 * if anything is, 64 lanes of a tile's pixels at a time; with the sums of conv2d_dgrad_bn_reduce r, x if the ReLU is
 * read off it, and what is added, all read like out is written. */
enum {
    IMPLICIT_GATHERED, /* 64 channels of a tile's pixels */
    IMPLICIT_WEIGHTS,  /* [K][tap][C]: 64 x 1 x 64 */
    IMPLICIT_OUT,      /* [pixel][lane]: 16 x 64; of dense planes */
    IMPLICIT_READ,
};

#define IMPLICIT_BLOCKS(slices) (((slices) + 3) / 4) /* of 64 channels */

/* The weights of a tap, and how far from its pixel's first place it reads. */
struct implicit_tap {
    uint8_t offset[2];
    uint16_t index; /* r * S + s */
};

/* Pixels that the same taps reach: rows first[0], first[0] + step[0], ..., and columns likewise. */
struct implicit_class {
    int32_t first_tap, taps;
    int32_t first[2];
};

/* The tiles of one class of one plane, up to those of the next segment. */
struct implicit_segment {
    int32_t first_tile;
    int16_t plane, pixel_class;
};

struct implicit_plane {
    void *out;
    struct epilogue epilogue;
    const uint32_t *mask;
    int64_t pitch; /* of out */
    int32_t lanes; /* the others up to the pitch are written as zeros */
    int32_t lane_tiles;
    int32_t slices;              /* of 16 channels to sum over; a step loads four and multiplies those that are there */
    int32_t dense;               /* 1: pixels lie side by side and all lanes are real: the copy engine stores */
    struct bn_reduce_plane sums; /* of conv2d_dgrad_bn_reduce */
    void *parts;        /* [part][lanes]: of conv2d_dgrad_bn_reduce bn_gradients, of conv2d_bn_stats bn_moments */
    uint32_t *counters; /* ROW_PARTS_COUNTERS(parts) for every 64 lanes */
    int32_t first_block, blocks; /* that take the tiles of this plane alone, lane_tiles for each part */
};

struct conv2d_implicit_gemm_args {
    union {
        cuda_tensor_map map[IMPLICIT_MOST_MAPS]; /* [kind][plane] */
        struct {
            cuda_tensor_map map[IMPLICIT_READ * IMPLICIT_MOST_STREAMS];
            struct bn_finalize_args norm;
        } of_bn_stats; /* whose epilogue reads nothing */
    };
    struct implicit_plane plane[IMPLICIT_MOST_STREAMS];
    struct implicit_segment segment[IMPLICIT_MAX_SEGMENTS];
    struct implicit_tap tap[IMPLICIT_MAX_TAPS];
    struct implicit_class pixel_class[IMPLICIT_MAX_CLASSES];
    int32_t planes, segments, tiles, batch;
    int32_t count[2];   /* rows and columns of the pixels of a class */
    int32_t stride[2];  /* from pixel to pixel in what is gathered ... */
    int32_t lower[2];   /* ... and where the first one begins to read */
    int32_t step[2];    /* from pixel to pixel in out, which has ... */
    int32_t size[2];    /* ... so many rows and columns */
    int32_t finishers;  /* of conv2d_bn_stats: warpgroups that do what bn_finalize does, one for every 64 lanes, ... */
    uint32_t *finished; /* ... and the counter that they come to */
};

#define CONV2D_IMPLICIT_GEMM_ARGS_BYTES 4032

#ifdef __cplusplus
static_assert(sizeof(struct conv2d_implicit_gemm_args) == CONV2D_IMPLICIT_GEMM_ARGS_BYTES,
              "kernel and launcher agree on it");
#else
_Static_assert(sizeof(struct conv2d_implicit_gemm_args) == CONV2D_IMPLICIT_GEMM_ARGS_BYTES,
               "kernel and launcher agree on it");
#endif

#endif
