/*
 * Which normalisations have their statistics in the same call: those of training, where a kernel does it and nothing
 * between them touches what they use. tests/emu/joins.c compares the numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <string.h>

#include "plan/program.h"
#include "tests/support/trial.h"

/* What the forward segment of a plan has. */
typedef struct counts {
    int joined, own, given, skipped; /* calls of bn_norm; of those with zn2, with zn1, and with skip2 and no zn2 */
    int stats, norms;                /* calls of bn_prepare, and of bn_act and bn_add_act */
} counts;

typedef struct asked {
    int no_kernel, no_residuals, remakes, eval; /* 1: no bn_norm; none with zn2; results are made again; evaluation */
} asked;

static int has_kernel(void *user, const braid_problem *p) {
    const asked *a = user;
    if (p->op != BRAID_OP_BN_NORM || a->no_kernel) return 0;
    return !(a->no_residuals && p->residual_norm == BN_NORM_OWN_RESIDUALS);
}

static void count_call(const call *c, counts *got) {
    const braid_problem *p = &c->problem;
    const int is_norm = p->op == BRAID_OP_BN_NORM, is_own = p->residual_norm == BN_NORM_OWN_RESIDUALS;
    if (c->segment != BRAID_SEGMENT_FORWARD) return;
    got->joined += is_norm;
    got->own += is_norm && is_own;
    got->given += is_norm && p->residual_norm == 1;
    got->skipped += is_norm && p->skip == 2 && !is_own;
    got->stats += p->op == BRAID_OP_BN_PREPARE;
    got->norms += p->op == BRAID_OP_BN_ACT || p->op == BRAID_OP_BN_ADD_ACT;
}

static void build(const char *kind, asked *a, program *p, braid_net **net) {
    const program_options o = {.phase = a->eval ? BRAID_PHASE_EVAL : BRAID_PHASE_TRAIN,
                               .batch = 2,
                               .size = {35, 40},
                               .mask = 1,
                               .loss = BRAID_LOSS_CROSS_ENTROPY,
                               .keep_all = !a->remakes,
                               .has_kernel = has_kernel,
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
    assert_int_equal(got.joined, expected.joined);
    assert_int_equal(got.own, expected.own);
    assert_int_equal(got.given, expected.given);
    assert_int_equal(got.skipped, expected.skipped);
    assert_int_equal(got.stats, expected.stats);
    assert_int_equal(got.norms, expected.norms);
    program_free(&p);
    braid_net_destroy(net);
}

/* Two of each of eight blocks, three of them with those of the residual; of the last one the integrated plane alone is
 * normalised. The stem's statistics are read by a pooling. */
static void all_of_a_linet(void **state) {
    (void)state;
    expect("linet18", (asked){0}, (counts){16, 3, 0, 1, 1, 0});
}

static void all_of_a_resnet(void **state) {
    (void)state;
    expect("mcresnet18", (asked){0}, (counts){16, 3, 0, 0, 1, 0});
}

static void residuals_apart(void **state) {
    (void)state;
    expect("linet18", (asked){.no_residuals = 1}, (counts){16, 0, 3, 1, 4, 0});
}

/* What may be made again in the backward pass stays a call of its own. */
static void what_is_made_again(void **state) {
    (void)state;
    expect("linet18", (asked){.remakes = 1}, (counts){8, 3, 0, 1, 9, 8});
}

static void no_kernel_no_join(void **state) {
    (void)state;
    expect("mcresnet18", (asked){.no_kernel = 1}, (counts){0, 0, 0, 0, 20, 16});
    expect("linet18", (asked){.eval = 1, .no_kernel = 1}, (counts){0, 0, 0, 0, 0, 16});
}

/* The call of an op that makes a tensor in this slot; NULL: there is none. *plane says which of its planes. */
static const call *maker(const program *p, braid_op_id op, int slot, int made, int *plane) {
    for (int j = 0; j < p->call_count; j++) {
        const call *c = &p->calls[j];
        for (int i = 0; c->problem.op == op && c->problem.pass == BRAID_PASS_FWD && i < c->problem.streams; i++) {
            if (c->tensor[slot][i] != made) continue;
            *plane = i;
            return c;
        }
    }
    return NULL;
}

/* Every operand of a joined call has the tensor that the calls of their own had. */
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
        if (c->problem.op != BRAID_OP_BN_NORM) continue;
        for (int i = 0; i < c->problem.streams; i++) {
            const int half = c->problem.residual_norm == BN_NORM_OWN_RESIDUALS && i >= c->problem.skip;
            int k = 0;
            const call *stats = maker(&q, BRAID_OP_BN_PREPARE, BN_PREPARE_SCALE, c->tensor[BN_PREPARE_SCALE][i], &k);
            assert_non_null(stats);
            for (int slot = BN_PREPARE_X; slot <= BN_PREPARE_SHIFT; slot++) {
                if (slot != BN_PREPARE_BATCHES) assert_int_equal(c->tensor[slot][i], stats->tensor[slot][k]);
            }
            assert_int_equal(c->tensor[BN_PREPARE_BATCHES][half], stats->tensor[BN_PREPARE_BATCHES][0]);
        }
        for (int i = 0; i < c->problem.streams - c->problem.skip; i++) {
            const braid_op_id op = c->problem.add ? BRAID_OP_BN_ADD_ACT : BRAID_OP_BN_ACT;
            int k = 0;
            const call *norm = maker(&q, op, BN_FUSED_Y, c->tensor[BN_NORM_Y][i], &k);
            assert_non_null(norm);
            assert_int_equal(c->tensor[BN_PREPARE_X][c->problem.skip + i], norm->tensor[BN_FUSED_X][k]);
            if (!c->problem.add) continue;
            const int is_own = c->problem.residual_norm == BN_NORM_OWN_RESIDUALS;
            assert_int_equal(c->tensor[is_own ? (int)BN_PREPARE_X : (int)BN_NORM_Z][i], norm->tensor[BN_FUSED_Z][k]);
        }
        found++;
    }
    assert_int_equal(found, 16);
    program_free(&p);
    program_free(&q);
    braid_net_destroy(net);
    braid_net_destroy(same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_linet),     cmocka_unit_test(all_of_a_resnet),   cmocka_unit_test(residuals_apart),
        cmocka_unit_test(what_is_made_again), cmocka_unit_test(no_kernel_no_join), cmocka_unit_test(operands_stay),
    };
    return cmocka_run_group_tests_name("plan/join_forward", tests, NULL, NULL);
}
