/*
 * Files that are no images of ours.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_IMAGE_FORMAT_H
#define BRAID_DATA_IMAGE_FORMAT_H

#include "core/status.h"

/* Fails, naming the format where it is known, and what converts it. */
braid_status image_refuse_format(const void *data, size_t bytes);

#endif
