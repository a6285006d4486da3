/*
 * cuDNN and cuBLASLt as candidates, on the fake driver with fake libraries (tests/backend/fake_vendors): which engines
 * are taken, what is refused and why, one call for each stream, and nothing left behind. What becomes of a lack of
 * memory inside of them: tests/backend/cuda_vendors_memory.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/backend/vendor_case.h"

/* ---- cuDNN -------------------------------------------------------------------------------------- */

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
    EXPECT(refused_for_memory("conv2d_fwd__cuda_cudnn_3", "conv2d_fwd:f16:n1:b4:hw9x8:c8:k8:rs3x3:pad1"));
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

CASE(engines)
CASE(asked_late)
CASE(slow_engines)
CASE(other_graphs)
CASE(refusals)
CASE(products)
CASE(old_version)
CASE(does_not_start)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines),      cmocka_unit_test(test_asked_late),     cmocka_unit_test(test_slow_engines),
        cmocka_unit_test(test_other_graphs), cmocka_unit_test(test_refusals),       cmocka_unit_test(test_products),
        cmocka_unit_test(test_old_version),  cmocka_unit_test(test_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
