/*
 * Tests of problems as text: what is printed reads back, what may be left out is filled in, what is
 * hostile is refused in words. The fuzzer of the same reader is tests/fuzz/problem.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"
#include "tests/support/given.h"

#define DRAWS_PER_PASS 2000 /* of 11 ops and passes */
#define RANDOM_REALS 5000

static int same_problem(const braid_problem *a, const braid_problem *b) {
#define SAME_FIELD(name, kind, member, flags) &&memcmp(&a->member, &b->member, sizeof a->member) == 0
    return a->op == b->op && a->pass == b->pass && a->dtype == b->dtype FIELD_LIST(SAME_FIELD);
#undef SAME_FIELD
}

static void assert_reads_back(const braid_problem *problem) {
    char text[BRAID_PROBLEM_TEXT], again[BRAID_PROBLEM_TEXT];
    braid_problem read;
    assert_int_equal(braid_problem_print(problem, text, sizeof text), BRAID_OK);
    if (braid_problem_parse(text, &read) != BRAID_OK) fail_msg("%s: %s", text, braid_message());
    if (!same_problem(problem, &read)) fail_msg("%s reads back as another problem", text);
    assert_int_equal(braid_problem_print(&read, again, sizeof again), BRAID_OK);
    assert_string_equal(text, again);
}

static int unequal_streams(const braid_problem *p) {
    for (int i = 1; i < p->streams; i++) {
        if (p->in_channels[i] != p->in_channels[0] || p->out_channels[i] != p->out_channels[0]) return 1;
    }
    return 0;
}

static void drawn_problems_read_back(void **state) {
    int drawn = 0;
    (void)state;
    for (int id = 0; id < BRAID_OP_COUNT; id++) {
        int unequal = 0, masked = 0, of_op = 0;
        for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
            if (!braid_pass_name((braid_op_id)id, (braid_pass)pass)) continue;
            for (uint64_t seed = 0; seed < DRAWS_PER_PASS; seed++) {
                braid_problem problem;
                assert_int_equal(braid_problem_draw((braid_op_id)id, (braid_pass)pass, seed, &problem), BRAID_OK);
                assert_reads_back(&problem);
                unequal += unequal_streams(&problem);
                masked += problem.mask;
                of_op++;
            }
        }
        if (op_find((braid_op_id)id)->max_streams > 1)
            assert_true(unequal >= of_op * 3 / 10); /* what the case list promises */
        if (op_find((braid_op_id)id)->fields & FIELD_BIT(mask)) assert_true(masked >= of_op / 10);
        drawn += of_op;
    }
    assert_true(drawn >= 20000);
}

static void a_draw_is_a_function_of_its_seed(void **state) {
    braid_problem a, b, other;
    (void)state;
    memset(&a, 0x11, sizeof a);
    memset(&b, 0xee, sizeof b);
    assert_int_equal(braid_problem_draw(BRAID_OP_CONV2D, BRAID_PASS_FWD, 7, &a), BRAID_OK);
    assert_int_equal(braid_problem_draw(BRAID_OP_CONV2D, BRAID_PASS_FWD, 7, &b), BRAID_OK);
    assert_int_equal(braid_problem_draw(BRAID_OP_CONV2D, BRAID_PASS_FWD, 8, &other), BRAID_OK);
    assert_true(same_problem(&a, &b));
    assert_false(same_problem(&a, &other));
}

/* Any value of eps and mom that is allowed prints with enough digits. */
static void reals_read_back(void **state) {
    rng r = {.seed = 3};
    (void)state;
    for (int j = 0; j < RANDOM_REALS; j++) {
        braid_problem p = given_problem("bn_finalize:b2:hw2x2:c3");
        p.eps = pow(10, -300 * rng_uniform(&r)) * (1 - rng_uniform(&r));
        p.momentum = j % 3 ? 1 - rng_uniform(&r) : (double)rng_between(&r, 1, 1000) / 1000;
        if (p.eps > 0) assert_reads_back(&p);
    }
}

static const char *const short_forms[][2] = {
    {"conv2d_fwd:b1:hw8x8:c3:k4:rs3x3",
     "conv2d_fwd:f32:n1:b1:hw8x8:c3:k4:rs3x3:st1:pad0:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_fwd:f16:n3:b16:hw104x136:c64:k64:rs3:pad1",
     "conv2d_fwd:f16:n3:b16:hw104x136:c64,64,64:k64,64,64:rs3x3:st1:pad1:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_bwd_data:b2:hw8:c3,1,1:k16:rs3:pad=same",
     "conv2d_bwd_data:f32:n3:b2:hw8x8:c3,1,1:k16,16,16:rs3x3:st1:pad1:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_bwd_weight:bf16:k4,8:c2:b2:hw9x7:rs5x1:pad=same:bias1",
     "conv2d_bwd_weight:bf16:n2:b2:hw9x7:c2,2:k4,8:rs5x1:st1:pad2x0:dil1:g1:mode=zeros:bias1:mask0:add0"},
    {"conv2d_fwd:b2:hw9:c2:k2:rs4x2:pad=same",
     "conv2d_fwd:f32:n1:b2:hw9x9:c2:k2:rs4x2:st1:pad1x0:extra1:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_fwd:b2:hw9:c2:k2:rs4x3:pad=same:dil3x2",
     "conv2d_fwd:f32:n1:b2:hw9x9:c2:k2:rs4x3:st1:pad4x2:extra1x0:dil3x2:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_fwd:b2:hw9:c2:k2:rs4:pad=valid:st2x3",
     "conv2d_fwd:f32:n1:b2:hw9x9:c2:k2:rs4x4:st2x3:pad0:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"conv2d_fwd:f64:mode=circular:pad1:g2:c4:k6:rs3:hw5:b1:mask1:add0",
     "conv2d_fwd:f64:n1:b1:hw5x5:c4:k6:rs3x3:st1:pad1:dil1:g2:mode=circular:bias0:mask1:add0"},
    {"conv2d_fwd:b1:hw4:c3:k3:rs1:cp4:kp=8", "conv2d_fwd:f32:n1:b1:hw4x4:c3:k3:rs1x1:st1:pad0:dil1:g1:mode=zeros:"
                                             "bias0:mask0:add0:cp4:kp8"},
    {"conv2d_fwd:b1:hw4:c3:k3:rs1:cp3:kp3", "conv2d_fwd:f32:n1:b1:hw4x4:c3:k3:rs1x1:st1:pad0:dil1:g1:mode=zeros:"
                                            "bias0:mask0:add0"},
    {"conv2d_fwd:b=1:hw=4x4:c=3:k=3:rs=1", "conv2d_fwd:f32:n1:b1:hw4x4:c3:k3:rs1x1:st1:pad0:dil1:g1:mode=zeros:"
                                           "bias0:mask0:add0"},
    {"conv2d_fwd:hw4:c3:k3:rs1:b0",
     "conv2d_fwd:f32:n1:b0:hw4x4:c3:k3:rs1x1:st1:pad0:dil1:g1:mode=zeros:bias0:mask0:add0"},
    {"linear_fwd:b64:c128:k10:bias1", "linear_fwd:f32:n1:b64:c128:k10:bias1:mask0"},
    {"linear_bwd_weight:f16:n2:b4:c8,9:k5", "linear_bwd_weight:f16:n2:b4:c8,9:k5,5:bias0:mask0"},
    {"linear_bwd_data:b0007:c1:k1", "linear_bwd_data:f32:n1:b7:c1:k1:bias0:mask0"},
    {"linear_fwd:tf32:b4:c8:k5", "linear_fwd:tf32:n1:b4:c8:k5:bias0:mask0"},
    {"bn_stats:n9:b2:hw3x4:c8", "bn_stats:f32:n9:b2:hw3x4:c8,8,8,8,8,8,8,8,8:mask0"},
    {"bn_finalize:b2:hw2:c3", "bn_finalize:f32:n1:b2:hw2x2:c3:mask0:phase=train:avg=exponential:eps1e-05:mom0.1"},
    {"bn_finalize:b2:hw2:c3:phase=eval:avg=cumulative:eps=.001:mom.5",
     "bn_finalize:f32:n1:b2:hw2x2:c3:mask0:phase=eval:avg=cumulative:eps0.001:mom0.5"},
    {"bn_finalize:hw2:c3", "bn_finalize:f32:n1:b1:hw2x2:c3:mask0:phase=train:avg=exponential:eps1e-05:mom0.1"},
    {"bn_apply:f64:c5:b1:hw1x2", "bn_apply:f64:n1:b1:hw1x2:c5:mask0"},
    {"bn_bwd_reduce:b1:hw1:c1:cp4", "bn_bwd_reduce:f32:n1:b1:hw1x1:c1:mask0:cp4"},
    {"bn_bwd_apply:bf16:b1:hw7:c2:phase=eval", "bn_bwd_apply:bf16:n1:b1:hw7x7:c2:mask0:phase=eval"},
};

static void short_forms_become_canonical(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof short_forms / sizeof short_forms[0]; j++) {
        char text[BRAID_PROBLEM_TEXT];
        const braid_problem problem = given_problem(short_forms[j][0]);
        assert_int_equal(braid_problem_print(&problem, text, sizeof text), BRAID_OK);
        assert_string_equal(text, short_forms[j][1]);
        assert_reads_back(&problem);
    }
}

/* The string of the longest lists and the widest numbers still fits in BRAID_PROBLEM_TEXT. */
static void the_longest_text_fits(void **state) {
    char text[BRAID_PROBLEM_TEXT];
    braid_problem p = given_problem("conv2d_bwd_weight:bf16:n8:b0:hw1:c1:k1:rs1:mode=replicate:bias1:mask1:add0");
    (void)state;
    for (int i = 0; i < 8; i++) {
        p.in_channels[i] = p.out_channels[i] = INT32_MAX - 1;
        p.in_pitch[i] = p.out_pitch[i] = INT32_MAX;
    }
    p.padding[0] = p.stride[0] = INT32_MAX;
    p.padding[1] = p.stride[1] = INT32_MAX - 1;
    p.extra_padding[0] = INT32_MAX;
    p.groups = INT32_MAX - 1;
    assert_int_equal(braid_problem_print(&p, text, sizeof text), BRAID_OK);
    assert_reads_back(&p);
}

static const char *const hostile[][2] = {
    {"", "expected an op and pass|\"\""},
    {":", "expected an op and pass"},
    {"::::::::", "expected an op and pass"},
    {"conv2d", "expected an op and pass|\"conv2d\""},
    {"conv2d_", "expected an op and pass|\"conv2d_\""},
    {"conv2d_sideways:b1", "expected an op and pass|conv2d_sideways"},
    {"bn_stats_fwd:b1:hw1:c1", "expected an op and pass|bn_stats_fwd"},
    {"CONV2D_FWD:b1", "expected an op and pass|CONV2D_FWD"},
    {" conv2d_fwd:b1", "expected an op and pass"},
    {"conv2d_fwd\x01\x1b[31m:b1", "expected an op and pass|?"},
    {"linear_fwd:", "expected a field|\"\""},
    {"linear_fwd::b1", "expected a field|\"\""},
    {"linear_fwd:f32:f16:b1:c1:k1", "expected a field|f16"},
    {"linear_fwd:b1:f32:c1:k1", "expected a field|f32"},
    {"linear_fwd:i32:b1:c1:k1", "expected dtype|i32"},
    {"linear_fwd:u8:b1:c1:k1", "expected dtype|u8"},
    {"linear_fwd:b1:c1:k1:b1", "field b once|\"b1\""},
    {"linear_fwd:b1:c1:k1:c=1", "field c once"},
    {"linear_fwd:b1:c1:k1:hw8x8", "linear has no field hw|hw8x8"},
    {"bn_stats:b1:hw1:c1:k4", "bn_stats has no field k"},
    {"linear_fwd:b1:c1:k1:zz9", "expected a field|zz9"},
    {"linear_fwd:b1:c1:k1:batch9", "expected a field|batch9"},
    {"linear_fwd:b-1:c1:k1", "expected a field|b-1"},
    {"linear_fwd:b=-1:c1:k1", "number in field b (batch)|-1"},
    {"linear_fwd:b:c1:k1", "expected a field|\"b\""},
    {"linear_fwd:b=:c1:k1", "number in field b (batch)"},
    {"linear_fwd:b1x2:c1:k1", "field b (batch) to end after \"1\"|x2"},
    {"linear_fwd:b1.5:c1:k1", "field b (batch) to end|.5"},
    {"linear_fwd:b1 :c1:k1", "field b (batch) to end"},
    {"linear_fwd:b= 1:c1:k1", "number in field b"},
    {"linear_fwd:b1:c1,:k1", "number in field c"},
    {"linear_fwd:b1:c,1:k1", "expected a field"},
    {"linear_fwd:b1:c1,1,1,1,1,1,1,1,1,1:k1", "at most 9 values in field c (in_channels)"},
    {"linear_fwd:n2:b1:c1,1,1:k1", "1 or 2 values in field c (in_channels)|got 3"},
    {"linear_fwd:b1:c1,1,1:k1,1", "1 or 3 values in field k (out_channels)|got 2"},
    {"linear_fwd:n0:b1:c1:k1", "n (streams) from 1 to 9|got 0"},
    {"linear_fwd:n10:b1:c1:k1", "n (streams)|at most 9|10"},
    {"linear_fwd:b1:tf32:c1:k1", "a field like b16|tf32"},
    {"linear_fwd:tf321:b1:c1:k1", "a field like b16|tf321"},
    {"act_fwd:tf32:b1:hw2:c1", "act has no field tf32"},
    {"linear_fwd:n99999999999:b1:c1:k1", "n (streams)|at most 9"},
    {"linear_fwd:b99999999999999999999:c1:k1", "b (batch) to fit in 64 bits|99999999999999999999"},
    {"linear_fwd:b9223372036854775807:c1:k1", "b (batch) from 0 to 2147483647|9223372036854775807"},
    {"linear_fwd:b1:c2147483648:k1", "c (in_channels)|2147483647|got 2147483648"},
    {"linear_fwd:b2147483647:c2147483647:k2147483647", "x"},
    {"conv2d_fwd:b2147483647:hw2147483647:c2147483647:k1:rs1", "x"},
    {"bn_stats:b2147483647:hw2147483647:c1", "x"},
    {"bn_finalize:b2147483647:hw2147483647:c1", "bn_finalize"},
    {"bn_bwd_apply:b2147483647:hw2147483647:c1", "bn_bwd_apply"},
    {"conv2d_fwd:b1:hw8x:c1:k1:rs1", "number in field hw (size)"},
    {"conv2d_fwd:b1:hw8x8x8:c1:k1:rs1", "field hw (size) to end|x8"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:mode=mirror", "mode=zeros|mode=mirror"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:mode=", "mode=zeros"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:mode=zeros,", "mode=zeros"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:pad=wide", "number in field pad (padding)|wide"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs3:pad=same:st2", "stride 1 with pad=same|got 2"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs2147483647:pad=same:dil2147483647", "conv2d"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs99999999999:pad=same", "rs (filter)|99999999999"},
    {"conv2d_fwd:b1:hw8:c1:k1:pad=same", "rs (filter)|got 0"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:bias2", "bias (bias) from 0 to 1|got 2"},
    {"conv2d_fwd:b1:hw8:c1:k1:rs1:mask7", "mask (mask) from 0 to 1|got 7"},
    {"bn_finalize:b2:hw2:c3:eps=nan", "eps (eps) above 0|nan"},
    {"bn_finalize:b2:hw2:c3:eps=inf", "eps (eps) above 0|inf"},
    {"bn_finalize:b2:hw2:c3:eps=-1", "eps (eps) above 0|-1"},
    {"bn_finalize:b2:hw2:c3:eps=", "number in field eps"},
    {"bn_finalize:b2:hw2:c3:eps=,5", "number in field eps|,5"},
    {"bn_finalize:b2:hw2:c3:eps0,5", "field eps (eps) to end after \"0\"|,5"},
    {"bn_finalize:b2:hw2:c3:eps0", "eps (eps) above 0|got 0"},
    {"bn_finalize:b2:hw2:c3:mom0", "mom (momentum) above 0|got 0"},
    {"conv2d_fwd:b1:hw4:c1:k1:rs3:st0", "st (stride) above 0|got 0"},
    {"conv2d_fwd:b1:hw4:c1:k1:rs3:dil0x1", "dil (dilation) above 0|got 0"},
    {"conv2d_fwd:b1:hw4:c1:k1:rs3:g0", "g (groups) above 0|got 0"},
    {"conv2d_fwd:b1:hw4:c1:k1:rs2:pad=same:extra1", "pad=same without extra|both"},
    {"bn_finalize:b2:hw2:c3:mom1.5", "mom (momentum)|at most 1|1.5"},
    {"bn_finalize:b1:hw1:c3", "more than 1 value per channel|phase=eval"},
    {"bn_finalize:b2:hw2:c3:phase=test", "phase=train|phase=test"},
    {"bn_finalize:b2:hw2:c3:avg=0", "avg=exponential|avg=0"},
};

static void hostile_texts_are_refused_in_words(void **state) {
    (void)state;
    for (size_t j = 0; j < sizeof hostile / sizeof hostile[0]; j++) {
        braid_problem problem, before;
        memset(&problem, 0x5a, sizeof problem);
        memset(&before, 0x5a, sizeof before);
        braid_status status = braid_problem_parse(hostile[j][0], &problem);
        if (status == BRAID_OK) fail_msg("expected \"%s\" to be refused", hostile[j][0]);
        assert_refused(status, status == BRAID_ERROR_MEMORY ? BRAID_ERROR_MEMORY : BRAID_ERROR_ARGUMENT, hostile[j][1]);
        assert_memory_equal(&problem, &before, sizeof problem); /* a refused text changes nothing */
    }
}

static void texts_of_any_length(void **state) {
    static char text[1 << 20];
    braid_problem problem;
    (void)state;
    for (size_t length = 1; length < sizeof text; length = length * 2 + length % 3) {
        memset(text, length % 2 ? 'b' : ':', length);
        text[length] = 0;
        braid_status status = braid_problem_parse(text, &problem);
        assert_refused(status, BRAID_ERROR_ARGUMENT,
                       length < BRAID_PROBLEM_TEXT ? "expected" : "fewer than 1024 characters");
    }
    memset(text, '0', sizeof text); /* leading zeros up to the last byte that fits */
    memcpy(text, "linear_fwd:b1:c1:k", strlen("linear_fwd:b1:c1:k"));
    text[BRAID_PROBLEM_TEXT - 2] = '7';
    text[BRAID_PROBLEM_TEXT - 1] = 0;
    assert_int_equal(braid_problem_parse(text, &problem), BRAID_OK);
    assert_int_equal(problem.out_channels[0], 7);
}

static void printing_into_too_little_room(void **state) {
    const braid_problem problem = given_problem("linear_fwd:b4:c8:k5");
    char text[BRAID_PROBLEM_TEXT];
    (void)state;
    assert_int_equal(braid_problem_print(&problem, text, sizeof text), BRAID_OK);
    size_t needed = strlen(text) + 1;
    for (size_t size = 0; size <= needed; size++) {
        char small[64], guard = '#';
        memset(small, guard, sizeof small);
        braid_status status = braid_problem_print(&problem, small, size);
        if (size < needed)
            assert_refused(status, BRAID_ERROR_ARGUMENT, "braid_problem_print|room for 39 bytes");
        else
            assert_int_equal(status, BRAID_OK);
        for (size_t at = size; at < sizeof small; at++) assert_int_equal(small[at], guard);
    }
    assert_int_equal(needed, 39);
}

static void tf32_is_f32_that_may_round(void **state) {
    braid_problem p = given_problem("matmul_fwd:tf32:b4:c8:k5");
    (void)state;
    assert_int_equal(p.dtype, BRAID_DTYPE_F32);
    assert_int_equal(p.tf32, 1);
    p.dtype = BRAID_DTYPE_F16;
    assert_refused(braid_problem_check(&p), BRAID_ERROR_ARGUMENT, "tf32 with dtype f32|f16");
}

static void names_out_of_range_are_null(void **state) {
    (void)state;
    assert_string_equal(braid_op_id_name(BRAID_OP_CONV2D), "conv2d");
    assert_string_equal(braid_pass_name(BRAID_OP_CONV2D, BRAID_PASS_BWD_WEIGHT), "bwd_weight");
    assert_string_equal(braid_pass_name(BRAID_OP_BN_BWD_REDUCE, BRAID_PASS_FWD), "");
    assert_string_equal(braid_dtype_name(BRAID_DTYPE_BF16), "bf16");
    assert_null(braid_op_id_name(BRAID_OP_COUNT));
    assert_null(braid_op_id_name((braid_op_id)-1));
    assert_null(braid_pass_name(BRAID_OP_BN_BWD_REDUCE, BRAID_PASS_BWD_DATA));
    assert_null(braid_pass_name(BRAID_OP_CONV2D, BRAID_PASS_COUNT));
    assert_null(braid_pass_name(BRAID_OP_CONV2D, (braid_pass)-1));
    assert_null(braid_pass_name(BRAID_OP_COUNT, BRAID_PASS_FWD));
    assert_null(braid_dtype_name(BRAID_DTYPE_COUNT));
    assert_null(braid_dtype_name((braid_dtype)-1));
}

/* Sets the numbers of a locale: the system's, or one compiled into the folder. False: neither can be had. */
static int set_locale(const char *name, const char *folder) {
    char command[512], full[64];
    snprintf(full, sizeof full, "%s.UTF-8", name);
    if (setlocale(LC_NUMERIC, full)) return 1;
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 '%s/%s' >/dev/null 2>&1", name, folder, full);
    if (system(command) != 0) return 0;
    setenv("LOCPATH", folder, 1);
    int set = setlocale(LC_NUMERIC, full) != NULL;
    unsetenv("LOCPATH");
    return set;
}

static void assert_no_comma(const char *name, const char *half) {
    char folder[256], real[16], text[BRAID_PROBLEM_TEXT];
    snprintf(folder, sizeof folder, "%s", given_folder());
    int set = set_locale(name, folder);
    if (set) {
        snprintf(real, sizeof real, "%.1f", 0.5);
        const braid_problem problem = given_problem("bn_finalize:b2:hw2:c3:eps0.001:mom0.25");
        assert_int_equal(braid_problem_print(&problem, text, sizeof text), BRAID_OK);
        assert_reads_back(&problem);
        reals_read_back(NULL);
        setlocale(LC_NUMERIC, "C");
        assert_string_equal(real, half);
        assert_non_null(strstr(text, ":eps0.001:mom0.25"));
    }
    given_folder_remove(folder);
    if (!set) {
        print_message("skip: there is no locale %s, and localedef could not make one\n", name);
        skip();
    }
}

static void a_decimal_comma_changes_nothing(void **state) {
    (void)state;
    assert_no_comma("de_DE", "0,5");
}

static void a_decimal_sign_of_several_bytes_changes_nothing(void **state) {
    (void)state;
    assert_no_comma("ps_AF", "0\xd9\xab"
                             "5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_problems_read_back),
        cmocka_unit_test(a_draw_is_a_function_of_its_seed),
        cmocka_unit_test(reals_read_back),
        cmocka_unit_test(short_forms_become_canonical),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(hostile_texts_are_refused_in_words),
        cmocka_unit_test(texts_of_any_length),
        cmocka_unit_test(printing_into_too_little_room),
        cmocka_unit_test(tf32_is_f32_that_may_round),
        cmocka_unit_test(names_out_of_range_are_null),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
        cmocka_unit_test(a_decimal_sign_of_several_bytes_changes_nothing),
    };
    return cmocka_run_group_tests_name("problem_text", tests, NULL, NULL);
}
