/*
 * cuDNN 9 by dlopen: the part of its backend interface that kernels use. Functions, constants and
 * types are declared here by their binary interface, so that the library builds where no cuDNN is
 * installed. Function names are cuDNN's own less "cudnn", in our spelling.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_CUDNN_H
#define BRAID_BACKEND_CUDA_CUDNN_H

#include <stddef.h>
#include <stdint.h>

#include "backend/library.h"

typedef int cudnn_status;       /* CUDNN_SUCCESS or an error number */
typedef void *cudnn_handle;     /* one per device */
typedef void *cudnn_descriptor; /* of a tensor, an operation, a graph, an engine, a plan */
enum { CUDNN_SUCCESS = 0, CUDNN_NOT_SUPPORTED = 3000, CUDNN_BAD_PARAM = 2000 };
/* The first stands for what was ALLOC_FAILED in version 8, too, which said it of the GPU's memory as well. */
enum { CUDNN_NO_HOST_MEMORY = 4003, CUDNN_NO_DEVICE_MEMORY = 4004 };

/* Number formats. */
enum { CUDNN_FLOAT = 0, CUDNN_HALF = 2, CUDNN_BFLOAT16 = 9 };

/* Kinds of descriptors. */
enum {
    CUDNN_POINTWISE = 0,
    CUDNN_CONVOLUTION = 1,
    CUDNN_HEURISTICS = 4,
    CUDNN_ENGINE = 2,
    CUDNN_CONFIG = 3,
    CUDNN_PLAN = 5,
    CUDNN_CONVOLUTION_FWD = 10,
    CUDNN_CONVOLUTION_BWD_WEIGHT = 11,
    CUDNN_CONVOLUTION_BWD_DATA = 12,
    CUDNN_POINTWISE_OPERATION = 13,
    CUDNN_GRAPH = 15,
    CUDNN_PACK = 16,
    CUDNN_TENSOR = 17,
};

/* Types of attributes. */
enum {
    CUDNN_TYPE_HANDLE = 0,
    CUDNN_TYPE_DTYPE = 1,
    CUDNN_TYPE_BOOL = 2,
    CUDNN_TYPE_INT64 = 3,
    CUDNN_TYPE_FLOAT = 4,
    CUDNN_TYPE_POINTER = 6,
    CUDNN_TYPE_CONVOLUTION_MODE = 7,
    CUDNN_TYPE_HEURISTICS_MODE = 8,
    CUDNN_TYPE_NUMERICAL_NOTE = 11,
    CUDNN_TYPE_POINTWISE_MODE = 14,
    CUDNN_TYPE_DESCRIPTOR = 15,
    CUDNN_TYPE_BEHAVIOR_NOTE = 19,
};

/* Names of attributes. Those of the three convolutions count from their first: alpha, beta, descriptor. */
enum {
    CUDNN_POINTWISE_MODE = 0,
    CUDNN_POINTWISE_COMPUTE = 1,
    CUDNN_CONVOLUTION_COMPUTE = 100,
    CUDNN_CONVOLUTION_MODE = 101,
    CUDNN_CONVOLUTION_DILATION = 102,
    CUDNN_CONVOLUTION_STRIDE = 103,
    CUDNN_CONVOLUTION_PADDING_AFTER = 104,
    CUDNN_CONVOLUTION_PADDING_BEFORE = 105,
    CUDNN_CONVOLUTION_AXES = 106,
    CUDNN_HEURISTICS_MODE = 200,
    CUDNN_HEURISTICS_GRAPH = 201,
    CUDNN_HEURISTICS_RESULTS = 202,
    CUDNN_CONFIG_ENGINE = 300,
    CUDNN_PLAN_HANDLE = 400,
    CUDNN_PLAN_CONFIG = 401,
    CUDNN_PLAN_WORKSPACE_BYTES = 402,
    CUDNN_FWD_ALPHA = 700,
    CUDNN_FWD_BETA = 701,
    CUDNN_FWD_CONVOLUTION = 702,
    CUDNN_FWD_W = 703,
    CUDNN_FWD_X = 704,
    CUDNN_FWD_Y = 705,
    CUDNN_BWD_DATA_ALPHA = 706,
    CUDNN_BWD_DATA_BETA = 707,
    CUDNN_BWD_DATA_CONVOLUTION = 708,
    CUDNN_BWD_DATA_W = 709,
    CUDNN_BWD_DATA_DX = 710,
    CUDNN_BWD_DATA_DY = 711,
    CUDNN_BWD_WEIGHT_ALPHA = 712,
    CUDNN_BWD_WEIGHT_BETA = 713,
    CUDNN_BWD_WEIGHT_CONVOLUTION = 714,
    CUDNN_BWD_WEIGHT_DW = 715,
    CUDNN_BWD_WEIGHT_X = 716,
    CUDNN_BWD_WEIGHT_DY = 717,
    CUDNN_POINTWISE_DESCRIPTOR = 750,
    CUDNN_POINTWISE_X = 751,
    CUDNN_POINTWISE_B = 752,
    CUDNN_POINTWISE_Y = 753,
    CUDNN_GRAPH_HANDLE = 800,
    CUDNN_GRAPH_OPERATIONS = 801,
    CUDNN_TENSOR_ALIGNMENT = 900,
    CUDNN_TENSOR_DTYPE = 901,
    CUDNN_TENSOR_DIMS = 902,
    CUDNN_TENSOR_STRIDES = 903,
    CUDNN_TENSOR_ID = 906,
    CUDNN_TENSOR_IS_VIRTUAL = 907,
    CUDNN_PACK_IDS = 1000,
    CUDNN_PACK_POINTERS = 1001,
    CUDNN_PACK_WORKSPACE = 1003,
    CUDNN_ENGINE_NUMERICAL_NOTES = 1303,
    CUDNN_ENGINE_BEHAVIOR_NOTES = 1305,
};

/* Values. */
enum { CUDNN_CROSS_CORRELATION = 1 };
enum { CUDNN_HEURISTICS_FALLBACK = 2, CUDNN_HEURISTICS_A = 3 };
enum {
    CUDNN_POINTWISE_ADD = 0,
    CUDNN_POINTWISE_MUL = 1,
    CUDNN_POINTWISE_RELU = 100,
    CUDNN_POINTWISE_GELU = 104,
    CUDNN_POINTWISE_GELU_TANH = 107,
};
/* What the result of an engine may differ in. */
enum {
    CUDNN_NOTE_TENSOR_CORE = 0,
    CUDNN_NOTE_DOWN_CONVERTS = 1,
    CUDNN_NOTE_REDUCED_PRECISION = 2,
    CUDNN_NOTE_FFT = 3,
    CUDNN_NOTE_NONDETERMINISTIC = 4,
    CUDNN_NOTE_WINOGRAD = 5,
    CUDNN_NOTE_WINOGRAD_4 = 6,
    CUDNN_NOTE_WINOGRAD_6 = 7,
    CUDNN_NOTE_WINOGRAD_13 = 8,
    CUDNN_NOTES = 10,
};
enum { CUDNN_BEHAVIOR_RUNTIME_COMPILATION = 0, CUDNN_BEHAVIORS = 16 };

/* X(member, symbol, result, parameters) */
#define CUDNN_FUNCTIONS(X)                                                                  \
    X(version, cudnnGetVersion, size_t, (void))                                             \
    X(create, cudnnCreate, cudnn_status, (cudnn_handle * out))                              \
    X(destroy, cudnnDestroy, cudnn_status, (cudnn_handle handle))                           \
    X(set_queue, cudnnSetStream, cudnn_status, (cudnn_handle handle, void *queue))          \
    X(error_text, cudnnGetErrorString, const char *, (cudnn_status status))                 \
    X(make, cudnnBackendCreateDescriptor, cudnn_status, (int kind, cudnn_descriptor *out))  \
    X(drop, cudnnBackendDestroyDescriptor, cudnn_status, (cudnn_descriptor d))              \
    X(finish, cudnnBackendFinalize, cudnn_status, (cudnn_descriptor d))                     \
    X(set, cudnnBackendSetAttribute, cudnn_status,                                          \
      (cudnn_descriptor d, int name, int type, int64_t count, const void *values))          \
    X(get, cudnnBackendGetAttribute, cudnn_status,                                          \
      (cudnn_descriptor d, int name, int type, int64_t room, int64_t *count, void *values)) \
    X(execute, cudnnBackendExecute, cudnn_status, (cudnn_handle handle, cudnn_descriptor plan, cudnn_descriptor pack))

typedef struct cudnn_functions {
#define CUDNN_MEMBER(member, symbol, result, parameters) result(*member) parameters;
    CUDNN_FUNCTIONS(CUDNN_MEMBER)
#undef CUDNN_MEMBER
} cudnn_functions;

/* The library, looked for once per process. */
const vendor_library *cudnn_library(void);

/* Needs cudnn_library()->reason == NULL. */
const cudnn_functions *cudnn(void);

#endif
