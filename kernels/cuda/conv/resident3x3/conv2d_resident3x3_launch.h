/*
 * What the launchers of the 3x3 kernels with resident rows share: what is refused, how the work is divided, and tensor
 * maps. Each kernel has an argument and a state of its own (conv2d_resident3x3.h); the functions here work on the parts
 * that all arguments have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_CONV2D_RESIDENT3X3_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_CONV2D_RESIDENT3X3_LAUNCH_H

#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3.h"
#include "kernels/cuda/launch/launch.h"

/* What a multiprocessor of an H200 was seen to do, and what a launch costs. */
#define RESIDENT_FLOPS_PER_S 5.6e12
#define RESIDENT_LAUNCH_S 5e-6

/* ---- The pass -------------------------------------------------------------------------------------- */

/* Channels of the input and the output of the pass, and their pitches. */
int64_t resident_inputs(const braid_problem *p, int i);
int64_t resident_outputs(const braid_problem *p, int i);
int64_t resident_input_pitch(const braid_problem *p, int i);
int64_t resident_output_pitch(const braid_problem *p, int i);

/* Why no kernel of the family takes a convolution of this stride, in words; NULL: they do. Problems of conv2d,
 * conv2d_scale_bias_act and bn_act_conv2d. */
const char *resident_refuses(const braid_problem *p, const device *d, int stride);

/* ---- Parts of the streams -------------------------------------------------------------------------- */

/* An argument has room for RESIDENT_MOST_STREAMS, so that more of them are launches one after the other. Here are the
 * functions of a kernel made of those for one part. `tile`: what they are told beside it; it may be NULL. A kernel's
 * state is an array with one of `bytes` bytes for every part. */
double resident_cost(const braid_problem *p, const void *tile,
                     double (*seconds)(const braid_problem *part, const void *tile));
/* NULL, or the reason launch_too_large where a part does not fit. */
const char *resident_refuses_parts(const braid_problem *p, const void *tile,
                                   int (*fits)(const braid_problem *part, const void *tile));
braid_status resident_create(const braid_problem *p, device *d, const void *tile, size_t bytes, void **state,
                             void (*fill)(void *part_state, const braid_problem *part, device *d, const void *tile));
braid_status resident_launch(const braid_problem *p, device *d, void *state, size_t bytes, const buffers *b,
                             braid_status (*launch)(const braid_problem *part, device *d, void *part_state,
                                                    const buffers *b));
void resident_destroy(device *d, void *state);

/* ---- The argument ---------------------------------------------------------------------------------- */

/* The sizes of the problem's planes, for tiles of so many output channels. */
void resident_fill_planes(struct resident_plane *planes, const braid_problem *p, int channels);

/* True where a strip's pixels are few enough that the reciprocal of the pitch divides them. */
int resident_divides(const int64_t size[2], int64_t pitch);

/* Strips of `width` columns, `pitch` pixels apart, of an image of such a size (dy's at stride 2). */
void resident_fill_strips(struct resident_head *head, const braid_problem *p, const int64_t size[2], int64_t width,
                          int64_t pitch);

/* Kernels that go row by row: the rows of each group of channels are shared by as many blocks as `processors` are.
 * False where there are too many. */
int resident_share_rows(struct resident_head *head, const struct resident_plane *planes, const braid_problem *p,
                        int processors);

/* The pointers of plane i. */
void resident_bind(struct resident_plane *plane, const braid_problem *p, const buffers *b, int i);

/* ---- Tensor maps ----------------------------------------------------------------------------------- */

/* The addresses that the maps of a stream were made for. */
typedef struct resident_memory {
    const void *input, *weight, *output, *added, *read[2];
} resident_memory;

/* Boxes of 64 channels x columns x rows of the input of stream i, and of 64 x 64 weights of one tap. */
braid_status resident_map_input(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                                const buffers *b, int i, const int64_t size[2], int columns, int rows);
braid_status resident_map_weight(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                                 const buffers *b, int i);

/* ---- Rows of stride 1 (conv2d_resident3x3_rows.c) --------------------------------------------------- */

/* Why these kernels do not take a convolution, in words; NULL: they do. */
const char *resident_rows_refuses(const braid_problem *p, const device *d);

/* All of head and planes but pointers, for so many blocks. False where the problem is too large. */
int resident_fill_rows(struct resident_head *head, struct resident_plane *planes, const braid_problem *p,
                       int processors);

/* Predicted seconds of one launch. */
double resident_rows_seconds(const braid_problem *p);

/* The pointers and maps of plane i. `read` takes the place of what is added; NULL: nothing does. */
braid_status resident_bind_rows(struct resident_plane *plane, struct resident_row_maps *map, resident_memory *memory,
                                device *d, const braid_problem *p, const buffers *b, int i, const void *read);

/* The map of something read as `added` is. */
braid_status resident_map_row(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                              const void *from, int i);

/* Where sums go: parts in a workspace of `bytes` for one sum, counters of the device. */
braid_status resident_bind_parts(struct resident_parts *parts, const struct resident_head *head,
                                 const struct resident_plane *planes, device *d, void *workspace, size_t bytes);

/* How many parts a plane has. */
int32_t resident_parts_of(const struct resident_head *head);

/* A launch of a rows kernel; `args` begins with the head. */
braid_status resident_launch_rows(device *d, const char *stem, const char *function, const struct resident_head *head,
                                  size_t args_bytes, size_t shared_bytes);

#endif
