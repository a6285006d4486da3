/*
 * Statistics as tables.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_DATA_STATS_TABLES_H
#define BRAID_DATA_STATS_TABLES_H

#include "data/stats.h"

/* The size that most files have. */
const stats_size *stats_usual_size(const stats_stream *s);

/* Adds a warning where a stream uses few of the levels that it could; `folder` is what to import. */
braid_status stats_warn_levels(const stats_stream *s, const manifest_stream *stream, const char *folder,
                               braid_table *warnings);

/* Fills in streams and warnings, which the caller destroys, also on failure. */
braid_status stats_tables(const stats_set *s, const manifest *m, const char *folder, braid_data_stats_result *result);

#endif
