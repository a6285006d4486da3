/*
 * What the launchers of kernels over pixels share: the argument, the division of the pixels, and the launches. How the
 * work is cut depends on the problem, and on whether all addresses are multiples of 16 bytes, as those of the library
 * are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_LAUNCH_PIXELS_LAUNCH_H
#define BRAID_KERNELS_CUDA_LAUNCH_PIXELS_LAUNCH_H

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/tile/pixels.h"

/* `supports` of kernels that make every element of images of the problem's size; of pooling; of sums. */
const char *pixels_refuse(const braid_problem *p, const device *d);
const char *pixels_refuse_windows(const braid_problem *p, const device *d);
const char *pixels_refuse_columns(const braid_problem *p, const device *d);
const char *pixels_refuse_columns_windows(const braid_problem *p, const device *d);

/* The argument of a kernel, whichever it is, as tile/pixels.h describes it. */
typedef struct pixels_argument {
    void *args;
    size_t bytes;
    struct pixel_map *map;
    int32_t *count; /* of planes */
    void *planes;
    size_t plane_bytes;
} pixels_argument;
#define PIXELS(of) \
    (&(const pixels_argument){(of), sizeof *(of), &(of)->map, &(of)->planes, (of)->plane, sizeof(of)->plane[0]})

/* Zeros, and the shape of the planes of a problem. */
void pixels_begin(const pixels_argument *of, const braid_problem *p);

/* The same for pixel_args, with the options. */
void pixel_args_begin(struct pixel_args *args, const braid_problem *p);

/* Output positions of pooling. */
void pixels_window(struct pixel_window *window, const braid_problem *p, const int64_t out_size[2]);

/* The problem with all samples as one image, for what treats all pixels alike: small samples would be small blocks. */
braid_problem pixels_image(const braid_problem *p, const int64_t size[2]);

/* The functions of a stem by dtype: "bn_stats_f16" of "bn_stats". */
typedef struct pixels_kernel {
    const char *stem;
    launch_names names;
} pixels_kernel;

/* One launch of an argument whose map is divided. */
braid_status pixels_launch_divided(const pixels_argument *of, const braid_problem *p, device *d,
                                   const pixels_kernel *k);

/* One launch that makes every element of images of this size. Divides the pixels. */
braid_status pixels_launch(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                           const pixels_kernel *k);

/* The same for kernels to which all samples and all channels are alike. */
braid_status pixels_launch_flat(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                const pixels_kernel *k);

/* The same for kernels that make `size` windows of every sample and have no mask. */
braid_status pixels_launch_places(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                  const pixels_kernel *k);

/* The division of avgpool, each window cut into `parts`; 0 where the blocks are too many. Its `create`. */
int pixels_divide_windows(const pixels_argument *of, const braid_problem *p, int32_t *parts);
braid_status pixels_create_windows(const braid_problem *p, device *d, void **state, size_t *workspace_bytes);

/* True where all planes have four channels in halves and all windows are 2 x 2, side by side over all places. */
int pixels_are_two(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p);

/* True where no two windows share a place. */
int pixels_are_apart(const struct pixel_window *window);

/* True where the activation, if any, is straight: see tile/act.cuh. */
int pixels_are_straight(const braid_problem *p);

/* True where all windows are 3 x 3, all planes allow packs and the activation, if any, is straight; and where the
 * windows are also two apart, behind padding of one, so that a gradient may slide down them. */
int pixels_are_three(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p);
int pixels_can_slide(const pixels_argument *of, const struct pixel_window *window, const braid_problem *p);

/* One launch that slides: see tile/slide.cuh. */
braid_status pixels_launch_slide(const pixels_argument *of, struct pixel_window *window, const braid_problem *p,
                                 device *d, const pixels_kernel *k);

/* One launch in which some lanes of a block have a row, the channels of a pixel. */
braid_status pixels_launch_rows(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                const pixels_kernel *k);

/* The launch of a sum over all elements of images of this size, with a block also where there is none; its `create`. */
braid_status pixels_launch_totals(const pixels_argument *of, const braid_problem *p, const int64_t size[2], device *d,
                                  const pixels_kernel *k);
braid_status pixels_create_totals(const braid_problem *p, const int64_t size[2], void **state, size_t *workspace_bytes);

/* The launch of a sum for each channel of images of this size, by the function of the dtype; where the device has too
 * few counters, behind it the one called `second`. */
braid_status pixels_launch_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                   const buffers *b, device *d, const pixels_kernel *k, const char *second);

/* The same for a sum over `size` windows of every sample that slides down them. */
braid_status pixels_launch_slide_columns(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                         const buffers *b, device *d, const pixels_kernel *k, const char *second);

/* What such a launch needs, for kernels whose argument has more: the division of the pixels, and counters. */
braid_status pixels_divide_columns(struct pixel_args *args, const braid_problem *p, const buffers *b, device *d,
                                   int64_t more_counters, int64_t *blocks);

/* `create` of a sum of `element_bytes` per channel and part, of images of the problem's size or smaller. */
braid_status pixels_create_columns(const braid_problem *p, size_t element_bytes, void **state, size_t *workspace_bytes);

/* True where bn_bwd makes x * scale + shift again. */
static inline int bn_bwd_is_activated(const braid_problem *p) {
    return !p->add && p->activation != BRAID_ACTIVATION_NONE;
}

/* Both divisions of bn_bwd, and its `create`; 0 where the blocks are too many. */
int pixels_divide_grad(struct pixel_args *args, const braid_problem *p);
braid_status pixels_create_grad(const braid_problem *p, size_t element_bytes, void **state, size_t *workspace_bytes);

/* The same by blocks that see whole rows of channels, and its `create`. */
braid_status pixels_launch_row_parts(struct pixel_args *args, const braid_problem *p, const int64_t size[2],
                                     const buffers *b, device *d, const pixels_kernel *k, const char *second);
braid_status pixels_create_row_parts(const braid_problem *p, size_t element_bytes, void **state,
                                     size_t *workspace_bytes);

#endif
