/*
 * libbraid_lab: what is built around libbraid and needs nothing of it but braid.h. Data sets become
 * batches. Suites are lists of problems, a bench races the candidates of each of them, and tables and
 * reports turn what was measured into text: aligned for a terminal, csv, json or markdown.
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

/* How tables and reports are printed. */
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

/* One column of a table. */
typedef struct braid_column {
    const char *key;   /* the name in csv and json */
    const char *title; /* the heading in table and markdown; NULL: not shown in the table */
    braid_cell cell;
    int width;    /* least width in the table */
    int group;    /* 1: in the table, a line of its own above the rows that share the value */
    int optional; /* 0: always shown; else left out on a narrow terminal, higher numbers first */
    int keep_end; /* 1: text that does not fit is cut at its front */
} braid_column;

/* Rows of texts and numbers under named columns. */
typedef struct braid_table braid_table;

/* Borrows the columns. Returns a table without rows. */
BRAID_API BRAID_MUST_CHECK braid_status braid_table_create(const braid_column *columns, int count, braid_table **table);
BRAID_API void braid_table_destroy(braid_table *table);

/* Cells fill a row from left to right, and the row after it. NULL and NaN are cells without a value. */
BRAID_API BRAID_MUST_CHECK braid_status braid_table_add_text(braid_table *table, const char *text);
BRAID_API BRAID_MUST_CHECK braid_status braid_table_add_number(braid_table *table, double number);

/* Whole rows so far. */
BRAID_API int braid_table_rows(const braid_table *table);

/* How a table or a report is printed. Zero means the default. */
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
 * its title; csv has the first table alone, or the titled values as one row where there is no table. */
typedef struct braid_report braid_report;

/* Returns a report without parts. */
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

/* The problems of a suite, index from 0. */
BRAID_API int braid_suite_count(const braid_suite *suite);
BRAID_API const char *braid_suite_problem(const braid_suite *suite, int index); /* canonical; borrowed from the suite */
BRAID_API const char *braid_suite_path(const braid_suite *suite);               /* the file; borrowed from the suite */

/* The names of the suites that braid_suite_read would find, in order, separated by spaces.
 * Returns text for braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_suite_names(char **names);

/* ---- Benches ------------------------------------------------------------------------------ */

/* How a candidate stands to the baseline, by the interval of their ratio. FAST and SLOW are false in 1 of 1000 races at
 * most. */
typedef enum braid_verdict {
    BRAID_VERDICT_NONE,      /* not timed, or no baseline, or faster than a handicapped one, which proves nothing */
    BRAID_VERDICT_BASE,      /* it is the baseline */
    BRAID_VERDICT_FAST,      /* the interval lies above 1 */
    BRAID_VERDICT_SLOW,      /* below 1 */
    BRAID_VERDICT_SAME,      /* it holds 1, and reaches at most 5 % from it */
    BRAID_VERDICT_FAIL,      /* wrong results: it has no time */
    BRAID_VERDICT_AMBIGUOUS, /* it holds 1, and reaches further: nothing was shown */
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
    double roofline;              /* share of the best possible speed: the roofline's time / this time */
    double ratio;                 /* the baseline's time / this time, in turns */
    double ratio_low, ratio_high; /* its interval, the floor of noise counted in */
    double max_err;               /* largest error as a share of the tolerance */
    int64_t compared;
    int64_t workspace_bytes, layout_copy_bytes;
} braid_bench_row;

/* One problem of a bench. */
typedef struct braid_bench_result {
    const char *problem; /* canonical */
    const char *device;
    braid_dtype dtype;
    int tf32;                    /* 1: f32 whose products may round; its roofline is not known */
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
    int is_busy;               /* 1: other work ran beside the race: the cost model chose */
    const char *load;          /* what ran beside it, in words; "": not known */
    double gate_ratio;         /* the vendor's time / the chosen kernel's, in the fresh rounds; NaN: not measured */
} braid_bench_result;

/* How problems are raced. Zero means the default. */
typedef struct braid_bench_options {
    braid_effort effort;
    double seconds; /* time budget of each race; 0: the library's */
    int remember;   /* 1: take what wisdom knows; 0: measure */
    int warm;       /* 1: on one copy of the operands, which a cache may hold; its rows say so */
    int gate;       /* 1: race again, until a fresh race confirms the choice against the fastest vendor */
} braid_bench_options;

/* Problems raced one after the other, and their results. */
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

/* ---- Proofs ------------------------------------------------------------------------------- */

/* How often the method of the races is wrong: kernels against themselves, and with 2 % and 5 % of time planted. */
typedef struct braid_prove braid_prove;

/* Borrows the context. seconds: of each race; 0: 0.5. Returns proofs without rows. */
BRAID_API BRAID_MUST_CHECK braid_status braid_prove_create(braid_context *context, double seconds, braid_prove **prove);
BRAID_API void braid_prove_destroy(braid_prove *prove);

/* One more row: plans the problem, and races the kernel that was chosen against copies of itself. `*added` (may be
 * NULL) is 0 where the kernel takes less than 50 us, found before the race, which then is none. No row is thrown away
 * afterwards. */
BRAID_API BRAID_MUST_CHECK braid_status braid_prove_run(braid_prove *prove, const char *problem, int *added);

/* A row for each problem and planted share: columns problem, kernel, device, planted, median_ms, ratio, ratio_low,
 * ratio_high, verdict, others, busy. Then the sums of each share: planted, rows, busy, fast, slow, same, ambiguous,
 * false_claims, found. */
BRAID_API BRAID_MUST_CHECK braid_status braid_prove_table(const braid_prove *prove, braid_table **table);
BRAID_API BRAID_MUST_CHECK braid_status braid_prove_sums(const braid_prove *prove, braid_table **table);

/* ---- Comparisons -------------------------------------------------------------------------- */

/* Two sides of one or several runs each, row by row. */
typedef struct braid_compare braid_compare;

/* Zero means the default. */
typedef struct braid_compare_options {
    int chosen;   /* 1: rows of whichever kernel was chosen; 0: of the same kernel */
    double floor; /* share by which two runs of one thing differ, for single runs; 0: as run.json has it, else 0.05 */
} braid_compare_options;

/* Reads and compares. A path is a csv or json file of rows (one run), a folder with results.csv or run.json (one run),
 * or a folder of such folders and csv files. options may be NULL. Returns a comparison. */
BRAID_API BRAID_MUST_CHECK braid_status braid_compare_create(const char *a, const char *b,
                                                             const braid_compare_options *options,
                                                             braid_compare **compare);
BRAID_API void braid_compare_destroy(braid_compare *compare);

/* A row for each that every run has: columns problem, kernel, a_ms, b_ms, ratio (A's time over B's), ratio_low,
 * ratio_high, verdict (of B). Then a row for each op and for all: group, rows, fast, slow, same, ambiguous, ratio (of
 * the geometric means), ratio_low, ratio_high, verdict. */
BRAID_API BRAID_MUST_CHECK braid_status braid_compare_rows(const braid_compare *compare, braid_table **table);
BRAID_API BRAID_MUST_CHECK braid_status braid_compare_groups(const braid_compare *compare, braid_table **table);

/* The comparison in a few numbers. */
typedef struct braid_compare_counts {
    int a_runs, b_runs;
    int rows, left_out; /* compared; and of A's first run those that some run lacks */
    int fast, slow, same, ambiguous;
} braid_compare_counts;
BRAID_API void braid_compare_count(const braid_compare *compare, braid_compare_counts *counts);

/* ---- Data --------------------------------------------------------------------------------- */

/* The sets that can be read and made; docs/data.md has their folders and formats. */
typedef enum braid_data_kind {
    BRAID_DATA_SUNRGBD,  /* images of several streams and one label */
    BRAID_DATA_FMNIST86, /* grey images of 86x86 */
    BRAID_DATA_MIMII,    /* sounds of machines, normal and abnormal, as windows of a log-mel spectrogram */
    BRAID_DATA_IMPORTED, /* images anywhere, named by a manifest (braid_data_import) */
    BRAID_DATA_KIND_COUNT
} braid_data_kind;

/* The parts of a set: to learn from, to choose by, to judge by. */
typedef enum braid_split { BRAID_SPLIT_TRAIN, BRAID_SPLIT_VAL, BRAID_SPLIT_TEST, BRAID_SPLIT_COUNT } braid_split;

/* "sunrgbd", "train"; NULL where the value is out of range. */
BRAID_API const char *braid_data_kind_name(braid_data_kind kind);
BRAID_API const char *braid_split_name(braid_split split);

#define BRAID_DATA_CHANNELS 4 /* of one stream, at most, where it has statistics */

/* What files may cost, and who can end the reading of them. A file may take a second on the CPU, and one more for each
 * MiB of it; all threads together keep 256 MiB of decoded images. Zero means the default. */
typedef struct braid_data_limits {
    int64_t max_pixels; /* of an image, by its header; default 16777216 (4096x4096). More of them may take more time and
                           memory in proportion */
    int (*stop)(void *user); /* asked while files are read, by every thread that reads; anything but 0 ends the call
                                with BRAID_ERROR_CHECK */
    void *user;
} braid_data_limits;

/* How an image of another shape is brought to the size of the samples. */
typedef enum braid_fit {
    BRAID_FIT_STRETCH,
    BRAID_FIT_CROP, /* as large as it can be, its middle */
    BRAID_FIT_PAD,  /* all of it, with missing values around it */
    BRAID_FIT_COUNT
} braid_fit;
BRAID_API const char *braid_fit_name(braid_fit fit); /* "crop"; NULL where the value is out of range */

/* How a set is opened. Zero means the default. */
typedef struct braid_data_options {
    const char *streams; /* "rgb,depth": these, in this order; NULL: those that are there, in their order */
    int stream_count;    /* with NULL: the first so many of them; 0: all */
    int64_t size[2];     /* resize images to this height and width; 0: all have one size, and another is an error */
    const char *card; /* of training: its mean and deviation, and its size where none is given; NULL: the set's own */
    const char *fit;  /* of an imported set: "stretch", "crop" or "pad"; NULL: its own, or that of the card */
    int bytes;        /* 1: samples of an imported set are u8, whatever its files hold */
    braid_data_limits limits;
} braid_data_options;

/* An opened set. Several loaders, in several threads, may read it at once. */
typedef struct braid_data braid_data;

/* What is known of a set. */
typedef struct braid_data_info {
    braid_data_kind kind;
    const char *folder;
    int streams;
    const char *stream_names[BRAID_MAX_STREAMS];
    const char *unused; /* "ir, lidar": streams of the set that were not asked for; "": none */
    braid_dtype dtype;  /* u8; f32 for sounds, and for images of which a stream has more than 8 bits */
    int64_t size[2];    /* height and width of a sample; 1x1 for a vector */
    int64_t channels[BRAID_MAX_STREAMS];
    double mean[BRAID_MAX_STREAMS][BRAID_DATA_CHANNELS]; /* of x / 255 where x is u8, of x where it is f32 */
    double std[BRAID_MAX_STREAMS][BRAID_DATA_CHANNELS];
    int unlabelled;     /* 1: made of files that have no labels, which are all 0 */
    int has_statistics; /* 0: the set has none of its own, mean and std are 0.5 and 0.25 (braid_data_measure) */
    unsigned missing;   /* bit i: stream i has no files at all, its samples are zero (braid_data_open_files) */
    int classes;
    const char *const *class_names;
    int64_t samples[BRAID_SPLIT_COUNT]; /* 0: there is no such split */
    int64_t files[BRAID_SPLIT_COUNT];   /* a sound has many samples; else equal to samples */
} braid_data_info;

/* Opens a folder and recognises its kind; reads its lists, not its samples. options may be NULL. Returns a set. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_open(const char *folder, const braid_data_options *options,
                                                        braid_data **data);
BRAID_API void braid_data_destroy(braid_data *data);

/* Borrowed from the set. */
BRAID_API const braid_data_info *braid_data_describe(const braid_data *data);
BRAID_API const int32_t *braid_data_labels(const braid_data *data, braid_split split); /* of all samples */

/* What the samples of a set are, as JSON: streams, size, mean and deviation, classes. Kept with a model
 * (braid_model_set_text under BRAID_DATA_KEY) it lets files be read as training read them. Returns text for
 * braid_text_destroy. */
#define BRAID_DATA_KEY "braid.data"
BRAID_API BRAID_MUST_CHECK braid_status braid_data_card(const braid_data *data, char **card);

/* A card as braid_data_card spells it, whoever wrote it: to compare two of them as texts. Returns text for
 * braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_card_copy(const char *card, char **copy);

/* Files and folders named one by one, to be read as a set. */
typedef struct braid_data_files {
    const char *const *words; /* FILE or FOLDER; with several streams STREAM=FILE, or a folder that has their folders */
    int count;
    int resize; /* 1: images of any size; 0: as in training */
    braid_data_limits limits;
} braid_data_files;

/* Opens files as a set of the card's kind: its samples, without labels, are the split test, one for each image, each
 * image of an IDX file, each window of a sound. Returns a set. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_open_files(const char *card, const braid_data_files *files,
                                                              braid_data **data);

/* Samples of each class, and the weights total / (classes * count), 0 for a class without samples. */
BRAID_API void braid_data_class_counts(const braid_data *data, braid_split split, int64_t *counts);
BRAID_API void braid_data_class_weights(const braid_data *data, braid_split split, double *weights);

/* The file of a sample's stream (for a message or a table). Returns text for braid_text_destroy. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_path(const braid_data *data, braid_split split, int64_t sample,
                                                        int stream, char **path);

/* Reads one sample, each stream to its place: [height][width][channels] of the set's dtype. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_read(const braid_data *data, braid_split split, int64_t sample,
                                                        void *const *streams);

/* A sample that cannot be read for what its files hold, or because one is not there. A fault of the system (no more
 * open files, no memory, no permission, a disk that does not answer) makes no sample bad: it fails the batch. */
typedef struct braid_bad_sample {
    braid_split split;
    int64_t sample;
    const char *why;        /* with the file */
    int64_t count, samples; /* how many samples of the split are bad so far, and how many it has */
} braid_bad_sample;

/* Is told of every bad sample once, by braid_loader_next; it must not call the loader. 0: the sample is left out of its
 * batch; anything else: the batch fails, as it does where nobody is told. */
typedef int braid_bad_sample_function(void *user, const braid_bad_sample *bad);

/* What a loader reads, and how. Zero means the default. */
typedef struct braid_loader_options {
    braid_split split;
    int64_t batch;                         /* samples; default 32 */
    uint64_t seed;                         /* the order of an epoch is a function of seed and epoch alone */
    int in_order;                          /* 1: in the order of the files, as for evaluation */
    int stratified;                        /* 1: with replacement, every class equally often (weights 1 / count) */
    int drop_partial;                      /* 1: leave out a last batch that is not full */
    int threads;                           /* that read; default 1 */
    int prefetch;                          /* batches kept ready; default 4 */
    braid_bad_sample_function *bad_sample; /* NULL: a bad sample fails its batch */
    void *user;                            /* of bad_sample */
} braid_loader_options;

/* One batch, borrowed from the loader until its next call. */
typedef struct braid_batch {
    int64_t count;                          /* samples; 0: the epoch is over */
    int64_t index;                          /* of the batch in its epoch */
    const void *streams[BRAID_MAX_STREAMS]; /* [count][height][width][channels], 256-byte aligned */
    const int32_t *labels;                  /* [count] */
    const int64_t *ids;                     /* [count] the samples, for braid_data_path */
    const int64_t *files;                   /* [count] of the split, for scores by file */
} braid_batch;

/* Where the time of a loader went. */
typedef struct braid_loader_times {
    double waited_s;          /* the caller, for a batch that was not ready */
    double loading_s;         /* all threads, reading and decoding */
    double working_s;         /* of it, seconds of the CPU */
    int64_t loaded;           /* samples, by all threads */
    int64_t batches, samples; /* that the caller got */
} braid_loader_times;

/* Makes batches of one split of a set, with threads that read ahead. */
typedef struct braid_loader braid_loader;

/* Borrows the set. Its threads wait until braid_loader_start. Returns a loader. */
BRAID_API BRAID_MUST_CHECK braid_status braid_loader_create(const braid_data *data, const braid_loader_options *options,
                                                            braid_loader **loader);
BRAID_API void braid_loader_destroy(braid_loader *loader);

/* Begins an epoch at one of its batches (0: the first). What was read ahead is dropped, but for the epoch that follows
 * one that came to its end: that one is read ahead. */
BRAID_API BRAID_MUST_CHECK braid_status braid_loader_start(braid_loader *loader, int64_t epoch, int64_t first_batch);

/* The next batch, in order at any number of threads. A sample that cannot be read fails the batch that it is in, or is
 * left out of it where bad_sample says so, and the batch is smaller; one of which nothing is left is passed over, and
 * the index of the next one tells so. The message names the file and the reason. */
BRAID_API BRAID_MUST_CHECK braid_status braid_loader_next(braid_loader *loader, braid_batch *batch);

/* Batches of one epoch; memory; times since the loader was created. */
BRAID_API int64_t braid_loader_batches(const braid_loader *loader);
BRAID_API size_t braid_loader_bytes(const braid_loader *loader); /* of all batches that it keeps */
BRAID_API braid_loader_times braid_loader_measure(braid_loader *loader);

/* Called now and then; anything but 0 asks to stop. */
typedef int braid_data_progress(void *user, int64_t done, int64_t total, const char *what);

/* What a synthetic set is made of. Zero means the default. */
typedef struct braid_data_make_options {
    int64_t size[2]; /* of an image, default 48x64; seconds of a sound in the first, default 4 */
    int64_t count;   /* training samples (sounds); a fifth as many for each other split. Default by the kind */
    uint64_t seed;
    braid_data_progress *progress;
    void *user;
} braid_data_make_options;

/* Writes a synthetic set in the format of the kind into a folder that is empty or not there. options may be NULL. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_make(braid_data_kind kind, const char *folder,
                                                        const braid_data_make_options *options);

/* What the files of a set hold. The caller destroys the tables. */
typedef struct braid_data_stats_result {
    braid_table *streams;  /* stream, split, files, channels, bits, size, sizes, unit, low, high, least, most, holes,
                              levels, mean, std */
    braid_table *counts;   /* split, class, name, samples, files */
    braid_table *warnings; /* stream, warning */
} braid_data_stats_result;

/* Reads every file of a set of images and measures it; an imported set keeps the numbers. limits and progress may be
 * NULL. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_stats(const char *folder, const braid_data_limits *limits,
                                                         braid_data_progress *progress, void *user,
                                                         braid_data_stats_result *result);

/* Gives a set without statistics of its own those of its training samples (2,000 of them, evenly spread, at most). */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_measure(braid_data *data);

/* Draws `samples` of the first split that has any (0: 6) x streams as a PNG file, with the numbers of each stream. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_preview(const braid_data *data, int samples, const char *path);

/* What becomes a set, and how. Zero means the default. */
typedef struct braid_data_import_options {
    const char *const
        *words; /* FOLDER, FILE.csv, FILE.tsv, STREAM=FOLDER, or lists: STREAM=FILE, label=FILE, split=FILE */
    int count;
    const char *streams; /* "rgb,depth": folders, names or columns that are streams; NULL: they are found */
    const char *ranges;  /* "depth=0.3..8m,ir=100..4000": what counts of a quantity; NULL: measured */
    const char *masks;   /* "depth": streams that get a channel which is 1 where there is a value; NULL: none */
    int64_t size[2];     /* 0: that of the files, or the most frequent one where there are several */
    const char *fit;     /* "stretch", "crop", "pad"; NULL: stretch */
    uint64_t seed;       /* of the splits, where the files have none */
    braid_data_limits limits;
    braid_data_progress *progress;
    void *user;
} braid_data_import_options;

/* What an import found. The caller destroys the tables. */
typedef struct braid_data_import_result {
    braid_data_stats_result stats;
    braid_table *notes;                  /* file, note: what was left out, the first 1,000 */
    int64_t left_out;                    /* all notes */
    int64_t orphans, duplicates, broken; /* files of them */
    int64_t divided;                     /* samples that got a split here */
    int64_t samples[BRAID_SPLIT_COUNT];
} braid_data_import_result;

/* Makes a set of files that stay where they are: writes a manifest and statistics into a folder, which is made where it
 * is missing. A file that cannot be read is a note; a set without samples is BRAID_ERROR_DATA. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_import(const char *out, const braid_data_import_options *options,
                                                          braid_data_import_result *result);
BRAID_API void braid_data_import_forget(braid_data_import_result *result); /* destroys its tables */

/* What reading all files of a set showed. */
typedef struct braid_data_check_result {
    braid_data_kind kind;
    braid_table *problems; /* columns file, problem: every one, or the first 10000 */
    int64_t problem_count; /* of all */
    braid_table *counts;   /* columns split, class, name, samples, files */
    braid_table *warnings; /* columns stream, warning: what is no fault, and yet not meant so */
    int64_t files;         /* looked at */
} braid_data_check_result;

/* Reads every file of a set. A bad file is a row of `problems`, not a failure of the call. limits and progress may be
 * NULL. The caller destroys the tables. */
BRAID_API BRAID_MUST_CHECK braid_status braid_data_check(const char *folder, const braid_data_limits *limits,
                                                         braid_data_progress *progress, void *user,
                                                         braid_data_check_result *result);

#ifdef __cplusplus
}
#endif
#endif
