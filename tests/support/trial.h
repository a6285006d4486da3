/*
 * A whole network on trial: network, context, model and plan in one, with random inputs and labels that depend on
 * the name and the seed alone, and everything that can be read as doubles. A step that does not succeed fails the
 * test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_TRIAL_H
#define BRAID_TESTS_TRIAL_H

#include "plan/plan.h"

/* What is tried. Zero means the default: the CPU, f32, a training plan, 1 thread, every candidate. */
typedef struct trial_setup {
    const char *device;
    const char *kind; /* of network; NULL: `net` is built by the caller, and taken */
    braid_net *built;
    braid_net_options net;
    braid_dtype dtype;
    int tf32;
    uint64_t seed; /* of the initial parameters */
    braid_plan_request request;
    int threads;
    braid_repro repro;
    const char *disable;
} trial_setup;

typedef struct trial {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_plan *plan;
} trial;

#define FORWARD BRAID_SEGMENT_FORWARD
#define BACKWARD BRAID_SEGMENT_BACKWARD
#define UPDATE BRAID_SEGMENT_UPDATE

/* The call succeeds, or the test fails with its message. */
#define OK(call)                                                            \
    do {                                                                    \
        if ((call) != BRAID_OK) fail_msg("%s: %s", #call, braid_message()); \
    } while (0)

/* Kernels are chosen by estimate. */
trial trial_open(const trial_setup *setup);
void trial_close(trial *t);

/* Another plan of the same model; for braid_plan_destroy. */
braid_plan *trial_plan(const trial *t, const braid_plan_request *request);

/* Parameters (and, with states, running statistics) that are nothing special: each number is moved at random, by as
 * much as numbers of its tensor are large. */
void trial_shake(trial *t, uint64_t seed, int states);

/* N(0,1) into every input of a plan, and labels or targets: sample b of the batch is sample first + b of an endless
 * list. */
void trial_feed(const trial *t, braid_plan *plan, uint64_t seed, int64_t first);

void trial_run(braid_plan *plan, unsigned segments);

/* A learning rate and a weight decay for all groups. */
void trial_set_rates(braid_plan *plan, double learning_rate, double weight_decay);

double trial_loss(braid_plan *plan);

/* The output as [B][C]; *count is its elements. For memory_free, as all below. */
double *trial_output(braid_plan *plan, int64_t *count);

/* A parameter or state, or the gradient of a parameter, in the layout of files. */
double *trial_read(const trial *t, const char *name, int64_t *count);
double trial_read_one(const trial *t, const char *name); /* the first of its numbers */
double *trial_gradient(const trial *t, const char *name, int64_t *count);
void trial_write(const trial *t, const char *name, const double *values, int64_t count);

/* Bits of all parameters and states, keys of random numbers included: the same where nothing changed. */
uint64_t trial_hash(const trial *t);

/* A tensor of a program as doubles: [B * H * W][C] without what lies between channels and pitch. */
double *trial_tensor(const braid_plan *plan, int tensor, int64_t *count);

/* Every value of the graph as a forward run makes it, plane by plane, though its memory is used again later on. */
typedef struct trial_record {
    int planes;
    double **values; /* NULL: no call makes it */
    int64_t *counts;
} trial_record;
trial_record trial_record_forward(braid_plan *plan); /* runs the segment forward, without turning keys */
void trial_record_free(trial_record *r);

/* Largest difference as a share of the largest expected value. */
double trial_difference(const double *got, const double *expected, int64_t count);

#endif
