/*
 * Checkpoints: a model file (its tensors under their own names) with everything that a run needs to go on: the
 * optimiser's moments, the keys of dropout, and the state of the run as one JSON object in the metadata. A
 * reader of models takes it for a model.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_CHECKPOINT_H
#define BRAID_TRAIN_CHECKPOINT_H

#include <jansson.h>

#include "model/model.h"

#define CHECKPOINT_MOST_COUNT ((int64_t)1 << 53) /* of steps, epochs, samples: beyond it a file is damaged */

/* About how many bytes the file has, with so many moments of the optimiser. */
size_t checkpoint_bytes(const braid_model *model, int moments);

/* Replaces the file as a whole. The model's count of updates is added to a copy of `state`. */
braid_status checkpoint_save(braid_model *model, const char *path, const json_t *state);

/* What reads one fails with BRAID_ERROR_MODEL where the file is not what it should be, and with BRAID_ERROR_DISK where
 * the system does not let us read it (permissions, too many open files, a disk that does not answer). */

/* For generations: is all of the file there, and do its checksums match? */
braid_status checkpoint_check(const char *path, void *user);

/* The state of the run, without loading anything. Returns a reference. */
braid_status checkpoint_state(const char *path, json_t **state);

/* Loads model, moments, keys and the count of updates; where anything is missing or damaged, nothing. */
braid_status checkpoint_load(braid_model *model, const char *path, const json_t *state);

#endif
