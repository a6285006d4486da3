/*
 * Images of floats into the inputs of a plan: less the mean, over the deviation. A value that is no number is missing,
 * and becomes the mean.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TRAIN_FEED_IMAGES_H
#define BRAID_TRAIN_FEED_IMAGES_H

#include "train/feed.h"

/* Room for each stream of the plan, on the host. Refuses inputs that are no images. */
braid_status feed_images_create(feed *f);

/* Normalises a batch, and uploads it. */
braid_status feed_images_write(feed *f, const braid_train_batch *batch);
void feed_images_destroy(feed *f);

#endif
