/*
 * braid data import, stats and preview: folders and tables of one's own become a set; what the files of a set hold,
 * in numbers and as a picture.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "data.h"

#define MOST_SHOWN 20 /* notes, where people read */

/* ---- What is printed ------------------------------------------------------------------------- */

static int rows_of(const braid_table *table) { return table ? braid_table_rows(table) : 0; }

/* Streams, then classes, then warnings; csv has the streams alone. Takes the tables. */
static braid_status add_stats(braid_report *report, braid_data_stats_result *stats, int is_json) {
    braid_status status = braid_report_add_table(report, "streams", "", stats->streams);
    stats->streams = NULL;
    if (!status) {
        status = braid_report_add_table(report, "counts", "", stats->counts);
        stats->counts = NULL;
    }
    if (!status && (is_json || rows_of(stats->warnings))) {
        status = braid_report_add_table(report, "warnings", "warnings", stats->warnings);
        stats->warnings = NULL;
    }
    return status;
}

static int print(braid_report *report, braid_status status, int format) {
    if (!status) return output_report(report, (braid_format)format);
    braid_report_destroy(report);
    return complain_lab(status);
}

/* ---- Import ---------------------------------------------------------------------------------- */

/* The first notes one by one, and how many there are. */
static void tell_notes(const braid_data_import_result *r) {
    char *text = NULL;
    if (r->left_out == 0) return;
    if (!braid_table_print(r->notes, &(braid_print_options){.format = BRAID_FORMAT_CSV, .no_heading = 1}, &text)) {
        const char *at = text;
        for (int line = 0; *at && line < MOST_SHOWN; line++, at += strcspn(at, "\n") + 1)
            fprintf(stderr, "left out: %.*s\n", (int)strcspn(at, "\n"), at);
    }
    braid_text_destroy(text);
    fprintf(stderr, "%lld note%s, of them %lld orphan%s, %lld duplicate%s, %lld that cannot be read%s\n",
            (long long)r->left_out, r->left_out == 1 ? "" : "s", (long long)r->orphans, r->orphans == 1 ? "" : "s",
            (long long)r->duplicates, r->duplicates == 1 ? "" : "s", (long long)r->broken,
            r->left_out > MOST_SHOWN ? "; -o json lists the first 1,000" : "");
}

static braid_status add_import(braid_report *report, braid_data_import_result *r, const char *out, int is_json) {
    static const char *const keys[] = {"train", "val", "test"};
    braid_status status = braid_report_add_text(report, "set", "set", out);
    for (int s = 0; s < BRAID_SPLIT_COUNT && !status; s++)
        status = braid_report_add_number(report, keys[s], keys[s], (double)r->samples[s]);
    if (!status) status = braid_report_add_number(report, "divided", "divided here", (double)r->divided);
    if (!status) status = braid_report_add_number(report, "left_out", "notes", (double)r->left_out);
    if (!status) status = add_stats(report, &r->stats, is_json);
    if (status || !is_json) return status;
    status = braid_report_add_table(report, "notes", "notes", r->notes);
    r->notes = NULL;
    return status;
}

int data_import(const data_options *options, const char *const *words, int count) {
    progress p = {.quiet = options->common.quiet};
    braid_report *report = NULL;
    braid_data_import_result result;
    braid_data_import_options wanted = {.words = words,
                                        .count = count,
                                        .streams = options->streams,
                                        .ranges = options->range,
                                        .masks = options->mask,
                                        .fit = options->fit,
                                        .seed = options->seed,
                                        .limits = limits_of(options->max_pixels),
                                        .progress = data_on_progress,
                                        .user = &p};
    int code = data_parse_size(options->size, wanted.size);
    if (!code && !count) code = complain(BRAID_ERROR_ARGUMENT, "import: expected a FOLDER or a table, got none");
    if (!code && !options->out)
        code = complain(BRAID_ERROR_ARGUMENT, "import: expected --out SET, the folder for the manifest, got none");
    if (code) return code;
    braid_status status = braid_data_import(options->out, &wanted, &result);
    progress_clear(&p);
    if (status == BRAID_ERROR_ARGUMENT && !strncmp(braid_lab_message(), "streams: ", 9))
        return complain_streams(options->streams);
    if (status) return data_stopped(status);
    if (!options->common.quiet) tell_notes(&result);
    status = braid_report_create(&report);
    if (!status) status = add_import(report, &result, options->out, options->common.format == BRAID_FORMAT_JSON);
    code = print(report, status, options->common.format);
    braid_data_import_forget(&result);
    if (!code && !options->common.quiet)
        fprintf(stderr,
                "look at it: braid data preview %s --out picture.png; learn from it: braid train linet18 --data %s "
                "--out run\n",
                options->out, options->out);
    return code;
}

/* ---- Stats ----------------------------------------------------------------------------------- */

int data_stats(const data_options *options, const char *const *words, int count) {
    progress p = {.quiet = options->common.quiet};
    braid_report *report = NULL;
    braid_data_stats_result result = {0};
    const braid_data_limits limits = limits_of(options->max_pixels);
    (void)count;
    braid_status status = braid_data_stats(words[0], &limits, data_on_progress, &p, &result);
    progress_clear(&p);
    if (status) return data_stopped(status);
    status = braid_report_create(&report);
    if (!status) status = add_stats(report, &result, options->common.format == BRAID_FORMAT_JSON);
    braid_table_destroy(result.streams);
    braid_table_destroy(result.counts);
    braid_table_destroy(result.warnings);
    return print(report, status, options->common.format);
}

/* ---- Preview --------------------------------------------------------------------------------- */

int data_preview(const data_options *options, const char *const *words, int count) {
    braid_data *data = NULL;
    braid_data_options wanted = {.fit = options->fit, .limits = limits_of(options->max_pixels)};
    (void)count;
    int code = data_parse_size(options->size, wanted.size);
    if (!code && !options->out) code = complain(BRAID_ERROR_ARGUMENT, "preview: expected --out PICTURE.png, got none");
    if (code) return code;
    braid_status status = braid_data_open(words[0], &wanted, &data);
    if (!status && !braid_data_describe(data)->has_statistics) status = braid_data_measure(data);
    if (!status) status = braid_data_preview(data, options->count, options->out);
    braid_data_destroy(data);
    return status ? complain_lab(status) : 0;
}
