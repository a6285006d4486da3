/*
 * The fake driver: see libcuda.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/backend/fake_cuda/libcuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/driver.h"

#define EXPORT __attribute__((visibility("default")))

static int calls, faulted, fail_nth, fail_error, fail_once;
static char fail_symbol[64];
static size_t free_bytes = (size_t)1 << 29, later_bytes;
static int capability = 90;

EXPORT fake_cuda_fail_function fake_cuda_fail;
EXPORT fake_cuda_calls_function fake_cuda_calls;

void fake_cuda_fail(const char *symbol, int nth, int error, int once) {
    (void)snprintf(fail_symbol, sizeof fail_symbol, "%s", symbol);
    fail_nth = nth;
    fail_error = error;
    fail_once = once;
}

int fake_cuda_calls(void) { return calls; }

/* What a program is to meet that cannot call the controls. */
__attribute__((constructor)) static void read_environment(void) {
    const char *fault = getenv("FAKE_CUDA_FAIL"), *room = getenv("FAKE_CUDA_FREE");
    const char *age = getenv("FAKE_CUDA_CAPABILITY"), *later = getenv("FAKE_CUDA_FREE_LATER");
    if (fault && sscanf(fault, "%63[^:]:%d:%d:%d", fail_symbol, &fail_nth, &fail_error, &fail_once) != 4) abort();
    if (room) free_bytes = strtoul(room, NULL, 10);
    if (later) later_bytes = strtoul(later, NULL, 10);
    if (age) capability = (int)strtol(age, NULL, 10);
}

/* Counts a call and says how it ends. */
static cu_result answer(const char *symbol) {
    calls++;
    if (faulted) return fail_error;
    if (strcmp(symbol, fail_symbol) != 0 || --fail_nth != 0) return CU_SUCCESS;
    faulted = !fail_once;
    return fail_error;
}

/* Declares every function as the product calls it, so that a wrong definition below does not compile. */
#define FAKE_DECLARE(member, symbol, parameters) EXPORT cu_result symbol parameters;
DRIVER_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

/* Functions that only succeed or fail. */
#define FAKE_PLAIN(symbol, parameters) \
    cu_result symbol parameters { return answer(#symbol); }
FAKE_PLAIN(cuInit, (__attribute__((unused)) unsigned flags))
FAKE_PLAIN(cuDevicePrimaryCtxRelease_v2, (__attribute__((unused)) cu_device d))
FAKE_PLAIN(cuCtxPushCurrent_v2, (__attribute__((unused)) cu_context c))
FAKE_PLAIN(cuStreamDestroy_v2, (__attribute__((unused)) cu_queue q))
FAKE_PLAIN(cuStreamSynchronize, (__attribute__((unused)) cu_queue q))
FAKE_PLAIN(cuEventDestroy_v2, (__attribute__((unused)) cu_event e))
FAKE_PLAIN(cuEventRecordWithFlags, (__attribute__((unused)) cu_event e, __attribute__((unused)) cu_queue q,
                                    __attribute__((unused)) unsigned flags))
FAKE_PLAIN(cuEventSynchronize, (__attribute__((unused)) cu_event e))
FAKE_PLAIN(cuGraphLaunch, (__attribute__((unused)) cu_graph_exec g, __attribute__((unused)) cu_queue q))
FAKE_PLAIN(cuGraphDestroy, (__attribute__((unused)) cu_graph g))
FAKE_PLAIN(cuGraphExecDestroy, (__attribute__((unused)) cu_graph_exec g))
FAKE_PLAIN(cuModuleUnload, (__attribute__((unused)) cu_module m))
FAKE_PLAIN(cuFuncSetAttribute, (__attribute__((unused)) cu_function f, __attribute__((unused)) int attribute,
                                __attribute__((unused)) int value))
FAKE_PLAIN(cuLaunchKernel, (__attribute__((unused)) cu_function f, __attribute__((unused)) unsigned grid_x,
                            __attribute__((unused)) unsigned grid_y, __attribute__((unused)) unsigned grid_z,
                            __attribute__((unused)) unsigned block_x, __attribute__((unused)) unsigned block_y,
                            __attribute__((unused)) unsigned block_z, __attribute__((unused)) unsigned shared_bytes,
                            __attribute__((unused)) cu_queue q, __attribute__((unused)) void **parameters,
                            __attribute__((unused)) void **extra))

/* Functions that hand out something: any address will do as a handle. */
static char handle;
static cu_result answer_handle(const char *symbol, void **out) {
    cu_result result = answer(symbol);
    if (!result) *out = &handle;
    return result;
}

static cu_result answer_number(const char *symbol, int *out, int value) {
    *out = value;
    return answer(symbol);
}

cu_result cuDriverGetVersion(int *version) { return answer_number("cuDriverGetVersion", version, 13000); }

cu_result cuGetErrorName(cu_result error, const char **text) {
    (void)error;
    *text = "CUDA_ERROR_FAKE";
    return CU_SUCCESS;
}

cu_result cuGetErrorString(cu_result error, const char **text) {
    static char words[32];
    (void)snprintf(words, sizeof words, "fake error %d", error);
    *text = words;
    return CU_SUCCESS;
}

cu_result cuDeviceGetCount(int *count) { return answer_number("cuDeviceGetCount", count, 2); }

cu_result cuDeviceGet(cu_device *out, int ordinal) { return answer_number("cuDeviceGet", out, ordinal); }

cu_result cuDeviceGetName(char *name, int bytes, cu_device d) {
    (void)snprintf(name, (size_t)bytes, "Fake GPU %d", d);
    return answer("cuDeviceGetName");
}

cu_result cuDeviceGetAttribute(int *out, int attribute, cu_device d) {
    (void)d;
    int value = attribute == CU_ATTRIBUTE_CAPABILITY_MAJOR   ? capability / 10
                : attribute == CU_ATTRIBUTE_CAPABILITY_MINOR ? capability % 10
                                                             : 132;
    return answer_number("cuDeviceGetAttribute", out, value);
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device d) {
    (void)d;
    *bytes = (size_t)1 << 30;
    return answer("cuDeviceTotalMem_v2");
}

cu_result cuDevicePrimaryCtxRetain(cu_context *out, cu_device d) {
    (void)d;
    return answer_handle("cuDevicePrimaryCtxRetain", (void **)out);
}

cu_result cuCtxPopCurrent_v2(cu_context *out) { return answer_handle("cuCtxPopCurrent_v2", (void **)out); }

cu_result cuMemGetInfo_v2(size_t *available, size_t *total_bytes) {
    *available = free_bytes;
    *total_bytes = (size_t)1 << 30;
    return answer("cuMemGetInfo_v2");
}

cu_result cuMemAlloc_v2(cu_pointer *out, size_t bytes) {
    cu_result result = answer("cuMemAlloc_v2");
    void *memory = NULL;
    if (!result && posix_memalign(&memory, 256, bytes) != 0) result = CU_ERROR_OUT_OF_MEMORY;
    if (memory) memset(memory, 0, bytes); /* so that runs of kernels that compute nothing are the same */
    *out = (cu_pointer)(size_t)memory;
    return result;
}

cu_result cuMemFree_v2(cu_pointer memory) {
    cu_result result = answer("cuMemFree_v2");
    if (!result) free((void *)(size_t)memory);
    return result;
}

cu_result cuMemsetD8Async(cu_pointer to, unsigned char value, size_t bytes, cu_queue q) {
    (void)q;
    cu_result result = answer("cuMemsetD8Async");
    if (!result) memset((void *)(size_t)to, value, bytes);
    return result;
}

cu_result cuMemAllocHost_v2(void **out, size_t bytes) {
    cu_result result = answer("cuMemAllocHost_v2");
    *out = result ? NULL : malloc(bytes);
    return result;
}

cu_result cuMemFreeHost(void *memory) {
    cu_result result = answer("cuMemFreeHost");
    if (!result) free(memory);
    return result;
}

cu_result cuMemcpyHtoDAsync_v2(cu_pointer to, const void *from, size_t bytes, cu_queue q) {
    (void)q;
    cu_result result = answer("cuMemcpyHtoDAsync_v2");
    if (!result) memcpy((void *)(size_t)to, from, bytes);
    return result;
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_pointer from, size_t bytes, cu_queue q) {
    (void)q;
    cu_result result = answer("cuMemcpyDtoHAsync_v2");
    if (later_bytes) free_bytes = later_bytes;
    if (!result) memcpy(to, (const void *)(size_t)from, bytes);
    return result;
}

cu_result cuMemcpyDtoDAsync_v2(cu_pointer to, cu_pointer from, size_t bytes, cu_queue q) {
    (void)q;
    cu_result result = answer("cuMemcpyDtoDAsync_v2");
    if (!result) memcpy((void *)(size_t)to, (const void *)(size_t)from, bytes);
    return result;
}

cu_result cuStreamCreate(cu_queue *out, unsigned flags) {
    static char queues[64];
    static int made;
    (void)flags;
    cu_result result = answer("cuStreamCreate");
    if (!result) *out = (cu_queue)(void *)&queues[made++ % 64];
    return result;
}

/* A recording, and what another queue has to do with it: one that has waited for an event is a branch, which ends in an
 * event that the recorded queue waits for. */
static struct {
    cu_queue queue;
    int has_branch, is_marked;
} capture;

cu_result cuStreamBeginCapture_v2(cu_queue q, int mode) {
    (void)mode;
    cu_result result = answer("cuStreamBeginCapture_v2");
    capture.queue = result ? NULL : q;
    capture.has_branch = capture.is_marked = 0;
    return result;
}

cu_result cuStreamWaitEvent(cu_queue q, cu_event e, unsigned flags) {
    (void)e, (void)flags;
    cu_result result = answer("cuStreamWaitEvent");
    if (result || !capture.queue) return result;
    capture.has_branch = q != capture.queue || (capture.has_branch && !capture.is_marked);
    if (q != capture.queue) capture.is_marked = 0;
    return result;
}

cu_result cuEventRecord(cu_event e, cu_queue q) {
    (void)e;
    if (capture.queue && q != capture.queue) capture.is_marked = 1;
    return answer("cuEventRecord");
}

cu_result cuEventCreate(cu_event *out, unsigned flags) {
    (void)flags;
    return answer_handle("cuEventCreate", (void **)out);
}

cu_result cuStreamEndCapture(cu_queue q, cu_graph *out) {
    const int is_whole = capture.queue == q && !capture.has_branch;
    capture.queue = NULL;
    cu_result result = answer_handle("cuStreamEndCapture", (void **)out);
    return result || is_whole ? result : 904; /* CUDA_ERROR_STREAM_CAPTURE_UNJOINED */
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *out, cu_graph g, unsigned long long flags) {
    (void)g;
    (void)flags;
    return answer_handle("cuGraphInstantiateWithFlags", (void **)out);
}

cu_result cuGraphGetNodes(cu_graph g, cu_node *nodes, size_t *count) {
    (void)g;
    *count = 1;
    return answer_handle("cuGraphGetNodes", (void **)nodes);
}

cu_result cuGraphNodeGetType(cu_node n, int *type) {
    (void)n;
    return answer_number("cuGraphNodeGetType", type, CU_NODE_KERNEL);
}

cu_result cuEventElapsedTime(float *milliseconds, cu_event begin, cu_event end) {
    (void)begin;
    (void)end;
    *milliseconds = 2;
    return answer("cuEventElapsedTime");
}

cu_result cuModuleLoadData(cu_module *out, const void *image) {
    (void)image;
    return answer_handle("cuModuleLoadData", (void **)out);
}

cu_result cuModuleGetFunction(cu_function *out, cu_module m, const char *name) {
    (void)m;
    (void)name;
    return answer_handle("cuModuleGetFunction", (void **)out);
}
