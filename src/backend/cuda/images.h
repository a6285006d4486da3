/*
 * The CUDA kernels that were compiled into this library, one image (a fatbin) per .cu file. The
 * tables are made by the build (cmake/cuda_images.cmake), for all GPUs or for those of the machine it ran on; without
 * nvcc they have no rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_IMAGES_H
#define BRAID_BACKEND_CUDA_IMAGES_H

struct cuda_image {
    const char *stem;                 /* "conv2d_fwd" for kernels/cuda/conv/direct/conv2d_fwd.cu */
    const unsigned char *begin, *end; /* aligned to 64 bytes, a zero byte behind */
};

extern const struct cuda_image cuda_images[]; /* sorted by stem; ends at a NULL stem */
extern const int cuda_image_count;

/* What the images hold code for. */
struct cuda_target {
    const char *name; /* "sm_90a" */
    int least, most;  /* compute capabilities that take it: 90 for 9.0 */
};

extern const struct cuda_target cuda_targets[]; /* ends at a NULL name */

#endif
