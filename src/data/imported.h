/*
 * An imported set that is open, and what its card tells of it beside what every card tells.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_IMPORTED_H
#define BRAID_DATA_IMPORTED_H

#include "data/convert.h"
#include "data/manifest.h"

typedef struct imported {
    manifest m;
    char *root;                                /* of paths that are not absolute */
    int64_t *row[BRAID_SPLIT_COUNT];           /* of every sample of a split: its number in the manifest */
    int column[BRAID_MAX_STREAMS];             /* of every stream of the set: its number in the manifest */
    manifest_stream stream[BRAID_MAX_STREAMS]; /* of the set; ranges are those of the card, where there is one */
    braid_fit fit;
    int resizes; /* 1: images may have any size */
} imported;

/* BRAID_ERROR_ARGUMENT where there is no such fit. */
braid_status imported_parse_fit(const char *text, braid_fit *fit);

/* Labels, numbers and counts of a set whose manifest is filled. */
braid_status imported_take_samples(braid_data *d);

/* Adds streams, fit and dtype to a card. */
void imported_describe(const braid_data *d, json_t *card);

/* Fills in fit and the first `streams` streams, as the card has them. */
braid_status imported_read_card(const json_t *card, int streams, imported *out);

/* Ranges, masks, fit and dtype of a set become those of the card, which names its streams. */
braid_status imported_take_card(braid_data *d, const char *card);

#endif
