/*
 * Synthetic sets in the real formats. What a sample holds is a function of the seed, the split and its number alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_MAKE_H
#define BRAID_DATA_MAKE_H

#include "core/rng.h"
#include "data/data.h"

typedef struct maker {
    const char *folder;
    const braid_data_make_options *options;
    int64_t counts[BRAID_SPLIT_COUNT]; /* samples of each split */
    int64_t done, total;
} maker;

/* A file folder/name, and a folder folder/name. */
braid_status maker_write(const maker *m, const char *name, const void *data, size_t bytes);
braid_status maker_folder(const maker *m, const char *name);

/* One more sample is about to be made. */
braid_status maker_step(maker *m, const char *what);

/* Numbers for one sample. */
rng maker_rng(const maker *m, braid_split split, int64_t sample);

/* Labels of a split: all classes equally often, shuffled. Returns memory. */
braid_status maker_labels(const maker *m, braid_split split, int classes, int32_t **labels);

double draw_between(rng *r, double low, double high);

/* A quick bell of deviation 1 from one draw: four bytes added up. */
double draw_noise(rng *r);

braid_status make_sunrgbd(maker *m);
braid_status make_fmnist86(maker *m);
braid_status make_mimii(maker *m);

#endif
