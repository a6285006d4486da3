/*
 * Tests of what cannot be meant: descriptors and calls, each refused with the right status and a
 * message that names the argument, what was expected and what came; and nothing is left allocated.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "tests/support/given.h"

#define CONV "conv2d_fwd:n2:b2:hw8x9:c4,6:k8,2:rs3x3:pad1:g2"
#define LINEAR "linear_fwd:n2:b4:c5,6:k7,8"
#define STATS "bn_stats:n2:b2:hw4x4:c3,5"
#define FINALIZE "bn_finalize:n2:b2:hw4x4:c3,5"

/* ---- Descriptors -------------------------------------------------------------------------- */

/* A good problem with one member spoilt. */
typedef struct descriptor_case {
    const char *base;
    size_t offset, bytes;
    int64_t integer;
    double real; /* used where the member is a double */
    const char *words;
} descriptor_case;

#define MEMBER(member) offsetof(braid_problem, member), sizeof(((braid_problem *)0)->member)

static const descriptor_case descriptors[] = {
    {CONV, MEMBER(op), 99, 0, "op from 0 to|got 99"},
    {CONV, MEMBER(op), -1, 0, "op from 0 to|got -1"},
    {CONV, MEMBER(pass), 3, 0, "conv2d|one of its passes|pass 3"},
    {CONV, MEMBER(pass), -1, 0, "conv2d|one of its passes|pass -1"},
    {STATS, MEMBER(pass), BRAID_PASS_BWD_DATA, 0, "bn_stats|one of its passes|pass 1"},
    {CONV, MEMBER(dtype), BRAID_DTYPE_U8, 0, "conv2d|dtype f32, f16, bf16 or f64|u8 (4)"},
    {LINEAR, MEMBER(dtype), BRAID_DTYPE_I64, 0, "linear|dtype f32, f16, bf16 or f64|i64 (6)"},
    {LINEAR, MEMBER(dtype), 77, 0, "linear|dtype f32, f16, bf16 or f64|(77)"},
    {LINEAR, MEMBER(dtype), -1, 0, "linear|dtype f32, f16, bf16 or f64|(-1)"},
    {CONV, MEMBER(streams), 0, 0, "conv2d|n (streams) from 1 to 8|got 0"},
    {CONV, MEMBER(streams), 9, 0, "conv2d|n (streams) from 1 to 8|got 9"},
    {CONV, MEMBER(streams), -5, 0, "conv2d|n (streams) from 1 to 8|got -5"},
    {LINEAR, MEMBER(streams), 10, 0, "linear|n (streams) from 1 to 9|got 10"},
    {LINEAR, MEMBER(streams), 2147483647, 0, "linear|n (streams) from 1 to 9|got 2147483647"},
    {CONV, MEMBER(streams), 1, 0, "conv2d|1 values of c (in_channels), one per stream|further one: 6"},
    {CONV, MEMBER(streams), 3, 0, "conv2d|c (in_channels) from 1|got 0"},
    {CONV, MEMBER(batch), -1, 0, "conv2d|b (batch) from 0 to 2147483647|got -1"},
    {CONV, MEMBER(batch), INT64_MAX, 0, "conv2d|b (batch)|got 9223372036854775807"},
    {CONV, MEMBER(batch), INT64_MIN, 0, "conv2d|b (batch)|got -9223372036854775808"},
    {CONV, MEMBER(size[0]), 0, 0, "conv2d|hw (size) from 1|got 0"},
    {CONV, MEMBER(size[1]), -8, 0, "conv2d|hw (size) from 1|got -8"},
    {CONV, MEMBER(size[1]), (int64_t)1 << 40, 0, "conv2d|hw (size) from 1 to 2147483647|got 1099511627776"},
    {CONV, MEMBER(in_channels[0]), 0, 0, "conv2d|c (in_channels) from 1|got 0"},
    {CONV, MEMBER(in_channels[1]), -6, 0, "conv2d|c (in_channels) from 1|got -6"},
    {CONV, MEMBER(in_channels[2]), 4, 0, "conv2d|2 values of c (in_channels)|further one: 4"},
    {CONV, MEMBER(in_channels[8]), 4, 0, "conv2d|2 values of c (in_channels)|further one: 4"},
    {CONV, MEMBER(out_channels[1]), 0, 0, "conv2d|k (out_channels) from 1|got 0"},
    {CONV, MEMBER(out_channels[7]), 2, 0, "conv2d|2 values of k (out_channels)|further one: 2"},
    {CONV, MEMBER(filter[0]), 0, 0, "conv2d|rs (filter) from 1|got 0"},
    {CONV, MEMBER(filter[1]), -3, 0, "conv2d|rs (filter) from 1|got -3"},
    {CONV, MEMBER(filter[0]), 11, 0, "conv2d|rs (filter) 11|fit in the padded height|got a height of 8 with pad1"},
    {CONV, MEMBER(filter[1]), 12, 0, "conv2d|rs (filter) 12|fit in the padded width|got a width of 9 with pad1"},
    {CONV, MEMBER(stride[0]), -1, 0, "conv2d|st (stride) from 1|got -1"},
    {CONV, MEMBER(stride[1]), INT64_MIN, 0, "conv2d|st (stride) from 1|got -9223372036854775808"},
    {CONV, MEMBER(padding[0]), -1, 0, "conv2d|pad (padding) from 0|got -1"},
    {CONV, MEMBER(extra_padding[1]), -1, 0, "conv2d|extra (extra_padding) from 0|got -1"},
    {CONV, MEMBER(dilation[0]), -2, 0, "conv2d|dil (dilation) from 1|got -2"},
    {CONV, MEMBER(dilation[1]), 6, 0, "conv2d|rs (filter) 3 with dil6|padded width"},
    {CONV, MEMBER(groups), -2, 0, "conv2d|g (groups) from 1|got -2"},
    {CONV, MEMBER(groups), 4, 0, "conv2d|g (groups) to divide the channels|g4 with c6 and k2 in stream 1"},
    {CONV, MEMBER(padding_mode), 4, 0, "conv2d|mode (padding_mode) from 0 to 3|got 4"},
    {CONV, MEMBER(padding_mode), -1, 0, "conv2d|mode (padding_mode) from 0 to 3"},
    {CONV ":mode=reflect", MEMBER(padding[0]), 8, 0, "conv2d|pad (padding) below the height 8|mode=reflect|got 8"},
    {CONV ":mode=circular", MEMBER(padding[1]), 10, 0, "conv2d|at most the width 9|mode=circular|got 10"},
    {CONV, MEMBER(bias), 2, 0, "conv2d|bias (bias) from 0 to 1|got 2"},
    {CONV, MEMBER(mask), -1, 0, "conv2d|mask (mask) from 0 to 1|got -1"},
    {CONV, MEMBER(phase), 1, 0, "conv2d has no field phase|left out"},
    {CONV, MEMBER(eps), 0, 1e-5, "conv2d has no field eps|left out"},
    {CONV, MEMBER(in_pitch[0]), 3, 0, "conv2d|cp (in_pitch) of stream 0|at least its 4 channels|got 3"},
    {CONV, MEMBER(out_pitch[1]), 1, 0, "conv2d|kp (out_pitch) of stream 1|at least its 2 channels|got 1"},
    {CONV, MEMBER(in_pitch[1]), -6, 0, "conv2d|cp (in_pitch) from 1|got -6"},
    {CONV, MEMBER(in_pitch[4]), 6, 0, "conv2d|2 values of cp (in_pitch)|further one: 6"},
    {LINEAR, MEMBER(size[0]), 4, 0, "linear has no field hw (size)|left out"},
    {LINEAR, MEMBER(filter[1]), 1, 0, "linear has no field rs (filter)|left out"},
    {LINEAR, MEMBER(stride[0]), 1, 0, "linear has no field st (stride)|left out"},
    {LINEAR, MEMBER(groups), 1, 0, "linear has no field g (groups)|left out"},
    {STATS, MEMBER(out_channels[0]), 3, 0, "bn_stats has no field k (out_channels)|left out"},
    {STATS, MEMBER(bias), 1, 0, "bn_stats has no field bias|left out"},
    {STATS, MEMBER(momentum), 0, 0.1, "bn_stats has no field mom (momentum)|left out"},
    {FINALIZE, MEMBER(in_pitch[0]), 4, 0, "bn_finalize has no field cp (in_pitch)|left out"},
    {FINALIZE, MEMBER(phase), 2, 0, "bn_finalize|phase (phase) from 0 to 1|got 2"},
    {FINALIZE, MEMBER(average), 5, 0, "bn_finalize|avg (average) from 0 to 1|got 5"},
    {FINALIZE, MEMBER(eps), 0, -1e-5, "bn_finalize|eps (eps) above 0 and at most 1|got -1e-05"},
    {FINALIZE, MEMBER(eps), 0, 2, "bn_finalize|eps (eps) above 0 and at most 1|got 2"},
    {FINALIZE, MEMBER(eps), 0, NAN, "bn_finalize|eps (eps) above 0 and at most 1|nan"},
    {FINALIZE, MEMBER(momentum), 0, INFINITY, "bn_finalize|mom (momentum) above 0 and at most 1|got inf"},
    {FINALIZE, MEMBER(momentum), 0, -0.1, "bn_finalize|mom (momentum) above 0 and at most 1|got -0.1"},
};

static int is_real(const descriptor_case *c) {
    return c->offset == offsetof(braid_problem, eps) || c->offset == offsetof(braid_problem, momentum);
}

static braid_problem spoilt(const descriptor_case *c) {
    braid_problem problem = given_problem(c->base);
    const int integer = (int)c->integer;
    const void *value = is_real(c)                ? (const void *)&c->real
                        : c->bytes == sizeof(int) ? (const void *)&integer
                                                  : &c->integer;
    memcpy((char *)&problem + c->offset, value, c->bytes);
    return problem;
}

/* Every entrance refuses the same descriptor in the same words, and changes nothing. */
static void descriptors_are_refused_in_words(void **state) {
    braid_context *context = given_context("", NULL);
    const int64_t live = memory_live();
    (void)state;
    for (size_t j = 0; j < sizeof descriptors / sizeof descriptors[0]; j++) {
        const descriptor_case *c = &descriptors[j];
        const braid_problem problem = spoilt(c);
        braid_problem checked = problem;
        braid_op *op = (braid_op *)&checked;
        char text[BRAID_PROBLEM_TEXT];
        assert_refused(braid_problem_check(&checked), BRAID_ERROR_ARGUMENT, c->words);
        assert_memory_equal(&checked, &problem, sizeof problem);
        assert_refused(braid_problem_print(&problem, text, sizeof text), BRAID_ERROR_ARGUMENT, c->words);
        assert_refused(braid_op_create(context, &problem, &op), BRAID_ERROR_ARGUMENT, c->words);
        assert_null(op);
        assert_int_equal(memory_live(), live);
    }
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* Sizes whose products leave 64 bits are a matter of memory, and name the operand. */
static void sizes_beyond_64_bits_are_refused(void **state) {
    static const struct {
        const char *base;
        int64_t batch, size;
        const char *words;
    } huge[] = {
        {"conv2d_fwd:b1:hw1:c1024:k1:rs1", INT32_MAX, INT32_MAX, "x|elements|smaller"},
        {"conv2d_bwd_data:b1:hw1:c1:k1:rs1", INT32_MAX, INT32_MAX, "x|elements|smaller"},
        {"bn_stats:b1:hw1:c1", INT32_MAX, INT32_MAX, "x|elements|smaller"},
        {"bn_apply:b1:hw1:c1", INT32_MAX, INT32_MAX, "x|elements|smaller"},
        {"bn_bwd_reduce:b1:hw1:c1", INT32_MAX, INT32_MAX, "x|elements|smaller"},
        {"bn_finalize:b2:hw1:c1", INT32_MAX, INT32_MAX, "bn_finalize|elements|smaller"},
        {"bn_bwd_apply:b2:hw1:c1", INT32_MAX, INT32_MAX, "bn_bwd_apply|elements|smaller"},
    };
    (void)state;
    for (size_t j = 0; j < sizeof huge / sizeof huge[0]; j++) {
        braid_problem problem = given_problem(huge[j].base);
        problem.batch = huge[j].batch;
        problem.size[0] = problem.size[1] = huge[j].size;
        assert_refused(braid_problem_check(&problem), BRAID_ERROR_MEMORY, huge[j].words);
    }
    braid_problem wide = given_problem("linear_fwd:b1:c1:k1");
    wide.in_channels[0] = wide.out_channels[0] = wide.in_pitch[0] = wide.out_pitch[0] = INT32_MAX;
    assert_refused(braid_problem_check(&wide), BRAID_ERROR_MEMORY, "w|elements|smaller");
}

/* ---- Calls -------------------------------------------------------------------------------- */

/* What the calls below may use: an op that is planned, one that is not, and their operands. */
typedef struct workshop {
    braid_context *context;
    braid_op *planned, *fresh;
    given_memory memory;
} workshop;

static workshop shop;

static void open_shop(void) {
    shop.context = given_context("", NULL);
    shop.planned = given_op(shop.context, LINEAR ":bias1");
    shop.fresh = given_op(shop.context, LINEAR ":bias1");
    shop.memory = given_operands(shop.context, shop.planned);
    assert_int_equal(braid_op_plan(shop.planned, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}), BRAID_OK);
}

static void close_shop(void) {
    given_operands_destroy(&shop.memory);
    braid_op_destroy(shop.planned);
    braid_op_destroy(shop.fresh);
    braid_context_destroy(shop.context);
}

static braid_status create_context(const braid_context_options *options) {
    braid_context *context = (braid_context *)&shop;
    braid_status status = braid_context_create(options, &context);
    assert_null(context);
    return status;
}

static braid_status plan(const braid_plan_options *options) {
    braid_status status = braid_op_plan(shop.fresh, options);
    assert_int_equal(braid_op_run(shop.fresh, shop.memory.operands, shop.memory.count), BRAID_ERROR_ARGUMENT);
    return status == BRAID_OK ? status : braid_op_plan(shop.fresh, options); /* again, for its message */
}

/* Runs the planned op with operand `at` (x w bias y) renamed, or one of its planes missing. */
static braid_status run_spoilt(int at, const char *name, int null_plane) {
    braid_operand operands[12];
    memcpy(operands, shop.memory.operands, sizeof operands);
    operands[at].name = name ? name : operands[at].name;
    if (null_plane >= 0) operands[at].plane[null_plane] = NULL;
    return braid_op_run(shop.planned, operands, shop.memory.count);
}

static braid_status upload(braid_context *context, void *to, const void *from) {
    return braid_upload(context, to, from, 4);
}
static braid_status download(braid_context *context, void *to, const void *from) {
    return braid_download(context, to, from, 4);
}
static void no_row(void *user, const char *section, const char *name, const char *value, const char *hint) {
    (void)user;
    (void)section;
    (void)name;
    (void)value;
    (void)hint;
}

static void *no_memory(void *user, size_t bytes, size_t alignment) {
    (void)user;
    (void)bytes;
    (void)alignment;
    return NULL;
}

#define REFUSED(call, words) assert_refused(call, BRAID_ERROR_ARGUMENT, words), calls++

static void calls_are_refused_in_words(void **state) {
    int calls = 0;
    braid_problem problem = given_problem(LINEAR), *none = NULL;
    braid_operand_info info;
    braid_ceilings ceilings;
    char text[BRAID_PROBLEM_TEXT], word[4] = "abc";
    braid_op *op = NULL;
    void *memory = NULL;
    (void)state;
    open_shop();
    const int64_t live = memory_live();

    REFUSED(braid_problem_parse(NULL, &problem), "braid_problem_parse|expected a text|NULL");
    REFUSED(braid_problem_parse(LINEAR, NULL), "braid_problem_parse|a problem|NULL");
    REFUSED(braid_problem_check(NULL), "braid_problem_check|expected a problem|NULL");
    REFUSED(braid_problem_print(NULL, text, sizeof text), "braid_problem_print|expected a problem|NULL");
    REFUSED(braid_problem_print(&problem, NULL, 100), "braid_problem_print|a text|NULL");
    REFUSED(braid_problem_draw(BRAID_OP_COUNT, BRAID_PASS_FWD, 1, &problem), "braid_problem_draw|expected an op");
    REFUSED(braid_problem_draw(BRAID_OP_BN_BWD_REDUCE, BRAID_PASS_BWD_DATA, 1, &problem),
            "braid_problem_draw|passes|pass 1");
    REFUSED(braid_problem_draw(BRAID_OP_LINEAR, BRAID_PASS_FWD, 1, none), "braid_problem_draw|a problem");

    REFUSED(braid_context_create(NULL, NULL), "braid_context_create|place for the context|NULL");
    REFUSED(create_context(&(braid_context_options){.device = "cpu", .threads = -1}), "threads from 0|got -1");
    REFUSED(create_context(&(braid_context_options){.device = "cpu", .threads = 1025}), "to 1024|got 1025");
    REFUSED(create_context(&(braid_context_options){.device = "cpu", .repro = (braid_repro)7}), "repro 0|got 7");
    REFUSED(create_context(&(braid_context_options){.device = "cpu", .repro = (braid_repro)-1}), "repro 0|got -1");
    REFUSED(create_context(&(braid_context_options){.device = "tpu"}), "device|expected cpu, cuda:0|got 'tpu'");
    REFUSED(create_context(&(braid_context_options){.device = "cpu:1"}), "device|got 'cpu:1'");
    REFUSED(create_context(&(braid_context_options){.device = "cuda:"}), "device|got 'cuda:'");
    REFUSED(create_context(&(braid_context_options){.device = "cuda:x"}), "device|got 'cuda:x'");
    REFUSED(create_context(&(braid_context_options){.device = "cuda:-1"}), "device|got 'cuda:-1'");

    REFUSED(braid_memory_create(NULL, 4, &memory), "braid_memory_create|expected a context|NULL");
    REFUSED(braid_memory_create(shop.context, 4, NULL), "braid_memory_create|place for the pointer|NULL");
    REFUSED(upload(NULL, word, "abc"), "braid_upload|expected a context|NULL");
    REFUSED(upload(shop.context, NULL, "abc"), "braid_upload|two pointers|NULL");
    REFUSED(upload(shop.context, word, NULL), "braid_upload|two pointers|NULL");
    REFUSED(download(NULL, word, "abc"), "braid_download|expected a context|NULL");
    REFUSED(download(shop.context, NULL, "abc"), "braid_download|two pointers|NULL");
    REFUSED(download(shop.context, word, NULL), "braid_download|two pointers|NULL");
    REFUSED(braid_synchronize(NULL), "braid_synchronize|expected a context|NULL");
    REFUSED(braid_context_describe(NULL, no_row, NULL), "braid_context_describe|expected a context|NULL");
    REFUSED(braid_context_describe(shop.context, NULL, NULL), "braid_context_describe|row function|NULL");
    REFUSED(braid_context_ceilings(NULL, BRAID_DTYPE_F32, &ceilings), "braid_context_ceilings|a context|NULL");
    REFUSED(braid_context_ceilings(shop.context, BRAID_DTYPE_I32, &ceilings), "braid_context_ceilings|compute dtype|5");
    REFUSED(braid_context_ceilings(shop.context, BRAID_DTYPE_F32, NULL), "braid_context_ceilings|place for the result");

    REFUSED(braid_op_create(shop.context, &problem, NULL), "braid_op_create|place for the op|NULL");
    REFUSED(braid_op_create(NULL, &problem, &op), "braid_op_create|expected a context|NULL");
    REFUSED(braid_op_create(shop.context, NULL, &op), "braid_op_create|expected a problem|NULL");
    REFUSED(braid_op_operand(NULL, 0, &info), "braid_op_operand|expected an op|NULL");
    REFUSED(braid_op_operand(shop.fresh, 0, NULL), "braid_op_operand|place for the answer|NULL");
    REFUSED(braid_op_operand(shop.fresh, -1, &info), "braid_op_operand|index from 0 to 3|got -1");
    REFUSED(braid_op_operand(shop.fresh, 4, &info), "braid_op_operand|index from 0 to 3|got 4");

    REFUSED(braid_op_plan(NULL, NULL), "braid_op_plan|expected an op|NULL");
    REFUSED(plan(&(braid_plan_options){.effort = (braid_effort)3}), "braid_op_plan|effort from 0 to 2|got 3");
    REFUSED(plan(&(braid_plan_options){.seconds = -1}), "braid_op_plan|seconds of 0 or more|-1");
    REFUSED(plan(&(braid_plan_options){.seconds = NAN}), "braid_op_plan|seconds of 0 or more|nan");
    REFUSED(plan(&(braid_plan_options){.kernel = "fastest"}), "expected a kernel of this op|got \"fastest\"");
    REFUSED(plan(&(braid_plan_options){.kernel = ""}), "expected a kernel of this op|got \"\"");
    REFUSED(plan(&(braid_plan_options){.kernel = "conv2d_fwd__ref"}), "expected a kernel of this op|conv2d_fwd__ref");
    REFUSED(plan(&(braid_plan_options){.kernel = "linear_fwd__cuda_direct"}),
            "expected a kernel|linear_fwd__cuda_direct");

    REFUSED(braid_op_check(NULL, 1), "braid_op_check|expected an op|NULL");
    REFUSED(braid_op_run(NULL, shop.memory.operands, 4), "braid_op_run|expected an op|NULL");
    REFUSED(braid_op_run(shop.planned, NULL, 4), "braid_op_run|its operands|NULL");
    REFUSED(braid_op_run(shop.planned, shop.memory.operands, -1), "braid_op_run|operands");
    REFUSED(braid_op_run(shop.fresh, shop.memory.operands, 4), "braid_op_run|planned op|braid_op_plan");
    REFUSED(braid_op_run(shop.planned, shop.memory.operands, 3), "braid_op_run|expected operand y|none of that name");
    REFUSED(braid_op_run(shop.planned, NULL, 0), "braid_op_run|expected operand x|none of that name");
    REFUSED(run_spoilt(0, "X", -1), "braid_op_run|operand of linear|\"X\"");
    REFUSED(run_spoilt(2, "mask", -1), "braid_op_run|operand of linear|\"mask\"");
    REFUSED(run_spoilt(3, "dy", -1), "braid_op_run|operand of linear|\"dy\"");
    REFUSED(run_spoilt(1, "x", -1), "braid_op_run|operand x once|twice");
    REFUSED(run_spoilt(0, NULL, 0), "braid_op_run|pointer to 80 bytes for x of stream 0|NULL");
    REFUSED(run_spoilt(3, NULL, 1), "braid_op_run|pointer to 128 bytes for y of stream 1|NULL");
    shop.memory.operands[1].name = NULL;
    REFUSED(braid_op_run(shop.planned, shop.memory.operands, 4), "braid_op_run|name for operand 1|NULL");
    REFUSED(braid_set_allocator(&(braid_allocator){.alloc = no_memory}), "allocator|alive|destroy every context");

    assert_null(op);
    assert_null(memory);
    assert_int_equal(memory_live(), live);
    close_shop();
    REFUSED(braid_set_allocator(&(braid_allocator){.alloc = no_memory}), "allocator|both alloc and free|NULL for free");
    REFUSED(braid_set_allocator(&(braid_allocator){.user = word}), "allocator|both alloc and free|NULL for alloc");
    assert_true(calls >= 60);
    assert_int_equal(memory_live(), 0);
}

static void devices_that_are_not_there(void **state) {
    braid_context *context = NULL;
    (void)state;
    braid_status status = braid_context_create(&(braid_context_options){.device = "cuda:999"}, &context);
    assert_refused(status, BRAID_ERROR_DEVICE, "device|cuda:999");
    assert_null(context);
    assert_int_equal(memory_live(), 0);
}

/* A kernel of the op that cannot do the problem says why. */
static void a_kernel_by_name_that_cannot(void **state) {
    braid_context *context = given_context("", "onednn,linear_fwd__ref");
    braid_op *op = given_op(context, "linear_fwd:f64:b2:c3:k4");
    const char *disabled = given_kernel(BRAID_OP_LINEAR, BRAID_PASS_FWD, "onednn");
    const char *unable = given_kernel(BRAID_OP_LINEAR, BRAID_PASS_FWD, "openblas");
    (void)state;
    assert_refused(braid_op_plan(op, &(braid_plan_options){.kernel = disabled}), BRAID_ERROR_ARGUMENT,
                   "linear_fwd__cpu_onednn|cannot do this problem|left out");
    assert_refused(braid_op_plan(op, &(braid_plan_options){.kernel = unable}), BRAID_ERROR_ARGUMENT,
                   "linear_fwd__cpu_openblas|cannot do this problem|f64");
    assert_refused(braid_op_plan(op, NULL), BRAID_ERROR_ARGUMENT,
                   "linear f64 on cpu: no kernel can do|linear_fwd__ref: left out");
    assert_refused(braid_op_check(op, 1), BRAID_ERROR_ARGUMENT, "no kernel can do");
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* The mask is looked at before anything is written: bn_finalize cannot train on one value. */
static void a_mask_that_leaves_one_value(void **state) {
    braid_context *context = given_context("", NULL);
    braid_op *op = given_op(context, "bn_finalize:n2:b3:hw1x1:c2,2:mask1");
    given_memory memory = given_operands(context, op);
    (void)state;
    assert_int_equal(braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}), BRAID_OK);
    *(uint32_t *)given_operand(&memory, "mask")->plane[1] = 5; /* samples 0 and 2 blanked: one is left */
    int64_t *batches = given_operand(&memory, "batches")->plane[0];
    *batches = 41;
    assert_refused(braid_op_run(op, memory.operands, memory.count), BRAID_ERROR_ARGUMENT,
                   "bn_finalize|more than 1 value per channel|stream 1");
    assert_int_equal(*batches, 41);
    *(uint32_t *)given_operand(&memory, "mask")->plane[1] = 7; /* none is left: allowed */
    assert_int_equal(braid_op_run(op, memory.operands, memory.count), BRAID_OK);
    assert_int_equal(*batches, 42);
    given_operands_destroy(&memory);
    braid_op_destroy(op);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* Labels are looked at before anything is written. */
static void a_label_that_is_no_class(void **state) {
    static const char *const problems[] = {"softmax_xent_fwd:b3:c10", "softmax_xent_bwd_data:bf16:b3:c10",
                                           "focal_fwd:b3:c10", "focal_bwd_data:b3:c10"};
    static const char *const words[] = {"softmax_xent", "softmax_xent", "focal", "focal"};
    braid_context *context = given_context("", NULL);
    (void)state;
    for (int j = 0; j < 4; j++) {
        char expected[160];
        braid_op *op = given_op(context, problems[j]);
        given_memory memory = given_operands(context, op);
        int32_t *labels = given_operand(&memory, "labels")->plane[0];
        unsigned char *out = given_operand(&memory, j % 2 ? "dx" : "loss")->plane[0];
        assert_int_equal(braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}), BRAID_OK);
        labels[0] = 9;
        labels[1] = INT32_MIN; /* ignored */
        labels[2] = 10;
        out[0] = 0xa5;
        snprintf(expected, sizeof expected, "%s|labels from 0 to 9|got 10|sample 2", words[j]);
        assert_refused(braid_op_run(op, memory.operands, memory.count), BRAID_ERROR_ARGUMENT, expected);
        assert_int_equal(out[0], 0xa5);
        labels[2] = 0;
        assert_int_equal(braid_op_run(op, memory.operands, memory.count), BRAID_OK);
        given_operands_destroy(&memory);
        braid_op_destroy(op);
    }
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

/* A share of one batch in a running mean, or of an older step: at most 1, in every op that has one; 1 is allowed. */
static void momentum_is_a_share(void **state) {
    static const char *const problems[] = {"bn_finalize:b2:hw4x4:c3",
                                           "bn_stats_finalize:b2:hw4x4:c3",
                                           "conv2d_bn_stats:b2:hw4x4:c3:k8:rs1x1",
                                           "integrate_bn_stats:b2:hw4x4:c3:zo8",
                                           "rmsprop:c5",
                                           "sgd:c5"};
    (void)state;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) {
        braid_problem p = given_problem(problems[j]);
        p.momentum = 1;
        assert_int_equal(braid_problem_check(&p), BRAID_OK);
        p.momentum = nextafter(1, 2);
        assert_refused(braid_problem_check(&p), BRAID_ERROR_ARGUMENT, "mom (momentum)|at most 1");
        p.momentum = -0.1;
        assert_refused(braid_problem_check(&p), BRAID_ERROR_ARGUMENT, "mom (momentum)|got -0.1");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_are_refused_in_words), cmocka_unit_test(sizes_beyond_64_bits_are_refused),
        cmocka_unit_test(calls_are_refused_in_words),       cmocka_unit_test(devices_that_are_not_there),
        cmocka_unit_test(a_kernel_by_name_that_cannot),     cmocka_unit_test(a_mask_that_leaves_one_value),
        cmocka_unit_test(a_label_that_is_no_class),         cmocka_unit_test(momentum_is_a_share),
    };
    return cmocka_run_group_tests_name("invalid", tests, NULL, NULL);
}
