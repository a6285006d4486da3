/*
 * The checker is tested on wrong kernels: each does the reference's work and then one thing that a kernel
 * must not do, and each must be caught, by the words that name it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "race/race.h"
#include "race/tolerance.h"
#include "race/verify.h"

#define PROBLEM "linear_fwd:f32:n2:b5:c9,3:k7,4:kp8,8"
#define MAX_X 1024

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

/* ---- Wrong kernels ------------------------------------------------------------------------- */

static int launches;

static braid_status honest(const braid_problem *p, device *d, void *state, const buffers *b) {
    return ref_functions.launch(p, d, state, b);
}

/* The last term of every sum is missing. */
static braid_status drops_last_term(const braid_problem *p, device *d, void *state, const buffers *b) {
    float copy[BRAID_MAX_PLANES][MAX_X];
    buffers other = *b;
    for (int i = 0; i < p->streams; i++) {
        memcpy(copy[i], b->plane[LINEAR_X][i], (size_t)(p->batch * p->in_pitch[i]) * sizeof(float));
        for (int64_t s = 0; s < p->batch; s++) copy[i][s * p->in_pitch[i] + p->in_channels[i] - 1] = 0;
        other.plane[LINEAR_X][i] = copy[i];
    }
    return honest(p, d, state, &other);
}

static float *last_output(const braid_problem *p, const buffers *b) {
    return (float *)b->plane[LINEAR_Y][1] + (p->batch - 1) * p->out_pitch[1] + p->out_channels[1] - 1;
}

static braid_status leaves_tail(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    memset(last_output(p, b), POISON_BYTE, sizeof(float));
    return status;
}

/* Zeros belong between the channels and the pitch. */
static braid_status leaves_pitch_lane(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    memset(last_output(p, b) + 1, POISON_BYTE, sizeof(float));
    return status;
}

static braid_status fills_pitch_lane(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    last_output(p, b)[1] = 1;
    return status;
}

static braid_status writes_behind(const braid_problem *p, device *d, void *state, const buffers *b) {
    ((unsigned char *)b->plane[LINEAR_Y][1])[p->batch * p->out_pitch[1] * (int64_t)sizeof(float)] ^= 1;
    return honest(p, d, state, b);
}

static braid_status writes_before(const braid_problem *p, device *d, void *state, const buffers *b) {
    ((unsigned char *)b->plane[LINEAR_Y][0])[-1] ^= 1;
    return honest(p, d, state, b);
}

static braid_status changes_input(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    ((float *)b->plane[LINEAR_W][1])[0] += 1;
    return status;
}

/* The last bit of one output follows the number of launches: within any bound, and still not allowed. */
static braid_status changes_its_mind(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    uint32_t bits;
    memcpy(&bits, last_output(p, b), sizeof bits);
    bits ^= (uint32_t)(launches++ & 1);
    memcpy(last_output(p, b), &bits, sizeof bits);
    return status;
}

static braid_status swaps_streams(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    float *first = b->plane[LINEAR_Y][0], *second = b->plane[LINEAR_Y][1], kept = first[0];
    first[0] = second[0];
    second[0] = kept;
    return status;
}

static braid_status gives_nan(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    ((float *)b->plane[LINEAR_Y][0])[3] = NAN; /* not the poison's bits */
    return status;
}

static braid_status fails(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)p, (void)d, (void)state, (void)b;
    return fail(BRAID_ERROR_DEVICE, "the device is on fire");
}

static braid_status cannot_be_readied(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)p, (void)d, (void)state, (void)workspace_bytes;
    return fail(BRAID_ERROR_MEMORY, "no room");
}

/* ---- A workspace ---------------------------------------------------------------------------- */

#define WORKSPACE_FLOATS ((size_t)3 << 20) /* 12 MiB: more than the host sends at once */

static size_t clean_bytes; /* of all workspaces that were given */

static braid_status wants_workspace(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)p, (void)d;
    *state = NULL;
    *workspace_bytes = WORKSPACE_FLOATS * sizeof(float);
    return BRAID_OK;
}

/* Looks for a byte that is not poison, and spoils the workspace for the next run. */
static braid_status looks_at_workspace(const braid_problem *p, device *d, void *state, const buffers *b) {
    unsigned char *bytes = b->workspace;
    for (size_t i = 0; i < WORKSPACE_FLOATS * sizeof(float); i++) clean_bytes += bytes[i] != POISON_BYTE;
    memset(bytes, 0, WORKSPACE_FLOATS * sizeof(float));
    return honest(p, d, state, b);
}

/* Adds up in a workspace as if somebody had cleared it. */
static braid_status trusts_workspace(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    float *sums = b->workspace;
    *last_output(p, b) += sums[WORKSPACE_FLOATS - 1];
    memset(sums, 0, WORKSPACE_FLOATS * sizeof(float));
    return status;
}

/* ---- Judging them -------------------------------------------------------------------------- */

static verdict judge_as(image_mode mode, const kernel_functions *functions) {
    braid_problem p;
    verifier v;
    verdict found;
    kernel k = {"wrong", BRAID_OP_LINEAR, BRAID_PASS_FWD, 1u << BRAID_DTYPE_F32, KERNEL_CPU, 0, 0, NULL, functions};
    assert_int_equal(braid_problem_parse(PROBLEM, &p), BRAID_OK);
    assert_int_equal(verifier_create(&p, cpu, mode, 3, &v), BRAID_OK);
    assert_int_equal(verifier_judge(&v, &k, &found), BRAID_OK);
    verifier_destroy(&v);
    return found;
}

static verdict judge(image_mode mode,
                     braid_status (*launch)(const braid_problem *, device *, void *, const buffers *)) {
    kernel_functions functions = ref_functions;
    functions.launch = launch;
    return judge_as(mode, &functions);
}

static void assert_caught(braid_status (*launch)(const braid_problem *, device *, void *, const buffers *),
                          const char *words) {
    static const image_mode modes[] = {IMAGE_REAL, IMAGE_EXACT};
    for (int m = 0; m < 2; m++) {
        verdict found = judge(modes[m], launch);
        if (!strstr(found.failure, words)) fail_msg("expected \"%s\", got \"%s\"", words, found.failure);
    }
}

static void honest_kernels_pass(void **state) {
    (void)state;
    for (int mode = IMAGE_REAL; mode <= IMAGE_EXACT; mode++) {
        verdict found = judge((image_mode)mode, honest);
        assert_string_equal(found.failure, "");
        assert_int_equal(found.compared, 5 * 7 + 5 * 4);
        assert_true(found.max_err <= 1);
    }
}

static int launches;

static braid_status honest_and_counted(const braid_problem *p, device *d, void *state, const buffers *b) {
    launches++;
    return honest(p, d, state, b);
}

/* What was remembered is checked on a small problem; a kernel that is wrong now loses its times. */
static void what_was_remembered_is_proven(void **state) {
    kernel_functions functions = ref_functions;
    kernel k = {"wrong", BRAID_OP_LINEAR, BRAID_PASS_FWD, 1u << BRAID_DTYPE_F32, KERNEL_CPU, 0, 0, NULL, &functions};
    const braid_context context = {.device = cpu};
    braid_problem p;
    int right = -1;
    (void)state;
    assert_int_equal(braid_problem_parse(PROBLEM, &p), BRAID_OK);
    p.batch = 4096;
    functions.launch = honest_and_counted;
    racer one = {.kernel = &k, .median = 2, .low = 1, .high = 3};
    assert_int_equal(race_prove(&context, &p, &one, &right), BRAID_OK);
    assert_int_equal(right, 1);
    assert_int_equal(launches, 2);
    assert_true(one.median == 2 && !one.reason[0]);
    functions.launch = drops_last_term;
    assert_int_equal(race_prove(&context, &p, &one, &right), BRAID_OK);
    assert_int_equal(right, 0);
    assert_true(one.median == 0 && one.low == 0 && strstr(one.reason, "wrong"));
}

static void wrong_values_are_caught(void **state) {
    (void)state;
    assert_caught(drops_last_term, "wrong");
    assert_caught(swaps_streams, "wrong");
    assert_caught(gives_nan, "wrong");
}

static void wrong_writes_are_caught(void **state) {
    (void)state;
    assert_caught(leaves_tail, "unwritten");
    assert_caught(leaves_pitch_lane, "unwritten");
    assert_caught(fills_pitch_lane, "beyond its channels");
    assert_caught(writes_behind, "wrote beyond the last operand");
    assert_caught(writes_before, "wrote before y");
    assert_caught(changes_input, "changed its input w of stream 1");
}

static void other_bits_are_caught(void **state) {
    (void)state;
    launches = 0;
    verdict found = judge(IMAGE_REAL, changes_its_mind);
    assert_string_equal(found.failure, "gave other bits when run again");
}

static void failures_are_told(void **state) {
    (void)state;
    assert_caught(fails, "the device is on fire");
    kernel_functions functions = ref_functions;
    functions.create = cannot_be_readied;
    functions.destroy = NULL;
    verdict found = judge_as(IMAGE_REAL, &functions);
    assert_string_equal(found.failure, "could not be readied: no room");
}

/* Every byte of it is poison before every run, so that what a kernel reads before it wrote it shows. */
static void workspaces_are_poisoned(void **state) {
    (void)state;
    for (int mode = IMAGE_REAL; mode <= IMAGE_EXACT; mode++) {
        kernel_functions functions = ref_functions;
        functions.create = wants_workspace;
        functions.destroy = NULL;
        functions.launch = looks_at_workspace;
        clean_bytes = 0;
        verdict found = judge_as((image_mode)mode, &functions);
        assert_string_equal(found.failure, "");
        assert_int_equal(clean_bytes, 0);
        functions.launch = trusts_workspace;
        found = judge_as((image_mode)mode, &functions);
        assert_non_null(strstr(found.failure, "unwritten"));
    }
}

/* An error of one bound fails, one just below it passes. */
static double off_by;

static braid_status is_off(const braid_problem *p, device *d, void *state, const buffers *b) {
    braid_status status = honest(p, d, state, b);
    *last_output(p, b) += (float)off_by;
    return status;
}

static void bound_is_sharp(void **state) {
    (void)state;
    off_by = 1e-3;
    verdict far = judge(IMAGE_REAL, is_off);
    assert_non_null(strstr(far.failure, "wrong in real mode"));
    assert_true(far.max_err > 1);
    double bound = off_by / far.max_err; /* about */
    off_by = 0.3 * bound;
    verdict near = judge(IMAGE_REAL, is_off);
    assert_string_equal(near.failure, "");
    off_by = 2 * bound;
    assert_true(judge(IMAGE_REAL, is_off).failure[0]);
}

/* ---- Trust --------------------------------------------------------------------------------- */

/* A sum that is zero though it has terms proves little; a case of many such is not believed. */
/* In bf16 a ReLU of long sums is so often near 0 that its zeros once outweighed the rest: no kernel was trusted. */
static void zeros_of_a_relu_prove_nothing_wrong(void **state) {
    (void)state;
    braid_problem p;
    verifier v;
    verdict found;
    assert_int_equal(braid_problem_parse("conv2d_scale_bias_act:bf16:b1:hw9x9:c512:k16:rs3x3:pad1:act=relu:add1", &p),
                     BRAID_OK);
    assert_int_equal(verifier_create(&p, cpu, IMAGE_REAL, 1, &v), BRAID_OK);
    verify_zeros count = {0};
    int64_t zeros = 0;
    for (int64_t j = 0; j < v.sample_count; j++) {
        verify_count_zeros(&p, &v.samples[j], &count);
        zeros += v.samples[j].expected.magnitude != 0 && v.samples[j].expected.value == 0;
    }
    assert_true((double)zeros > TOLERANCE_ZERO_SHARE * (double)(zeros + count.with_terms));
    assert_true(count.zeros == 0 && count.with_terms > v.sample_count / 3);
    assert_int_equal(verifier_judge(&v, kernel_find("conv2d_scale_bias_act__chain"), &found), BRAID_OK);
    assert_string_equal(found.failure, "");
    verifier_destroy(&v);
}

static void zeros_are_mistrusted(void **state) {
    (void)state;
    braid_problem p;
    verifier v;
    verdict found;
    const kernel *k = kernel_find("linear_fwd__ref");
    assert_int_equal(braid_problem_parse("linear_fwd:f32:b8:c2:k8", &p), BRAID_OK);
    assert_int_equal(verifier_create(&p, cpu, IMAGE_EXACT, 3, &v), BRAID_OK);
    for (int64_t j = 0; j < v.sample_count; j++) v.samples[j].expected = (ref_value){0, 1};
    memset(v.before + v.layout.offset[LINEAR_X][0], 0, v.layout.plane_bytes[LINEAR_X][0]);
    assert_int_equal(verifier_judge(&v, k, &found), BRAID_OK);
    verifier_destroy(&v);
    assert_non_null(strstr(found.failure, "mistrusted"));
}

static void nothing_compared_is_a_failure(void **state) {
    (void)state;
    braid_problem p;
    verifier v;
    verdict found;
    assert_int_equal(braid_problem_parse(PROBLEM, &p), BRAID_OK);
    assert_int_equal(verifier_create(&p, cpu, IMAGE_REAL, 3, &v), BRAID_OK);
    v.sample_count = 0;
    assert_int_equal(verifier_judge(&v, kernel_find("linear_fwd__ref"), &found), BRAID_OK);
    verifier_destroy(&v);
    assert_string_equal(found.failure, "nothing was compared");
}

/* dbias is the sum of dy in every kernel, whose pixels no tile mixes. */
static void a_bias_knows_no_tiles(void **state) {
    (void)state;
    braid_problem p;
    const ref_value truth = {1, 1000};
    const kernel *tiles = kernel_find("conv2d_bwd_weight_f32__cpu_winograd_portable");
    const kernel *plain = kernel_find("conv2d_bwd_weight__cpu_outer_product_portable");
    assert_int_equal(braid_problem_parse("conv2d_bwd_weight:b1:hw11x11:c25:k53:rs3x3:pad1:bias1", &p), BRAID_OK);
    assert_true(tolerance_bound(&p, tiles, CONV2D_BIAS, truth, 1000) ==
                tolerance_bound(&p, plain, CONV2D_BIAS, truth, 1000));
    assert_true(tolerance_bound(&p, tiles, CONV2D_W, truth, 1000) < tolerance_bound(&p, plain, CONV2D_W, truth, 1000));
}

/* What stands in for a large problem is compared in every output. */
static void small_problems_are_compared_whole(void **state) {
    static const char *const large[] = {
        "conv2d_fwd:f32:n3:b2:hw104x136:c64:k64:rs3x3:pad1",
        "conv2d_fwd:f32:n3:b256:hw104x136:c64:k64:rs3x3:pad1",
        "conv2d_bwd_data:f32:n3:b16:hw13x17:c512:k512:rs3x3:pad1",
        "conv2d_fwd:f32:n3:b2:hw416x544:c3,1,1:k64:rs7x7:st2:pad3",
        "conv2d_fwd:f32:b256:hw52x68:c256:k256:rs3x3:pad1:g32",
        "linear_fwd:f32:b8192:c4096:k4096",
        "bn_bwd_reduce:f32:n4:b16:hw208x272:c64",
    };
    (void)state;
    for (size_t j = 0; j < sizeof large / sizeof large[0]; j++) {
        braid_problem p, small;
        verifier v;
        plane_shape shape;
        int64_t outputs = 0;
        assert_int_equal(braid_problem_parse(large[j], &p), BRAID_OK);
        assert_true(verify_shrink(&p, &small));
        assert_int_equal(verifier_create(&small, cpu, IMAGE_REAL, 3, &v), BRAID_OK);
        for (int slot = 0; slot < op_operand_count(op_of(&small)); slot++) {
            for (int i = 0; op_is_output(op_role(&small, slot)) && i < op_of(&small)->planes(&small, slot); i++) {
                int64_t elements = 1;
                op_of(&small)->shape(&small, slot, i, &shape);
                for (int axis = 0; axis < shape.rank; axis++) elements *= shape.dims[axis];
                outputs += elements;
            }
        }
        if (v.sample_count != outputs) print_error("%s\n", large[j]);
        assert_int_equal(v.sample_count, outputs);
        verifier_destroy(&v);
    }
}

/* A problem too large to compare whole: sampled in at least 1,024 outputs, the ends of every plane among them. */
static void large_problems_are_sampled(void **state) {
    (void)state;
    braid_problem p;
    verifier v;
    assert_int_equal(braid_problem_parse("linear_fwd:f32:n2:b700:c300,200:k130,90", &p), BRAID_OK);
    assert_int_equal(verifier_create(&p, cpu, IMAGE_REAL, 3, &v), BRAID_OK);
    int first[2] = {0}, last[2] = {0};
    for (int64_t j = 0; j < v.sample_count; j++) {
        const truth_sample *s = &v.samples[j];
        first[s->plane] |= s->index == 0;
        last[s->plane] |= s->index == 700 * p.out_channels[s->plane] - 1;
    }
    assert_true(v.sample_count >= 1024 && v.sample_count < 700 * (130 + 90));
    assert_true(first[0] && first[1] && last[0] && last[1]);
    verifier_destroy(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_pass),           cmocka_unit_test(what_was_remembered_is_proven),
        cmocka_unit_test(wrong_values_are_caught),       cmocka_unit_test(wrong_writes_are_caught),
        cmocka_unit_test(other_bits_are_caught),         cmocka_unit_test(failures_are_told),
        cmocka_unit_test(workspaces_are_poisoned),       cmocka_unit_test(bound_is_sharp),
        cmocka_unit_test(zeros_are_mistrusted),          cmocka_unit_test(zeros_of_a_relu_prove_nothing_wrong),
        cmocka_unit_test(nothing_compared_is_a_failure), cmocka_unit_test(large_problems_are_sampled),
        cmocka_unit_test(a_bias_knows_no_tiles),         cmocka_unit_test(small_problems_are_compared_whole),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
