/*
 * What CUDA kernels' launchers may ask of the runtime: to run a function of an embedded image.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_CUDA_H
#define BRAID_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

/* One launch. The kernel takes one plain struct by value, which its .cu and its launcher both include. */
typedef struct cuda_call {
    const char *stem;     /* of the image: "conv2d_fwd" for kernels/cuda/conv2d_fwd.cu */
    const char *function; /* an extern "C" __global__ of that file */
    int64_t blocks;       /* 0: nothing to do */
    int threads;          /* of a block */
    size_t shared_bytes;  /* dynamic shared memory */
    const void *args;
    size_t args_bytes;
} cuda_call;

/* Most blocks of one launch. */
#define CUDA_MAX_BLOCKS INT32_MAX

/* Queues one launch on the device's queue. The first use of a stem loads its image. */
braid_status cuda_launch(device *d, const cuda_call *call);

#endif
