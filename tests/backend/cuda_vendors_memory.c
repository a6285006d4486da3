/*
 * A lack of memory inside cuDNN or cuBLASLt, and a device that has failed under them: it is told as that, nothing is
 * left of it, the same kernels are there the next time, and races, plans and runs know of it. On fake libraries, as in
 * tests/backend/cuda_vendors.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/pins.h"
#include "race/race.h"
#include "tests/backend/vendor_case.h"

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
        EXPECT(!cuda_vendor_refuses(gpu, is_cudnn ? CUDA_CUDNN : CUDA_CUBLASLT).kind);
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
        EXPECT(!cuda_vendor_refuses(gpu, CUDA_CUDNN).kind && !cuda_vendor_refuses(gpu, CUDA_CUBLASLT).kind);
        if (strstr(t->symbol, "Execute") || strcmp(t->symbol, "cublasLtMatmul") == 0) continue;
        for (int nth = 1; nth <= 2; nth++) {
            snprintf(text, sizeof text, t->problem, 10 * (int)j + nth);
            EXPECT(fail_at(t->symbol, nth, t->status) == 0);
            EXPECT(refused_for_memory(t->kernel, text));
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
    EXPECT(refused_for_memory("conv2d_fwd__cuda_cudnn_1", CONV) && cudnn_counts().handles == 0);
    EXPECT(fail_at("cudnnSetStream", 1, CUDNN_NO_DEVICE_MEMORY) == 0);
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_1", CONV, &bytes) == BRAID_ERROR_MEMORY && cudnn_counts().handles == 0);
    EXPECT(says("cuda:0: cudnn: its library finds no memory"));
    EXPECT(run_kernel("conv2d_fwd__cuda_cudnn_1", CONV, &bytes) == BRAID_OK && cudnn_counts().handles == 1);
    EXPECT(fail_at("cublasLtCreate", 1, LT_NO_MEMORY) == 0);
    EXPECT(refused_for_memory("linear_fwd__cuda_cublaslt_1", rows));
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

CASE(no_memory)
CASE(no_memory_to_ask)
CASE(no_memory_to_start)
CASE(races_know_of_no_memory)
CASE(no_memory_in_a_race)
CASE(no_memory_for_a_plan)
CASE(failed_device)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),           cmocka_unit_test(test_no_memory_to_ask),
        cmocka_unit_test(test_no_memory_to_start),  cmocka_unit_test(test_races_know_of_no_memory),
        cmocka_unit_test(test_no_memory_in_a_race), cmocka_unit_test(test_no_memory_for_a_plan),
        cmocka_unit_test(test_failed_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
