/*
 * Training of libbraid: a loop over batches that come from a function of yours, with schedules, early stopping,
 * metrics, and checkpoints from which a run goes on bit for bit. A part of braid.h, which includes it and whose
 * rules hold here.
 *
 *     braid_train_options o = {.input = BRAID_DTYPE_U8, .epochs = 20, .steps_per_epoch = 47, .folder = "run",
 *                              .step = {.batch = 32, .size = {48, 64}, .optimiser = BRAID_OPTIMISER_ADAMW},
 *                              .source = {start, next, data}};
 *     braid_status status = braid_trainer_create(model, &o, &trainer);
 *     if (!status) status = braid_trainer_run(trainer);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_H
#define BRAID_TRAIN_H

#include "braid_net.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BRAID_MAX_GROUPS (BRAID_MAX_STREAMS + 2) /* of parameters, see braid_rates */
#define BRAID_STATISTICS 4                       /* channels of a stream of bytes, at most */

/* Which samples: those that are learned from, or those that are only looked at. */
typedef enum braid_part { BRAID_PART_TRAIN, BRAID_PART_VALIDATE, BRAID_PART_COUNT } braid_part;

/* One batch, borrowed until the next call of the source. */
typedef struct braid_train_batch {
    int64_t count;                          /* samples, at most the batch of the options; 0: the epoch is over */
    const void *streams[BRAID_MAX_STREAMS]; /* [count][H][W][C] of bytes, or [count][C] of f32 */
    const int32_t *labels;                  /* [count]; NULL for a network that gives back its input */
    const int64_t *ids;                     /* [count], for messages and augmentation; NULL: the place in the epoch */
} braid_train_batch;

/* Where batches come from. The order of an epoch must follow from its number alone. A failure of either ends the run
 * with its status. */
typedef struct braid_train_source {
    braid_status (*start)(void *user, braid_part part, int64_t epoch, int64_t first_batch);
    braid_status (*next)(void *user, braid_part part, braid_train_batch *batch);
    void *user;
} braid_train_source;

/* What is known of the samples of a part so far. */
typedef struct braid_train_metrics {
    double loss;     /* mean over the batches; NaN without any */
    double accuracy; /* as a share of 1; NaN where there are no labels */
    int64_t samples, batches;
} braid_train_metrics;

typedef enum braid_train_event_kind {
    BRAID_TRAIN_EVENT_STEP,     /* a batch of training is done */
    BRAID_TRAIN_EVENT_VALIDATE, /* a batch of validation is done */
    BRAID_TRAIN_EVENT_EPOCH,    /* an epoch is over, with its validation */
    BRAID_TRAIN_EVENT_NOTE,     /* `text` tells something, such as an older checkpoint that was taken */
} braid_train_event_kind;

typedef struct braid_train_event {
    braid_train_event_kind kind;
    int64_t epoch, batch;      /* the epoch counts from 0; batches that are done in this part of it */
    int64_t step;              /* updates that are done in the whole run */
    double learning_rate;      /* of the last group */
    double norm;               /* of all gradients of the last update; NaN before it */
    braid_train_metrics train; /* of the epoch so far */
    braid_train_metrics validate;
    int best;         /* EPOCH: the best so far */
    const char *text; /* NOTE */
} braid_train_event;

/* Anything but 0 asks the run to save and to stop: braid_trainer_run then returns BRAID_OK, and
 * braid_trainer_is_done 0. */
typedef int braid_train_event_function(void *user, const braid_train_event *event);

/* Zero means the default. */
typedef struct braid_train_options {
    braid_plan_request step; /* batch, size, loss, optimiser, clip_norm and choice; phase and mask are set for you */
    braid_dtype input;       /* of the batches: u8, which are normalised, or f32 (the default) for networks on rows */
    int64_t data_size[2];    /* of images that are cut to `step.size`; default: the same */
    int augment;             /* 1: random changes of training images (docs/ops/augment.md) */
    double mean[BRAID_MAX_STREAMS][BRAID_STATISTICS]; /* of x / 255 */
    double std[BRAID_MAX_STREAMS][BRAID_STATISTICS];  /* 0: 1 */
    double learning_rate;                             /* default 1e-3; sgd: 1e-2 */
    double weight_decay;
    const braid_rates *groups;   /* in place of both: one for each group of parameters */
    int group_count;             /* as braid_plan_group_count tells */
    const char *schedule;        /* "cosine:warmup=5", docs/train.md; default cosine, or what the resumed run has */
    const double *class_weights; /* one for each class, with step.class_weights */
    int accumulate;              /* batches for one update; default 1 */
    double modality_dropout;     /* share of samples that lose a stream; 0: none */
    int64_t modality_start;      /* first epoch of its ramp */
    int64_t modality_epochs;     /* length of its ramp */
    int modality_down;           /* 1: the ramp goes from 1 down to the share */
    int64_t epochs;              /* default 1 */
    int64_t steps_per_epoch;     /* updates; needed */
    int64_t steps;               /* 0: all epochs; else the run ends behind so many updates */
    int no_validation;           /* 1: the source has no part validate */
    int64_t patience;            /* epochs without a better metric before the run ends; 0: it does not */
    double min_delta;            /* of a better one */
    const char *monitor;         /* "val_loss" or "val_accuracy" (the default; val_loss where there are no labels) */
    uint64_t seed;               /* of modality dropout and augmentation */
    const char *folder; /* last.safetensors, best.safetensors, metrics.jsonl, event files; NULL: keep nothing */
    int64_t save_steps; /* save also behind every so many updates of an epoch; 0: behind epochs alone */
    int resume;         /* 1: go on from the checkpoint of the folder; it is an error if there is none */
    braid_train_source source;
    braid_train_event_function *event; /* may be NULL */
    void *user;                        /* of event */
} braid_train_options;

typedef struct braid_trainer braid_trainer;

/* Borrows the model, of which it makes plans, and what the options point to. Returns a trainer. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_create(braid_model *model, const braid_train_options *options,
                                                             braid_trainer **trainer);
BRAID_API void braid_trainer_destroy(braid_trainer *trainer); /* before the model */

/*
 * Runs until the end, or until it is asked to stop; a checkpoint is saved in both cases. A loss or a gradient that is
 * no number ends it with BRAID_ERROR_DIVERGED, naming step and samples, before the parameters change and without a
 * save.
 */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_run(braid_trainer *trainer);

/* 1: all steps are done, or early stopping ended the run. */
BRAID_API int braid_trainer_is_done(const braid_trainer *trainer);

/* Where the run is: of an event EPOCH, between two batches. */
BRAID_API void braid_trainer_place(const braid_trainer *trainer, braid_train_event *place);

/* Looks at all samples of a part without learning, with a stream blanked (-1: none). */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_evaluate(braid_trainer *trainer, braid_part part, int blanked,
                                                               braid_train_metrics *metrics);

/* Saves a checkpoint now, as FOLDER/last.safetensors. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_save(braid_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
