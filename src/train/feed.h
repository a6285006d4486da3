/*
 * From a batch in host memory to the inputs of a plan: bytes are normalised, and in training augmented where that is
 * asked for, by one op that writes into the plan's planes; images of floats are normalised
 * on the host (feed_images.h); rows of numbers are copied. What cannot be learned from
 * (labels out of range, numbers that are not finite) is refused, naming the sample.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_FEED_H
#define BRAID_TRAIN_FEED_H

#include <jansson.h>

#include "braid_train.h"
#include "model/model.h"

/* A stream of float images: where it goes, and what is uploaded. */
typedef struct feed_image {
    void *device, *host;
    size_t bytes;
    int64_t pixels, channels, pitch;
    braid_dtype dtype;
} feed_image;

typedef struct feed {
    braid_model *model;
    braid_plan *plan;
    const braid_train_options *options;
    braid_phase phase;
    int64_t batch, classes;
    int64_t elements[BRAID_MAX_STREAMS];  /* of one sample, as they come */
    braid_op *op;                         /* normalize or augment; NULL: rows are copied, images of floats converted */
    feed_image images[BRAID_MAX_STREAMS]; /* of floats; without `host`: there are none */
    braid_operand operands[8];
    int operand_count;
    void *memory[6 * BRAID_MAX_STREAMS + 2]; /* of the operands that are not the plan's */
    int memory_count;
    void *target;         /* of the loss mse, on the host; NULL: there are labels, or the target is the input */
    int64_t target_pitch; /* elements from one sample to the next */
    size_t target_bytes;
    braid_dtype target_dtype;
    int64_t *ids;                 /* on the host */
    size_t id_bytes, label_bytes; /* of a batch */
    size_t stream_bytes[BRAID_MAX_STREAMS];
} feed;

/* For a plan of `batch` samples. Borrows all arguments; feed_destroy also after a failure. */
braid_status feed_create(feed *f, braid_model *model, braid_plan *plan, const braid_train_options *options,
                         braid_phase phase, int64_t batch);
void feed_destroy(feed *f);

/* Fills inputs and labels. `first` is the place in the epoch of the batch's first sample, for batches without ids;
 * update is the random number's, for augmentation. */
braid_status feed_batch(feed *f, const braid_train_batch *batch, int64_t first, int64_t update);

#endif
