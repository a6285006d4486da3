/*
 * Letters in a picture: 5 by 8 dots each, plain ASCII, for pictures that no other library draws.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_LETTERING_H
#define BRAID_DATA_LETTERING_H

#include "data/image.h"

#define LETTERING_WIDTH 6 /* of a letter, with the gap behind it */
#define LETTERING_HEIGHT 8

/* Writes a text into an image of 8 bits and 3 channels, `scale` pixels a dot, in grey; what lies outside is left out.
 * Other than ASCII becomes a question mark. */
void lettering_write(image *to, int64_t top, int64_t left, const char *text, int scale, uint8_t grey);

#endif
