/*
 * What CUDA kernels' launchers may ask of the runtime: to run a function of an embedded image, the tensor maps by
 * which the copy engine of sm_90 finds its boxes, or to let a vendor library queue kernels of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_CUDA_H
#define BRAID_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"
#include "backend/cuda/tensor_map.h"

/* One launch. The kernel takes one plain struct by value, which its .cu and its launcher both include. */
typedef struct cuda_call {
    const char *stem;     /* of the image: "conv2d_fwd" for kernels/cuda/conv/direct/conv2d_fwd.cu */
    const char *function; /* an extern "C" __global__ of that file */
    int64_t blocks;       /* 0: nothing to do */
    int threads;          /* of a block */
    size_t shared_bytes;  /* dynamic shared memory */
    const void *args;
    size_t args_bytes;
} cuda_call;

/* Most blocks of one launch. */
#define CUDA_MAX_BLOCKS INT32_MAX

/* Queues one launch on the device's queue. The first use of a stem loads its image. Inside the device's load it does
 * nothing else. */
braid_status cuda_launch(device *d, const cuda_call *call);

/* Most bytes of a kernel's argument. Drivers take more, but on sm_90 copies by tensor maps in a longer argument never
 * end. */
#define CUDA_MAX_ARGS_BYTES 4096

/* A tensor of f16, bf16 or f32 in device memory, and the box that one copy moves. Dimension 0 is the innermost. */
typedef struct cuda_tensor {
    const void *memory; /* at a multiple of 16 */
    braid_dtype dtype;
    int rank;         /* 2 to 5 */
    int64_t size[5];  /* elements; what lies beyond reads as zero and is not written */
    int64_t pitch[4]; /* bytes between neighbours along dimension 1, 2, ...: multiples of 16 */
    int box[5];       /* elements that a copy takes along each dimension; of an im2col map channels and pixels */
    int step[5];      /* it takes every so-many-th, up to 8, from at most 256 side by side; 0: every one */
    int swizzle;      /* 0, 32, 64 or 128 bytes, and then box[0] fills them */
    /* An im2col map, of [n][h][w][c]: a copy goes on pixel by pixel, from lower to size - 1 + upper along the width
     * and the height, then to the next sample. */
    int is_im2col;
    int lower[2], upper[2]; /* width, height */
} cuda_tensor;

/* Why there are no tensor maps on this device, in words; NULL: there are. */
const char *cuda_refuses_tensor_maps(const device *d);

/* Fills a map. Asks nothing of the GPU, so it may be called inside a recording. */
braid_status cuda_tensor_map_make(cuda_tensor_map *to, device *d, const cuda_tensor *of);
/* Vendor libraries that queue kernels of their own (cudnn.h, cublaslt.h). */
typedef enum cuda_vendor { CUDA_CUDNN, CUDA_CUBLASLT, CUDA_VENDORS } cuda_vendor;

/* Why a library cannot be used on the device. Its handle is made at the first call. */
refusal cuda_vendor_refuses(const device *d, cuda_vendor vendor);

/* The library's handle and the device's queue, with the context current until cuda_vendor_leave, which hands on the
 * status of what was done between. */
braid_status cuda_vendor_enter(device *d, cuda_vendor vendor, void **handle, void **queue);
braid_status cuda_vendor_leave(device *d, braid_status status);

/* 1 where a library says that it found no memory, be it the host's or the GPU's. */
int cuda_vendor_lacks_memory(cuda_vendor vendor, int status);

/* What became of `what` ("a call"), which a library answered with a status: BRAID_ERROR_MEMORY where it found no
 * memory, else BRAID_ERROR_DEVICE. Between cuda_vendor_enter and cuda_vendor_leave. */
braid_status cuda_vendor_failed(device *d, cuda_vendor vendor, int status, const char *what);

/* Counters in the device's memory for one launch, whose blocks find out by them which of them comes last: all are zero,
 * and so the launch must leave them. The launches of a queue, of which one runs at a time, share them; those that are
 * put on the side queue have others. NULL where there are not so many. */
#define CUDA_MOST_COUNTERS 65536
uint32_t *cuda_counters(device *d, int64_t count);

/* Multiprocessors: blocks that go through their work in turns are as many as run side by side. */
int cuda_processors(const device *d);

#endif
