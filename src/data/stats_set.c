/*
 * The statistics of a set that is open: all of them for a report, those of some training samples for training.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "core/crc32c.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/imported.h"
#include "data/stats_tables.h"

/* The streams of a set of images, as a manifest would have them. */
static braid_status describe_streams(const braid_data *d, manifest *m) {
    *m = (manifest){.streams = d->info.streams};
    if (d->kind != &data_imported && d->kind != &data_sunrgbd)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a set of image files, got one like %s", d->folder,
                    d->kind->name);
    for (int i = 0; i < m->streams; i++) {
        m->stream[i] = (manifest_stream){.channels = (int)d->info.channels[i], .bits = 8, .scale = 1, .unit = "-"};
        memcpy(m->stream[i].name, d->stream_names[i], sizeof m->stream[i].name);
        if (d->kind == &data_imported) m->stream[i] = ((const imported *)d->state)->stream[i];
    }
    return BRAID_OK;
}

static braid_status measure(const braid_data *d, stats_options *o, manifest *m, stats_set *out) {
    int has_holes[BRAID_MAX_STREAMS];
    double cut[BRAID_MAX_STREAMS][2];
    TRY(describe_streams(d, m));
    for (int i = 0; i < m->streams; i++) {
        has_holes[i] = m->stream[i].has_range;
        cut[i][0] = m->stream[i].low;
        cut[i][1] = m->stream[i].high;
    }
    o->has_holes = has_holes;
    o->cut = (const double(*)[2])cut;
    TRY(stats_measure(d, o, out));
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++)
        for (int i = 0; i < m->streams; i++)
            if (out->of[split][i].files) stats_finish(&out->of[split][i], &m->stream[i]);
    return BRAID_OK;
}

/* A file that cannot be read is a matter of the check. */
static braid_status pass_over(void *user, braid_split split, int64_t sample, int stream, const char *path) {
    (void)user;
    (void)split;
    (void)sample;
    (void)stream;
    (void)path;
    return BRAID_OK;
}

braid_status data_warnings(const braid_data *d, braid_table **table) {
    stats_set s = {0};
    manifest m;
    braid_data_stats_result tables = {0};
    stats_options o = {.most = STATS_MOST_SAMPLES / 10, .train_only = 1, .bad_file = pass_over};
    const fail_kept kept = fail_keep();
    braid_status status = BRAID_OK;
    if (d->kind == &data_imported || d->kind == &data_sunrgbd) status = measure(d, &o, &m, &s);
    m.streams = status || o.has_holes == NULL ? 0 : m.streams;
    if (!status) status = stats_tables(&s, &m, d->folder, &tables);
    stats_free(&s);
    braid_table_destroy(tables.streams);
    *table = tables.warnings;
    if (!status) fail_put_back(&kept);
    return status;
}

/* ---- For training -------------------------------------------------------------------------- */

braid_status braid_data_measure(braid_data *data) {
    stats_set s = {0};
    manifest m;
    stats_options o = {.most = STATS_MOST_SAMPLES, .train_only = 1};
    if (!data) return fail(BRAID_ERROR_ARGUMENT, "braid_data_measure: expected a set, got NULL");
    o.bad_file = pass_over;
    braid_status status = measure(data, &o, &m, &s);
    for (int i = 0; i < data->info.streams && !status; i++) {
        const stats_stream *one = &s.of[BRAID_SPLIT_TRAIN][i];
        if (!one->files)
            status = fail(BRAID_ERROR_DATA, "%s: expected training samples to measure stream %s, got none",
                          data->folder, data->stream_names[i]);
        for (int c = 0; c < m.stream[i].channels && !status; c++) {
            data->info.mean[i][c] = one->mean[c];
            data->info.std[i][c] = one->std[c];
        }
    }
    stats_free(&s);
    data->info.has_statistics |= !status;
    return status;
}

/* ---- For a report -------------------------------------------------------------------------- */

/* An imported set keeps what was measured, beside its manifest, with the sum of that. */
static braid_status keep(const braid_data *d, const stats_set *s, const manifest *m) {
    char *path = NULL, *text = NULL, *kept = NULL;
    size_t bytes, kept_bytes;
    const data_file of = {NULL, d->folder, MANIFEST_FILE, MANIFEST_MAX_BYTES};
    braid_status status = data_read_file(&of, &path, &kept, &kept_bytes);
    if (!status) status = stats_write(s, m, crc32c(kept, kept_bytes), &text, &bytes);
    memory_free(path);
    path = NULL;
    if (!status) status = files_join(d->folder, STATS_FILE, &path);
    if (!status) status = files_replace(path, text, bytes);
    memory_free(path);
    memory_free(text);
    memory_free(kept);
    return status;
}

braid_status braid_data_stats(const char *folder, const braid_data_limits *limits, braid_data_progress *progress,
                              void *user, braid_data_stats_result *result) {
    const braid_data_options options = {.limits = limits ? *limits : (braid_data_limits){0}};
    braid_data *data = NULL;
    stats_set s = {0};
    manifest m;
    check_progress counter = {.call = progress, .user = user};
    stats_options o = {.progress = &counter};
    if (!result) return fail(BRAID_ERROR_ARGUMENT, "braid_data_stats: expected a place for the result, got NULL");
    *result = (braid_data_stats_result){0};
    braid_status status = braid_data_open(folder, &options, &data);
    if (!status) status = measure(data, &o, &m, &s);
    if (!status) status = stats_tables(&s, &m, folder, result);
    if (!status) status = data_counts(data, &result->counts);
    if (!status && data->kind == &data_imported) status = keep(data, &s, &m);
    stats_free(&s);
    braid_data_destroy(data);
    if (!status) return BRAID_OK;
    braid_table_destroy(result->streams);
    braid_table_destroy(result->counts);
    braid_table_destroy(result->warnings);
    *result = (braid_data_stats_result){0};
    return status;
}
