/*
 * The case tests of maxpool: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Known answers ------------------------------------------------------------------------- */

/* Windows of three, one apart: a NaN beats every number, -0.0 does not beat 0, and padding beats nothing. */
static const double line[] = {-1, NAN, 5, 0, -0.0, -INFINITY, -INFINITY, -INFINITY};

static void takes(known *k) {
    static const double y[] = {NAN, NAN, NAN, 5, 0, -0.0, -INFINITY, -INFINITY};
    known_set(k, MAXPOOL_X, line, COUNT(line));
    if (known_run(k)) known_expect(k, MAXPOOL_Y, y, COUNT(y), 0);
}

/* The gradient goes to the same places; of equal values the first has it. */
static void gives(known *k) {
    static const double dy[] = {1, 2, 4, 8, 16, 32, 64, 128};
    static const double dx[] = {0, 7, 8, 16, 32, 64, 128, 0};
    known_set(k, MAXPOOL_X, line, COUNT(line));
    known_set(k, MAXPOOL_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, MAXPOOL_DX, dx, COUNT(dx), 0);
}

/* Of several NaN the last has it, in row order; of equal values the first. */
static void gives_in_square(known *k) {
    static const double x[] = {3, NAN, NAN, 9, /**/ 7, 7, 7, 7};
    static const double dy[] = {5, 6}, dx[] = {0, 0, 5, 0, /**/ 6, 0, 0, 0};
    known_set(k, MAXPOOL_X, x, COUNT(x));
    known_set(k, MAXPOOL_Y, dy, COUNT(dy));
    if (known_run(k)) known_expect(k, MAXPOOL_DX, dx, COUNT(dx), 0);
}

/* A dilated window that straddles the input has no place in it. */
static void only_padding(known *k) {
    static const double y[] = {-INFINITY};
    if (known_run(k)) known_expect(k, MAXPOOL_Y, y, 1, 0);
}

static void only_padding_gradient(known *k) {
    static const double dx[] = {0};
    if (known_run(k)) known_expect(k, MAXPOOL_DX, dx, 1, 0);
}

/* Sizes that frameworks give: size, window, stride, padding, dilation, ceil, output. */
static const int64_t sizes[][7] = {
    {34, 4, 4, 0, 1, 1, 9},   {34, 4, 4, 0, 1, 0, 8}, {104, 3, 2, 1, 1, 0, 52}, {112, 3, 2, 0, 1, 1, 56},
    {112, 3, 2, 0, 1, 0, 55}, {2, 2, 2, 1, 1, 1, 2},  {3, 2, 2, 1, 1, 1, 2},    {5, 1, 3, 0, 1, 1, 2},
    {4, 1, 3, 0, 1, 1, 2},    {2, 3, 2, 0, 1, 1, 1},  {1, 3, 3, 0, 1, 1, 1},    {5, 2, 3, 0, 2, 1, 2},
    {7, 3, 2, 1, 2, 0, 3},    {7, 3, 2, 2, 2, 1, 4},  {10, 3, 3, 1, 1, 1, 4},   {6, 2, 4, 1, 1, 1, 2},
};

static void expect_sizes(suite *s) {
    for (int j = 0; j < COUNT(sizes); j++) {
        const int64_t *n = sizes[j];
        braid_problem p = {
            .op = BRAID_OP_MAXPOOL, .streams = 1, .batch = 1, .in_channels = {1}, .ceil_mode = n[5] != 0};
        for (int axis = 0; axis < 2; axis++) {
            p.size[axis] = n[0];
            p.filter[axis] = n[1];
            p.stride[axis] = n[2];
            p.padding[axis] = n[3];
            p.dilation[axis] = n[4];
        }
        braid_status status = braid_problem_check(&p);
        int64_t got = status ? -1 : maxpool_out_size(&p, 0);
        suite_expect(s, got == n[6],
                     "maxpool of %lld with window %lld stride %lld pad %lld dil %lld ceil %lld: %lld, got %lld",
                     (long long)n[0], (long long)n[1], (long long)n[2], (long long)n[3], (long long)n[4],
                     (long long)n[5], (long long)n[6], (long long)got);
    }
}

static void scenarios(suite *s) {
    known_each(s, "maxpool_fwd:f32:b1:hw1x8:c1:rs1x3:pad0x1", takes);
    known_each(s, "maxpool_fwd:f64:b1:hw8x1:c1:rs3x1:pad1x0", takes);
    known_each(s, "maxpool_bwd_data:f32:b1:hw1x8:c1:rs1x3:pad0x1", gives);
    known_each(s, "maxpool_bwd_data:f32:b1:hw8x1:c1:rs3x1:pad1x0:cp3", gives);
    known_each(s, "maxpool_bwd_data:f32:b2:hw2x2:c1:rs2x2", gives_in_square);
    known_each(s, "maxpool_fwd:f32:b1:hw1x1:c1:rs2x2:dil2:pad1", only_padding);
    known_each(s, "maxpool_bwd_data:f32:b1:hw1x1:c1:rs2x2:dil2:pad1", only_padding_gradient);
    known_refused(s, "maxpool_fwd:f32:b1:hw4x4:c1:rs3x3:pad2", "at most half");
    known_refused(s, "maxpool_fwd:f32:b1:hw2x2:c1:rs3x3", "to fit");
    expect_sizes(s);
}

/* ---- Gradients ----------------------------------------------------------------------------- */

/* No two values are close: there is no derivative where the largest changes. 7919 is a prime. */
static void all_different(rig *r) {
    for (int i = 0; i < r->problem.streams; i++) {
        int64_t elements = rig_elements(r, MAXPOOL_X, i);
        for (int64_t j = 0; j < elements; j++) {
            rig_set(r, MAXPOOL_X, i, j, 0.01 * (double)(j * 7919 % elements) - 0.005 * (double)elements);
        }
    }
}

static void gradients(suite *s) {
    static const int slots[3] = {MAXPOOL_X, MAXPOOL_Y, MAXPOOL_DX};
    known_gradient(s, "maxpool_fwd:f64:n2:b2:hw7x6:c2,3:rs3x3:st2:pad1", slots, all_different);
    known_gradient(s, "maxpool_fwd:f64:n1:b1:hw9x8:c2:rs2x3:st1x2:dil2x1:ceil1:cp4", slots, all_different);
}

int main(int argc, char **argv) {
    return cases_main(
        argc, argv,
        &(op_tests){.op = BRAID_OP_MAXPOOL, .properties = properties, .scenarios = scenarios, .gradients = gradients});
}
