/*
 * libbraid_lab: what is built around libbraid and needs nothing of it but braid.h. Suites are lists
 * of problems, a bench races the candidates of each of them, and tables and reports turn what was
 * measured into text: aligned for a terminal, csv, json or markdown.
 *
 *     braid_bench *bench = NULL;
 *     braid_table *table = NULL;
 *     char *text = NULL;
 *     braid_status status = braid_bench_create(context, NULL, &bench);
 *     if (!status) status = braid_bench_run(bench, "conv2d_fwd:f32:n3:b2:hw26x34:c64:k64:rs3x3:pad1");
 *     if (!status) status = braid_bench_table(bench, 0, 0, &table);
 *     if (!status) status = braid_table_print(table, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &text);
 *     if (status) fprintf(stderr, "%s\n", braid_lab_message()); else fputs(text, stdout);
 *     braid_text_destroy(text);
 *     braid_table_destroy(table);
 *     braid_bench_destroy(bench);
 *
 * The rules of braid.h hold here too: zero means the default, every status must be looked at,
 * destroy(NULL) is fine, the library never exits or prints.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_LAB_H
#define BRAID_LAB_H

#include "braid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The message of this thread's last failed call of this header, also where libbraid failed underneath. Never NULL. */
BRAID_API const char *braid_lab_message(void);

/* Text that a call of this header returned. */
BRAID_API void braid_text_destroy(char *text);

/* ---- Tables ------------------------------------------------------------------------------- */

typedef enum braid_format {
    BRAID_FORMAT_TABLE, /* aligned columns for people */
    BRAID_FORMAT_CSV,   /* RFC 4180, one heading line, numbers in full */
    BRAID_FORMAT_JSON,  /* a list of objects */
    BRAID_FORMAT_MD,    /* a markdown table */
    BRAID_FORMAT_COUNT
} braid_format;

/* How table and markdown show a cell. csv and json always have the plain number. */
typedef enum braid_cell {
    BRAID_CELL_TEXT,
    BRAID_CELL_NUMBER,  /* four significant digits */
    BRAID_CELL_COUNT,   /* a whole number */
    BRAID_CELL_BYTES,   /* a whole number, shown as 1.5 MiB */
    BRAID_CELL_PERCENT, /* a share, shown as 43% */
    BRAID_CELL_RATIO,   /* shown as 1.25x */
} braid_cell;

typedef struct braid_column {
    const char *key;   /* the name in csv and json */
    const char *title; /* the heading in table and markdown; NULL: not shown in the table */
    braid_cell cell;
    int width;    /* least width in the table */
    int group;    /* 1: in the table, a line of its own above the rows that share the value */
    int optional; /* 0: always shown; else left out on a narrow terminal, higher numbers first */
    int keep_end; /* 1: text that does not fit is cut at its front */
} braid_column;

typedef struct braid_table braid_table;

/* Borrows the columns. Returns a table without rows. */
BRAID_API BRAID_MUST_CHECK braid_status braid_table_create(const braid_column *columns, int count, braid_table **table);
BRAID_API void braid_table_destroy(braid_table *table);

/* Cells fill a row from left to right, and the row after it. NULL and NaN are cells without a value. */
BRAID_API BRAID_MUST_CHECK braid_status braid_table_add_text(braid_table *table, const char *text);
BRAID_API BRAID_MUST_CHECK braid_status braid_table_add_number(braid_table *table, double number);

/* Whole rows so far. */
BRAID_API int braid_table_rows(const braid_table *table);

typedef struct braid_print_options {
    braid_format format;
    int width;      /* columns of the terminal; 0: as wide as need be */
    int colour;     /* 1: verdicts in colour */
    int first_row;  /* print from this row on */
    int no_heading; /* 1: no heading line, to continue what was printed before (csv, md, table) */
} braid_print_options;

/* Prints the whole rows. options may be NULL. Returns text for braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_table_print(const braid_table *table, const braid_print_options *options,
                                                          char **text);

/* ---- Reports ------------------------------------------------------------------------------ */

/* Named values and tables in order. As json it is one object; table and markdown print each part under
 * its title; csv has the first table alone. */
typedef struct braid_report braid_report;

BRAID_API BRAID_MUST_CHECK braid_status braid_report_create(braid_report **report);
BRAID_API void braid_report_destroy(braid_report *report);

/* Copies the texts. title NULL: the value is for json alone. */
BRAID_API BRAID_MUST_CHECK braid_status braid_report_add_text(braid_report *report, const char *key, const char *title,
                                                              const char *text);
BRAID_API BRAID_MUST_CHECK braid_status braid_report_add_number(braid_report *report, const char *key,
                                                                const char *title, double number);
/* A list of texts, for json alone. */
BRAID_API BRAID_MUST_CHECK braid_status braid_report_add_list(braid_report *report, const char *key,
                                                              const char *const *texts, int count);
/* A paragraph for table and markdown. */
BRAID_API BRAID_MUST_CHECK braid_status braid_report_add_words(braid_report *report, const char *words);
/* Takes the table, also where it fails. title NULL: no heading above it. */
BRAID_API BRAID_MUST_CHECK braid_status braid_report_add_table(braid_report *report, const char *key, const char *title,
                                                               braid_table *table);

/* Prints everything; first_row and no_heading are not used. Returns text for braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_report_print(const braid_report *report,
                                                           const braid_print_options *options, char **text);

/* What braid_context_describe tells, as a table with the columns section, name, value and hint. Returns a table. */
BRAID_API BRAID_MUST_CHECK braid_status braid_machine_table(braid_context *context, braid_table **table);

/* Replaces folder/name by the text, whole or not at all. Makes the folder if it is missing. */
BRAID_API BRAID_MUST_CHECK braid_status braid_text_save(const char *folder, const char *name, const char *text);

/* ---- Suites ------------------------------------------------------------------------------- */

/* The problems of a suite file: one on each line, # begins a comment. */
typedef struct braid_suite braid_suite;

/* Reads a suite by name ("linet3") or by path (with a / or ending in .txt). A name is looked for in the folders
 * of $BRAID_SUITE_PATH, then in ../share/braid/suites and ../bench/suites seen from the program. Every line is
 * checked; a message names the file and the line. Returns a suite. */
BRAID_API BRAID_MUST_CHECK braid_status braid_suite_read(const char *name, braid_suite **suite);
BRAID_API void braid_suite_destroy(braid_suite *suite);

BRAID_API int braid_suite_count(const braid_suite *suite);
BRAID_API const char *braid_suite_problem(const braid_suite *suite, int index); /* canonical; borrowed from the suite */
BRAID_API const char *braid_suite_path(const braid_suite *suite);               /* the file; borrowed from the suite */

/* The names of the suites that braid_suite_read would find, in order, separated by spaces.
 * Returns text for braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_suite_names(char **names);

/* ---- Benches ------------------------------------------------------------------------------ */

/* How a candidate stands to the baseline: by their intervals, so SAME is "no difference was shown". */
typedef enum braid_verdict {
    BRAID_VERDICT_NONE, /* not timed, or no baseline, or faster than a handicapped one, which proves nothing */
    BRAID_VERDICT_BASE, /* it is the baseline */
    BRAID_VERDICT_FAST,
    BRAID_VERDICT_SLOW,
    BRAID_VERDICT_SAME,
    BRAID_VERDICT_FAIL, /* wrong results: it has no time */
    BRAID_VERDICT_COUNT
} braid_verdict;

/* "FAST"; "-" for BRAID_VERDICT_NONE. Never NULL. */
BRAID_API const char *braid_verdict_name(braid_verdict verdict);
/* "own", "vendor", "ref", "peer". Never NULL. */
BRAID_API const char *braid_kind_name(braid_kind kind);

/* One candidate of one problem. A number that was not measured is NaN. */
typedef struct braid_bench_row {
    const char *kernel;
    braid_kind kind;
    braid_verdict verdict;
    int chosen;         /* 1: the plan takes this one */
    int handicapped;    /* 1: a library below the machine's best instruction set: beating it proves nothing */
    const char *reason; /* NULL: it took part; else why it did not, or how it failed */
    double median_s, low_s, high_s;
    double flops_per_s, bytes_per_s;
    double roofline; /* share of the best possible speed: the roofline's time / this time */
    double ratio;    /* the baseline's time / this time */
    double max_err;  /* largest error as a share of the tolerance */
    int64_t compared;
    int64_t workspace_bytes, layout_copy_bytes;
} braid_bench_row;

/* One problem of a bench. */
typedef struct braid_bench_result {
    const char *problem; /* canonical */
    const char *device;
    braid_dtype dtype;
    const braid_bench_row *rows; /* fastest first, those without a time last */
    int count;
    int chosen;   /* row index; -1: none */
    int baseline; /* row index of the fastest vendor candidate, else of the reference; -1: neither was timed */
    const char *baseline_name; /* the kernel, "ref" for the reference, "" for none */
    const char *why;           /* one sentence: why the winner won */
    int from_wisdom;           /* 1: the times were read, not measured */
    double flops, bytes;       /* of one launch */
    double roofline_s;         /* the least time by the device's ceilings */
    int memory_bound;          /* 1: it is the copy ceiling that sets it, 0: the matrix product's */
    int gate;                  /* 0: no gate was asked for, or no vendor took part; 1: passed; -1: failed */
    double gate_ratio;         /* the vendor's time / the chosen kernel's, in the fresh rounds; NaN: not measured */
} braid_bench_result;

typedef struct braid_bench_options {
    braid_effort effort;
    double seconds; /* time budget of each race; 0: the library's */
    int remember;   /* 1: take what wisdom knows; 0: measure */
    int gate;       /* 1: race again, until a fresh race confirms the choice against the fastest vendor */
} braid_bench_options;

typedef struct braid_bench braid_bench;

/* Borrows the context; options may be NULL. The ceilings of a dtype are measured before its first problem. */
BRAID_API BRAID_MUST_CHECK braid_status braid_bench_create(braid_context *context, const braid_bench_options *options,
                                                           braid_bench **bench);
BRAID_API void braid_bench_destroy(braid_bench *bench);

/* Races the candidates of one more problem. A failed gate is a result, not an error. */
BRAID_API BRAID_MUST_CHECK braid_status braid_bench_run(braid_bench *bench, const char *problem);

/* The problems so far. A result is borrowed from the bench until the next run. */
BRAID_API int braid_bench_count(const braid_bench *bench);
BRAID_API const braid_bench_result *braid_bench_result_at(const braid_bench *bench, int index);

/* One row for each candidate from problem `first` on; those without a time only where `all` is set.
 * Its columns are those of `braid bench -o json`. Returns a table. */
BRAID_API BRAID_MUST_CHECK braid_status braid_bench_table(const braid_bench *bench, int first, int all,
                                                          braid_table **table);

/* All problems in a few numbers. */
typedef struct braid_bench_summary {
    int problems;
    int against_vendor;    /* problems with a timed vendor baseline and a timed choice; the rest counts these alone */
    int own_wins;          /* ours was chosen, and faster than the baseline beyond noise */
    int vendor_wins;       /* the baseline was chosen, and every one of ours slower beyond noise */
    int slower;            /* the choice is slower than the baseline beyond noise */
    int ties;              /* all others: nothing was shown */
    double geometric_mean; /* of baseline time / chosen time; NaN where no vendor took part */
    int gated, gate_failures;
} braid_bench_summary;
BRAID_API void braid_bench_summarize(const braid_bench *bench, braid_bench_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
