/*
 * steps on the side queue (src/plan/plan_order.c), on the emulator's device, without running them: where they begin in
 * a recording, and kernels that leave room for others. That their results are those of a run launch by launch, sums.c
 * and networks.c compare.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "kernels/cuda/conv/wgrad/weight_tiles_launch.h"
#include "tests/support/trial.h"
#include "tests/emu/tests.h"

static trial open_linet(int eager, int keep_all) {
    const trial_setup s = {.device = "cuda:0",
                           .kind = "linet18",
                           .net = {.streams = 3, .width = 1, .classes = 5},
                           .dtype = BRAID_DTYPE_F16,
                           .request = {.batch = 4, .size = {208, 272}, .keep_all = keep_all, .eager = eager}};
    return trial_open(&s);
}

static int is_product(const step *s) {
    const braid_problem *p = &s->op->problem;
    return s->part != STEP_SUMS && op_of(p)->flops(p) > 150 * op_bytes(p);
}

/* Steps of the first queue between two others that are products. */
static int count_products(const braid_plan *plan, int begin, int end) {
    int count = 0;
    for (int j = begin; j < end; j++) count += !plan->steps[j].is_on_side && is_product(&plan->steps[j]);
    return count;
}

/* The step in front of which step j begins is joined behind it, or waits for memory, behind a product. */
static void check_begin(const braid_plan *plan, int j) {
    const step *s = &plan->steps[j], *next = &plan->steps[s->begins];
    if (s->begins == plan->step_count || next->joins >= j) return;
    assert_false(next->is_on_side);
    if (is_product(s)) assert_true(!is_product(next) && count_products(plan, j + 1, s->begins) >= 1);
}

static void products_begin_beside_passes(void **state) {
    trial t = open_linet(0, 1);
    int kept_back = 0, begin = 0;
    (void)state;
    for (int j = 0; j < t.plan->step_count; j++) {
        const step *s = &t.plan->steps[j];
        if (!s->is_on_side) continue;
        assert_true(s->begins > j && s->begins >= begin);
        begin = s->begins;
        check_begin(t.plan, j);
        kept_back += count_products(t.plan, j + 1, s->begins) > 0;
    }
    assert_true(kept_back >= 10);
    trial_close(&t);
}

/* Nothing is joined before it is recorded. */
static void what_is_joined_has_begun(void **state) {
    trial t = open_linet(0, 1);
    int joins = 0;
    (void)state;
    for (int j = 0; j < t.plan->step_count; j++) {
        for (int i = 0; i <= t.plan->steps[j].joins; i++) {
            if (!t.plan->steps[i].is_on_side) continue;
            assert_true(t.plan->steps[i].begins <= j);
            joins++;
        }
    }
    assert_true(joins >= 10);
    trial_close(&t);
}

/* With and without a recording, so that both have the same bits. Where activations are made again nothing is on the
 * side queue. */
static void kernels_on_the_side_leave_room(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        trial t = open_linet(way == 1, way == 2 ? -1 : 1);
        int narrow = 0;
        for (int j = 0; j < t.plan->op_count; j++) {
            const braid_op *op = t.plan->ops[j];
            assert_int_equal(op->is_narrow, way < 2 && op->kernel->functions->narrow != NULL);
            narrow += op->is_narrow;
        }
        assert_true(way < 2 ? narrow >= 4 : narrow == 0);
        for (int j = 0; j < t.plan->step_count; j++) assert_false(way > 0 && t.plan->steps[j].is_on_side);
        trial_close(&t);
    }
}

/* Fewer blocks with more work each, the same units and less memory. */
static void a_narrow_kernel_has_fewer_blocks(void **state) {
    static const char *const text[] = {"conv2d_bwd_weight:f16:n3:b16:hw104x136:c64:k64:rs3x3:pad1",
                                       "conv2d_bwd_weight:f16:n3:b16:hw52x68:c128:k128:rs3x3:pad1"};
    const kernel_functions *f = kernel_find("conv2d_bwd_weight__cuda_taps_wgmma")->functions;
    trial t = open_linet(0, 1);
    (void)state;
    for (int j = 0; j < 2; j++) {
        braid_problem p;
        void *made = NULL;
        size_t whole, narrow;
        OK(braid_problem_parse(text[j], &p));
        OK(braid_problem_check(&p));
        OK(f->create(&p, t.context->device, &made, &whole));
        const struct weight_tiles_args *args = &((const weight_plan *)made)->args;
        assert_in_range(args->ctas, 97, 132);
        OK(f->narrow(&p, made, &narrow));
        assert_in_range(args->ctas, 80, 96);
        assert_true(narrow < whole && narrow > 0);
        assert_int_equal(args->has_tree, args->ctas <= 2 * args->tiles);
        f->destroy(t.context->device, made);
    }
    trial_close(&t);
}

int emu_side_queue(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_begin_beside_passes), cmocka_unit_test(what_is_joined_has_begun),
        cmocka_unit_test(kernels_on_the_side_leave_room), cmocka_unit_test(a_narrow_kernel_has_fewer_blocks)};
    return cmocka_run_group_tests_name("emu/side_queue", tests, NULL, NULL);
}
