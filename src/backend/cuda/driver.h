/*
 * The CUDA driver, found at run time. Only the types and functions that braid calls are declared,
 * by their binary interface, so that the library builds where no CUDA toolkit is installed and
 * starts where no driver is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_CUDA_DRIVER_H
#define BRAID_BACKEND_CUDA_DRIVER_H

#include <stddef.h>

#include "backend/cuda/tensor_map.h"
#include "core/status.h"

typedef int cu_result; /* CU_SUCCESS or an error number */
typedef int cu_device;
typedef unsigned long long cu_pointer; /* an address of device memory */
typedef struct cu_context_opaque *cu_context;
typedef struct cu_module_opaque *cu_module;
typedef struct cu_function_opaque *cu_function;
typedef struct cu_queue_opaque *cu_queue; /* CUDA's word is stream, which means something else here */
typedef struct cu_event_opaque *cu_event;
typedef struct cu_graph_opaque *cu_graph;
typedef struct cu_graph_exec_opaque *cu_graph_exec;
typedef struct cu_node_opaque *cu_node; /* of a graph */

enum { CU_SUCCESS = 0, CU_ERROR_OUT_OF_MEMORY = 2, CU_ERROR_NO_DEVICE = 100 };
enum {
    CU_ATTRIBUTE_MULTIPROCESSORS = 16,
    CU_ATTRIBUTE_L2_BYTES = 38,
    CU_ATTRIBUTE_CAPABILITY_MAJOR = 75,
    CU_ATTRIBUTE_CAPABILITY_MINOR = 76,
};
enum { CU_QUEUE_NON_BLOCKING = 1 };
enum { CU_EVENT_WITHOUT_TIME = 2 };
enum { CU_EVENT_RECORD_EXTERNAL = 1 };
enum { CU_CAPTURE_THREAD_LOCAL = 1 };
enum { CU_NODE_KERNEL = 0, CU_NODE_COPY = 1, CU_NODE_SET = 2 };
enum { CU_FUNCTION_MAX_DYNAMIC_SHARED = 8 };
enum { CU_TENSOR_F16 = 6, CU_TENSOR_F32 = 7, CU_TENSOR_BF16 = 9 };
enum { CU_TENSOR_NO_INTERLEAVE = 0, CU_TENSOR_ZERO_FILL = 0, CU_TENSOR_PROMOTE_128 = 2, CU_TENSOR_PROMOTE_256 = 3 };
enum { CU_TENSOR_SWIZZLE_NONE = 0, CU_TENSOR_SWIZZLE_32, CU_TENSOR_SWIZZLE_64, CU_TENSOR_SWIZZLE_128 };

/* A kernel in a graph, as the driver tells it. */
typedef struct cu_kernel_node {
    cu_function function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
} cu_kernel_node;

/* X(member, symbol, parameters): every function of the driver that braid calls. All return a cu_result. */
#define DRIVER_FUNCTIONS(X)                                                                                  \
    X(init, cuInit, (unsigned flags))                                                                        \
    X(version, cuDriverGetVersion, (int *version))                                                           \
    X(error_name, cuGetErrorName, (cu_result error, const char **text))                                      \
    X(error_string, cuGetErrorString, (cu_result error, const char **text))                                  \
    X(device_count, cuDeviceGetCount, (int *count))                                                          \
    X(device_get, cuDeviceGet, (cu_device * out, int ordinal))                                               \
    X(device_name, cuDeviceGetName, (char *name, int bytes, cu_device d))                                    \
    X(device_attribute, cuDeviceGetAttribute, (int *out, int attribute, cu_device d))                        \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, cu_device d))                                     \
    X(context_retain, cuDevicePrimaryCtxRetain, (cu_context * out, cu_device d))                             \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (cu_device d))                                          \
    X(context_push, cuCtxPushCurrent_v2, (cu_context c))                                                     \
    X(context_pop, cuCtxPopCurrent_v2, (cu_context * out))                                                   \
    X(memory_info, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))                             \
    X(memory_alloc, cuMemAlloc_v2, (cu_pointer * out, size_t bytes))                                         \
    X(memory_free, cuMemFree_v2, (cu_pointer memory))                                                        \
    X(memory_set, cuMemsetD8Async, (cu_pointer to, unsigned char value, size_t bytes, cu_queue q))           \
    X(host_alloc, cuMemAllocHost_v2, (void **out, size_t bytes))                                             \
    X(host_free, cuMemFreeHost, (void *memory))                                                              \
    X(copy_in, cuMemcpyHtoDAsync_v2, (cu_pointer to, const void *from, size_t bytes, cu_queue q))            \
    X(copy_out, cuMemcpyDtoHAsync_v2, (void *to, cu_pointer from, size_t bytes, cu_queue q))                 \
    X(copy_within, cuMemcpyDtoDAsync_v2, (cu_pointer to, cu_pointer from, size_t bytes, cu_queue q))         \
    X(queue_create, cuStreamCreate, (cu_queue * out, unsigned flags))                                        \
    X(queue_destroy, cuStreamDestroy_v2, (cu_queue q))                                                       \
    X(queue_wait, cuStreamSynchronize, (cu_queue q))                                                         \
    X(queue_wait_event, cuStreamWaitEvent, (cu_queue q, cu_event e, unsigned flags))                         \
    X(capture_begin, cuStreamBeginCapture_v2, (cu_queue q, int mode))                                        \
    X(capture_end, cuStreamEndCapture, (cu_queue q, cu_graph * out))                                         \
    X(graph_ready, cuGraphInstantiateWithFlags, (cu_graph_exec * out, cu_graph g, unsigned long long flags)) \
    X(graph_nodes, cuGraphGetNodes, (cu_graph g, cu_node * nodes, size_t * count))                           \
    X(node_type, cuGraphNodeGetType, (cu_node n, int *type))                                                 \
    X(graph_launch, cuGraphLaunch, (cu_graph_exec g, cu_queue q))                                            \
    X(graph_destroy, cuGraphDestroy, (cu_graph g))                                                           \
    X(graph_exec_destroy, cuGraphExecDestroy, (cu_graph_exec g))                                             \
    X(event_create, cuEventCreate, (cu_event * out, unsigned flags))                                         \
    X(event_destroy, cuEventDestroy_v2, (cu_event e))                                                        \
    X(event_record, cuEventRecord, (cu_event e, cu_queue q))                                                 \
    X(event_record_flags, cuEventRecordWithFlags, (cu_event e, cu_queue q, unsigned flags))                  \
    X(event_wait, cuEventSynchronize, (cu_event e))                                                          \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, cu_event begin, cu_event end))                \
    X(module_load, cuModuleLoadData, (cu_module * out, const void *image))                                   \
    X(module_unload, cuModuleUnload, (cu_module m))                                                          \
    X(module_function, cuModuleGetFunction, (cu_function * out, cu_module m, const char *name))              \
    X(function_set, cuFuncSetAttribute, (cu_function f, int attribute, int value))                           \
    X(launch, cuLaunchKernel,                                                                                \
      (cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared_bytes, cu_queue q, void **parameters, void **extra))

/* The same for functions that older drivers lack: their member is then NULL. */
#define DRIVER_OPTIONAL(X)                                                                                      \
    X(device_uuid, cuDeviceGetUuid_v2, (unsigned char uuid[16], cu_device d))                                   \
    X(node_kernel, cuGraphKernelNodeGetParams_v2, (cu_node n, cu_kernel_node * out))                            \
    X(function_name, cuFuncGetName, (const char **name, cu_function f))                                         \
    X(tensor_map_tiled, cuTensorMapEncodeTiled,                                                                 \
      (cuda_tensor_map * out, int type, unsigned rank, void *memory, const unsigned long long *size,            \
       const unsigned long long *pitch, const unsigned *box, const unsigned *step, int interleave, int swizzle, \
       int promotion, int fill))                                                                                \
    X(tensor_map_im2col, cuTensorMapEncodeIm2col,                                                               \
      (cuda_tensor_map * out, int type, unsigned rank, void *memory, const unsigned long long *size,            \
       const unsigned long long *pitch, const int *lower, const int *upper, unsigned channels, unsigned pixels, \
       const unsigned *step, int interleave, int swizzle, int promotion, int fill))

typedef struct cuda_driver {
#define DRIVER_MEMBER(member, symbol, parameters) cu_result(*member) parameters;
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
    DRIVER_OPTIONAL(DRIVER_MEMBER)
#undef DRIVER_MEMBER
    int number;     /* 13000 for 13.0 */
    char file[256]; /* the file that was opened; "" where the loader does not say */
} cuda_driver;

/* Opens and initialises the driver once per process. BRAID_ERROR_DEVICE says what is missing. */
braid_status driver_open(const cuda_driver **out);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)". Writes into `text` and returns it. */
const char *driver_error_text(const cuda_driver *driver, cu_result error, char *text, size_t bytes);

#endif
