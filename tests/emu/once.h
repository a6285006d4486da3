/*
 * One run of a kernel on given memory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_EMU_ONCE_H
#define BRAID_TESTS_EMU_ONCE_H

#include "race/image.h"

/* `block`, laid out as the image says, goes in, and comes back with its outputs. */
braid_status run_once(const kernel *k, device *d, const braid_problem *p, const image *m, void *block);

#endif
