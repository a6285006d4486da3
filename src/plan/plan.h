/*
 * A plan: the calls of a program with a kernel for each problem and an address for each tensor.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_PLAN_PLAN_H
#define BRAID_PLAN_PLAN_H

#include "model/model.h"
#include "race/planned_op.h"
#include "compile/program.h"

/* What a step does of its kernel: all of it, or one of the two parts of a kernel that packs weights, or of one that
 * makes its outputs of parts (kernel.h). */
typedef enum step_part { STEP_LAUNCH, STEP_PACK, STEP_RUN, STEP_PARTS, STEP_SUMS } step_part;

/* One kernel call, or a part of it, with its memory. */
typedef struct step {
    step_part part;
    braid_op *op; /* of the plan: steps with the same problem share it */
    buffers buffers;
    braid_segment segment;
    unsigned with, without; /* segments of a run in which it takes part: all of these, and none of those */
    int natural, made_again;
    int depends_on;     /* -1: not counted yet */
    int is_on_side;     /* 1: a recording may run it beside the steps behind it */
    int begins;         /* of a step on the side queue: the step in front of which a recording has it */
    int joins;          /* the last step on the side queue that must have ended before this one begins; -1: none */
    queued_work queued; /* zeros: not counted yet */
    int is_kept;        /* 1: a pack that holds as long as the parameters do not change */
    int group;          /* the number of the steps whose parts one step adds, and its own; 0: none */
    int first_part;     /* of a step that adds: the first of those steps */
} step;

/* 1 where a run of these segments has the step. */
static inline int step_runs(const step *s, unsigned segments) {
    return (s->segment & segments) && (s->with & segments) == s->with && !(s->without & segments);
}

#define PLAN_GROUP_CALLS 32  /* at most, of one group, ... */
#define PLAN_GROUP_PLANES 64 /* ... and their output planes */

#define PLAN_RECORDINGS 8 /* one for each set of segments */

struct braid_plan {
    braid_model *model;
    braid_plan_request request;
    program program;
    braid_op **ops; /* one for each distinct problem */
    int op_count;
    size_t op_room;
    /* Time of the choice: its end on measure_now's clock (0: it has not begun), what races took and what was predicted,
     * and the ratio of the two. */
    double deadline, raced_s, predicted_s, pace;
    step *steps;
    int step_count;
    size_t step_room;
    size_t *workspace_offset; /* of every call of the program */
    char *arena;              /* on the device */
    void *workspace;          /* of the steps behind the program: casts and updates */
    size_t workspace_bytes;
    void *staging; /* on the host: the largest input or output as it lies on the device */
    size_t staging_bytes;
    /* The update; NULL where the plan has none. */
    void *hyper, *segments;
    void *rates; /* on the host: what hyper is to be from the next update on */
    int rates_changed;
    int64_t segment_count;
    recording *recorded[PLAN_RECORDINGS]; /* NULL: not yet */
    int has_run[PLAN_RECORDINGS];
    int64_t packed_of; /* changes of the model when its kept packs were made; -1: never */
    int has_forward;   /* 1: the results of a forward run are there; a backward run uses their memory up */
    int has_gradients; /* 1: a backward run has been */
};

/* Adds the steps behind the program: gradients to f32, their norm, the optimiser. */
braid_status plan_add_update(braid_plan *plan);

/* The rates that were set since the last update, to the device. */
braid_status plan_send_rates(braid_plan *plan);

/* 1 where a call of a problem takes no longer than those that it stands for, on the device of a braid_context. */
int plan_fusing_pays(void *context, const braid_problem *p);

/* Chooses the kernels of all ops from `first` on, within the time of the plan. */
braid_status plan_choose_kernels(braid_plan *plan, int first);

/* Places the program with the workspace of its kernels. */
braid_status plan_place(braid_plan *plan);

/* A step of its own with a planned op; *made is the step, whose buffers the caller fills in. */
braid_status plan_add_step(braid_plan *plan, const braid_problem *problem, braid_segment segment, step **made);

/* 1 where the program, which keeps every activation, and what training takes beside it need at most half of the
 * device's free memory. Places the program. */
int plan_may_keep_all(braid_plan *plan);

/* BRAID_ERROR_MEMORY, naming the batch that fits, where the device has too little memory: before the kernels are known,
 * and when they are and everything is placed. */
braid_status plan_fits_without_workspace(braid_plan *plan);
braid_status plan_fits(const braid_plan *plan);

/* Groups of parameters, without the last one, which never changes. */
int plan_groups(const braid_plan *plan);

/* Where a tensor of the program lies. */
void *plan_address(const braid_plan *plan, int tensor);

/* Finds the calls whose packs are kept from run to run, before memory is placed. */
void plan_keep_packs(braid_plan *plan);

/* Makes two steps of every one whose kernel packs weights. From here on steps have numbers of their own. */
braid_status plan_split_packs(braid_plan *plan);

/* Finds the calls whose parts are added together, before memory is placed, and leaves the program placed: with as few
 * groups as take no more memory. */
braid_status plan_group_sums(braid_plan *plan);

/* Adds a step behind every group, which adds its parts. From here on steps have numbers of their own. */
braid_status plan_add_sums(braid_plan *plan);

/* The steps whose parts a step adds; their number, 0 where it does something else. */
int plan_summed_steps(const braid_plan *plan, const step *s, const step *members[PLAN_GROUP_CALLS]);

braid_status plan_run_step(const braid_plan *plan, const step *s);

/* Loads the code of all steps, when their buffers are known. */
braid_status plan_load(braid_plan *plan);

/* 1 where a part of a step's kernel reads or writes the planes of an operand. */
int step_touches(const step *s, step_part part, int slot);

/* Counts what every step must wait for. */
braid_status plan_find_dependencies(braid_plan *plan);

/* Chooses the steps that a recording puts on the side queue, before memory is placed; finds where they begin and are
 * joined, when it is. */
braid_status plan_put_on_side(braid_plan *plan);
void plan_find_joins(braid_plan *plan);

#endif
