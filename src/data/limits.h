/*
 * What reading a file may cost: pixels, time, and memory of all threads that read at once; and the caller's wish to
 * stop. A call of the lab that reads samples sets the limits of its thread, so that no kind of set has to hand them
 * on; decoders ask while they work. A thread without limits of its own has the usual ones.
 *
 * Time is that of the thread on the CPU: a busy machine makes no file bad. A file has a second, and one more for every
 * MiB of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_LIMITS_H
#define BRAID_DATA_LIMITS_H

#include "braid_lab.h"
#include "core/status.h"

#define LIMITS_PIXELS ((int64_t)16 << 20)           /* of an image, where nothing else is asked for */
#define LIMITS_MOST_PIXELS ((int64_t)65535 * 65535) /* that may be asked for */
#define LIMITS_BYTES ((size_t)256 << 20)            /* of decoded images in memory at once, likewise */

/* Refuses limits that cannot be meant. */
braid_status limits_check(const braid_data_limits *of);

/* The limits of this thread until limits_end; borrowed. */
void limits_begin(const braid_data_limits *of);
void limits_end(void);

int64_t limits_max_pixels(void);

/* A file of so many bytes is decoded from here on: its time begins. Fails where the caller asks to stop. */
braid_status limits_begin_file(size_t bytes);

/* So many bytes of work are done. BRAID_ERROR_DATA where the file took too long, BRAID_ERROR_CHECK where the caller
 * asks to stop. Cheap: it looks once in a while. */
braid_status limits_work(size_t bytes);

/* Takes a share of the memory for decoded images, and waits while other threads have too much of it; an image that is
 * larger than all of it waits for all others. A thread that has a share waits for none. Fails as limits_work does. */
braid_status limits_take(size_t bytes);
void limits_give(size_t bytes);

#endif
