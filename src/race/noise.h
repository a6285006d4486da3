/*
 * The floor of noise of this machine: by how much two measurements of one and the same kernel differ, although the
 * intervals of neither say so. Measured by racing a kernel against itself, each time on fresh memory, and kept
 * beside the wisdom. There are two: of the ratio within one race, where both take turns, and of the time from one run
 * to the next.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_NOISE_H
#define BRAID_RACE_NOISE_H

#include "race/context.h"

/* The floors of a context: as measured now or before, else the usual ones, which are large. Measures where there are
 * `seconds` for it (a race is as long at least) and nothing is known. */
noise noise_floor(braid_context *context, double seconds);

/* From `count` races of a kernel against itself: the logarithm of each one's ratio, and the times of the kernel. 95 of
 * 100 ratios, and of 100 pairs of runs, differ by no more than the floors. */
noise noise_of(const double *logs, const double *seconds, int count);

/* The text of the file and back; for tests and fuzzing. A text that is not as noise_write made it is refused. */
braid_status noise_write(const char *key, const noise *n, char **text, size_t *bytes);
braid_status noise_read(const char *text, size_t bytes, const char *key, noise *n);

#endif
