/*
 * EXIF: how a camera was held.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_EXIF_H
#define BRAID_DATA_EXIF_H

#include "data/image.h"

/* The orientation, 1 to 8, in the data of a JPEG's marker APP1; 1 (as it lies) where it tells none, or is damaged. */
int exif_orientation(const void *data, size_t bytes);

/* Turns and mirrors an image of 8 bits as an orientation says, so that it stands upright. */
braid_status exif_turn(image *i, int orientation);

#endif
