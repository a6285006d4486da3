/*
 * Training of libbraid: a loop over batches that come from a function of yours, with schedules, early stopping,
 * metrics, and checkpoints from which a run resumes bit for bit; and evaluation, with streams blanked or not. A part of
 * braid.h, which includes it and whose rules hold here.
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

/* Which samples: those for training, or those for validation. */
typedef enum braid_part { BRAID_PART_TRAIN, BRAID_PART_VALIDATE, BRAID_PART_COUNT } braid_part;

/* One batch, borrowed until the next call of the source. */
typedef struct braid_train_batch {
    int64_t count;                          /* samples, at most the batch of the options; 0: the epoch is over */
    const void *streams[BRAID_MAX_STREAMS]; /* [count][H][W][C] of bytes, or [count][C] of f32 */
    const int32_t *labels;                  /* [count]; NULL for a network that gives back its input */
    const float *targets;                   /* [count][outputs], of the loss mse; NULL: 1 for the label, 0 for others */
    const int64_t *ids;                     /* [count], for messages and augmentation; NULL: the place in the epoch */
    const int64_t *files;                   /* [count], for scores by file; NULL: the same as ids */
    int64_t left_out; /* batches between the one before and this one that the source has passed over; they count as
                       * batches of the epoch when a run resumes within it */
    int stop;         /* 1: there is none, and the run is to stop as where an event asks for it */
} braid_train_batch;

/* Where batches come from. The order of an epoch must follow from its number alone. A failure of either ends the run
 * with its status. */
typedef struct braid_train_source {
    braid_status (*start)(void *user, braid_part part, int64_t epoch, int64_t first_batch);
    braid_status (*next)(void *user, braid_part part, braid_train_batch *batch);
    void *user;
} braid_train_source;

/* The metrics of the samples of a part so far. */
typedef struct braid_train_metrics {
    double loss;     /* mean over the batches; NaN without any */
    double accuracy; /* as a share of 1; NaN where there are no labels */
    int64_t samples, batches;
} braid_train_metrics;

/* What an event of training tells. */
typedef enum braid_train_event_kind {
    BRAID_TRAIN_EVENT_STEP,     /* a batch of training is done; a GPU may still be at work on it: metrics, norm and
                                 * loss_scale are then those of some batches before */
    BRAID_TRAIN_EVENT_VALIDATE, /* a batch of validation is done */
    BRAID_TRAIN_EVENT_EPOCH,    /* an epoch is over, with its validation */
    BRAID_TRAIN_EVENT_NOTE,     /* `text` is a note, such as that an older checkpoint was taken */
} braid_train_event_kind;

/* How far a run has come. What belongs to one kind of event alone says so. */
typedef struct braid_train_event {
    braid_train_event_kind kind;
    int64_t epoch, batch;      /* the epoch counts from 0; batches that are done in this part of it */
    int64_t samples;           /* STEP and VALIDATE: of the batch that is done */
    int64_t step;              /* updates that are done in the whole run */
    double learning_rate;      /* of the last group */
    double norm;               /* of all gradients of the last update; NaN before it */
    double loss_scale;         /* the factor of the loss: 1, but for f16 */
    int64_t skipped;           /* updates of f16 in the whole run that an overflow prevented */
    braid_train_metrics train; /* of the epoch so far */
    braid_train_metrics validate;
    uint32_t blanked;                   /* VALIDATE: the streams that are blanked, as bits */
    braid_part part;                    /* VALIDATE: whose samples are looked at */
    const braid_train_metrics *without; /* EPOCH: with each stream blanked; NULL: that was not looked at */
    int best;                           /* EPOCH: the best so far */
    const char *text;                   /* NOTE */
} braid_train_event;

/* Anything but 0 asks the run to save and to stop: braid_trainer_run then returns BRAID_OK, and
 * braid_trainer_is_done 0. */
typedef int braid_train_event_function(void *user, const braid_train_event *event);

/* Zero means the default. */
typedef struct braid_train_options {
    /* Batch, size, loss, optimiser, clip_norm and choice; phase and mask are set for you. choice.seconds are for all
     * plans of the run together, default 5. */
    braid_plan_request step;
    braid_dtype input;    /* of the batches: u8 or, of networks on images, f32, which are normalised (NaN: missing,
                             becomes the mean); f32 (the default) for networks on rows, which are taken as they are */
    int64_t data_size[2]; /* of images that are cut to `step.size`; default: the same */
    int augment;          /* 1: random changes of training images (docs/ops/augment.md) */
    double mean[BRAID_MAX_STREAMS][BRAID_STATISTICS]; /* of x / 255 where x is u8, of x where it is f32 */
    double std[BRAID_MAX_STREAMS][BRAID_STATISTICS];  /* 0: 1 */
    double learning_rate;                             /* default 1e-3, sgd 1e-2; a resumed run has its own */
    double weight_decay;
    const char *rates, *decays;  /* of single groups: "0.001,rgb=3e-5,integration=7e-6,shared=0"; docs/train.md */
    const braid_rates *groups;   /* in place of all four: one for each group of parameters */
    int group_count;             /* as braid_plan_group_count tells */
    const char *schedule;        /* "cosine:warmup=5", docs/train.md; default cosine, or what the resumed run has */
    const double *class_weights; /* one for each class, with step.class_weights */
    int accumulate;              /* batches for one update; default 1 */
    double modality_dropout;     /* share of samples that lose a stream; 0: none */
    int64_t modality_start;      /* first epoch of its ramp */
    int64_t modality_epochs;     /* length of its ramp */
    int modality_down;           /* 1: the ramp goes from 1 down to the share */
    int64_t epochs;              /* default 1; of a resumed run, with steps 0: as it began */
    int64_t steps_per_epoch;     /* updates; needed */
    int64_t steps;               /* 0: all epochs; else the run ends after so many updates */
    int no_validation;           /* 1: the source has no part validate */
    int64_t patience;            /* the run ends after more epochs in a row without a better metric; 0: it does not */
    double min_delta;            /* of a better one */
    const char *monitor;         /* "val_loss" or "val_accuracy" (the default; val_loss where there are no labels) */
    int restore_best;            /* 1: at the end the model is that of the best epoch; needs the folder */
    int64_t stream_epochs;       /* every so many epochs and at the last, validate without each stream too; 0: never */
    int64_t stream_samples;      /* of training that are looked at so, the first of the source's epoch 0; default 500 */
    uint64_t seed;               /* of modality dropout and augmentation */
    const char *folder;   /* last.safetensors, best.safetensors, metrics.jsonl, event files; NULL: keep nothing */
    int64_t save_steps;   /* save also after every save_steps updates of an epoch; 0: after epochs only */
    int64_t verify_every; /* do every verify_every-th update twice and compare all that it changes; 0: never */
    int resume;           /* 1: resume from the checkpoint of the folder; it is an error if there is none */
    int64_t samples;      /* of the source's part train, 0: not known; a resumed run must have as many as before */
    int stratified;       /* 1: the source draws every class equally often; a resumed run as it began */
    braid_train_source source;
    size_t source_bytes;               /* of the host's memory that the source takes when it starts; 0: not known */
    braid_train_event_function *event; /* may be NULL */
    void *user;                        /* of event */
} braid_train_options;

/* A training run of one model. */
typedef struct braid_trainer braid_trainer;

/* Borrows the model, of which it makes plans, and what the options point to. Returns a trainer. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_create(braid_model *model, const braid_train_options *options,
                                                             braid_trainer **trainer);
BRAID_API void braid_trainer_destroy(braid_trainer *trainer); /* before the model */

/*
 * Runs until the end, or until it is asked to stop; a checkpoint is saved in both cases. A loss, a gradient or a
 * running statistic that is not finite ends it with BRAID_ERROR_DIVERGED, naming step and samples, without a save; the
 * parameters stay those of the last good loss. On a GPU it is noticed some steps later, or when it would be saved. A
 * step that fails half done ends it for good: BRAID_ERROR_ARGUMENT from then on; a resumed trainer continues.
 */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_run(braid_trainer *trainer);

/* 1: all steps are done, or early stopping ended the run. */
BRAID_API int braid_trainer_is_done(const braid_trainer *trainer);

/* 1: its folder still is the one that it began in, and was neither moved nor removed: whoever writes into it beside the
 * trainer asks before. */
BRAID_API int braid_trainer_has_folder(const braid_trainer *trainer);

/* Where the run is: of an event EPOCH, between two batches. */
BRAID_API void braid_trainer_place(const braid_trainer *trainer, braid_train_event *place);

/* How long the run is: its epochs, and its updates where they are limited (0: they are not). */
BRAID_API void braid_trainer_length(const braid_trainer *trainer, int64_t *epochs, int64_t *steps);

/* The metrics of the best epoch so far, also of one before the run was resumed: of validation, or of training where
 * there is none. Returns 0, and leaves `metrics` alone, where no epoch has ended yet. */
BRAID_API int braid_trainer_best(const braid_trainer *trainer, braid_train_metrics *metrics);

/* How it learns, in a line: optimiser, rates and decays of the groups, schedule. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_describe(const braid_trainer *trainer, char *text, size_t size);

/* Saves a checkpoint now, as FOLDER/last.safetensors; an error without a folder, where restore_best has done its work,
 * and after a step that failed half done. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_save(braid_trainer *trainer);

/* ---- History ------------------------------------------------------------------------------ */

/* The metrics of a run's epochs as columns, by the names of docs/train.md; read from its folder, where it may go on
 * meanwhile: rows that were written when it was opened. */
typedef struct braid_history braid_history;

/* Reads FOLDER/metrics.jsonl. Returns a history. */
BRAID_API BRAID_MUST_CHECK braid_status braid_history_open(const char *folder, braid_history **history);
BRAID_API void braid_history_destroy(braid_history *history);

/* Epochs are the rows. Names are borrowed, of columns from 0 to count - 1, NULL beyond. A row's list, as
 * learning_rates, is a column for each entry, learning_rates_0 and on. */
BRAID_API int64_t braid_history_epochs(const braid_history *history);
BRAID_API int braid_history_count(const braid_history *history);
BRAID_API const char *braid_history_name(const braid_history *history, int index);

/* [epochs] of a column, borrowed, NaN where an epoch has no number; NULL: there is none of that name. */
BRAID_API const double *braid_history_values(const braid_history *history, const char *name);

/* What is known of the whole run, as JSON, borrowed: {"best_train_loss":0.2,"early_stopping":{...}}; {} before its
 * end. */
BRAID_API const char *braid_history_summary(const braid_history *history);

/* ---- Evaluation --------------------------------------------------------------------------- */

/* One sample that was looked at. */
typedef struct braid_train_sample {
    int64_t id, file;
    int32_t label;         /* -1: the source gave none */
    int32_t answer;        /* the first class with the largest output; -1 for a network that gives back its input */
    int32_t classes;       /* how many there are to answer with; 0 for a network that gives back its input */
    double score;          /* the probability of the answer, or the mean squared error of what was given back */
    const double *outputs; /* all that the network gave: logits, or its input again; borrowed during the call */
    int64_t output_count;
} braid_train_sample;
typedef void braid_train_sample_function(void *user, const braid_train_sample *sample);

/* Zero means the default. */
typedef struct braid_evaluate_options {
    braid_part part;
    uint32_t blanked;                    /* bit i: stream i is blanked */
    braid_train_sample_function *sample; /* is told of every sample, in order; NULL: nobody is */
    void *user;                          /* of sample */
} braid_evaluate_options;

/* Looks at all samples of a part without learning. An output that is no finite number is BRAID_ERROR_DIVERGED where
 * samples are told. */
BRAID_API BRAID_MUST_CHECK braid_status braid_trainer_evaluate(braid_trainer *trainer,
                                                               const braid_evaluate_options *options,
                                                               braid_train_metrics *metrics);

/* What a matrix of counts tells of one class, and of all. What would be 0 / 0 is NaN. */
typedef struct braid_class_metrics {
    int64_t samples, answers, correct; /* of this class; that it was the answer for; both */
    double precision, recall;          /* correct / answers, correct / samples */
    double f1;                         /* 2 correct / (answers + samples) */
} braid_class_metrics;
typedef struct braid_confusion_metrics {
    int64_t samples, correct;
    double accuracy;
    double balanced_accuracy; /* the mean recall of the classes that have samples */
} braid_confusion_metrics;

/* counts: [classes][classes], the true class first. each: [classes], may be NULL. */
BRAID_API void braid_confusion_measure(const int64_t *counts, int classes, braid_class_metrics *each,
                                       braid_confusion_metrics *all);

/* How well a score tells positive samples (larger) from negative ones. */
typedef struct braid_areas {
    double roc; /* the share of pairs in the right order; equal scores are half right */
    double pr;  /* by trapezoids through (recall, precision) at every score, from (0, 1) on */
    int64_t positives, negatives;
} braid_areas;

/* Exact, also with ties. Samples of one kind alone, or a score that is NaN, are BRAID_ERROR_DATA; the areas are then
 * NaN. */
BRAID_API BRAID_MUST_CHECK braid_status braid_areas_measure(const double *scores, const unsigned char *positive,
                                                            int64_t count, braid_areas *areas);

#ifdef __cplusplus
}
#endif
#endif
