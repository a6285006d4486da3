/*
 * The tolerance row of Winograd's kernels, plain and inside fused ops. On data with outliers their errors are beyond
 * the bound of other kernels and within their own; an error beyond their own fails; and outputs that no tile makes
 * keep the bound of other kernels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "race/tolerance.h"
#include "race/verify.h"
#include "tests/support/rig.h"

#define OUTLIER 4096.0
#define ONE_IN 8 /* numbers are outliers */

static const char *const problems[] = {
    "conv2d_fwd:f32:n2:b2:hw7x9:c2,3:k5,4:rs3x3:pad1:bias1:mask1",
    "conv2d_bwd_data:f32:n2:b2:hw7x9:c5,4:k2,3:rs3x3:pad1:mask1",
    "conv2d_bwd_weight:f32:n2:b2:hw5x4:c5,4:k2,3:rs3x3:bias1",
    "conv2d_scale_bias_act:f32:n2:b2:hw7x9:c2,3:k5,4:rs3x3:pad1:act=relu:mask1:add1",
    "conv2d_scale_bias_act:f32:n2:b2:hw6x6:c1,3:k5,4:rs3x3:pad1:act=gelu",
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static device *cpu;

static int open_cpu(void **state) {
    (void)state;
    return backend_open("cpu", &cpu) != BRAID_OK;
}

static int close_cpu(void **state) {
    (void)state;
    cpu->backend->close(cpu);
    return memory_live() != 0;
}

static braid_problem parsed(int j) {
    braid_problem p;
    if (braid_problem_parse(problems[j], &p) != BRAID_OK) fail_msg("%s", braid_message());
    return p;
}

/* ---- Outliers ------------------------------------------------------------------------------ */

static void add_outliers(rig *r) {
    rng random = {.seed = 5, .stream = 1};
    for (int slot = 0; slot < op_operand_count(op_of(&r->problem)); slot++) {
        plane_shape s;
        if (!op_is_input(op_role(&r->problem, slot))) continue;
        for (int i = 0; i < rig_planes(r, slot); i++) {
            rig_shape(r, slot, i, &s);
            for (int64_t j = 0; s.dtype == BRAID_DTYPE_F32 && j < rig_elements(r, slot, i); j++) {
                if (rng_between(&random, 1, ONE_IN) == 1) rig_set(r, slot, i, j, OUTLIER * rig_get(r, slot, i, j));
            }
        }
    }
}

/* Errors beyond the bound of other kernels, and beyond the kernel's own. */
typedef struct tally {
    int outputs, beyond_plain, beyond_own;
} tally;

static void judge_output(const rig *r, const buffers *truth, int slot, int i, int64_t j, tally *t) {
    const braid_problem *p = &r->problem;
    const ref_value expected = ref_at_f64(p->op, p->pass)(p, truth, slot, i, j);
    const double mixed = ref_is_tiled(p, slot) ? tile_magnitude_f64(p, truth, slot, i, j) : expected.magnitude;
    const double error = fabs(rig_get(r, slot, i, j) - expected.value);
    kernel plain = *r->kernel;
    plain.flags &= ~KERNEL_WINOGRAD;
    t->outputs++;
    t->beyond_plain += error > tolerance_bound(p, &plain, slot, expected, expected.magnitude);
    if (error <= tolerance_bound(p, r->kernel, slot, expected, mixed)) return;
    t->beyond_own++;
    print_error("%s: %s of stream %d at %lld: expected %.9g, error %.3g\n", r->kernel->name, op_operand_name(p, slot),
                i, (long long)j, expected.value, error);
}

static tally judge_outliers(const braid_problem *p, const kernel *k) {
    rig r = {0};
    buffers truth;
    void *memory = NULL;
    tally t = {0};
    assert_int_equal(rig_create(&r, p, cpu, k, IMAGE_REAL, 3), BRAID_OK);
    add_outliers(&r);
    assert_int_equal(image_truth(p, &r.layout, r.block, &truth, &memory), BRAID_OK);
    assert_int_equal(rig_run(&r), BRAID_OK);
    for (int slot = 0; slot < op_operand_count(op_of(p)); slot++) {
        for (int i = 0; op_is_output(op_role(p, slot)) && i < rig_planes(&r, slot); i++) {
            for (int64_t j = 0; j < rig_elements(&r, slot, i); j++) judge_output(&r, &truth, slot, i, j, &t);
        }
    }
    memory_free(memory);
    rig_destroy(&r);
    return t;
}

static void outliers_need_the_row_and_keep_it(void **state) {
    int kernels = 0;
    (void)state;
    for (int j = 0; j < PROBLEMS; j++) {
        const braid_problem p = parsed(j);
        for (int c = 0; c < kernel_count(); c++) {
            const kernel *k = kernel_at(c);
            if (!(k->flags & KERNEL_WINOGRAD) || kernel_refuses(k, &p, cpu)) continue;
            const tally t = judge_outliers(&p, k);
            if (t.beyond_plain == 0 || t.beyond_own > 0)
                fail_msg("%s: of %d outputs %d are beyond the plain bound and %d beyond its own", k->name, t.outputs,
                         t.beyond_plain, t.beyond_own);
            kernels++;
        }
    }
    assert_true(kernels >= PROBLEMS); /* a portable one for each */
}

/* What its name calls Winograd's is judged as such. */
static void every_kernel_by_tiles_has_the_row(void **state) {
    (void)state;
    for (int c = 0; c < kernel_count(); c++)
        assert_int_equal(strstr(kernel_at(c)->name, "winograd") != NULL, (kernel_at(c)->flags & KERNEL_WINOGRAD) != 0);
}

/* ---- The bound of every output ------------------------------------------------------------- */

static double off_by;
static int off_slot;

/* The reference, but for the last output of one operand. */
static braid_status is_off(const braid_problem *p, device *d, void *state, const buffers *b) {
    plane_shape s;
    int64_t elements = 1;
    const int plane = op_of(p)->planes(p, off_slot) - 1;
    braid_status status = ref_functions.launch(p, d, state, b);
    op_of(p)->shape(p, off_slot, plane, &s);
    for (int axis = 0; axis < s.rank; axis++) elements *= s.dims[axis];
    ((float *)b->plane[off_slot][plane])[ref_offset(&s, elements - 1)] += (float)off_by;
    return status;
}

static verdict judge(const braid_problem *p, unsigned flags, double error) {
    verifier v;
    verdict found;
    kernel_functions functions = ref_functions;
    functions.launch = is_off;
    const kernel k = {"off", p->op, p->pass, 1u << BRAID_DTYPE_F32, KERNEL_CPU, 0, flags, NULL, &functions};
    off_by = error;
    assert_int_equal(verifier_create(p, cpu, IMAGE_REAL, 3, &v), BRAID_OK);
    assert_int_equal(verifier_judge(&v, &k, &found), BRAID_OK);
    verifier_destroy(&v);
    return found;
}

/* The error of the output that is just allowed. */
static double bound_of(const braid_problem *p, unsigned flags) {
    const double far = 1e-2;
    verdict found = judge(p, flags, far);
    assert_non_null(strstr(found.failure, "wrong in real mode"));
    return far / found.max_err;
}

static void errors_beyond_the_row_fail(void **state) {
    (void)state;
    for (int j = 0; j < PROBLEMS; j++) {
        braid_problem p = parsed(j);
        p.mask = 0; /* of blanked samples, and where ReLU is closed, no error is allowed at all */
        if (p.op == BRAID_OP_CONV2D_SCALE_BIAS_ACT) p.activation = BRAID_ACTIVATION_NONE;
        for (off_slot = 0; off_slot < op_operand_count(op_of(&p)); off_slot++) {
            if (!op_is_output(op_role(&p, off_slot)) || !op_of(&p)->planes(&p, off_slot)) continue;
            const double own = bound_of(&p, KERNEL_WINOGRAD), plain = bound_of(&p, 0);
            assert_string_equal(judge(&p, KERNEL_WINOGRAD, 0.5 * own).failure, "");
            assert_true(judge(&p, KERNEL_WINOGRAD, 2 * own).failure[0]);
            if (ref_is_tiled(&p, off_slot))
                assert_true(own > 1.2 * plain);
            else
                assert_true(own == plain);
        }
    }
}

/* ---- The magnitude of a tile ------------------------------------------------------------------ */

/* Winograd's F(2x2, 3x3) as it is published (Lavin and Gray, 2015): y = A' ((G g G') . (B' d B)) A. */
static const double of_output[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
static const double of_filter[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
static const double of_patch[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};

/* How often |d| of a line times |g| of a tap takes part in an output of the tile, along one axis. */
static double share(int output, int line, int tap) {
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += fabs(of_output[output][k] * of_filter[k][tap] * of_patch[k][line]);
    return sum;
}

static double published_magnitude(const rig *r, int row, int column) {
    double sum = 0;
    for (int place = 0; place < 16; place++) {
        for (int tap = 0; tap < 9; tap++)
            sum += share(row, place / 4, tap / 3) * share(column, place % 4, tap % 3) *
                   fabs(rig_get(r, CONV2D_X, 0, place) * rig_get(r, CONV2D_W, 0, tap));
    }
    return sum;
}

static void magnitudes_are_those_of_the_published_matrices(void **state) {
    braid_problem p;
    rig r;
    (void)state;
    assert_int_equal(braid_problem_parse("conv2d_fwd:f64:b1:hw4x4:c1:k1:rs3x3", &p), BRAID_OK);
    assert_int_equal(rig_create(&r, &p, cpu, kernel_find("conv2d_fwd__ref"), IMAGE_REAL, 4), BRAID_OK);
    buffers inputs = {.plane = {[CONV2D_X] = {rig_plane(&r, CONV2D_X, 0)}, [CONV2D_W] = {rig_plane(&r, CONV2D_W, 0)}}};
    for (int64_t at = 0; at < 4; at++) {
        const double expected = published_magnitude(&r, (int)at / 2, (int)at % 2);
        const double got = tile_magnitude_f64(&p, &inputs, CONV2D_Y, 0, at);
        assert_true(fabs(got - expected) <= 1e-12 * expected);
    }
    rig_destroy(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_by_tiles_has_the_row),
        cmocka_unit_test(outliers_need_the_row_and_keep_it),
        cmocka_unit_test(errors_beyond_the_row_fail),
        cmocka_unit_test(magnitudes_are_those_of_the_published_matrices),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
