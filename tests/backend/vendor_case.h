/*
 * What tests of cuDNN and cuBLASLt as candidates share: a case in a process of its own, because a process opens a
 * library once, on the fake driver with fake libraries (tests/backend/fake_vendors); and a kernel that is tried there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_BACKEND_VENDOR_CASE_H
#define BRAID_TESTS_BACKEND_VENDOR_CASE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/device.h"
#include "kernels/kernel.h"
#include "tests/backend/child_case.h"
#include "tests/backend/fake_cuda/libcuda.h"
#include "tests/backend/fake_vendors/fake_vendors.h"

#ifndef BRAID_FAKE_VENDORS_PATH
#define BRAID_FAKE_VENDORS_PATH "" /* folders of the fake driver and libraries; set by tests/emu/CMakeLists.txt */
#endif

static device *gpu;

static inline int open_gpu(void) {
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0);
    EXPECT(backend_cuda.open(0, &gpu) == BRAID_OK);
    return 0;
}

/* A control of a fake library that is open. */
static inline void *control(const char *file, const char *function) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    return handle ? dlsym(handle, function) : NULL;
}

static inline fake_vendor_counts counts_of(const char *file, const char *function) {
    void *address = control(file, function);
    fake_vendor_counts_function *counts;
    if (!address) return (fake_vendor_counts){-1, -1, -1, -1, -1, -1};
    memcpy(&counts, &address, sizeof address);
    return counts();
}

static inline fake_vendor_counts cudnn_counts(void) { return counts_of(cudnn_library()->file, "fake_cudnn_counts"); }
static inline fake_vendor_counts cublaslt_counts(void) {
    return counts_of(cublaslt_library()->file, "fake_cublaslt_counts");
}

/* The nth call of a function of cuDNN or cuBLASLt, by its name, from now on ends with a status. */
static inline int fail_at(const char *symbol, int nth, int status) {
    const int is_cudnn = strncmp(symbol, "cudnn", 5) == 0;
    void *address = is_cudnn ? control(cudnn_library()->file, "fake_cudnn_fail")
                             : control(cublaslt_library()->file, "fake_cublaslt_fail");
    fake_vendor_fail_function *fails;
    EXPECT(address != NULL);
    memcpy(&fails, &address, sizeof address);
    fails(symbol, nth, status);
    return 0;
}

/* Why a kernel refuses a problem; NULL: it does not. */
static inline const char *reason_of(const char *name, const char *text) {
    braid_problem p;
    const kernel *k = kernel_find(name);
    if (!k || braid_problem_parse(text, &p) != BRAID_OK) return "there is no such kernel or problem";
    return kernel_refuses(k, &p, gpu);
}

/* 1 where a kernel refuses a problem for want of memory. */
static inline int refused_for_memory(const char *name, const char *text) {
    braid_problem p;
    const kernel *k = kernel_find(name);
    return k && braid_problem_parse(text, &p) == BRAID_OK && kernel_refusal(k, &p, gpu).kind == REFUSAL_NO_MEMORY;
}

static inline int refuses(const char *name, const char *text, const char *word) {
    const char *reason = reason_of(name, text);
    if (!reason || !strstr(reason, word)) printf("%s %s: %s\n", name, text, reason ? reason : "not refused");
    return reason && strstr(reason, word);
}

/* A kernel with the operands at places that are never touched. */
typedef struct trial {
    const kernel *kernel;
    braid_problem problem;
    buffers buffers;
    void *state;
    size_t workspace_bytes;
} trial;

static inline braid_status open_trial(const char *name, const char *text, trial *t) {
    static char memory[16 * OP_MAX_OPERANDS * BRAID_MAX_PLANES];
    *t = (trial){.kernel = kernel_find(name), .buffers = {.workspace = memory}};
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++)
            t->buffers.plane[slot][i] = memory + 16 * (slot * BRAID_MAX_PLANES + i);
    }
    TRY(braid_problem_parse(text, &t->problem));
    return t->kernel->functions->create(&t->problem, gpu, &t->state, &t->workspace_bytes);
}

static inline braid_status launch_trial(void *context, int i) {
    trial *t = context;
    (void)i;
    return kernel_launch(t->kernel->functions, &t->problem, gpu, t->state, &t->buffers);
}

static inline void close_trial(trial *t) {
    if (t->state) t->kernel->functions->destroy(gpu, t->state);
    t->state = NULL;
}

/* Creates, launches twice and destroys. */
static inline braid_status run_kernel(const char *name, const char *text, size_t *workspace_bytes) {
    trial t;
    braid_status status = open_trial(name, text, &t);
    if (!status) status = launch_trial(&t, 0);
    if (!status) status = launch_trial(&t, 1);
    *workspace_bytes = t.workspace_bytes;
    close_trial(&t);
    return status;
}

/* 1 where loading asks a library for nothing, and a launch behind it executes one call for each stream. */
static inline int only_loads(const char *name, const char *text, fake_vendor_counts (*counts)(void)) {
    trial t;
    if (open_trial(name, text, &t)) return 0;
    const fake_vendor_counts before = counts();
    const int is_loaded = gpu->backend->load(gpu, launch_trial, &t, 2) == BRAID_OK;
    const fake_vendor_counts loaded = counts();
    const int is_launched = launch_trial(&t, 0) == BRAID_OK;
    const int executed = counts().executed - loaded.executed;
    close_trial(&t);
    if (is_loaded && is_launched && loaded.calls == before.calls && executed == t.problem.streams) return 1;
    printf("%s %s: %d calls while it was loaded, %d executed behind it\n", name, text, loaded.calls - before.calls,
           executed);
    return 0;
}

#define CONV "conv2d_fwd:f16:n3:b2:hw9x8:c8,8,16:k8,8,8:rs3x3:pad1"

/* A test of cmocka, test_NAME, that runs a case. */
#define CASE(name)                          \
    static void test_##name(void **state) { \
        (void)state;                        \
        run_in_child(name);                 \
    }

#endif
