/*
 * Correct before fast: runs a kernel on a filled image and compares it with the double reference.
 * A small problem is compared whole, a large one in at least 1,024 sampled outputs, the first and the
 * last of every plane among them. The truth is computed once and serves all candidates.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_VERIFY_H
#define BRAID_RACE_VERIFY_H

#include "kernels/ref/ref.h"
#include "race/image.h"

typedef struct truth_sample {
    int slot, plane;
    int64_t index; /* dense */
    ref_value expected;
    double tile_magnitude; /* for kernels of Winograd's; that of `expected` until tiles are measured */
} truth_sample;

/* One problem, filled and with its truth; the candidates take turns on it. */
typedef struct verifier {
    braid_problem problem;
    device *device;
    image_mode mode;
    image layout;
    unsigned char *before, *after, *again; /* host blocks: as filled, after a launch, after a second one */
    void *on_device;                       /* the same block on the device */
    void *fresh;                           /* and there as filled; NULL: `before` serves */
    truth_sample *samples;
    int64_t sample_count;
    int tiles_are_measured;
} verifier;

/* Outputs that have terms, and how many of them are expected to be zero by chance: such a zero proves little. A ReLU
 * makes zeros of half its inputs; those near 0 have terms, and are neither. */
typedef struct verify_zeros {
    int64_t zeros, with_terms;
} verify_zeros;
void verify_count_zeros(const braid_problem *p, const truth_sample *s, verify_zeros *count);

/* 1 where too many outputs are zero for the case to be trusted. */
int verify_mistrusts(const verify_zeros *count);

/* What a kernel did. `failure` is NULL where it is right, else in words. */
typedef struct verdict {
    char failure[256];
    int lacks_memory; /* 1: it failed for want of memory, and may do at another time */
    double max_err;   /* largest error as a share of the bound; in exact mode 0 or a failure */
    int64_t compared;
} verdict;

braid_status verifier_create(const braid_problem *p, device *d, image_mode mode, uint64_t seed, verifier *out);
void verifier_destroy(verifier *v);

/* Readies, runs twice and judges one kernel. A status other than BRAID_OK means that the check itself could not be
 * done; a wrong, failing or non-deterministic kernel is a verdict. */
braid_status verifier_judge(verifier *v, const kernel *k, verdict *out);

/* A problem of the same kind, small enough to compare whole. True where that is another one. */
int verify_shrink(const braid_problem *p, braid_problem *small);

/* Real mode on the shrunk problem where that is another one, and exact mode on the smaller of both where the pass has
 * it. Fills in the verdicts. */
braid_status verify_small(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                          verdict *verdicts);

/* One kernel, in one mode, on a problem of the same kind that takes a millisecond or so: the shrunk one with few
 * samples, or the next one that the kernel can do. */
braid_status verify_once(const braid_problem *p, device *d, const kernel *k, verdict *out);

/* Real mode on the problem itself, for kernels whose verdict is no failure yet. Adds to the verdicts. */
braid_status verify_real(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                         verdict *verdicts);

/* Both. */
braid_status verify_kernels(const braid_problem *p, device *d, const kernel *const *kernels, int count, uint64_t seed,
                            verdict *verdicts);

#endif
