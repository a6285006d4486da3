/*
 * The case tests of conv2d: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/gradients.h"
#include "tests/support/product_properties.h"
#include "tests/support/rig.h"
#include "tests/support/stream_properties.h"

static int is_plain_forward(const trial *t) {
    const braid_problem *p = t->problem;
    return p->pass == BRAID_PASS_FWD && p->padding_mode == BRAID_PADDING_ZEROS && p->batch > 0;
}

/* The dense index of [b][row][column][channel] in a plane of pixels. */
static int64_t at(const plane_shape *s, int64_t b, int64_t row, int64_t column, int64_t channel) {
    return ((b * s->dims[1] + row) * s->dims[2] + column) * s->dims[3] + channel;
}

/* ---- Impulse ------------------------------------------------------------------------------- */

/* What output [row][column][k] must be when input [at_row][at_column][channel] is 1 and all others are 0. */
static double impulse_answer(const rig *r, int i, const int64_t out[3], const int64_t in[3]) {
    const braid_problem *p = &r->problem;
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t tap[2];
    if (out[2] / filters != in[2] / channels) return 0; /* another group */
    for (int axis = 0; axis < 2; axis++) {
        int64_t distance = in[axis] + p->padding[axis] - out[axis] * p->stride[axis];
        tap[axis] = distance / p->dilation[axis];
        if (distance < 0 || distance % p->dilation[axis] || tap[axis] >= p->filter[axis]) return 0;
    }
    return rig_get(r, CONV2D_W, i,
                   ((out[2] * p->filter[0] + tap[0]) * p->filter[1] + tap[1]) * channels + in[2] % channels);
}

static outcome compare_impulse(trial *t, const rig *r, int i, int64_t sample, const int64_t in[3]) {
    plane_shape y;
    rig_shape(r, CONV2D_Y, i, &y);
    for (int64_t j = 0; j < rig_elements(r, CONV2D_Y, i); j++) {
        int64_t out[3] = {j / y.dims[3] / y.dims[2] % y.dims[1], j / y.dims[3] % y.dims[2], j % y.dims[3]};
        int64_t b = j / y.dims[3] / y.dims[2] / y.dims[1];
        double expected = b == sample ? impulse_answer(r, i, out, in) : 0, got = rig_get(r, CONV2D_Y, i, j);
        if (got == expected) continue;
        return broken(t, "stream %d, output [%lld][%lld][%lld] of sample %lld: expected the tap %g, got %g", i,
                      (long long)out[0], (long long)out[1], (long long)out[2], (long long)b, expected, got);
    }
    return HELD;
}

static outcome impulse_returns_filter(trial *t) {
    rig r = {0};
    braid_problem p = *t->problem;
    p.bias = p.mask = 0;
    if (!is_plain_forward(t) || kernel_refuses(t->kernel, &p, t->device)) return NOT_HERE;
    /* Winograd's transforms round filters of real numbers, and keep small integers. */
    image_mode mode = t->kernel->flags & KERNEL_WINOGRAD ? IMAGE_EXACT : IMAGE_REAL;
    if (rig_create(&r, &p, t->device, t->kernel, mode, t->seed)) return could_not_run(t);
    rng random = {.seed = t->seed, .stream = 7};
    int64_t sample = rng_between(&random, 0, p.batch - 1), in[BRAID_MAX_PLANES][3];
    for (int i = 0; i < p.streams; i++) {
        plane_shape x;
        rig_shape(&r, CONV2D_X, i, &x);
        for (int axis = 0; axis < 3; axis++) in[i][axis] = rng_between(&random, 0, x.dims[axis + 1] - 1);
        rig_set_all(&r, CONV2D_X, i, 0);
        rig_set(&r, CONV2D_X, i, at(&x, sample, in[i][0], in[i][1], in[i][2]), 1);
    }
    outcome found = rig_run(&r) ? could_not_run(t) : HELD;
    for (int i = 0; i < p.streams && found == HELD; i++) found = compare_impulse(t, &r, i, sample, in[i]);
    rig_destroy(&r);
    return found;
}

/* ---- Shift --------------------------------------------------------------------------------- */

/* Makes b's x that of a, moved by one stride along both axes; the last rows and columns of a become zero first. */
static void shift_input(rig *a, rig *b) {
    const int64_t *step = a->problem.stride;
    for (int i = 0; i < a->problem.streams; i++) {
        plane_shape x;
        rig_shape(a, CONV2D_X, i, &x);
        for (int64_t j = 0; j < rig_elements(a, CONV2D_X, i); j++) {
            int64_t channel = j % x.dims[3], column = j / x.dims[3] % x.dims[2],
                    row = j / x.dims[3] / x.dims[2] % x.dims[1];
            if (row >= x.dims[1] - step[0] || column >= x.dims[2] - step[1]) rig_set(a, CONV2D_X, i, j, 0);
            if (row < step[0] || column < step[1])
                rig_set(b, CONV2D_X, i, j, 0);
            else {
                int64_t b_index = j / x.dims[3] / x.dims[2] / x.dims[1];
                rig_set(b, CONV2D_X, i, j,
                        rig_get(a, CONV2D_X, i, at(&x, b_index, row - step[0], column - step[1], channel)));
            }
        }
    }
}

static outcome compare_shifted(trial *t, const rig *a, const rig *b) {
    for (int i = 0; i < a->problem.streams; i++) {
        plane_shape y;
        rig_shape(a, CONV2D_Y, i, &y);
        for (int64_t j = 0; j < rig_elements(a, CONV2D_Y, i); j++) {
            int64_t channel = j % y.dims[3], column = j / y.dims[3] % y.dims[2],
                    row = j / y.dims[3] / y.dims[2] % y.dims[1];
            if (row == 0 || column == 0) continue;
            int64_t sample = j / y.dims[3] / y.dims[2] / y.dims[1];
            double moved = rig_get(b, CONV2D_Y, i, j),
                   was = rig_get(a, CONV2D_Y, i, at(&y, sample, row - 1, column - 1, channel));
            if (moved == was) continue;
            return broken(t, "stream %d, output [%lld][%lld]: %g before the shift, %g after", i, (long long)row,
                          (long long)column, was, moved);
        }
    }
    return HELD;
}

static outcome shifts_with_input(trial *t) {
    rig a = {0}, b = {0};
    if (!is_plain_forward(t)) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&a, t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed))
        found = could_not_run(t);
    else if (rig_create(&b, t->problem, t->device, t->kernel, IMAGE_EXACT, t->seed))
        found = could_not_run(t);
    if (found == HELD) {
        shift_input(&a, &b);
        found = rig_run(&a) || rig_run(&b) ? could_not_run(t) : compare_shifted(t, &a, &b);
    }
    rig_destroy(&a);
    rig_destroy(&b);
    return found;
}

/* ---- Addends ------------------------------------------------------------------------------- */

static const int addends[][2] = {{CONV2D_X, CONV2D_A}};

static outcome a_is_added(trial *t) { return addends_are_added(t, 1, addends, 1); }

static outcome a_may_be_dx(trial *t) { return addends_may_be_outputs(t, 1, addends, 1); }

static outcome linear_passes_are_adjoint(trial *t) { return t->problem->add ? NOT_HERE : passes_are_adjoint(t); }

/* With add1 a blanked sample has its a. */
static outcome blanked_do_not_leak(trial *t) { return t->problem->add ? NOT_HERE : blanked_samples_do_not_leak(t); }

/* ---- Known sizes --------------------------------------------------------------------------- */

/* Output sizes as every framework has them. */
static void known_sizes(suite *s) {
    static const struct {
        const char *text;
        int64_t height, width;
    } layers[] = {
        {"conv2d_fwd:f32:b1:hw416x544:c3:k64:rs7x7:st2:pad3", 208, 272},
        {"conv2d_fwd:f32:b1:hw104x136:c64:k128:rs3x3:st2:pad1", 52, 68},
        {"conv2d_fwd:f32:b1:hw13x17:c64:k128:rs1x1:st2", 7, 9},
        {"conv2d_fwd:f32:b1:hw86x86:c1:k4:rs7x7", 80, 80},
        {"conv2d_fwd:f32:b1:hw9x11:c1:k4:rs4x2:pad=same", 9, 11},
        {"conv2d_fwd:f32:b1:hw9x11:c1:k4:rs4x5:pad=same:dil3", 9, 11},
        {"conv2d_fwd:f32:b1:hw11x13:c3:k4:rs3x2:st2x1:dil1x4:pad0x2", 5, 13},
    };
    for (size_t j = 0; j < sizeof layers / sizeof layers[0]; j++) {
        braid_problem p;
        braid_status status = braid_problem_parse(layers[j].text, &p);
        suite_expect(s,
                     !status && conv2d_out_size(&p, 0) == layers[j].height && conv2d_out_size(&p, 1) == layers[j].width,
                     "%s: expected outputs of %lldx%lld, got %lldx%lld", layers[j].text, (long long)layers[j].height,
                     (long long)layers[j].width, (long long)conv2d_out_size(&p, 0), (long long)conv2d_out_size(&p, 1));
    }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static const property properties[] = {
    {"the passes are adjoint", linear_passes_are_adjoint},
    {"outputs are linear in data and weights", outputs_are_linear},
    {"an impulse returns the filter", impulse_returns_filter},
    {"a shifted input shifts the output", shifts_with_input},
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"NaN in blanked samples reaches nothing, they give 0", blanked_do_not_leak},
    {"a is added to dx", a_is_added},
    {"dx may lie where a does", a_may_be_dx},
    {"active samples equal a batch of their own", active_samples_alone},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

static void gradients(suite *s) {
    check_all_gradients(s, "conv2d_fwd:f64:n2:b2:hw5x4:c2,3:k3,2:rs3x2:pad1:bias1");
    check_all_gradients(s, "conv2d_fwd:f64:n1:b1:hw4x5:c2:k2:rs3x3:pad2x1:mode=reflect");
    check_all_gradients(s, "conv2d_fwd:f64:n1:b1:hw4x5:c2:k2:rs3x3:pad2x1:mode=replicate");
    check_all_gradients(s, "conv2d_fwd:f64:n1:b1:hw4x5:c2:k2:rs3x3:pad2x1:mode=circular");
    if (!s->whole) return;
    check_all_gradients(s, "conv2d_fwd:f64:n3:b5:hw5x6:c3,1,2:k4,2,3:rs3x3:st2:pad1:bias1:mask1");
    check_all_gradients(s, "conv2d_fwd:f64:n2:b2:hw7x8:c4:k8:rs3x3:st2x1:pad2x0:dil2x3:g2");
    check_all_gradients(s, "conv2d_fwd:f64:n1:b2:hw6x6:c4:k4:rs4x4:pad=same:g4:bias1");
    check_all_gradients(s, "conv2d_fwd:f64:n1:b1:hw1x1:c3:k2:rs3x3:pad1");
    check_all_gradients(s, "conv2d_fwd:f64:n2:b2:hw6x5:c2,1:k1,3:rs3x3:st3:pad2:extra1x0:mode=reflect:bias1:mask1");
    check_all_gradients(s, "conv2d_fwd:f64:n2:b2:hw6x5:c2,1:k1,3:rs3x3:st2:pad3:dil2:mode=replicate");
    check_all_gradients(s, "conv2d_fwd:f64:n2:b2:hw6x5:c2,1:k1,3:rs2x5:pad5:mode=circular:cp4:kp3");
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_CONV2D, .properties = properties, .scenarios = known_sizes, .gradients = gradients});
}
