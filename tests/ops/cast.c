/*
 * The case tests of cast: see tests/support/cases.h. A cast leaves nothing to tolerate: the reference rounds, and
 * every check asks for equality.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* ---- Properties ---------------------------------------------------------------------------- */

/* A wider format and back gives the bits that were there. */
static outcome wide_and_back(trial *t) {
    rig there, back = {0};
    braid_problem p = *t->problem;
    const kernel *k = t->kernel;
    if (op_of(&p)->planes(&p, CAST_X) == 0 || p.to == p.dtype) return NOT_HERE;
    if (p.to != BRAID_DTYPE_F64 && (p.to != BRAID_DTYPE_F32 || p.dtype == BRAID_DTYPE_F64)) return NOT_HERE;
    p.to = p.dtype;
    p.dtype = t->problem->to;
    if (kernel_refuses(k, &p, t->device)) return NOT_HERE;
    outcome found = HELD;
    if (rig_create(&there, t->problem, t->device, k, IMAGE_REAL, t->seed) || rig_run(&there) ||
        rig_create(&back, &p, t->device, k, IMAGE_REAL, t->seed))
        found = could_not_run(t);
    for (int i = 0; found == HELD && i < p.streams; i++)
        memcpy(rig_plane(&back, CAST_X, i), rig_plane(&there, CAST_Y, i), there.layout.plane_bytes[CAST_Y][i]);
    if (found == HELD && rig_run(&back)) found = could_not_run(t);
    for (int i = 0; found == HELD && i < p.streams; i++) {
        if (memcmp(rig_plane(&back, CAST_Y, i), rig_plane(&there, CAST_X, i), there.layout.plane_bytes[CAST_X][i]) != 0)
            found = broken(t, "stream %d comes back with other bits", i);
    }
    rig_destroy(&there);
    rig_destroy(&back);
    return found;
}

static const property properties[] = {
    {"to a wider format and back", wide_and_back},
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"a batch equals its parts", batch_splits},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

/* ---- Known answers ------------------------------------------------------------------------- */

/* Ties, the largest finite number and what is beyond it, the smallest and what is below it. */
static void f32_to_bf16(known *k) {
    static const double x[] = {1 + 0x1p-8,      1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-20, -1 - 0x1p-8, 0x1.fep127, 0x1.ffp127,
                               -0x1.fffffep127, 0x1p-126,   0x1.fffp-127,         -0x1p-130,   -0.0,       NAN,
                               INFINITY,        -INFINITY};
    static const double y[] = {1,        1 + 0x2p-7, 1 + 0x1p-7, -1,   0x1.fep127, INFINITY, -INFINITY,
                               0x1p-126, 0,          -0.0,       -0.0, NAN,        INFINITY, -INFINITY};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

static void f32_to_f16(known *k) {
    static const double x[] = {1 + 0x1p-11, 1 + 0x3p-11, 65504,     65519,     65520,    -65520, 0x1p-14,
                               0x1p-24,     0x1p-25,     0x1.8p-25, 0x1.8p-24, -0x1p-30, NAN,    -INFINITY};
    static const double y[] = {1,       1 + 0x1p-9, 65504,   65504,   INFINITY, -INFINITY, 0x1p-14,
                               0x1p-24, 0,          0x1p-24, 0x1p-23, -0.0,     NAN,       -INFINITY};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

/* From one half to the other: exact on the way to f32, one rounding on the way back. */
static void bf16_to_f16(known *k) {
    static const double x[] = {1 + 0x1p-7, -3.140625, 65280,     65536, 0x1p-24,
                               0x1.8p-25,  0x1p-25,   -0x1p-100, NAN,   INFINITY};
    static const double y[] = {1 + 0x1p-7, -3.140625, 65280, INFINITY, 0x1p-24, 0x1p-24, 0, -0.0, NAN, INFINITY};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

static void f16_to_bf16(known *k) {
    static const double x[] = {1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-10, 65504, 0x1p-24, -0.0, NAN, -INFINITY};
    static const double y[] = {1, 1 + 0x2p-7, 1 + 0x1p-7, 65536, 0x1p-24, -0.0, NAN, -INFINITY};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

/* Rounded to f32 first, these would lie on a tie and fall the other way. */
static void f64_to_bf16(known *k) {
    static const double x[] = {1 + 0x1p-8 + 0x1p-40, 1 + 0x3p-8 - 0x1p-40, -1 - 0x1p-8, 1e300, 1e-300};
    static const double y[] = {1 + 0x1p-7, 1 + 0x1p-7, -1, INFINITY, 0};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

static void f64_to_f32(known *k) {
    static const double x[] = {1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50, 0x1.fffffefp127, 1e39, 0x1p-149, 0x1p-151, NAN};
    static const double y[] = {1, 1 + 0x1p-23, 0x1.fffffep127, INFINITY, 0x1p-149, 0, NAN};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, y, COUNT(y), 0);
}

static void f32_as_it_is(known *k) {
    static const double x[] = {0x1p-149, -0.0, NAN, 1 + 0x1p-23, -INFINITY};
    known_set(k, CAST_X, x, COUNT(x));
    if (known_run(k)) known_expect(k, CAST_Y, x, COUNT(x), 0);
}

/* What lies behind the channels is not looked at, and becomes zero. */
static void lanes_behind(known *k) {
    float *x = rig_plane(&k->rig, CAST_X, 0);
    for (int pixel = 0; pixel < 6; pixel++) {
        for (int lane = 3; lane < 8; lane++) x[8 * pixel + lane] = NAN;
    }
    if (!known_run(k)) return;
    const uint16_t *y = rig_plane(&k->rig, CAST_Y, 0);
    int zeros = 0;
    for (int j = 0; j < 48; j++) zeros += j % 8 > 2 && y[j] == 0;
    suite_expect(k->s, zeros == 30, "%s with %s: expected 30 zeros behind the channels, got %d", k->text,
                 k->rig.kernel->name, zeros);
}

static void scenarios(suite *s) {
    known_each(s, "cast:f32:b1:hw2x7:c1:to=bf16", f32_to_bf16);
    known_each(s, "cast:f32:b1:hw7x1:c2:cp5:to=bf16", f32_to_bf16);
    known_each(s, "cast:f32:b1:hw2x7:c1:to=f16", f32_to_f16);
    known_each(s, "cast:bf16:b1:hw1x5:c2:to=f16", bf16_to_f16);
    known_each(s, "cast:f16:b1:hw1x4:c2:to=bf16", f16_to_bf16);
    known_each(s, "cast:f64:b1:hw1x1:c5:to=bf16", f64_to_bf16);
    known_each(s, "cast:f64:b1:hw1x7:c1", f64_to_f32);
    known_each(s, "cast:f32:b1:hw1x5:c1", f32_as_it_is);
    known_each(s, "cast:f32:b1:hw1x5:c1:to=f64", f32_as_it_is);
    known_each(s, "cast:f32:b1:hw2x3:c3:cp8:to=bf16", lanes_behind);
    known_each(s, "cast:f32:b1:hw2x3:c3:cp8:to=f16", lanes_behind);
    known_refused(s, "cast:f32:b1:hw2x3:c3:to=u8", "to=f32");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv, &(op_tests){.op = BRAID_OP_CAST, .properties = properties, .scenarios = scenarios});
}
