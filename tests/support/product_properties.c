/*
 * Adjoint, linearity and addends.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/product_properties.h"

#include <string.h>

#include "tests/support/rig.h"

_Static_assert((int)CONV2D_X == (int)LINEAR_X && (int)CONV2D_W == (int)LINEAR_W &&
                   (int)CONV2D_BIAS == (int)LINEAR_BIAS && (int)CONV2D_Y == (int)LINEAR_Y,
               "conv2d and linear number their operands alike");
enum { X = CONV2D_X, W = CONV2D_W };
_Static_assert((int)MATMUL_X == X && (int)MATMUL_W == W, "matmul too");

/* The output of the forward pass. */
static int find_y(const braid_problem *p) {
    int slot = 0;
    while (op_of(p)->operands[slot].role[BRAID_PASS_FWD] != ROLE_OUT) slot++;
    return slot;
}

/* Sums of halves are rounded, so nothing would be exact. */
static int is_wide(const trial *t) {
    return t->problem->dtype == BRAID_DTYPE_F32 || t->problem->dtype == BRAID_DTYPE_F64;
}

/* ---- Adjoint ------------------------------------------------------------------------------- */

/* Runs a kernel of any pass on the x, w, y and mask of the seed, and gives the inner product of its outputs with the
 * operands that it was not given. */
static braid_status inner_product(const braid_problem *p, device *d, const kernel *k, uint64_t seed, double *inner) {
    static const braid_pass others[] = {BRAID_PASS_BWD_DATA, BRAID_PASS_FWD, BRAID_PASS_FWD};
    rig mine = {0}, other = {0};
    braid_problem q = *p;
    q.pass = others[p->pass]; /* a pass in which the output is an input, for its values */
    braid_status status = rig_create(&mine, p, d, k, IMAGE_EXACT, seed);
    if (!status) status = rig_run(&mine);
    if (!status) status = rig_create(&other, &q, d, able_kernel(&q, d, 0), IMAGE_EXACT, seed);
    *inner = 0;
    for (int slot = 0; slot < op_operand_count(op_of(p)) && !status; slot++) {
        if (op_is_output(op_role(p, slot))) *inner += rig_inner(&mine, slot, &other, slot);
    }
    rig_destroy(&mine);
    rig_destroy(&other);
    return status;
}

/* Operands are filled by slot and plane, so x, w, y and mask are the same in all passes; but the density of the
 * integers follows the longest sum of a pass and must be 1 in all. */
static int same_density(const braid_problem *p) {
    for (int pass = 0; pass < BRAID_PASS_COUNT; pass++) {
        braid_problem q = *p;
        q.pass = (braid_pass)pass;
        if (op_of(p)->terms(&q) > 65536) return 0;
    }
    return 1;
}

outcome passes_are_adjoint(trial *t) {
    braid_problem p = *t->problem, forward;
    double mine, expected;
    p.bias = 0;
    forward = p;
    forward.pass = BRAID_PASS_FWD;
    if (!is_wide(t) || !same_density(&p) || kernel_refuses(t->kernel, &p, t->device)) return NOT_HERE;
    if (inner_product(&p, t->device, t->kernel, t->seed, &mine)) return could_not_run(t);
    if (inner_product(&forward, t->device, able_kernel(&forward, t->device, 0), t->seed, &expected))
        return could_not_run(t);
    return mine == expected ? HELD
                            : broken(t, "the inner product is %.17g, that of the forward pass %.17g", mine, expected);
}

/* ---- Linearity ----------------------------------------------------------------------------- */

enum { SUM, ZERO, FIRST, SECOND, RUNS };

static void set_operand(rig runs[RUNS], int slot) {
    for (int i = 0; i < runs[0].problem.streams; i++) {
        for (int64_t j = 0; j < rig_elements(&runs[0], slot, i); j++) {
            double u = rig_get(&runs[FIRST], slot, i, j), v = (double)(j % 5) - 2;
            rig_set(&runs[SUM], slot, i, j, u + v);
            rig_set(&runs[ZERO], slot, i, j, 0);
            rig_set(&runs[SECOND], slot, i, j, v);
        }
    }
}

static outcome compare_linear(trial *t, const rig runs[RUNS], int slot) {
    for (int i = 0; i < runs[0].problem.streams; i++) {
        for (int64_t j = 0; j < rig_elements(&runs[0], slot, i); j++) {
            double left = rig_get(&runs[SUM], slot, i, j) + rig_get(&runs[ZERO], slot, i, j);
            double right = rig_get(&runs[FIRST], slot, i, j) + rig_get(&runs[SECOND], slot, i, j);
            if (left != right) {
                return broken(t, "%s of stream %d at %lld: f(u + v) + f(0) = %g, f(u) + f(v) = %g",
                              op_operand_name(t->problem, slot), i, (long long)j, left, right);
            }
        }
    }
    return HELD;
}

static outcome linear_in(trial *t, int in_slot, int out_slot) {
    rig runs[RUNS] = {0};
    outcome found = HELD;
    for (int j = 0; j < RUNS && found == HELD; j++) {
        if (rig_create(&runs[j], t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed)) found = could_not_run(t);
    }
    if (found == HELD) set_operand(runs, in_slot);
    for (int j = 0; j < RUNS && found == HELD; j++) {
        if (rig_run(&runs[j])) found = could_not_run(t);
    }
    if (found == HELD) found = compare_linear(t, runs, out_slot);
    for (int j = 0; j < RUNS; j++) rig_destroy(&runs[j]);
    return found;
}

outcome outputs_are_linear(trial *t) {
    const int y = find_y(t->problem);
    const int inputs[BRAID_PASS_COUNT][2] = {{X, W}, {y, W}, {X, y}}, output[] = {y, X, W};
    if (!is_wide(t) || !same_density(t->problem)) return NOT_HERE;
    outcome found = linear_in(t, inputs[t->problem->pass][0], output[t->problem->pass]);
    return found == HELD ? linear_in(t, inputs[t->problem->pass][1], output[t->problem->pass]) : found;
}

/* ---- Addends ------------------------------------------------------------------------------- */

static outcome compare_sum(trial *t, const rig *plain, const rig *with, const int pair[2]) {
    for (int i = 0; i < rig_planes(with, pair[0]); i++) {
        for (int64_t j = 0; j < rig_elements(with, pair[0], i); j++) {
            double wanted = rig_get(plain, pair[0], i, j) + rig_get(with, pair[1], i, j);
            if (rig_get(with, pair[0], i, j) != wanted)
                return broken(t, "%s of stream %d at %lld: expected %g with its addend, got %g",
                              op_operand_name(&with->problem, pair[0]), i, (long long)j, wanted,
                              rig_get(with, pair[0], i, j));
        }
    }
    return HELD;
}

outcome addends_are_added(trial *t, int add, const int (*pairs)[2], int count) {
    rig plain = {0}, added = {0};
    braid_problem with = *t->problem;
    if (with.pass != BRAID_PASS_BWD_DATA || with.add || !is_wide(t)) return NOT_HERE;
    with.add = add;
    if (braid_problem_check(&with) || kernel_refuses(t->kernel, &with, t->device)) return NOT_HERE;
    int ran = !rig_create(&plain, t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed) && !rig_run(&plain) &&
              !rig_create(&added, &with, t->device, t->kernel, IMAGE_EXACT, t->seed) && !rig_run(&added);
    outcome found = ran ? HELD : could_not_run(t);
    for (int j = 0; j < count && found == HELD; j++) found = compare_sum(t, &plain, &added, pairs[j]);
    rig_destroy(&plain);
    rig_destroy(&added);
    return found;
}

/* Launches a rig that has run once more, with each output of the pairs in the memory of its addend. */
static braid_status run_in_place(const rig *r, const int (*pairs)[2], int count) {
    buffers b;
    image_buffers(&r->problem, &r->layout, r->block, &b);
    b.workspace = r->workspace;
    for (int j = 0; j < count; j++) memcpy(b.plane[pairs[j][0]], b.plane[pairs[j][1]], sizeof b.plane[0]);
    return kernel_launch(r->kernel->functions, &r->problem, r->device, r->state, &b);
}

outcome addends_may_be_outputs(trial *t, int add, const int (*pairs)[2], int count) {
    rig r = {0};
    braid_problem with = *t->problem;
    if (with.pass != BRAID_PASS_BWD_DATA || t->kernel->backend != KERNEL_CPU) return NOT_HERE;
    with.add = add;
    if (braid_problem_check(&with) || kernel_refuses(t->kernel, &with, t->device)) return NOT_HERE;
    int ran = !rig_create(&r, &with, t->device, t->kernel, IMAGE_REAL, t->seed) && !rig_run(&r) &&
              !run_in_place(&r, pairs, count);
    outcome found = ran ? HELD : could_not_run(t);
    for (int j = 0; j < count && found == HELD; j++) {
        for (int i = 0; i < rig_planes(&r, pairs[j][0]) && found == HELD; i++) {
            if (memcmp(rig_plane(&r, pairs[j][0], i), rig_plane(&r, pairs[j][1], i),
                       r.layout.plane_bytes[pairs[j][0]][i]))
                found = broken(t, "%s of stream %d: other bits in the memory of its addend",
                               op_operand_name(&with, pairs[j][0]), i);
        }
    }
    rig_destroy(&r);
    return found;
}
