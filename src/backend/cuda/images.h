/*
 * The CUDA kernels that were compiled into this library, one image (a fatbin) per .cu file. The
 * table is made by the build (cmake/cuda_images.cmake); without nvcc it has no rows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_IMAGES_H
#define BRAID_BACKEND_CUDA_IMAGES_H

struct cuda_image {
    const char *stem;                 /* "conv2d_fwd" for kernels/cuda/conv2d_fwd.cu */
    const unsigned char *begin, *end; /* aligned to 64 bytes, a zero byte behind */
};

extern const struct cuda_image cuda_images[]; /* sorted by stem; ends at a NULL stem */
extern const int cuda_image_count;

#endif
