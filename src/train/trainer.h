/*
 * A trainer and its parts: trainer.c (options, life), trainer_plans.c (plans with their inputs), trainer_step.c
 * (batches, updates), trainer_verify.c (updates done twice), trainer_late.c (what the device tells of them,
 * divergence), trainer_prove.c (what may be saved), trainer_run.c (epochs), trainer_look.c (evaluation),
 * trainer_state.c (the state of a run in a checkpoint), trainer_save.c (the folder of a run), trainer_record.c
 * (metrics).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_TRAINER_H
#define BRAID_TRAIN_TRAINER_H

#include <stdbool.h>

#include "braid_train.h"
#include "core/files.h"
#include "train/events.h"
#include "train/feed.h"
#include "train/generations.h"
#include "train/history.h"
#include "train/modality.h"
#include "train/rates.h"
#include "train/schedule.h"
#include "train/stopping.h"

#define TRAINER_MOST_PASSES 16
#define TRAINER_NAMED 5 /* samples in a message */
#define TRAINER_LAST "last.safetensors"

/* A plan for one size of batch, with its inputs. */
typedef struct pass {
    braid_phase phase;
    int64_t batch;
    int mask;
    braid_plan *plan;
    feed feed;
} pass;

/* What is summed up over the batches of a part. */
typedef struct tally {
    double loss;
    int64_t correct, samples, batches;
} tally;

/* Loss scaling of f16; a scale of 1 for all others. */
typedef struct scaler {
    double scale;
    int64_t good, skipped; /* updates in a row */
    int64_t all_skipped;
} scaler;

/* A batch that the device has, and whose metrics are on their way. */
typedef struct late_batch {
    reading *reading;
    tally *sum;                 /* that its loss goes into; NULL: none */
    int is_learned, is_updated; /* 1: it is learned from; an update is behind it */
    int64_t samples, step;      /* step: the number of its update */
    int64_t ids[TRAINER_NAMED];
} late_batch;

/* What was done with a batch: nothing but a look; forward and backward; an update behind them, or alone. */
typedef enum late_kind { LATE_LOOKED_AT, LATE_LEARNED, LATE_UPDATED } late_kind;

/* Where the run is: all of it is in a checkpoint, and is changed between two updates alone. */
typedef struct position {
    int64_t epoch, batch; /* epochs done; batches done in this one */
    int64_t step;         /* updates done or skipped */
    tally train;          /* of this epoch so far */
    scaler scaler;
    schedule_state schedule;
    stopping_state stopping;
    stopping_state best;              /* the best metric, by however little */
    braid_train_metrics best_metrics; /* of that epoch; no batches: there was none */
    double best_train_loss;           /* of an epoch; NaN: not known */
} position;

struct braid_trainer {
    braid_model *model;
    braid_train_options options;
    int streams, groups, has_labels;
    rates_groups group_names;
    braid_rates rates[BRAID_MAX_GROUPS];
    schedule schedule;
    char *schedule_given; /* as the run was asked for it: what it leaves out follows from the epochs */
    modality_options modality;
    stopping_options stopping, best;
    position at;
    braid_train_metrics validated;                  /* of the last epoch */
    braid_train_metrics without[BRAID_MAX_STREAMS]; /* of the last epoch, with each stream blanked */
    double train_without[BRAID_MAX_STREAMS];        /* likewise, the accuracy of some training samples */
    bool looked_without;                            /* there are such for the last epoch */
    double norm, rate;
    /* Batches on the device: a ring; how many were given to it and how many were looked at. */
    late_batch *late;
    int late_count;
    int64_t asked, taken;
    late_batch learned; /* the last one that was learned from; no samples: none */
    bool is_scaling;    /* the device follows this run's scaler */
    bool validating;    /* a run looks at samples: what is not finite has diverged */
    bool diverged;      /* nothing may be saved any more */
    bool torn;          /* nor here: a step that had begun did not come to its end */
    int64_t proven;     /* the step whose parameters are known to give a finite loss; -1: none */
    pass passes[TRAINER_MOST_PASSES];
    int pass_count;
    pass *trained;       /* of the batch that came last */
    int keeps;           /* keep_all of plans for training, by the first one or the checkpoint; 0: not known yet */
    double seconds_left; /* for the choice of kernels */
    /* Accumulation: the sum of the gradients of `gathered` batches, in twins of the parameters. */
    braid_op *add;
    void *sum, *spare;
    int64_t gathered, gathered_samples;
    unsigned char *blanked; /* one for each sample of a batch */
    uint32_t *masks;        /* words for each stream */
    void *kept;             /* of trainer_verify.c: what a step changes, on the host, before it; NULL: not needed yet */
    bool stop;              /* the caller asked for it */
    bool has_summary;       /* written since the run went on */
    bool restored;          /* the model is that of the best epoch: nothing may be saved any more */
    files_lock lock;        /* of the folder, as long as the trainer lives */
    int made_folders;       /* that were not there before; removed with a trainer that has the lock, where empty */
    generations last, best_files;
    int pause_ms;                  /* before a save that the disk refused is tried again; then twice as long */
    bool last_failed, best_failed; /* the disk refused what came last of each; best_failed is in
                                    * checkpoints */
    history history;
    bool made_metrics;   /* its file was not there when the run began */
    history_place saved; /* of the last checkpoint */
    events events;
};

/* ---- trainer.c ---- */

/* The rates of all groups: those of a checkpoint (NULL: the defaults), as far as the options give no others. */
braid_status trainer_set_rates(braid_trainer *t, const braid_rates *saved);

/* As the command line spells them. */
const char *trainer_optimiser_name(const braid_trainer *t);
const char *trainer_loss_name(const braid_trainer *t);

/* ---- trainer_plans.c ---- */

/* The plan for so many samples, made where there is none yet. Borrowed until the next call. */
braid_status trainer_pass(braid_trainer *t, braid_phase phase, int64_t batch, int mask, pass **out);
void trainer_forget_passes(braid_trainer *t);

/* ---- trainer_step.c ---- */

/* Plans the first step, where the number of samples is known, before any of them is read: a plan that does not fit
 * costs no reading. */
braid_status trainer_plan_first(braid_trainer *t);

/* Refuses a run one of whose steps failed when it had begun: for want of memory, or with its device. */
braid_status trainer_check_whole(const braid_trainer *t, const char *caller);

/* Forward and backward of one batch, and, where enough are gathered, an update. */
braid_status trainer_learn(braid_trainer *t, const braid_train_batch *batch);

/* The update of what is gathered; nothing where nothing is. */
braid_status trainer_update(braid_trainer *t);
int trainer_accumulates(const braid_trainer *t);

/* ---- trainer_verify.c ---- */

/* Work of an update, all of it on the device: from the same state it must lead to the same bits, and it changes nothing
 * but what the device holds. */
typedef braid_status trainer_work(braid_trainer *t, void *user);

/* Does some twice from the same state, and compares what it has changed: BRAID_ERROR_DEVICE where that differs. */
braid_status trainer_compute_twice(braid_trainer *t, trainer_work *work, void *user);

/* ---- trainer_late.c ---- */

braid_status trainer_late_open(braid_trainer *t);
void trainer_late_close(braid_trainer *t);

/* Gives the device the state of the scaler, once. */
braid_status trainer_start_scaling(braid_trainer *t);

/* Behind a run: its metrics go into `sum` (NULL: into none) as soon as they are there. May look at earlier batches, and
 * fail for one of them. `sum` must live until trainer_catch_up or trainer_look_away. */
braid_status trainer_expect(braid_trainer *t, const pass *p, tally *sum, late_kind kind);

/* Looks at all batches that the device has: before a save, before anything is told of an epoch. */
braid_status trainer_catch_up(braid_trainer *t);

/* Behind the batches of an epoch, before it is validated: fails where a running statistic is no number and no batch has
 * shown it. */
braid_status trainer_check_epoch(braid_trainer *t);

/* Forgets them, after a failure. */
void trainer_look_away(braid_trainer *t);

/* BRAID_ERROR_DIVERGED, of a checkpoint that was refused for the reason that fail_message tells: with step, samples and
 * the way out. */
braid_status trainer_refuse_save(braid_trainer *t);

/* ---- trainer_prove.c ---- */

/* BRAID_ERROR_DIVERGED where the parameters as they are give no finite loss for the batch that they were learned from
 * last: finite numbers can be too large to compute with. Nothing is changed. Of parameters that gave one already, and
 * where nothing was learned, there is nothing to do. */
braid_status trainer_prove(braid_trainer *t);

/* ---- trainer_run.c ---- */

braid_train_metrics tally_metrics(const tally *sum, int has_labels);
/* Tells the caller; keeps a wish to stop. */
void trainer_tell(braid_trainer *t, const braid_train_event *event);

/* ---- trainer_look.c ---- */

/* Looks at a part without learning, or at as much of it as the caller likes. Of a run that validates, a loss that is
 * not finite is BRAID_ERROR_DIVERGED. */
braid_status trainer_look(braid_trainer *t, const braid_evaluate_options *options, tally *sum);
/* Validates with each stream blanked, into t->without; looks at some training samples likewise, the same every time,
 * into t->train_without. */
braid_status trainer_look_without(braid_trainer *t);

/* ---- trainer_state.c ---- */

/* All of a run but what the model's tensors hold, as JSON. Of the caller. */
braid_status trainer_make_state(const braid_trainer *t, json_t **state);

/* From the checkpoint of the folder, which must be there; or from the start: never over the checkpoint of another. */
braid_status trainer_resume(braid_trainer *t);
braid_status trainer_begin(braid_trainer *t);

/* The message is told as a note, and is then what it was before. */
void trainer_tell_and_forget(braid_trainer *t, const fail_kept *kept);

/* ---- trainer_save.c ---- */

/* Opens the folder, and where asked for goes back to its checkpoint. */
braid_status trainer_open(braid_trainer *t);
void trainer_close(braid_trainer *t);

/* BRAID_ERROR_DISK where the folder was moved or removed since it was locked: under its name another run may be at work
 * by now. Before anything is written by its name. */
braid_status trainer_check_folder(const braid_trainer *t);

/* Whether what there is may be saved: trainer_prove, with all that a message of it tells. */
braid_status trainer_prove_save(braid_trainer *t);

/* braid_trainer_save, but without a folder there is nothing to do. */
braid_status trainer_save(braid_trainer *t);

/* Saves in the middle of a run. One that the disk refuses is told and does not end it: the next may succeed. */
braid_status trainer_save_midway(braid_trainer *t);
braid_status trainer_save_best(braid_trainer *t);

/* The model becomes that of the best epoch, where there was one. */
braid_status trainer_restore_best(braid_trainer *t);

/* At the end: what the disk refused before must be there now, or the run has failed. */
braid_status trainer_settle(braid_trainer *t);

/* ---- trainer_record.c ---- */

/* The row of an epoch that has ended, in metrics and event file. Where the disk refuses, they wait: the metrics for the
 * next save, which fails without them, events for the end. */
braid_status trainer_record(braid_trainer *t, const braid_train_metrics *train);
braid_status trainer_record_end(braid_trainer *t);

#endif
