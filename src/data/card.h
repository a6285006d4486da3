/*
 * The card of a set: what its samples are, as JSON, without any of them. A model file keeps it, so that files can be
 * read years later just as training read them.
 *
 *     {"kind":"sunrgbd","size":[48,64],"resize":false,"classes":["bathroom",...],
 *      "streams":[{"name":"rgb","channels":3,"bits":8,"mean":[...],"std":[...]},...]}
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_CARD_H
#define BRAID_DATA_CARD_H

#include "data/data.h"

/* Returns memory. */
braid_status card_write(const braid_data *d, char **text);

/* Fills all of the set that is the same for every kind; the kind itself, which must be known, and its own fields are
 * the caller's. The card is a model file's, and not trusted: BRAID_ERROR_DATA. */
braid_status card_read(braid_data *d, const json_t *card);

#endif
