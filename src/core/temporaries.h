/*
 * The names of temporary files, and getting rid of those whose process died. A name says who made the file:
 * .braid.PID.START.HOST.COUNT.tmp, where START is when that process began and HOST stands for this boot of this
 * machine and its process numbers (containers have their own).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_TEMPORARIES_H
#define BRAID_CORE_TEMPORARIES_H

#include <stddef.h>

#include "core/status.h"

#define TEMPORARY_NAME_BYTES 96

/* A name that this process has not used before. */
void temporary_name(char name[TEMPORARY_NAME_BYTES]);

/*
 * Removes the temporaries of a folder that nobody will finish: those of processes of this machine that are gone, and
 * any other that has not changed for an hour. A folder that does not exist has none; one of thousands of files is swept
 * once a minute. *removed counts them.
 */
braid_status temporaries_sweep(const char *folder, int *removed);

#endif
