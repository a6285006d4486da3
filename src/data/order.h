/*
 * In which order the samples of an epoch come: a function of the seed and the epoch alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_ORDER_H
#define BRAID_DATA_ORDER_H

#include "core/status.h"

/* A permutation of 0 to count - 1. */
void order_shuffle(int64_t *order, int64_t count, uint64_t seed, uint64_t epoch);

typedef struct order_classes {
    const int32_t *labels; /* of every sample, 0 to classes - 1 */
    int64_t samples;
    int classes;
} order_classes;

/* `draws` draws with replacement: a class that has samples, each equally likely, then one of its samples. That is a
 * draw with the weights 1 / (samples of the class). */
braid_status order_stratified(int64_t *order, int64_t draws, const order_classes *of, uint64_t seed, uint64_t epoch);

/* One sample in ten, at random but always the same ones, is for validation: mask 1 there, 0 elsewhere. Tells how
 * many. */
braid_status order_hold_out(uint8_t *mask, int64_t count, int64_t *held);

#endif
