/*
 * What the tests of the optimisers share: the properties that hold for each of them, and known answers of ten steps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_UPDATE_TESTS_H
#define BRAID_TESTS_UPDATE_TESTS_H

#include "tests/support/cases.h"

extern const property update_properties[];

/* Our kernels give the bits of one of them, and of the reference in f32 where `of_reference`. Any op. */
outcome same_bits_everywhere(trial *t, int of_reference);

#define TEN_STEPS_ELEMENTS 9

/* What ten updates leave of w, m and v (zeros where there is none). */
typedef struct ten_steps {
    double w[TEN_STEPS_ELEMENTS], m[TEN_STEPS_ELEMENTS], v[TEN_STEPS_ELEMENTS];
} ten_steps;

/*
 * Ten updates with "op:DTYPE:c9:g3:seg6:OPTIONS", to the bit in f32 and within 1e-14 in f64. Element i begins as
 * w = ((3 i mod 7) - 3) / 4, m = v = 0; its gradient at step t is ((7 i + 5 t) mod 11 - 5) / 8, scaled by 0.3; the
 * segments {0,0} {3,1} {5,2} {5,2} {6,0} {8,2}, one of them empty; the groups have lr, decay 0.1, 0.01 and 0.03125, 0,
 * and the last is frozen. The answers come from a script of its own that rounds every operation of PyTorch's
 * single-tensor optimisers to the dtype; factors without an element are made in double:
 *
 *   g = g * scale; not adamw: g = g.add(w, alpha=decay)
 *   sgd:     m = m.mul(mom).add(g); g = nesterov ? g.add(m, alpha=mom) : m; w = w.add(g, alpha=-lr)
 *   adam:    m = m.lerp(g, 1 - beta1); v = v.mul(beta2).addcmul(g, g, value=1 - beta2)
 *            w = w.addcdiv(m, (v.sqrt() / sqrt(1 - beta2**t)).add(eps), value=-(lr / (1 - beta1**t)))
 *   adamw:   w = w.mul(1 - lr * decay), then as adam
 *   rmsprop: v = v.mul(alpha).addcmul(g, g, value=1 - alpha); d = v.sqrt().add(eps)
 *            w = w.addcdiv(g, d, value=-lr), or m = m.mul(mom).addcdiv(g, d); w = w.add(m, alpha=-lr)
 */
void update_ten_steps(suite *s, const char *op, const char *options, const ten_steps *f32, const ten_steps *f64);

/* Step 0 counts as 1; a table that cannot be meant is refused before anything is written. */
void update_situations(suite *s, const char *op);

#endif
