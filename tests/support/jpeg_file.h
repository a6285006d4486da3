/*
 * A small JPEG file for tests; braid itself only reads them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_TESTS_JPEG_FILE_H
#define BRAID_TESTS_JPEG_FILE_H

#include <stddef.h>
#include <stdint.h>

/* [height][width][channels] bytes, 1 or 3 channels, quality 100, no subsampling. Returns memory for free. */
unsigned char *jpeg_file_make(const uint8_t *pixels, int height, int width, int channels, int progressive,
                              size_t *bytes);

#endif
