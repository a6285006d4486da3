/*
 * One layer of all streams as cuDNN calls: one graph of operations for each stream, shared by streams
 * of the same shape. (Groups of one call are a part of the channels, which have one stride, so that planes
 * that lie apart cannot be groups.) Activations and weights stay as they lie: NHWC and K,R,S,C are strides.
 *
 * A kernel describes the graph of one stream. cuDNN's heuristics then list engines, best first; those whose results
 * are not repeatable or less exact than f32 sums are left out, and the kernel takes one by its rank among the others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_VENDOR_CUDNN_LAYER_H
#define BRAID_KERNELS_CUDA_VENDOR_CUDNN_LAYER_H

#include "backend/cuda/cudnn.h"
#include "kernels/cuda/vendor/vendor.h"

#define CUDNN_MAX_DESCRIPTORS 24
#define CUDNN_MAX_OPERATIONS 6
#define CUDNN_VIRTUAL (-1) /* in place of a slot: a tensor between two operations, kept in f32 and never stored */

/* The graph of one stream, as far as it is described. After a failure every further call does nothing. */
typedef struct cudnn_call {
    cudnn_status status; /* of the first call of cuDNN that failed */
    int descriptors, operations, operands, virtuals;
    cudnn_descriptor descriptor[CUDNN_MAX_DESCRIPTORS]; /* all that were made */
    cudnn_descriptor operation[CUDNN_MAX_OPERATIONS];
    int slot[VENDOR_MAX_OPERANDS]; /* of the op: tensor j + 1 of the graph */
} cudnn_call;

/* Fills in the call of stream i. */
typedef void (*cudnn_describe)(const braid_problem *p, int i, cudnn_call *call);

/* What a kernel computes, by which of the engines that may be used; 0 is the first. */
typedef struct cudnn_way {
    cudnn_describe describe;
    int rank;
    int tf32; /* 1: engines may round f32 operands to TF32; for the problems that allow it, and no others */
} cudnn_way;

/* A dtype in cuDNN's words. */
int cudnn_dtype(braid_dtype dtype);

/* A new descriptor of a kind, its attributes, and its end; a descriptor is used by others only after that. */
cudnn_descriptor cudnn_make(cudnn_call *call, int kind);
void cudnn_set(cudnn_call *call, cudnn_descriptor d, int name, int type, int64_t count, const void *values);
void cudnn_finish(cudnn_call *call, cudnn_descriptor d);

/* A tensor [N][C][H][W] with these strides in elements, bound to an operand's slot or CUDNN_VIRTUAL. */
cudnn_descriptor cudnn_tensor(cudnn_call *call, int slot, int dtype, const int64_t dims[4], const int64_t strides[4]);

/* Appends an operation to the graph: attributes that were set on a finished descriptor. */
void cudnn_operate(cudnn_call *call, cudnn_descriptor operation);

/* Appends y = mode(x, b); b is NULL for functions of one argument. */
void cudnn_pointwise(cudnn_call *call, int mode, cudnn_descriptor x, cudnn_descriptor b, cudnn_descriptor y);

/* Why cuDNN has no such engine. */
refusal cudnn_layer_refuses(const braid_problem *p, const device *d, const cudnn_way *way);

braid_status cudnn_layer_create(const braid_problem *p, device *d, const cudnn_way *way, void **state,
                                size_t *workspace_bytes);
braid_status cudnn_layer_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void cudnn_layer_destroy(device *d, void *state);

#endif
