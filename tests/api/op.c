/*
 * Tests of ops as a user has them: operands, one plan on many buffers, batches of nothing, the number of
 * threads, the order of destruction, the caller's allocator.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "kernels/kernel.h"
#include "race/context.h"
#include "tests/support/given.h"

static const braid_plan_options estimate = {.effort = BRAID_EFFORT_ESTIMATE};

static void assert_ok(braid_status status) {
    if (status != BRAID_OK) fail_msg("%s: %s", braid_status_name(status), braid_message());
}

/* ---- Operands ----------------------------------------------------------------------------- */

/* "x in f32 2x4x5x3 2x4x5x1, w in ..." */
static void describe_operands(const char *text, char *out, size_t size) {
    static const char *const roles[] = {"in", "out", "inout"};
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, text);
    size_t used = 0;
    for (int j = 0; j < braid_op_operand_count(op); j++) {
        braid_operand_info info;
        assert_ok(braid_op_operand(op, j, &info));
        used += (size_t)snprintf(out + used, size - used, "%s%s %s %s", j ? ", " : "", info.name, roles[info.role],
                                 braid_dtype_name(info.dtype));
        for (int i = 0; i < info.planes; i++) {
            size_t elements = 1;
            for (int axis = 0; axis < info.rank; axis++) {
                used += (size_t)snprintf(out + used, size - used, "%s%lld", axis ? "x" : " ",
                                         (long long)info.dims[i][axis]);
                elements *= (size_t)(axis + 1 < info.rank ? info.dims[i][axis] : info.pitch[i]);
            }
            assert_int_equal(info.bytes[i], elements * dtype_bytes(info.dtype));
        }
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
}

static const char *const operand_lists[][2] = {
    {"conv2d_fwd:n2:b2:hw5x6:c4,2:k6,8:rs3x2:g2:bias1:mask1",
     "x in f32 2x5x6x4 2x5x6x2, w in f32 6x3x2x2 8x3x2x1, bias in f32 6 8, mask in i32 1 1, y out f32 2x3x5x6 2x3x5x8"},
    {"conv2d_bwd_data:f16:b33:hw5:c4:k6:rs3:st2:pad1:mask1",
     "dx out f16 33x5x5x4, w in f16 6x3x3x4, mask in i32 2, dy in f16 33x3x3x6"},
    {"conv2d_bwd_weight:b1:hw5:c4:k6:rs1:bias1",
     "x in f32 1x5x5x4, dw out f32 6x1x1x4, dbias out f32 6, dy in f32 1x5x5x6"},
    {"conv2d_bwd_data:b1:hw5:c4:k6:rs1:bias1", "dx out f32 1x5x5x4, w in f32 6x1x1x4, dy in f32 1x5x5x6"},
    {"linear_fwd:f64:b2:c3:k4:cp8", "x in f64 2x3, w in f64 4x3, y out f64 2x4"},
    {"bn_stats:bf16:b2:hw3x4:c5", "x in bf16 2x3x4x5, mean out f32 5, var out f32 5"},
    {"bn_finalize:n2:b2:hw2:c3,1", "mean in f32 3 1, var in f32 3 1, gamma in f32 3 1, beta in f32 3 1, "
                                   "running_mean inout f32 3 1, running_var inout f32 3 1, batches inout i64 1, "
                                   "scale out f32 3 1, shift out f32 3 1, center out f32 3 1, rstd out f32 3 1"},
    {"bn_apply:f16:b2:hw3:c5:mask1",
     "x in f16 2x3x3x5, scale in f32 5, shift in f32 5, mask in i32 1, y out f16 2x3x3x5"},
    {"bn_bwd_reduce:f64:b2:hw3:c5",
     "x in f64 2x3x3x5, dy in f64 2x3x3x5, center in f64 5, rstd in f64 5, dgamma out f64 5, dbeta out f64 5"},
    {"bn_bwd_apply:b2:hw3:c5",
     "x in f32 2x3x3x5, dy in f32 2x3x3x5, center in f32 5, rstd in f32 5, gamma in f32 5, dgamma in "
     "f32 5, dbeta in f32 5, dx out f32 2x3x3x5"},
    {"dropout_bwd_data:bf16:n2:b2:hw3:c5,1", "dx out bf16 2x3x3x5 2x3x3x1, key in i64 2, dy in bf16 2x3x3x5 2x3x3x1"},
    {"softmax_xent_fwd:f16:b6:c5:cw1",
     "x in f16 6x5, labels in i32 6, loss out f32 1, correct out i64 1, weights in f32 5"},
    {"focal_bwd_data:f64:b6:c5", "x in f64 6x5, labels in i32 6, dloss in f64 1, dx out f64 6x5"},
    {"mse_bwd_data:b6:c5", "x in f32 6x5, t in f32 6x5, dloss in f32 1, dx out f32 6x5"},
    {"balance_fwd:f16:n2:b2:hw3:c5,1", "x in f16 2x3x3x5 2x3x3x1, norms out f32 2, loss out f32 1"},
};

static void operands_are_told(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof operand_lists / sizeof operand_lists[0]; j++) {
        char text[1024];
        describe_operands(operand_lists[j][0], text, sizeof text);
        assert_string_equal(text, operand_lists[j][1]);
    }
    assert_int_equal(braid_op_operand_count(NULL), 0);
    assert_null(braid_op_problem(NULL));
    assert_null(braid_op_explain(NULL));
    assert_null(braid_kernel_architecture(NULL));
    assert_null(braid_kernel_architecture("no_such_kernel"));
    assert_null(braid_kernel_architecture("linear_fwd__cuda_cublaslt_1"));
    assert_string_equal(braid_kernel_architecture("conv2d_fwd__cuda_implicit_gemm_lanes"), "sm_90a");
}

/* ---- Running ------------------------------------------------------------------------------ */

/* y = x * w of 2x2 matrices, all values given. */
static void fill_linear(given_memory *memory, float x, float w) {
    float *to_x = given_operand(memory, "x")->plane[0], *to_w = given_operand(memory, "w")->plane[0];
    for (int j = 0; j < 4; j++) {
        to_x[j] = x + (float)j;
        to_w[j] = w;
    }
}

static void assert_linear(given_memory *memory, float x, float w) {
    const float *y = given_operand(memory, "y")->plane[0];
    for (int b = 0; b < 2; b++) {
        for (int k = 0; k < 2; k++) assert_true(y[b * 2 + k] == (2 * x + (float)(4 * b + 1)) * w);
    }
}

static void one_plan_serves_many_buffers(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "linear_fwd:b2:c2:k2");
    given_memory first = given_operands(context, op), second = given_operands(context, op);
    (void)state;
    for (int j = 0; j < kernel_count(); j++) { /* every candidate */
        const kernel *k = kernel_at(j);
        if (kernel_refuses(k, braid_op_problem(op), context->device)) continue;
        assert_ok(braid_op_plan(op, &(braid_plan_options){.kernel = k->name}));
        fill_linear(&first, 1, 2);
        fill_linear(&second, 10, 3);
        for (int round = 0; round < 2; round++) {
            assert_ok(braid_op_run(op, first.operands, first.count));
            assert_ok(braid_op_run(op, second.operands, second.count));
            assert_linear(&first, 1, 2);
            assert_linear(&second, 10, 3);
            memset(given_operand(&first, "y")->plane[0], 0xff, 16);
            memset(given_operand(&second, "y")->plane[0], 0xff, 16);
        }
    }
    given_operands_destroy(&first);
    given_operands_destroy(&second);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

static void operands_in_any_order(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "linear_fwd:b2:c2:k2");
    given_memory memory = given_operands(context, op);
    (void)state;
    assert_ok(braid_op_plan(op, &estimate));
    fill_linear(&memory, 3, 5);
    const braid_operand backwards[3] = {memory.operands[2], memory.operands[1], memory.operands[0]};
    assert_ok(braid_op_run(op, backwards, 3));
    assert_linear(&memory, 3, 5);
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
}

static void a_plan_that_fails_leaves_no_kernel(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "linear_fwd:b2:c2:k2");
    given_memory memory = given_operands(context, op);
    (void)state;
    assert_ok(braid_op_plan(op, &estimate));
    assert_ok(braid_op_run(op, memory.operands, memory.count));
    assert_int_equal(braid_op_plan(op, &(braid_plan_options){.kernel = "none"}), BRAID_ERROR_ARGUMENT);
    assert_refused(braid_op_run(op, memory.operands, memory.count), BRAID_ERROR_ARGUMENT, "braid_op_plan first");
    assert_ok(braid_op_plan(op, &estimate));
    assert_ok(braid_op_run(op, memory.operands, memory.count));
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* ---- Batches of nothing --------------------------------------------------------------------- */

/* Fills outputs with NaN and counters with 41, inputs with ones. */
static void prepare(const braid_op *op, given_memory *memory) {
    for (int j = 0; j < memory->count; j++) {
        braid_operand_info info;
        assert_ok(braid_op_operand(op, j, &info));
        for (int i = 0; i < info.planes; i++) {
            size_t elements = info.bytes[i] / dtype_bytes(info.dtype);
            if (info.role == BRAID_ROLE_OUT && elements > 0) memset(memory->operands[j].plane[i], 0xff, info.bytes[i]);
            for (size_t e = 0; e < elements && info.role != BRAID_ROLE_OUT; e++) {
                dtype_store(memory->operands[j].plane[i], info.dtype, (int64_t)e,
                            info.dtype == BRAID_DTYPE_I64 ? 41 : 1);
            }
            if (info.bytes[i] == 0) { /* a plane of no elements may be NULL */
                braid_memory_destroy(memory->context, memory->operands[j].plane[i]);
                memory->operands[j].plane[i] = NULL;
            }
        }
    }
}

/* Sums over no samples are zero; what follows from statistics is finite; running statistics stay. */
static void assert_sums_of_nothing(const braid_op *op, given_memory *memory) {
    const braid_problem *p = braid_op_problem(op);
    for (int j = 0; j < memory->count; j++) {
        braid_operand_info info;
        assert_ok(braid_op_operand(op, j, &info));
        for (int i = 0; i < info.planes && info.role != BRAID_ROLE_IN; i++) {
            size_t elements = info.bytes[i] / dtype_bytes(info.dtype);
            for (size_t e = 0; e < elements; e++) {
                double value = dtype_load(memory->operands[j].plane[i], info.dtype, (int64_t)e);
                if (info.dtype == BRAID_DTYPE_I64 && info.role == BRAID_ROLE_INOUT)
                    assert_true(value == (p->phase == BRAID_PHASE_TRAIN ? 42 : 41));
                else if (info.role == BRAID_ROLE_INOUT)
                    assert_true(value == 1);
                else if (p->op == BRAID_OP_BN_FINALIZE || p->op == BRAID_OP_BN_STATS_FINALIZE ||
                         p->op == BRAID_OP_INTEGRATE_BN_STATS || p->op == BRAID_OP_CONV2D_BN_STATS)
                    assert_true(isfinite(value));
                else
                    assert_true(value == 0);
            }
        }
    }
}

static void run_empty(braid_context *context, const braid_problem *p) {
    braid_op *op = NULL;
    assert_ok(braid_op_create(context, p, &op));
    given_memory memory = given_operands(context, op);
    assert_ok(braid_op_plan(op, NULL));
    for (int j = -1; j < kernel_count(); j++) { /* the chosen kernel, then every one that will */
        const kernel *k = j < 0 ? NULL : kernel_at(j);
        if (k && kernel_refuses(k, p, context->device)) continue;
        if (k) assert_ok(braid_op_plan(op, &(braid_plan_options){.kernel = k->name}));
        prepare(op, &memory);
        assert_ok(braid_op_run(op, memory.operands, memory.count));
        assert_sums_of_nothing(op, &memory);
    }
    assert_ok(braid_op_check(op, 1));
    given_operands_destroy(&memory);
    braid_op_destroy(op);
}

static void a_batch_of_nothing_is_no_work(void **state) {
    braid_context *context = given_context("", NULL);
    (void)state;
    for (int id = 0; id < BRAID_OP_COUNT; id++) {
        if (!(op_find((braid_op_id)id)->fields & FIELD_BIT(b))) continue; /* an op without samples */
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            for (uint64_t seed = 0; seed < 24 && braid_pass_name((braid_op_id)id, (braid_pass)pass); seed++) {
                braid_problem p;
                assert_ok(braid_problem_draw((braid_op_id)id, (braid_pass)pass, seed, &p));
                p.batch = 0;
                assert_ok(braid_problem_check(&p));
                run_empty(context, &p);
            }
        }
    }
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* ---- Threads ------------------------------------------------------------------------------ */

/* Runs a problem on values drawn from a seed with this many threads; returns the bits of its first output. */
static void run_with(int threads, const char *text, unsigned char *bits, size_t *bytes) {
    braid_context *context = NULL;
    const braid_context_options options = {"cpu", threads, BRAID_REPRO_THREADS, "", ""};
    assert_ok(braid_context_create(&options, &context));
    braid_op *op = given_op(context, text);
    given_memory memory = given_operands(context, op);
    rng r = {.seed = 4};
    *bytes = 0;
    for (int j = 0; j < memory.count; j++) {
        braid_operand_info info;
        assert_ok(braid_op_operand(op, j, &info));
        for (size_t e = 0; e < info.bytes[0] / sizeof(float); e++)
            ((float *)memory.operands[j].plane[0])[e] = (float)rng_normal(&r);
    }
    assert_ok(braid_op_plan(op, &estimate));
    assert_ok(braid_op_run(op, memory.operands, memory.count));
    for (int j = 0; j < memory.count; j++) {
        braid_operand_info info;
        assert_ok(braid_op_operand(op, j, &info));
        if (info.role != BRAID_ROLE_OUT) continue;
        memcpy(bits + *bytes, memory.operands[j].plane[0], info.bytes[0]);
        *bytes += info.bytes[0];
    }
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
}

static void the_second_level_gives_the_same_bits_at_any_number_of_threads(void **state) {
    static const char *const problems[] = {
        "conv2d_fwd:b3:hw9x7:c5:k7:rs3:pad1",   "conv2d_bwd_data:b3:hw9x7:c5:k7:rs3:pad1",
        "conv2d_bwd_weight:b3:hw9x7:c5:k7:rs3", "linear_fwd:b33:c65:k17",
        "linear_bwd_weight:b33:c65:k17:bias1",  "bn_stats:b3:hw9x7:c17"};
    static const int threads[] = {2, 3, 7};
    static unsigned char one[65536], many[65536];
    (void)state;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        size_t bytes, again;
        run_with(1, problems[j], one, &bytes);
        assert_true(bytes > 0);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            run_with(threads[t], problems[j], many, &again);
            assert_int_equal(bytes, again);
            assert_memory_equal(one, many, bytes);
        }
    }
}

/* ---- Ends --------------------------------------------------------------------------------- */

static void destroying_nothing_and_in_any_order(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *ops[3];
    void *memory = NULL;
    (void)state;
    braid_op_destroy(NULL);
    braid_context_destroy(NULL);
    braid_memory_destroy(context, NULL);
    braid_memory_destroy(NULL, NULL);
    for (int j = 0; j < 3; j++) {
        ops[j] = given_op(context, "linear_fwd:f16:b2:c2:k2");
        assert_ok(braid_op_plan(ops[j], &estimate));
    }
    assert_ok(braid_memory_create(context, 64, &memory));
    braid_op_destroy(ops[1]);
    braid_memory_destroy(context, memory);
    braid_op_destroy(ops[2]);
    braid_op_destroy(ops[0]);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* An allocator that counts, and asks for what it was promised. */
typedef struct counts {
    int64_t allocated, freed;
} counts;

static void *counting_alloc(void *user, size_t bytes, size_t alignment) {
    void *memory = NULL;
    counts *c = user;
    assert_true(bytes > 0 && alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    c->allocated++;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void counting_free(void *user, void *memory) {
    counts *c = user;
    assert_non_null(memory);
    c->freed++;
    free(memory);
}

static void the_allocator_of_the_caller(void **state) {
    counts c = {0};
    braid_allocator allocator = {counting_alloc, counting_free, &c};
    (void)state;
    assert_ok(braid_set_allocator(&allocator));
    allocator = (braid_allocator){0}; /* the struct was copied */
    braid_context *context = given_context("", NULL);
    assert_refused(braid_set_allocator(NULL), BRAID_ERROR_ARGUMENT, "alive");
    braid_op *op = given_op(context, "conv2d_fwd:b2:hw4:c2:k2:rs3:pad1");
    given_memory memory = given_operands(context, op);
    assert_ok(braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}));
    assert_ok(braid_op_run(op, memory.operands, memory.count));
    const int64_t before = c.allocated;
    assert_true(before > 10);
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(c.allocated, c.freed);
    assert_ok(braid_set_allocator(NULL));
    braid_context_destroy(given_context("", NULL));
    assert_int_equal(c.allocated, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_told),
        cmocka_unit_test(one_plan_serves_many_buffers),
        cmocka_unit_test(operands_in_any_order),
        cmocka_unit_test(a_plan_that_fails_leaves_no_kernel),
        cmocka_unit_test(a_batch_of_nothing_is_no_work),
        cmocka_unit_test(the_second_level_gives_the_same_bits_at_any_number_of_threads),
        cmocka_unit_test(destroying_nothing_and_in_any_order),
        cmocka_unit_test(the_allocator_of_the_caller),
    };
    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
