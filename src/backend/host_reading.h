/*
 * Readings of a device whose memory is the host's: the copy is made when it is asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_BACKEND_HOST_READING_H
#define BRAID_BACKEND_HOST_READING_H

#include "backend/backend.h"

braid_status host_reading_create(device *d, size_t bytes, reading **out);
void host_reading_destroy(device *d, reading *r);
braid_status host_reading_ask(device *d, reading *r, const void *from);
braid_status host_reading_get(device *d, reading *r, const void **data);

#endif
