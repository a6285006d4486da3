/*
 * cuDNN and cuBLASLt as candidates, on the fake driver with fake libraries (tests/backend/fake_vendors): which engines
 * are taken, what is refused and why, one call for each stream, what becomes of a lack of memory inside of them, and
 * nothing left behind. Each case has its own process, because a process opens a library once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/device.h"
#include "backend/cuda/images.h"
#include "kernels/kernel.h"
#include "plan/pins.h"
#include "plan/race.h"
#include "tests/backend/fake_cuda/libcuda.h"
#include "tests/backend/fake_vendors/fake_vendors.h"

#ifndef BRAID_FAKE_VENDORS_PATH
#define BRAID_FAKE_VENDORS_PATH "" /* folders of the fake driver and libraries; set by tests/emu/CMakeLists.txt */
#endif

/* Inside a case: leaves it with the line of the first expectation that does not hold. */
#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            printf("line %d: expected %s; message: %s\n", __LINE__, #condition, braid_message()); \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

static device *gpu;

static int open_gpu(void) {
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0);
    EXPECT(backend_cuda.open(0, &gpu) == BRAID_OK);
    return 0;
}

static void run_in_child(int (*run)(void)) {
    int result = 0;
    if (cuda_image_count == 0) {
        print_message("skip: this build has no CUDA kernels (no nvcc)\n");
        skip();
    }
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int failed = run();
        fflush(stdout);
        _exit(failed ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* A control of a fake library that is open. */
static void *control(const char *file, const char *function) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    return handle ? dlsym(handle, function) : NULL;
}

static fake_vendor_counts counts_of(const char *file, const char *function) {
    void *address = control(file, function);
    fake_vendor_counts_function *counts;
    if (!address) return (fake_vendor_counts){-1, -1, -1, -1, -1, -1};
    memcpy(&counts, &address, sizeof address);
    return counts();
}

static fake_vendor_counts cudnn_counts(void) { return counts_of(cudnn_library()->file, "fake_cudnn_counts"); }
static fake_vendor_counts cublaslt_counts(void) { return counts_of(cublaslt_library()->file, "fake_cublaslt_counts"); }

/* The nth call of a function of cuDNN or cuBLASLt, by its name, from now on ends with a status. */
static int fail_at(const char *symbol, int nth, int status) {
    const int is_cudnn = strncmp(symbol, "cudnn", 5) == 0;
    void *address = is_cudnn ? control(cudnn_library()->file, "fake_cudnn_fail")
                             : control(cublaslt_library()->file, "fake_cublaslt_fail");
    fake_vendor_fail_function *fails;
    EXPECT(address != NULL);
    memcpy(&fails, &address, sizeof address);
    fails(symbol, nth, status);
    return 0;
}

static int says(const char *text) { return strstr(braid_message(), text) != NULL; }

/* Why a kernel refuses a problem; NULL: it does not. */
static const char *reason_of(const char *name, const char *text) {
    braid_problem p;
    const kernel *k = kernel_find(name);
    if (!k || braid_problem_parse(text, &p) != BRAID_OK) return "there is no such kernel or problem";
    return kernel_refuses(k, &p, gpu);
}

static int refuses(const char *name, const char *text, const char *word) {
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

static braid_status open_trial(const char *name, const char *text, trial *t) {
    static char memory[16 * OP_MAX_OPERANDS * BRAID_MAX_PLANES];
    *t = (trial){.kernel = kernel_find(name), .buffers = {.workspace = memory}};
    for (int slot = 0; slot < OP_MAX_OPERANDS; slot++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++)
            t->buffers.plane[slot][i] = memory + 16 * (slot * BRAID_MAX_PLANES + i);
    }
    TRY(braid_problem_parse(text, &t->problem));
    return t->kernel->functions->create(&t->problem, gpu, &t->state, &t->workspace_bytes);
}

static braid_status launch_trial(void *context, int i) {
    trial *t = context;
    (void)i;
    return kernel_launch(t->kernel->functions, &t->problem, gpu, t->state, &t->buffers);
}

static void close_trial(trial *t) {
    if (t->state) t->kernel->functions->destroy(gpu, t->state);
    t->state = NULL;
}

/* Creates, launches twice and destroys. */
static braid_status run_kernel(const char *name, const char *text, size_t *workspace_bytes) {
    trial t;
    braid_status status = open_trial(name, text, &t);
    if (!status) status = launch_trial(&t, 0);
    if (!status) status = launch_trial(&t, 1);
    *workspace_bytes = t.workspace_bytes;
    close_trial(&t);
    return status;
}

/* 1 where loading asks a library for nothing, and a launch behind it executes one call for each stream. */
static int only_loads(const char *name, const char *text, fake_vendor_counts (*counts)(void)) {
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

/* ---- cuDNN -------------------------------------------------------------------------------------- */

#define CONV "conv2d_fwd:f16:n3:b2:hw9x8:c8,8,16:k8,8,8:rs3x3:pad1"

static int engines(void) {
    size_t bytes = 0;
    EXPECT(open_gpu() == 0);
    EXPECT(strstr(gpu->identity, "cudnn 9.12.34") && strstr(gpu->identity, "cublaslt 13.4.56"));
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_1", CONV) && cudnn_counts().plans == 2); /* two shapes of three streams */
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_1", CONV) && cudnn_counts().plans == 2);
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_3", CONV) && cudnn_counts().plans == 8);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_4", CONV, "no further engine") && cudnn_counts().plans == 9);
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_1", CONV, &bytes) == BRAID_OK);
    EXPECT(cudnn_counts().executed == 6 && cudnn_counts().last == 0 && bytes == 1000);
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_2", CONV, &bytes) == BRAID_OK);
    EXPECT(cudnn_counts().executed == 12 && cudnn_counts().last == 2 && bytes == 3000);
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_3", CONV, &bytes) == BRAID_OK && cudnn_counts().last == 5);
    EXPECT(only_loads("conv2d_fwd__cuda_cudnn_1", CONV, cudnn_counts));
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_4", CONV, &bytes) == BRAID_ERROR_DEVICE && says("BRAID_DISABLE=cudnn"));
    EXPECT(cudnn_counts().live == 0);
    backend_cuda.close(gpu);
    return 0;
}

/* A choice by cost asks cuDNN for nothing but the one that it would take; where that refuses, the others decide. */
static int asked_late(void) {
    static const char own[] = "conv2d_fwd__cuda_direct";
    const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};
    braid_context_options options = {.device = "cuda:0", .cache_dir = "", .disable = NULL};
    braid_context *context = NULL;
    braid_problem p;
    braid_op *op = NULL;
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0);
    EXPECT(braid_context_create(&options, &context) == BRAID_OK);
    EXPECT(braid_problem_parse("conv2d_fwd:f32:n1:b1:hw3x3:c1:k1:rs3x3:pad1:mask1", &p) == BRAID_OK);
    EXPECT(braid_op_create(context, &p, &op) == BRAID_OK && braid_op_plan(op, &estimate) == BRAID_OK);
    EXPECT(strstr(braid_op_explain(op)->candidates[braid_op_explain(op)->winner].kernel, "cudnn") == NULL);
    braid_op_destroy(op);
    EXPECT(braid_problem_parse(CONV, &p) == BRAID_OK && braid_op_create(context, &p, &op) == BRAID_OK);
    EXPECT(braid_op_plan(op, &(braid_plan_options){.kernel = own}) == BRAID_OK);
    EXPECT(braid_op_plan(op, &(braid_plan_options){.kernel = "conv2d_fwd__cuda_cudnn_4"}) == BRAID_ERROR_ARGUMENT);
    EXPECT(strstr(braid_message(), "no further engine"));
    braid_op_destroy(op);
    braid_context_destroy(context);
    EXPECT(cudnn_counts().executed == 0 && cudnn_counts().live == 0);
    return 0;
}

/* A race asks for one rank more each time, until it has taken too long for all shapes together; the first is there in
 * any case, and so is one that was chosen before. */
static int slow_engines(void) {
    static const char one[] = "conv2d_fwd:f16:n1:b2:hw9x8:c8:k8:rs3x3:pad1", late[] = "took 2 s: no further one";
    EXPECT(setenv("FAKE_VENDOR", "slow", 1) == 0 && open_gpu() == 0);
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_1", one) && !reason_of("conv2d_fwd__cuda_cudnn_2", one));
    EXPECT(cudnn_counts().plans == 2);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_3", one, late) && refuses("conv2d_fwd__cuda_cudnn_4", one, late));
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_2", one) && cudnn_counts().plans == 2);
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_1", CONV) && cudnn_counts().plans == 4);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_2", CONV, late) && cudnn_counts().plans == 5); /* of two shapes one */
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_3", "conv2d_fwd:f16:n1:b3:hw9x8:c8:k8:rs3x3:pad1"));
    EXPECT(cudnn_counts().plans == 9 && cudnn_counts().live == 0);
    EXPECT(fail_at("cudnnBackendFinalize", 8, CUDNN_NO_DEVICE_MEMORY) == 0); /* of a plan */
    EXPECT(reason_of("conv2d_fwd__cuda_cudnn_3", "conv2d_fwd:f16:n1:b4:hw9x8:c8:k8:rs3x3:pad1") == backend_no_memory);
    EXPECT(!reason_of("conv2d_fwd__cuda_cudnn_3", "conv2d_fwd:f16:n1:b4:hw9x8:c8:k8:rs3x3:pad1"));
    backend_cuda.close(gpu);
    return 0;
}

/* f32 without tensor cores; compiled engines in graphs of several operations only. */
static int other_graphs(void) {
    static const char f32[] = "conv2d_bwd_weight:f32:n1:b2:hw9x8:c8:k8:rs3x3:pad1:cp12:kp16";
    static const char bias[] = "conv2d_fwd:bf16:n1:b2:hw9x8:c8:k8:rs3x3:pad1:bias1";
    static const char fused[] = "conv2d_scale_bias_act:f16:n1:b2:hw9x8:c8:k8:rs3x3:pad1:act=relu:add1";
    size_t bytes = 0;
    EXPECT(open_gpu() == 0);
    EXPECT(run_kernel("conv2d_bwd_weight_f32__cuda_cudnn_1", f32, &bytes) == BRAID_OK && cudnn_counts().last == 5);
    EXPECT(refuses("conv2d_bwd_weight_f32__cuda_cudnn_2", f32, "no further engine"));
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_4", bias, &bytes) == BRAID_OK && cudnn_counts().last == 6);
    EXPECT(run_kernel("conv2d_scale_bias_act__cuda_cudnn_2", fused, &bytes) == BRAID_OK && cudnn_counts().last == 2);
    EXPECT(run_kernel("conv2d_bwd_data__cuda_cudnn_1", "conv2d_bwd_data:f16:n2:b2:hw9x8:c8:k8:rs3x3", &bytes) ==
           BRAID_OK);
    EXPECT(cudnn_counts().live == 0);
    backend_cuda.close(gpu);
    return 0;
}

static int refusals(void) {
    static const struct {
        const char *kernel, *problem, *word;
    } cases[] = {
        {"conv2d_fwd__cuda_cudnn_1", "conv2d_fwd:f16:n1:b2:hw5x6:c8:k8:rs3x3:mask1", "mask"},
        {"conv2d_fwd__cuda_cudnn_1", "conv2d_fwd:f16:n1:b2:hw5x6:c8:k8:rs3x3:pad1:mode=reflect", "zeros"},
        {"conv2d_fwd__cuda_cudnn_1", "conv2d_fwd:f16:n1:b2:hw5x6:c8:k8:rs2x2:pad0:extra1", "equal padding"},
        {"conv2d_fwd__cuda_cudnn_1", "conv2d_fwd:f16:n1:b0:hw5x6:c8:k8:rs3x3", "batch"},
        {"conv2d_fwd__cuda_cudnn_1", "conv2d_fwd:f16:n1:b2:hw5x6:c8:k6:rs3x3:kp8", "pitch of y"},
        {"conv2d_bwd_data__cuda_cudnn_1", "conv2d_bwd_data:f16:n1:b2:hw5x6:c6:k8:rs3x3:cp8", "pitch of dx"},
        {"conv2d_bwd_weight__cuda_cudnn_1", "conv2d_bwd_weight:f16:n1:b2:hw5x6:c8:k8:rs3x3:bias1", "bias"},
        {"linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n1:b2:c8:k8:mask1", "mask"},
        {"linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n1:b2:c8:k6:kp8", "pitch of y"},
        {"linear_bwd_data__cuda_cublaslt_1", "linear_bwd_data:f16:n1:b2:c6:k8:cp8", "pitch of dx"},
        {"linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n1:b0:c8:k8", "batch"},
        {"linear_act_fwd__cuda_cublaslt_1", "linear_act_fwd:f16:n1:b2:c8:k8:act=gelu", "tanh"},
    };
    EXPECT(open_gpu() == 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        EXPECT(refuses(cases[i].kernel, cases[i].problem, cases[i].word));
    EXPECT(cudnn_counts().live == 0 && cublaslt_counts().live == 0);
    backend_cuda.close(gpu);
    return 0;
}

/* ---- cuBLASLt ----------------------------------------------------------------------------------- */

/* Shapes of all passes fit, which the fake library checks; pitches of inputs; both layouts of matmul. */
static int products(void) {
    static const char *const cases[][2] = {
        {"linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n2:b5:c6,7:k3,4:cp8,8:bias1"},
        {"linear_fwd_f32__cuda_cublaslt_2", "linear_fwd:f32:n2:b5:c6,7:k3,4"},
        {"linear_bwd_data__cuda_cublaslt_1", "linear_bwd_data:bf16:n2:b5:c6,7:k3,4:kp8,8"},
        {"linear_bwd_weight__cuda_cublaslt_2", "linear_bwd_weight:f16:n2:b5:c6,7:k3,4:cp8,8:kp8,8:bias1"},
        {"linear_act_fwd__cuda_cublaslt_1", "linear_act_fwd:f16:n2:b5:c6,7:k3,4:act=gelu_tanh:phase=train:bias1"},
        {"matmul_fwd__cuda_cublaslt_1", "matmul_fwd:f16:n2:b5:c6,7:k3,4:trans0"},
        {"matmul_fwd_f32__cuda_cublaslt_1", "matmul_fwd:f32:n2:b5:c6,7:k3,4:trans1"},
        {"matmul_bwd_data__cuda_cublaslt_1", "matmul_bwd_data:f16:n2:b5:c6,7:k3,4:trans0"},
        {"matmul_bwd_weight__cuda_cublaslt_1", "matmul_bwd_weight:f16:n2:b5:c6,7:k3,4:trans0"},
    };
    const int count = (int)(sizeof cases / sizeof cases[0]);
    size_t bytes = 0;
    EXPECT(open_gpu() == 0);
    for (int i = 0; i < count; i++) {
        const int second = strstr(cases[i][0], "cublaslt_2") != NULL;
        EXPECT(!reason_of(cases[i][0], cases[i][1]));
        EXPECT(run_kernel(cases[i][0], cases[i][1], &bytes) == BRAID_OK && bytes > 0);
        EXPECT(cublaslt_counts().executed == 6 * i + 4 && cublaslt_counts().last == second);
        EXPECT(only_loads(cases[i][0], cases[i][1], cublaslt_counts));
    }
    EXPECT(cublaslt_counts().live == 0);
    backend_cuda.close(gpu);
    return 0;
}

/* ---- Without memory ----------------------------------------------------------------------------- */

/* A function of a library that takes memory, at any of its calls; the kernel that it is asked for. */
typedef struct taker {
    const char *symbol, *kernel, *problem; /* %d: the batch, so that each problem is a new one */
    int status, least;                     /* calls at which it fails */
} taker;

#define BATCHES "conv2d_fwd:f16:n2:b%d:hw9x8:c8,16:k8:rs3x3:pad1"
#define ROWS "linear_fwd:f16:n2:b%d:c6,7:k3,4:bias1"
static const taker takers[] = {
    {"cudnnBackendCreateDescriptor", "conv2d_fwd__cuda_cudnn_2", BATCHES, CUDNN_NO_HOST_MEMORY, 90},
    {"cudnnBackendSetAttribute", "conv2d_fwd__cuda_cudnn_2", BATCHES, CUDNN_NO_HOST_MEMORY, 60},
    {"cudnnBackendGetAttribute", "conv2d_fwd__cuda_cudnn_2", BATCHES, CUDNN_NO_HOST_MEMORY, 20},
    {"cudnnBackendFinalize", "conv2d_fwd__cuda_cudnn_2", BATCHES, CUDNN_NO_DEVICE_MEMORY, 20},
    {"cudnnBackendExecute", "conv2d_fwd__cuda_cudnn_2", BATCHES, CUDNN_NO_DEVICE_MEMORY, 4},
    {"cublasLtMatmulDescCreate", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 2},
    {"cublasLtMatmulDescSetAttribute", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 10},
    {"cublasLtMatrixLayoutCreate", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 6},
    {"cublasLtMatmulPreferenceCreate", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 2},
    {"cublasLtMatmulPreferenceSetAttribute", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 4},
    {"cublasLtMatmulAlgoGetHeuristic", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 2},
    {"cublasLtMatmul", "linear_fwd__cuda_cublaslt_1", ROWS, LT_NO_MEMORY, 4},
};
#define TAKERS (sizeof takers / sizeof takers[0])

/* It is told as that, nothing is left of it, and the same kernel is there the next time: the rank is that engine. */
static int no_memory(void) {
    size_t bytes = 0;
    EXPECT(open_gpu() == 0);
    for (size_t j = 0; j < TAKERS; j++) {
        const taker *t = &takers[j];
        const int is_cudnn = strncmp(t->symbol, "cudnn", 5) == 0;
        char text[96];
        braid_status status = BRAID_ERROR_MEMORY;
        int nth = 0;
        EXPECT(cuda_vendor_refuses(gpu, is_cudnn ? CUDA_CUDNN : CUDA_CUBLASLT) == NULL);
        while (status == BRAID_ERROR_MEMORY) {
            snprintf(text, sizeof text, t->problem, 500 * (int)j + ++nth);
            EXPECT(fail_at(t->symbol, nth, t->status) == 0);
            status = run_kernel(t->kernel, text, &bytes);
            if (status) EXPECT(says("cuda:0: no memory for ") && says(is_cudnn ? "of cudnn (" : "of cublaslt ("));
            if (status) EXPECT(says("536870912 bytes free") && says("make the batch smaller"));
            EXPECT(cudnn_counts().live <= 0 && cublaslt_counts().live <= 0);
            EXPECT(fail_at(t->symbol, 0, 0) == 0 && run_kernel(t->kernel, text, &bytes) == BRAID_OK);
            EXPECT(is_cudnn ? cudnn_counts().last == 2 && bytes == 3000 : cublaslt_counts().last == 0);
        }
        if (status || nth <= t->least) printf("%s: %d calls\n", t->symbol, nth - 1);
        EXPECT(status == BRAID_OK && nth > t->least);
    }
    backend_cuda.close(gpu);
    EXPECT(cudnn_counts().handles == 0 && cublaslt_counts().handles == 0);
    return 0;
}

/* A candidate is left out for want of memory, and there again when it is asked for once more. */
static int no_memory_to_ask(void) {
    braid_problem p;
    EXPECT(open_gpu() == 0);
    for (size_t j = 0; j < TAKERS; j++) {
        const taker *t = &takers[j];
        char text[96];
        EXPECT(cuda_vendor_refuses(gpu, CUDA_CUDNN) == NULL && cuda_vendor_refuses(gpu, CUDA_CUBLASLT) == NULL);
        if (strstr(t->symbol, "Execute") || strcmp(t->symbol, "cublasLtMatmul") == 0) continue;
        for (int nth = 1; nth <= 2; nth++) {
            snprintf(text, sizeof text, t->problem, 10 * (int)j + nth);
            EXPECT(fail_at(t->symbol, nth, t->status) == 0);
            EXPECT(reason_of(t->kernel, text) == backend_no_memory);
            EXPECT(fail_at(t->symbol, nth, t->status) == 0 && braid_problem_parse(text, &p) == BRAID_OK);
            EXPECT(!kernel_is_unable(kernel_find(t->kernel), &p, gpu));
            EXPECT(fail_at(t->symbol, 0, 0) == 0 && !reason_of(t->kernel, text));
            EXPECT(cudnn_counts().live == 0 && cublaslt_counts().live == 0);
        }
    }
    EXPECT(braid_problem_parse("linear_fwd:f16:n1:b2:c8:k8:mask1", &p) == BRAID_OK);
    EXPECT(kernel_is_unable(kernel_find("linear_fwd__cuda_cublaslt_1"), &p, gpu));
    backend_cuda.close(gpu);
    return 0;
}

/* A library that finds no memory to start is tried again; one that does not start otherwise leaves nothing open. */
static int no_memory_to_start(void) {
    static const char rows[] = "linear_fwd:f16:n1:b2:c8:k8";
    size_t bytes = 0;
    EXPECT(open_gpu() == 0);
    EXPECT(fail_at("cudnnCreate", 1, CUDNN_NO_HOST_MEMORY) == 0);
    EXPECT(reason_of("conv2d_fwd__cuda_cudnn_1", CONV) == backend_no_memory && cudnn_counts().handles == 0);
    EXPECT(fail_at("cudnnSetStream", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_1", CONV, &bytes) == BRAID_ERROR_MEMORY && cudnn_counts().handles == 0);
    EXPECT(says("cuda:0: cudnn: its library finds no memory"));
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_1", CONV, &bytes) == BRAID_OK && cudnn_counts().handles == 1);
    EXPECT(fail_at("cublasLtCreate", 1, LT_NO_MEMORY) == 0);
    EXPECT(reason_of("linear_fwd__cuda_cublaslt_1", rows) == backend_no_memory);
    EXPECT(!reason_of("linear_fwd__cuda_cublaslt_1", rows) && cublaslt_counts().handles == 1);
    backend_cuda.close(gpu);
    EXPECT(cudnn_counts().handles == 0 && cublaslt_counts().handles == 0 && open_gpu() == 0);
    EXPECT(fail_at("cudnnSetStream", 1, 1001) == 0);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_1", CONV, "does not start") && cudnn_counts().handles == 0);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_1", CONV, "does not start"));
    backend_cuda.close(gpu);
    return 0;
}

/* Why a race left a kernel out. */
static const char *left_out(const braid_op *op, const char *name) {
    const braid_race *seen = braid_op_explain(op);
    for (int j = 0; j < seen->count; j++) {
        if (strcmp(seen->candidates[j].kernel, name) == 0) return seen->candidates[j].reason;
    }
    return NULL;
}

/* Whether a candidate takes no part in a race for want of memory. */
static int lacks_memory(const race *r, const char *name) {
    for (int j = 0; j < r->count; j++) {
        if (strcmp(r->racers[j].kernel->name, name) == 0) return r->racers[j].reason[0] && r->racers[j].lacks_memory;
    }
    return -1;
}

/* A race knows of every candidate that had no memory, whether it was asked, checked or timed. */
static int races_know_of_no_memory(void) {
    static const char name[] = "conv2d_fwd__cuda_cudnn_1";
    const braid_context_options options = {.device = "cuda:0", .cache_dir = ""};
    const braid_plan_options brief = {.seconds = 0.01};
    braid_context *context = NULL;
    braid_problem p;
    race r;
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0);
    EXPECT(braid_context_create(&options, &context) == BRAID_OK && braid_problem_parse(CONV, &p) == BRAID_OK);
    EXPECT(fail_at("cudnnBackendFinalize", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    race_list(context, &p, &r);
    EXPECT(lacks_memory(&r, name) == 1);
    race_list(context, &p, &r);
    EXPECT(lacks_memory(&r, name) == 0);
    EXPECT(fail_at("cudnnBackendExecute", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(race_check(context, &p, 1, &r) == BRAID_OK && lacks_memory(&r, name) == 1);
    race_list(context, &p, &r);
    EXPECT(race_check(context, &p, 1, &r) == BRAID_OK && lacks_memory(&r, name) == 0); /* wrong, as all there are */
    race_list(context, &p, &r);
    EXPECT(fail_at("cudnnBackendExecute", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(race_time(context, &p, &brief, &r) == BRAID_OK && lacks_memory(&r, name) == 1);
    braid_context_destroy(context);
    return 0;
}

/* A race goes on without the candidate; who asks for it by name, or by the checkpoint of a run, gets it or an error. */
static int no_memory_in_a_race(void) {
    static const char name[] = "conv2d_fwd__cuda_cudnn_1";
    const braid_plan_options named = {.kernel = name};
    braid_context_options options = {.device = "cuda:0", .cache_dir = "", .disable = NULL};
    braid_context *context = NULL;
    braid_model *model = NULL;
    braid_net *net = NULL;
    braid_problem p;
    braid_op *op = NULL;
    int missing = -1;
    json_t *choices = json_pack("{s:s}", CONV, name);
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0 && choices);
    EXPECT(braid_context_create(&options, &context) == BRAID_OK);
    EXPECT(braid_problem_parse(CONV, &p) == BRAID_OK && braid_op_create(context, &p, &op) == BRAID_OK);
    EXPECT(fail_at("cudnnBackendFinalize", 20, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(braid_op_plan(op, &named) == BRAID_ERROR_MEMORY);
    EXPECT(fail_at("cudnnBackendFinalize", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(braid_op_plan(op, &named) == BRAID_ERROR_MEMORY && says(name) && says("no memory"));
    EXPECT(braid_op_plan(op, &named) == BRAID_OK);
    EXPECT(fail_at("cudnnBackendExecute", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(braid_op_plan(op, &(braid_plan_options){.seconds = 0.01}) == BRAID_ERROR_MEMORY); /* no other computes */
    EXPECT(says("no kernel can do this problem with the memory that is free") && says(name));
    EXPECT(strstr(left_out(op, name), "failed: cuda:0: no memory for a call of cudnn") != NULL);
    EXPECT(braid_net_create("mlp", &(braid_net_options){.layers = {9, 8}}, &net) == BRAID_OK);
    EXPECT(braid_model_create(context, net, NULL, &model) == BRAID_OK);
    EXPECT(fail_at("cudnnBackendFinalize", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(model_pin_choices(model, choices, &missing) == BRAID_ERROR_MEMORY && says(name) && says("no memory"));
    EXPECT(model_pin_choices(model, choices, &missing) == BRAID_OK && missing == 0);
    json_decref(choices);
    braid_op_destroy(op);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    EXPECT(cudnn_counts().live == 0 && cudnn_counts().handles == 0);
    return 0;
}

/* The calls of a plan, as far as there is one; -1: none, for want of memory. */
static int list_calls(braid_model *model, braid_op_id *ops, int room) {
    const braid_plan_request request = {.batch = 2, .choice = {.effort = BRAID_EFFORT_ESTIMATE}};
    braid_plan *plan = NULL;
    braid_step_info info;
    if (braid_plan_create(model, &request, &plan) == BRAID_ERROR_MEMORY) return -1;
    int count = braid_plan_step_count(plan);
    for (int j = 0; j < count && j < room; j++) {
        if (braid_plan_step(plan, j, &info)) return -2;
        ops[j] = info.problem->op;
    }
    braid_plan_destroy(plan);
    return count;
}

/* Where a library finds no memory while a plan is made, there is the same plan, or none. */
static int no_memory_for_a_plan(void) {
    enum { ROOM = 64 };
    braid_context_options options = {.device = "cuda:0", .cache_dir = "", .disable = NULL};
    braid_context *context = NULL;
    braid_model *model = NULL;
    braid_net *net = NULL;
    braid_op_id first[ROOM], ops[ROOM];
    int made = 0, refused = 0;
    EXPECT(setenv("BRAID_LIBRARY_PATH", BRAID_FAKE_VENDORS_PATH, 1) == 0);
    EXPECT(braid_context_create(&options, &context) == BRAID_OK);
    EXPECT(braid_net_create("mlp", &(braid_net_options){.layers = {7396, 512, 512, 10}}, &net) == BRAID_OK);
    EXPECT(braid_model_create(context, net, NULL, &model) == BRAID_OK);
    const int count = list_calls(model, first, ROOM);
    EXPECT(count > 0 && count < ROOM);
    for (int nth = 1; nth <= 40; nth++) {
        EXPECT(fail_at("cublasLtMatmulDescCreate", nth, LT_NO_MEMORY) == 0);
        const int found = list_calls(model, ops, ROOM);
        made += found > 0;
        refused += found == -1;
        EXPECT(found == -1 || (found == count && memcmp(first, ops, (size_t)count * sizeof *ops) == 0));
    }
    EXPECT(made > 0 && refused > 0);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    EXPECT(cublaslt_counts().live == 0 && cublaslt_counts().handles == 0);
    return 0;
}

/* Of a device that has failed a library is asked for nothing any more; before that, a layer goes with its context
 * current. */
static int failed_device(void) {
    trial kept[2];
    fake_cuda_calls_function *calls;
    fake_cuda_fail_function *fails;
    EXPECT(open_gpu() == 0);
    const char *driver = cuda_device_of(gpu)->driver->file;
    void *calls_at = control(driver, "fake_cuda_calls"), *fails_at = control(driver, "fake_cuda_fail");
    EXPECT(calls_at && fails_at);
    memcpy(&calls, &calls_at, sizeof calls_at);
    memcpy(&fails, &fails_at, sizeof fails_at);
    for (int j = 0; j < 2; j++) EXPECT(open_trial("conv2d_fwd__cuda_cudnn_1", CONV, &kept[j]) == BRAID_OK);
    const int before = calls(), live = cudnn_counts().live;
    close_trial(&kept[0]);
    EXPECT(calls() == before + 2 && cudnn_counts().live < live);
    fails("cuStreamSynchronize", 1, 700, 0);
    EXPECT(gpu->backend->synchronize(gpu) == BRAID_ERROR_DEVICE);
    const int asked = cudnn_counts().calls;
    EXPECT(launch_trial(&kept[1], 0) == BRAID_ERROR_DEVICE);
    close_trial(&kept[1]);
    backend_cuda.close(gpu);
    EXPECT(cudnn_counts().calls == asked);
    return 0;
}

/* ---- Libraries that cannot be used -------------------------------------------------------------- */

static void keep_hint(void *user, const char *section, const char *name, const char *value, const char *hint) {
    if (strcmp(section, "vendor") == 0 && strcmp(name, "cudnn") == 0)
        snprintf(user, 256, "%s: %s", value, hint ? hint : "");
}

static int old_version(void) {
    char text[256] = "";
    setenv("FAKE_VENDOR", "old", 1);
    EXPECT(open_gpu() == 0);
    EXPECT(strstr(gpu->identity, "cudnn none"));
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_1", CONV, "needs cuDNN 9"));
    gpu->backend->describe(gpu, keep_hint, text);
    EXPECT(strstr(text, "not used") && strstr(text, "8.12.34"));
    EXPECT(!reason_of("linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n1:b2:c8:k8"));
    backend_cuda.close(gpu);
    return 0;
}

static int does_not_start(void) {
    setenv("FAKE_VENDOR", "broken", 1);
    EXPECT(open_gpu() == 0);
    EXPECT(refuses("conv2d_fwd__cuda_cudnn_1", CONV, "does not start"));
    EXPECT(refuses("linear_fwd__cuda_cublaslt_1", "linear_fwd:f16:n1:b2:c8:k8", "does not start"));
    backend_cuda.close(gpu);
    return 0;
}

#define CASE(name)                          \
    static void test_##name(void **state) { \
        (void)state;                        \
        run_in_child(name);                 \
    }
CASE(engines)
CASE(asked_late)
CASE(slow_engines)
CASE(other_graphs)
CASE(refusals)
CASE(products)
CASE(no_memory)
CASE(no_memory_to_ask)
CASE(no_memory_to_start)
CASE(races_know_of_no_memory)
CASE(no_memory_in_a_race)
CASE(no_memory_for_a_plan)
CASE(failed_device)
CASE(old_version)
CASE(does_not_start)
#undef CASE

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines),
        cmocka_unit_test(test_asked_late),
        cmocka_unit_test(test_slow_engines),
        cmocka_unit_test(test_other_graphs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_to_ask),
        cmocka_unit_test(test_no_memory_to_start),
        cmocka_unit_test(test_races_know_of_no_memory),
        cmocka_unit_test(test_no_memory_in_a_race),
        cmocka_unit_test(test_no_memory_for_a_plan),
        cmocka_unit_test(test_failed_device),
        cmocka_unit_test(test_old_version),
        cmocka_unit_test(test_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
