/*
 * The modes of the case tests that judge nothing: support and perf.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_CASE_MODES_H
#define BRAID_TESTS_CASE_MODES_H

#include "tests/support/case_list.h"
#include "tests/support/cases.h"

/* Prints one row for each pass, dtype and candidate: the share of the list it can do, and its reasons where it
 * cannot. Expects a reference for every pass and compute dtype, and a reason in words for every refusal. */
void support_matrix(suite *s, const case_list *list, int print);

/* Races every problem and prints each candidate's time. */
braid_status perf_table(suite *s, const case_list *list);

/* Why a kernel cannot be exercised on this machine at all, in words; NULL: it can. */
const char *cannot_run_here(const kernel *k, const device *d);

#endif
