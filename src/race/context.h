/*
 * A context: one device, its wisdom folder and the rules by which kernels are chosen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_CONTEXT_H
#define BRAID_RACE_CONTEXT_H

#include <sys/types.h>
#include <time.h>

#include "kernels/kernel.h"

#define CONTEXT_CHOICES 64

/* A kernel chosen for a problem: src/race/choices.h. */
typedef struct choice {
    uint64_t key; /* 0: none */
    const kernel *kernel;
} choice;

/* By how much two measurements of one thing differ here, as shares: src/race/noise.h. */
typedef struct noise {
    double within;   /* of a ratio within a race */
    double between;  /* of a time from one run to another */
    int is_measured; /* 0: the usual ones, because nothing was measured yet */
} noise;

/* The entries in the folder of the wisdom, as it was last listed: src/race/wisdom.c. */
typedef struct wisdom_listing {
    struct wisdom_listed *names;
    size_t count, room;
    struct timespec changed; /* the folder, before it was listed */
    int is_known;
} wisdom_listing;

struct braid_context {
    device *device;
    int threads;
    braid_repro repro;
    char *cache_dir;                            /* NULL: keep no wisdom */
    char *disable;                              /* "onednn,openblas"; may be empty */
    pid_t process;                              /* that created it: a context is refused after fork */
    braid_ceilings ceilings[BRAID_DTYPE_COUNT]; /* zero: not measured yet */
    choice choices[CONTEXT_CHOICES];
    unsigned next_choice;
    noise floors; /* zero: not asked for yet */
    int is_noise_tried;
    chooser chooser; /* of the device */
    wisdom_listing listing;
};

/* Refuses NULL and contexts from before a fork; makes the context's thread count current. */
braid_status context_enter(const braid_context *context, const char *caller);

/* How many CPUs a kernel of its device takes. */
int context_threads(const braid_context *context);

/* Why the rules of the context leave a kernel out, in words; NULL: they do not. */
const char *context_excludes(const braid_context *context, const kernel *k);

#endif
