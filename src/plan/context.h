/*
 * A context: one device, its wisdom folder and the rules by which kernels are chosen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_PLAN_CONTEXT_H
#define BRAID_PLAN_CONTEXT_H

#include <sys/types.h>

#include "kernels/kernel.h"

#define CONTEXT_CHOICES 64

/* A kernel chosen for a problem: src/plan/choices.h. */
typedef struct choice {
    uint64_t key; /* 0: none */
    const kernel *kernel;
} choice;

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
    chooser chooser; /* of the device */
};

/* Refuses NULL and contexts from before a fork; makes the context's thread count current. */
braid_status context_enter(const braid_context *context, const char *caller);

/* Why the rules of the context leave a kernel out, in words; NULL: they do not. */
const char *context_excludes(const braid_context *context, const kernel *k);

#endif
