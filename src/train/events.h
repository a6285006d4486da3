/*
 * TensorBoard event files: a name with "tfevents" in it, and records of a length, a checksum, a protocol-buffer message
 * and another checksum. Scalars alone, as single floats. Each record is one write, so that what was added is there
 * when the process is killed; a record that could not be written whole is overwritten by the next.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_EVENTS_H
#define BRAID_TRAIN_EVENTS_H

#include <stdbool.h>

#include "core/files.h"
#include "core/status.h"

typedef struct events {
    char *path;
    files_growing file;
    int64_t first_step;
    double started; /* when the file was opened */
    bool begun;     /* what it begins with is written, or waits */
} events;

typedef struct events_scalar {
    const char *tag; /* "loss/train": what stands before the slash groups the charts */
    double value;    /* NaN and infinities are written, too */
} events_scalar;

/*
 * Starts a new file in a folder that is there. A resumed run gives the first step that it will write as first_step, and
 * TensorBoard then forgets what earlier files say of it and of later ones; 0 starts from nothing. wall_time is in
 * seconds since 1970, as events_now gives it. There is no file before the first scalar.
 */
braid_status events_open(events *e, const char *folder, int64_t first_step, double wall_time);
braid_status events_add(events *e, int64_t step, double wall_time, const events_scalar *scalars, int count);

/* Waits until what was added, and what the disk had refused, is on the disk. */
braid_status events_sync(events *e);
void events_close(events *e); /* zeroed is fine */

double events_now(void);

#endif
