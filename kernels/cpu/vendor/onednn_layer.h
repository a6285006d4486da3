/*
 * One layer of all streams as oneDNN calls, one primitive for each stream (that is all the library
 * offers), shared by streams of the same shape. Activations stay as they lie, dense NHWC; weights
 * go through the blocked layout that the primitive asks for, packed into the workspace at each
 * launch and, for a weight gradient, unpacked from it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_VENDOR_ONEDNN_LAYER_H
#define BRAID_KERNELS_CPU_VENDOR_ONEDNN_LAYER_H

#include "backend/cpu/onednn.h"
#include "kernels/kernel.h"

/* Why oneDNN cannot do a problem; NULL: it can. */
const char *onednn_supports(const braid_problem *p, const device *d);

/* Predicted seconds, without and with the packing of the weights. */
double onednn_cost(const braid_problem *p, const machine *on);
double onednn_packed_cost(const braid_problem *p, const machine *on);

/* `state` comes from onednn_layer_create. */
braid_status onednn_launch(const braid_problem *p, device *d, void *state, const buffers *b);
void onednn_destroy(device *d, void *state);

#if BRAID_HAVE_DNNL_H

#define ONEDNN_MAX_ARGUMENTS 6
#define ONEDNN_FILL (-1) /* in place of a slot: the argument holds one value throughout */

/* One argument of a primitive. */
typedef struct onednn_argument {
    int id;      /* DNNL_ARG_SRC */
    int slot;    /* of the op, or ONEDNN_FILL */
    float value; /* for ONEDNN_FILL */
    int output;
    dnnl_memory_desc_t desc; /* as it lies in memory */
} onednn_argument;

typedef union onednn_descriptor {
    dnnl_convolution_desc_t convolution;
    dnnl_inner_product_desc_t inner_product;
    dnnl_batch_normalization_desc_t batch_normalization;
    dnnl_binary_desc_t binary;
    dnnl_pooling_v2_desc_t pooling;
} onednn_descriptor;

/* Blocked as the primitive likes best, packed or unpacked at each launch; or as ours lie, K,R,S,C. */
typedef enum onednn_weights { ONEDNN_WEIGHTS_PACKED, ONEDNN_WEIGHTS_PLAIN } onednn_weights;

/* What one stream computes. A backward primitive is made with its forward one as a hint. */
typedef struct onednn_call {
    onednn_weights weights; /* set before the call is described */
    onednn_descriptor forward, backward;
    int is_backward;
    int count;
    onednn_argument argument[ONEDNN_MAX_ARGUMENTS];
} onednn_call;

/* Fills in the call of stream i. */
typedef dnnl_status_t (*onednn_describe)(const braid_problem *p, int i, onednn_call *call);

braid_status onednn_layer_create(const braid_problem *p, onednn_describe describe, onednn_weights weights, void **state,
                                 size_t *workspace_bytes);

/* Appends an argument to a call. */
void onednn_add(onednn_call *call, int id, int slot, const dnnl_memory_desc_t *desc);
void onednn_add_fill(onednn_call *call, int id, float value, const dnnl_memory_desc_t *desc); /* a vector */
void onednn_add_output(onednn_call *call, int id, int slot, const dnnl_memory_desc_t *desc);

/* The dtype of a problem, f32 or bf16, in oneDNN's words. */
dnnl_data_type_t onednn_dtype(const braid_problem *p);

/* Descriptors in the dtype of p: NHWC pixels of its batch, a vector, a matrix, and the same tensor in whatever layout
 * the primitive likes best. */
dnnl_status_t onednn_pixels(dnnl_memory_desc_t *out, const braid_problem *p, const int64_t hw[2], int64_t channels);
dnnl_status_t onednn_vector(dnnl_memory_desc_t *out, const braid_problem *p, int64_t count);
dnnl_status_t onednn_matrix(dnnl_memory_desc_t *out, const braid_problem *p, int64_t rows, int64_t columns);
dnnl_status_t onednn_any(dnnl_memory_desc_t *out, const dnnl_memory_desc_t *from);

#endif
#endif
