/*
 * Which normalisations have both backward passes in one call: those of training, where a kernel does it and nothing
 * between the passes touches what they use. tests/emu/fused.c compares the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "compile/program.h"
#include "tests/support/trial.h"

/* What a plan of a network has. */
typedef struct counts {
    int fused, skipped, given; /* calls of bn_bwd; of those the ones with skip2, with given2 */
    int data, sums;            /* of the passes by themselves */
} counts;

typedef struct asked {
    int no_kernel, no_mix, sums; /* 1: none of bn_bwd; none of integrate_bn_bwd_apply; one of conv2d_dgrad_bn_reduce */
} asked;

static int pays(void *user, const braid_problem *p) {
    const asked *a = user;
    if (p->op == BRAID_OP_CONV2D_DGRAD_BN_REDUCE) return a->sums;
    if (p->op == BRAID_OP_LI_CONV2D || p->op == BRAID_OP_CONV2D_POOL_BN_BWD_APPLY) return 0;
    return !(p->op == BRAID_OP_BN_BWD && a->no_kernel) && !(p->op == BRAID_OP_INTEGRATE_BN_BWD_APPLY && a->no_mix);
}

static void count_call(const call *c, counts *got) {
    const braid_problem *p = &c->problem;
    const int is_fused = p->op == BRAID_OP_BN_ACT || p->op == BRAID_OP_BN_ADD_ACT;
    if (c->segment != BRAID_SEGMENT_BACKWARD || c->is_absorbed || c->is_view) return;
    got->fused += p->op == BRAID_OP_BN_BWD;
    got->skipped += p->op == BRAID_OP_BN_BWD && p->skip == 2;
    got->given += p->op == BRAID_OP_BN_BWD && p->given == 2;
    got->data += p->op == BRAID_OP_BN_BWD_APPLY || (is_fused && p->pass == BRAID_PASS_BWD_DATA);
    got->sums += p->op == BRAID_OP_BN_BWD_REDUCE || (is_fused && p->pass == BRAID_PASS_BWD_WEIGHT);
}

static void build(const char *kind, asked *a, program *p, braid_net **net) {
    const program_options o = {.phase = BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {35, 40},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .pays = pays,
                               .user = a};
    const braid_net_options n = {.streams = strcmp(kind, "linet18") == 0 ? 2 : 0, .width = 1.0 / 8, .classes = 5};
    OK(braid_net_create(kind, &n, net));
    OK(program_build(graph_of_net(*net), &o, p));
}

static void expect(const char *kind, asked a, counts expected) {
    counts got = {0};
    program p;
    braid_net *net = NULL;
    build(kind, &a, &p, &net);
    for (int j = 0; j < p.call_count; j++) count_call(&p.calls[j], &got);
    assert_int_equal(got.fused, expected.fused);
    assert_int_equal(got.skipped, expected.skipped);
    assert_int_equal(got.given, expected.given);
    assert_int_equal(got.data, expected.data);
    assert_int_equal(got.sums, expected.sums);
    program_free(&p);
    braid_net_destroy(net);
}

/* Eight of bn_act and three of downsamplings, whose streams have their data in the mix; eight of bn_add_act. */
static void all_of_a_linet(void **state) {
    (void)state;
    expect("linet18", (asked){0}, (counts){19, 11, 0, 0, 0});
    expect("linet18", (asked){.no_mix = 1}, (counts){19, 0, 0, 0, 0});
}

static void all_of_a_resnet(void **state) {
    (void)state;
    expect("mcresnet18", (asked){0}, (counts){19, 0, 0, 0, 0});
}

/* Of the integrated plane alone, where convolutions make the sums of the streams. */
static void planes_whose_sums_are_given(void **state) {
    (void)state;
    expect("linet18", (asked){.sums = 1}, (counts){19, 3, 7, 0, 0});
}

static void no_kernel_nothing_fused(void **state) {
    (void)state;
    expect("mcresnet18", (asked){.no_kernel = 1}, (counts){0, 0, 0, 19, 19});
}

/* Every operand of a fused call has the tensor that the pass of its own had. */
static void operands_stay(void **state) {
    asked a = {0}, apart = {.no_kernel = 1};
    program p, q;
    braid_net *net = NULL, *same = NULL;
    int found = 0;
    (void)state;
    build("linet18", &a, &p, &net);
    build("linet18", &apart, &q, &same);
    for (int j = 0; j < p.call_count; j++) {
        const call *c = &p.calls[j];
        if (c->problem.op != BRAID_OP_BN_BWD || !c->problem.add) continue;
        for (int k = 0; k < q.call_count; k++) {
            const call *data = &q.calls[k];
            if (data->problem.op != BRAID_OP_BN_ADD_ACT || data->problem.pass != BRAID_PASS_BWD_DATA ||
                data->tensor[BN_FUSED_DX][0] != c->tensor[BN_BWD_DX][0])
                continue;
            for (int slot = BN_FUSED_X; slot <= BN_FUSED_DX; slot++) {
                if (op_role(&data->problem, slot) == ROLE_NONE) continue;
                assert_memory_equal(c->tensor[slot], data->tensor[slot],
                                    (size_t)data->problem.streams * sizeof data->tensor[slot][0]);
            }
            assert_memory_equal(c->tensor[BN_BWD_DZ], data->tensor[BN_FUSED_DZ],
                                (size_t)data->problem.streams * sizeof data->tensor[0][0]);
            found++;
        }
    }
    assert_int_equal(found, 8);
    program_free(&p);
    program_free(&q);
    braid_net_destroy(net);
    braid_net_destroy(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_linet),
        cmocka_unit_test(all_of_a_resnet),
        cmocka_unit_test(planes_whose_sums_are_given),
        cmocka_unit_test(no_kernel_nothing_fused),
        cmocka_unit_test(operands_stay),
    };
    return cmocka_run_group_tests_name("compile/fuse_norm", tests, NULL, NULL);
}
