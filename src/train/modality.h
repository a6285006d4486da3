/*
 * Modality dropout: in training a share of the samples loses one of its streams, so that the network learns to do
 * without any of them. The share changes over the epochs by a schedule; which samples lose which stream follows from
 * (seed, step, sample) alone, so that a resumed run, and a batch that is cut into parts, draws the same.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_MODALITY_H
#define BRAID_TRAIN_MODALITY_H

#include <stdint.h>

#include "core/status.h"

typedef enum modality_ramp {
    MODALITY_RAMP_UP,   /* from 0 up to the rate */
    MODALITY_RAMP_DOWN, /* from 1 down to the rate */
} modality_ramp;

typedef struct modality_options {
    modality_ramp ramp;
    int64_t start;  /* first epoch of the ramp */
    int64_t epochs; /* length of the ramp, 20 is usual; 0 or less: the rate at once */
    double rate;    /* 0.2 is usual */
} modality_options;

/* "ramp_up" and "ramp_down"; BRAID_ERROR_ARGUMENT for anything else. */
braid_status modality_ramp_read(const char *text, modality_ramp *ramp);
const char *modality_ramp_name(modality_ramp ramp);

/* Refuses a rate that is not from 0 to 1 and a start below 0. */
braid_status modality_check(const modality_options *options);

/* The share of samples that lose a stream in an epoch, which counts from 0. */
double modality_share(const modality_options *options, int64_t epoch);

/* Whose masks are drawn. */
typedef struct modality_batch {
    uint64_t seed;
    int64_t step;  /* of the run */
    int64_t first; /* sample of the step that the batch begins with: 0, or more in a part of it */
    int64_t batch; /* samples */
    int streams;   /* 2 to BRAID_MAX_STREAMS */
} modality_batch;

/*
 * Draws one mask for each stream, (batch + 31) / 32 words as braid_op_run wants them: bit b%32 of word b/32 is 1
 * where sample b of the stream is blanked; bits behind the batch are 0. A sample loses at most one stream, each with
 * the same chance. In a batch of two or more every stream keeps two samples at least: it gets the first ones that it
 * lost back. So small batches may differ from the parts of a larger one.
 * blanked[i] is how many samples stream i lost. Returns how many lost one; at 0 no mask is needed.
 */
int64_t modality_draw(const modality_batch *b, double share, uint32_t *const *masks, int64_t *blanked);

#endif
