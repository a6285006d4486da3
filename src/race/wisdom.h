/*
 * Wisdom: measured times on disk, one small text file per problem, so that a race is run once. An entry
 * holds numbers and kernel names, never code; the choice is made anew from its times. What is damaged,
 * foreign or names an unknown kernel is ignored and measured again: wisdom can be slow, never wrong.
 *
 * A file is a line of JSON and a line with its checksum, and is replaced whole. Its name is a hash of
 * everything that a time depends on except the batch, then the batch: so the nearest batch can be found.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_WISDOM_H
#define BRAID_RACE_WISDOM_H

#include "race/race.h"

/* Fills in the times of a race that was just listed, and whether it was brief. False: nothing is known. Never fails
 * otherwise. */
int wisdom_recall(const braid_context *context, const braid_problem *p, race *r);

/* The same from the entry with the nearest batch (the smaller of two as near), another one's times. */
int wisdom_recall_nearest(braid_context *context, const braid_problem *p, race *r);

/* Stores the times of a race; those of a brief one do not replace those of a whole one. One in which a candidate had no
 * memory to take part is not stored: the next may choose otherwise. A folder that cannot be written is reported in the
 * log only. */
void wisdom_store(const braid_context *context, const braid_problem *p, const race *r);

/* Notes that a plan had no time for a race, within a budget of so many seconds, so that the next plan with as many does
 * not spend them on it; and the seconds of such a note, 0: there is none. A file of its own, beside the entries. */
void wisdom_leave_out(const braid_context *context, const braid_problem *p, double seconds);
double wisdom_left_out(const braid_context *context, const braid_problem *p);

/* The text of an entry, and its times from text; for tests and fuzzing. Returns memory for memory_free. */
braid_status wisdom_write(const char *key, const race *r, char **text, size_t *bytes);
braid_status wisdom_read(const char *text, size_t bytes, const char *key, race *r);

#endif
