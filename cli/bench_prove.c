/*
 * The proofs of a bench, printed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_prove.h"

#include <stdlib.h>

/* A problem whose kernel is too short for a row is not asked again. */
static int run_rows(const proof_job *job, braid_prove *prove, int *left_out) {
    char *is_out = calloc((size_t)job->count, 1);
    const int wanted = job->rows > 0 ? job->rows : job->count;
    progress p;
    int code = is_out ? 0 : complain(BRAID_ERROR_MEMORY, "no memory for %d problems", job->count);
    progress_begin(&p, wanted, job->common->quiet);
    for (int done = 0, at = 0; done < wanted && !code && !interrupted() && *left_out < job->count; at++) {
        const int index = at % job->count;
        int added = 0;
        if (at >= job->count && job->rows == 0) break;
        if (is_out[index]) continue;
        progress_step(&p, done, job->problems[index]);
        braid_status status = braid_prove_run(prove, job->problems[index], &added);
        progress_clear(&p);
        if (status) code = complain((int)status, "%s: %s", job->problems[index], braid_lab_message());
        *left_out += !added && !status;
        is_out[index] = !added;
        done += added;
    }
    free(is_out);
    return code;
}

static int print_table(const proof_job *job, const braid_prove *prove) {
    const int is_table = job->common->format == BRAID_FORMAT_TABLE || job->common->format == BRAID_FORMAT_MD;
    braid_table *table = NULL;
    braid_status status =
        is_table && !job->common->verbose ? braid_prove_sums(prove, &table) : braid_prove_table(prove, &table);
    const braid_print_options options = output_options((braid_format)job->common->format);
    return status ? complain_lab(status) : output_table(table, &options);
}

static braid_status save(const proof_job *job, braid_table *table, const char *name) {
    char *text = NULL;
    braid_status status = braid_table_print(table, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &text);
    if (!status) status = braid_text_save(job->out, name, text);
    braid_text_destroy(text);
    braid_table_destroy(table);
    return status;
}

static int save_both(const proof_job *job, const braid_prove *prove) {
    braid_table *rows = NULL, *sums = NULL;
    braid_status status = braid_prove_table(prove, &rows);
    if (!status) status = save(job, rows, "rows.csv");
    if (!status) status = braid_prove_sums(prove, &sums);
    if (!status) status = save(job, sums, "sums.csv");
    if (status) return complain_lab(status);
    if (!job->common->quiet) fprintf(stderr, "wrote %s/rows.csv and %s/sums.csv\n", job->out, job->out);
    return 0;
}

int bench_prove(const proof_job *job) {
    braid_context *context = NULL;
    braid_prove *prove = NULL;
    int left_out = 0;
    int code = context_open(job->common, &context);
    if (code) return code;
    braid_status status = braid_prove_create(context, job->seconds, &prove);
    code = status ? complain_lab(status) : run_rows(job, prove, &left_out);
    if (prove) {
        int printed = print_table(job, prove);
        if (!printed && job->out) printed = save_both(job, prove);
        if (!code) code = printed;
    }
    if (!code && left_out && !job->common->quiet)
        fprintf(stderr, "%d of %d problems left out before a race: a launch takes less than 50 us\n", left_out,
                job->count);
    braid_prove_destroy(prove);
    braid_context_destroy(context);
    return !code && interrupted() ? EXIT_INTERRUPTED : code;
}
