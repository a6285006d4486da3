/*
 * Races without running anything: times that a test makes up, on real candidates or on kernels that the
 * test makes up as well.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_FAKE_RACE_H
#define BRAID_TESTS_FAKE_RACE_H

#include "race/race.h"

/* Lists the candidates of a problem and gives those that can take part times of `seconds` and up; `mark` is stored as
 * the number of compared outputs, to know the writer again. */
void fake_race(const braid_context *context, const braid_problem *p, double seconds, int64_t mark, race *out);

/* The same times, candidate by candidate. */
int fake_race_equal(const race *a, const race *b);

/* Whether times that were read are sane: finite, positive and in order, and the choice that they lead to is one of the
 * candidates that can take part. */
int fake_race_sane(const braid_problem *p, race *r);

/* Copies the body of a wisdom entry and puts a right checksum behind it. Returns the bytes of the entry, 0: no room. */
size_t fake_entry(char *entry, size_t room, const char *body, size_t body_bytes);

/* Adds a made-up kernel of a kind (own, vendor, ref or chain) with an interval to a race; `cost` is its predicted time.
 * Returns its index. At most 8 a race. */
int fake_racer(race *r, braid_kind kind, const double low_median_high[3], double cost);

#endif
