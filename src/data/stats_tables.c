/*
 * Statistics for people: tables, and warnings with what to type.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/stats_tables.h"
#include "core/reals.h"

static const braid_column stream_columns[] = {
    {"stream", "stream", BRAID_CELL_TEXT, 6, 0, 0, 0},  {"split", "split", BRAID_CELL_TEXT, 5, 0, 0, 0},
    {"files", "files", BRAID_CELL_COUNT, 6, 0, 0, 0},   {"channels", "channels", BRAID_CELL_COUNT, 3, 0, 4, 0},
    {"bits", "bits", BRAID_CELL_COUNT, 4, 0, 3, 0},     {"size", "size", BRAID_CELL_TEXT, 8, 0, 0, 0},
    {"sizes", "sizes", BRAID_CELL_COUNT, 5, 0, 5, 0},   {"low", "low", BRAID_CELL_NUMBER, 6, 0, 0, 0},
    {"high", "high", BRAID_CELL_NUMBER, 6, 0, 0, 0},    {"unit", "unit", BRAID_CELL_TEXT, 4, 0, 0, 0},
    {"least", "least", BRAID_CELL_NUMBER, 6, 0, 6, 0},  {"most", "most", BRAID_CELL_NUMBER, 6, 0, 6, 0},
    {"holes", "holes", BRAID_CELL_PERCENT, 5, 0, 0, 0}, {"levels", "levels", BRAID_CELL_COUNT, 6, 0, 2, 0},
    {"mean", "mean", BRAID_CELL_TEXT, 5, 0, 1, 0},      {"std", "std", BRAID_CELL_TEXT, 5, 0, 1, 0}};
static const braid_column warning_columns[] = {{"stream", "stream", BRAID_CELL_TEXT, 6, 0, 0, 0},
                                               {"warning", "warning", BRAID_CELL_TEXT, 20, 0, 0, 0}};

const stats_size *stats_usual_size(const stats_stream *s) {
    const stats_size *most = &s->size[0];
    for (int j = 1; j < s->sizes && j < STATS_SIZES; j++)
        if (s->size[j].files > most->files) most = &s->size[j];
    return most;
}

static braid_status add_numbers(braid_table *t, const double *numbers, int count) {
    char text[64];
    size_t used = 0;
    text[0] = 0;
    for (int c = 0; c < count; c++)
        used += (size_t)real_format(text + used, sizeof text - used, "%s%.3f", c ? "," : "", numbers[c]);
    return braid_table_add_text(t, text);
}

static braid_status add_row(braid_table *t, const manifest_stream *stream, braid_split split, const stats_stream *s) {
    char size[64];
    const stats_size *usual = stats_usual_size(s);
    const double scale = stream->scale > 0 ? stream->scale : 1;
    const double cells[] = {stream->has_range ? stream->low * scale : NAN,
                            stream->has_range ? stream->high * scale : NAN};
    snprintf(size, sizeof size, "%lldx%lld", (long long)usual->height, (long long)usual->width);
    TRY(braid_table_add_text(t, stream->name));
    TRY(braid_table_add_text(t, braid_split_name(split)));
    TRY(braid_table_add_number(t, (double)s->files));
    TRY(braid_table_add_number(t, s->channels));
    TRY(braid_table_add_number(t, s->bits));
    TRY(braid_table_add_text(t, size));
    TRY(braid_table_add_number(t, s->sizes > STATS_SIZES ? (double)NAN : s->sizes));
    TRY(braid_table_add_number(t, cells[0]));
    TRY(braid_table_add_number(t, cells[1]));
    TRY(braid_table_add_text(t, stream->has_range ? stream->unit : ""));
    TRY(braid_table_add_number(t, s->least <= s->most ? s->least * scale : NAN));
    TRY(braid_table_add_number(t, s->least <= s->most ? s->most * scale : NAN));
    TRY(braid_table_add_number(t, s->values ? (double)s->holes / (double)s->values : NAN));
    TRY(braid_table_add_number(t, s->levels < 0 ? (double)NAN : s->levels));
    TRY(add_numbers(t, s->mean, s->channels));
    return add_numbers(t, s->std, s->channels);
}

__attribute__((format(printf, 3, 4))) static braid_status warn(braid_table *t, const manifest_stream *s,
                                                               const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    real_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    TRY(braid_table_add_text(t, s->name));
    return braid_table_add_text(t, text);
}

braid_status stats_warn_levels(const stats_stream *s, const manifest_stream *stream, const char *folder,
                               braid_table *warnings) {
    double low, high;
    if (!s->counts || s->levels >= STATS_FEW_LEVELS || s->files == 0) return BRAID_OK;
    stats_range(s, &low, &high);
    const double scale = stream->scale > 0 ? stream->scale : 1;
    const char *unit = stream->unit[0] && stream->unit[0] != '-' ? stream->unit : "";
    if (s->bits == 16 && !stream->has_range)
        return warn(
            warnings, stream,
            "uses %d of 256 levels: values of %g to %g of 16 bits become v / 257; braid data import %s --out SET "
            "keeps them",
            s->levels, low, high, folder);
    return warn(warnings, stream, "uses %d of 256 levels; if it is a quantity: --range %s=%.6g..%.6g%s", s->levels,
                stream->name, low * scale, high * scale, unit);
}

braid_status stats_tables(const stats_set *s, const manifest *m, const char *folder, braid_data_stats_result *result) {
    braid_status status =
        braid_table_create(stream_columns, (int)(sizeof stream_columns / sizeof *stream_columns), &result->streams);
    if (!status) status = braid_table_create(warning_columns, 2, &result->warnings);
    for (int i = 0; i < m->streams && !status; i++) {
        int warned = 0;
        for (int split = 0; split < BRAID_SPLIT_COUNT && !status; split++) {
            const stats_stream *one = &s->of[split][i];
            if (!one->files) continue;
            status = add_row(result->streams, &m->stream[i], (braid_split)split, one);
            if (!status && !warned++) status = stats_warn_levels(one, &m->stream[i], folder, result->warnings);
        }
    }
    return status;
}
