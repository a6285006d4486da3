/*
 * The history of a run as metrics.jsonl: one row a line, each a JSON object, written at once and never changed. A line
 * that was cut off by a crash, and rows of steps that a resumed run will do again, are dropped when the file is opened
 * again; so the file of a run that was interrupted reads like that of one that was not.
 *
 *     {"kind":"epoch","epoch":3,"step":1200,"train_loss":0.41,"val_accuracy":0.9,"learning_rates":[0.001,0.0002]}
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_HISTORY_H
#define BRAID_TRAIN_HISTORY_H

#include <jansson.h>

#include "core/files.h"
#include "core/status.h"

#define HISTORY_EPOCH "epoch"     /* the row of an epoch: its values become columns */
#define HISTORY_STEP "step"       /* a row within an epoch */
#define HISTORY_SUMMARY "summary" /* what is known of the whole run: the last one of a name counts */

/* One field of a row. */
typedef struct history_value {
    const char *name;   /* letters, digits and underscores */
    double value;       /* written as null where it is no finite number */
    const double *list; /* in place of value: `count` numbers; NULL: none */
    int count;
    const json_t *json; /* in place of both; NULL: none */
} history_value;

typedef struct history_row {
    const char *kind;
    int64_t epoch, step; /* epochs and updates that are behind the run when the row is written */
    const history_value *values;
    int count;
} history_row;

typedef struct history {
    char *path;
    files_growing file;
    bool had_summary; /* one was dropped when the file was opened */
} history;

/* How far a run has come: epochs and updates that are behind it. */
typedef struct history_place {
    int64_t epoch, step;
} history_place;

/* Opens or makes the file. Rows of later epochs or steps than `last` are dropped: a step of -1 begins anew. */
braid_status history_open(history *h, const char *path, history_place last);

/* Has the file nothing but the row of the first epoch, whole or cut off? So a run leaves it that was killed before its
 * first checkpoint. One that cannot be read has more. */
bool history_is_first_row(const char *path);

/* Adds a line, whole or not at all. One that the disk refuses (BRAID_ERROR_DISK) is kept, see files_growing. */
braid_status history_add(history *h, const history_row *row);

/* Waits until what was added is on the disk: call it before a checkpoint is saved. */
braid_status history_sync(history *h);

/* Drops rows of later epochs or steps than `last`: those of a checkpoint that was not saved. */
braid_status history_drop(history *h, history_place last);
void history_close(history *h); /* zeroed is fine */

/*
 * The whole history as one object: a list for each field of the epoch rows, null where an epoch has none, and the
 * fields of the summary rows as they are. `epoch` and `step` are lists, too. Returns a reference.
 */
braid_status history_read(const char *path, json_t **columns);

#endif
