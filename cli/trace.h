/*
 * A profile as a Chrome trace.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CLI_TRACE_H
#define BRAID_CLI_TRACE_H

#include "plan_report.h"

/* Writes FILE, whole or not at all: every call of one run, behind one another as long as each was measured to take.
 * Returns 0, or an exit code after a message. */
int trace_save(const plan_work *work, const plan_figures *figures, const char *file);

#endif
