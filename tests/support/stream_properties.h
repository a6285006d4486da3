/*
 * Properties that hold for every op: streams are independent, blanked samples do not exist, the number of
 * threads leaves no trace. Each is the `check` of a `property` (tests/support/cases.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_STREAM_PROPERTIES_H
#define BRAID_TESTS_STREAM_PROPERTIES_H

#include "tests/support/cases.h"

/* Streams in another order give the same planes in that order, bit for bit. Ours and the reference. */
outcome streams_permute(trial *t);

/* All streams in one call and each in a call of its own give the same bits. Ours and the reference. */
outcome streams_stand_alone(trial *t);

/* NaN in every input of one stream leaves the bits of the others alone. */
outcome streams_do_not_leak(trial *t);

/* NaN in the blanked samples changes no bit of any output, and their own outputs are exactly zero. */
outcome blanked_samples_do_not_leak(trial *t);

/* The active samples of a masked batch give what they give in an unmasked batch of their own, exactly on integers. */
outcome active_samples_alone(trial *t);

/* Samples in another order give the same samples in that order, bit for bit. For ops without sums over samples. */
outcome samples_permute(trial *t);

/* Two parts of a batch give the outputs of the whole; sums over the batch add up, exactly on integers. */
outcome batch_splits(trial *t);

/* 1, 2, 3 and 7 threads give the same bits. Kernels that promise it. */
outcome threads_leave_no_trace(trial *t);

#endif
