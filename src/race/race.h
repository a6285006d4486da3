/*
 * The race: every candidate of a problem, first checked, then timed in turns, then one chosen. Ours wins only
 * if the interval of its time over that of the fastest vendor's lies below 1, the floor of noise counted in; a tie
 * goes to the vendor, because its code has more users. Beside other work times mislead, whatever their intervals say:
 * then the cost model chooses, and the race is not remembered.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_RACE_H
#define BRAID_RACE_RACE_H

#include "core/ratio.h"
#include "race/context.h"
#include "race/load.h"

#define RACE_MAX_CANDIDATES 64
#define RACE_TEXT 256

/* One candidate, with room for its reason. */
typedef struct racer {
    const kernel *kernel;
    char reason[RACE_TEXT];   /* empty: it takes part */
    int is_open;              /* 1: whether it can do the problem was not asked yet */
    int lacks_memory;         /* 1: it takes no part for want of memory, and may at another time */
    double median, low, high; /* of its time in this race, and its interval */
    ratio over;               /* its time over that of one candidate, the same for all */
    double max_err;
    int64_t compared;
    size_t workspace_bytes;
} racer;

typedef struct race {
    racer racers[RACE_MAX_CANDIDATES];
    int count;
    int winner; /* -1: none */
    char why[RACE_TEXT];
    int from_wisdom;
    int is_brief; /* 1: slow candidates may have taken no part, and the winner alone was checked on the problem */
    int is_busy;  /* 1: other work ran beside it: its times choose nothing */
    char load[LOAD_TEXT];
    double floor;         /* share by which two measurements of one ratio differ */
    const device *device; /* borrowed; NULL: costs are those of the CPU */
} race;

/* Lists every kernel of the op and pass for this device, with a reason where it cannot take part. */
void race_list(const braid_context *context, const braid_problem *p, race *out);

/* The same at once: a GPU's vendor libraries, which take their time over each problem, are not asked. race_ask asks for
 * those that are still open, or for one of them. */
void race_list_quick(const braid_context *context, const braid_problem *p, race *out);
void race_ask(const braid_context *context, const braid_problem *p, race *r);
void race_ask_one(const braid_context *context, const braid_problem *p, racer *one);

/* Leaves out a reference that would only waste the time of a race: predicted slow, and not the only candidate. */
void race_spare_reference(const braid_problem *p, race *r);

/* Leaves out candidates that are predicted to be far slower than the best of ours: for a race of many problems in
 * little time. Vendor kernels stay. */
void race_spare_slow(const braid_problem *p, race *r);

/* Predicted seconds of one launch of the best candidate; 0: there is none. */
double race_predict_best(const braid_problem *p, const race *r);

/* Predicted seconds of checking and timing a list of candidates on a device, as short as it can be. */
double race_predict(const braid_problem *p, const device *d, const race *r);

/* Checks every candidate; a wrong one gets its failure as reason. */
braid_status race_check(const braid_context *context, const braid_problem *p, uint64_t seed, race *r);

/* The same, a large problem with fewer samples of its batch. */
braid_status race_check_quick(const braid_context *context, const braid_problem *p, uint64_t seed, race *r);

/* The same in two parts, for many races in little time: all candidates on small problems; then, when they were timed,
 * the one that would be chosen on the problem itself, with fewer samples where it is large. One that fails there loses
 * its time, and the next is checked. */
braid_status race_check_small(const braid_context *context, const braid_problem *p, uint64_t seed, race *r);
braid_status race_check_winner(const braid_context *context, const braid_problem *p, uint64_t seed, race *r);

/* For a kernel that is chosen by times that were read: it is checked on a problem of a millisecond, once a process. One
 * that is not right there loses its times. */
braid_status race_prove(const braid_context *context, const braid_problem *p, racer *one, int *right);

/* The first candidate that takes no part for want of memory; NULL: none. */
const racer *race_lacking(const race *r);

/* Forgets the times and the winner, to race once more; what the checks found stays. */
void race_forget_times(race *r);

/* Times the candidates that have no reason, after a wait where the machine is busy. */
braid_status race_time(braid_context *context, const braid_problem *p, const braid_plan_options *options, race *r);

/* The candidate that others are measured by: the fastest timed vendor's, else the chain, else the reference, else the
 * fastest of ours; -1: nothing was timed. */
int race_baseline(const race *r);

/* The time of one over that of another, with the floor of noise in its interval. */
interval race_ratio(const race *r, const racer *one, const racer *other, certainty how);

/* Chooses by measured time; by predicted cost where nothing was timed or the machine was busy. Sets winner and why. */
void race_decide(const braid_problem *p, race *r);

/* Chooses for level R2, where two kernels may give different bits, each the same at any number of threads: by
 * the predicted cost of one thread, whatever was timed. */
void race_decide_for_threads(const braid_problem *p, race *r);

#endif
