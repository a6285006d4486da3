/*
 * The small text files of a set: labels.txt (one class a line), class_names.txt ("0: bathroom") and norm_stats.json.
 * Each reader takes (pointer, length).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_LISTS_H
#define BRAID_DATA_LISTS_H

#include "data/data.h"

#define LISTS_MAX_BYTES ((size_t)256 << 20)
#define LISTS_MAX_CLASSES 100000
#define LISTS_MAX_STATISTICS ((size_t)1 << 20) /* bytes of norm_stats.json */

/* One whole number a line, 0 to classes - 1. A bad line is a problem, and its label is -1. Returns memory. */
braid_status labels_read(const char *text, size_t bytes, int classes, const char *path, problems *found,
                         int32_t **labels, int64_t *count);

/* Lines "0: name", counted from 0. Returns memory for class_names_free. */
braid_status class_names_read(const char *text, size_t bytes, char ***names, int *count);
void class_names_free(char **names, int count);
/* On failure *names holds what was copied, for class_names_free. */
braid_status class_names_copy(const char *const *from, int count, char ***names);

/* The keys <stream>_mean and <stream>_std of norm_stats.json, lists with a number for each channel, into mean and std
 * of the streams that info names. orth falls back to depth. */
braid_status norm_stats_read(const char *text, size_t bytes, braid_data_info *info);

/* Mean and deviation of a set that tells none, until it is measured: those of even noise, about. */
void norm_stats_unknown(braid_data_info *info);

#endif
