/*
 * The report of braid eval: figures, then tables of streams, classes, confusion or scores. A confusion matrix that a
 * terminal cannot hold becomes a list of the most frequent mistakes; csv and json always have all of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 96
#define MOST_COLUMNS 40 /* of a matrix for people */
#define WIDEST 160      /* where the width of the reader's window is not known */
#define MOST_MISTAKES 20

/* ---- Names --------------------------------------------------------------------------------- */

/* "kitchen", or "9" where the set has no name for it. */
static void class_name(const eval_result *r, int c, char name[NAME_BYTES]) {
    const char *known = c < r->info->classes && r->info->class_names ? r->info->class_names[c] : NULL;
    if (known && known[0])
        snprintf(name, NAME_BYTES, "%s", known);
    else
        snprintf(name, NAME_BYTES, "%d", c);
}

/* ---- Streams ------------------------------------------------------------------------------- */

static const braid_column stream_columns[] = {{"streams", "streams", BRAID_CELL_TEXT, 8, 0, 0, 0},
                                              {"stream", "", BRAID_CELL_TEXT, 8, 0, 0, 0},
                                              {"accuracy", "accuracy", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                              {"loss", "loss", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                              {"contribution", "contribution", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                              {"samples", "samples", BRAID_CELL_COUNT, 8, 0, 1, 0}};

static braid_status add_look(braid_table *table, const char *which, const char *stream, const braid_train_metrics *m,
                             double contribution) {
    braid_status status = braid_table_add_text(table, which);
    if (!status) status = braid_table_add_text(table, stream);
    if (!status) status = braid_table_add_number(table, m->accuracy);
    if (!status) status = braid_table_add_number(table, m->loss);
    if (!status) status = braid_table_add_number(table, contribution);
    return status ? status : braid_table_add_number(table, (double)m->samples);
}

static braid_status fill_streams(const eval_result *r, braid_table *table) {
    braid_status status = add_look(table, "all", "", &r->all, NAN);
    for (int i = 0; i < r->streams && !status; i++)
        status = add_look(table, "without", braid_net_stream(r->net, i, NULL), &r->without[i],
                          r->all.accuracy - r->without[i].accuracy);
    for (int i = 0; i < r->streams && !status; i++)
        status = add_look(table, "only", braid_net_stream(r->net, i, NULL), &r->only[i], NAN);
    return status;
}

/* ---- Subsets ------------------------------------------------------------------------------- */

static const braid_column subset_columns[] = {{"streams", "streams", BRAID_CELL_TEXT, 16, 0, 0, 0},
                                              {"count", "count", BRAID_CELL_COUNT, 5, 0, 0, 0},
                                              {"accuracy", "accuracy", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                              {"loss", "loss", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                              {"samples", "samples", BRAID_CELL_COUNT, 8, 0, 1, 0}};

static int count_bits(uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

static braid_status add_subset(const eval_result *r, uint32_t kept, braid_table *table) {
    const braid_train_metrics *m = kept == r->every ? &r->all : &r->subsets[kept];
    char text[BRAID_MAX_STREAMS * BRAID_STREAM_NAME];
    size_t used = 0;
    for (int i = 0; i < braid_net_stream_count(r->net); i++) {
        if (!(kept >> i & 1)) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "+" : "",
                                 braid_net_stream(r->net, i, NULL));
    }
    braid_status status = braid_table_add_text(table, text);
    if (!status) status = braid_table_add_number(table, count_bits(kept));
    if (!status) status = braid_table_add_number(table, m->accuracy);
    if (!status) status = braid_table_add_number(table, m->loss);
    return status ? status : braid_table_add_number(table, (double)m->samples);
}

/* All streams first, then with ever fewer. */
static braid_status fill_subsets(const eval_result *r, braid_table *table) {
    braid_status status = BRAID_OK;
    for (int count = count_bits(r->every); count > 0; count--)
        for (uint32_t kept = 1; kept <= r->every && !status; kept++)
            if (count_bits(kept) == count) status = add_subset(r, kept, table);
    return status;
}

/* ---- Classes ------------------------------------------------------------------------------- */

static const braid_column class_columns[] = {
    {"class", "class", BRAID_CELL_COUNT, 5, 0, 0, 0},     {"name", "name", BRAID_CELL_TEXT, 8, 0, 0, 0},
    {"samples", "samples", BRAID_CELL_COUNT, 7, 0, 0, 0}, {"answers", "answers", BRAID_CELL_COUNT, 7, 0, 2, 0},
    {"correct", "correct", BRAID_CELL_COUNT, 7, 0, 1, 0}, {"precision", "precision", BRAID_CELL_NUMBER, 9, 0, 0, 0},
    {"recall", "recall", BRAID_CELL_NUMBER, 9, 0, 0, 0},  {"f1", "f1", BRAID_CELL_NUMBER, 9, 0, 3, 0}};

static braid_status add_class(const eval_result *r, braid_table *table, int c, const braid_class_metrics *m) {
    char name[NAME_BYTES];
    class_name(r, c, name);
    braid_status status = braid_table_add_number(table, c);
    if (!status) status = braid_table_add_text(table, name);
    if (!status) status = braid_table_add_number(table, (double)m->samples);
    if (!status) status = braid_table_add_number(table, (double)m->answers);
    if (!status) status = braid_table_add_number(table, (double)m->correct);
    if (!status) status = braid_table_add_number(table, m->precision);
    if (!status) status = braid_table_add_number(table, m->recall);
    return status ? status : braid_table_add_number(table, m->f1);
}

/* Classes of the network that the set has not and that were never answered are left out. */
static braid_status fill_classes(const eval_result *r, braid_table *table) {
    braid_status status = BRAID_OK;
    for (int c = 0; c < r->classes && !status; c++)
        if (c < r->info->classes || r->each[c].answers > 0) status = add_class(r, table, c, &r->each[c]);
    return status;
}

/* ---- Confusion ----------------------------------------------------------------------------- */

/* The columns of a matrix: the true class, then one for each answer. */
typedef struct matrix {
    braid_column *columns;
    char (*keys)[NAME_BYTES], (*titles)[16];
    int width; /* of the whole as a table */
} matrix;

static void matrix_free(matrix *m) {
    free(m->columns);
    free(m->keys);
    free(m->titles);
}

/* Keys must differ: a name that two classes have, or that is taken, is followed by the number. */
static void make_key(const eval_result *r, int c, char key[NAME_BYTES]) {
    char other[NAME_BYTES];
    class_name(r, c, key);
    int taken = !strcmp(key, "true");
    for (int k = 0; k < r->classes && !taken; k++) {
        class_name(r, k, other);
        taken = k != c && !strcmp(key, other);
    }
    if (taken) snprintf(key, NAME_BYTES, "class_%d", c);
}

static int digits_of(int64_t value) { return snprintf(NULL, 0, "%lld", (long long)value); }

static int matrix_make(const eval_result *r, matrix *m) {
    size_t classes = (size_t)r->classes;
    char name[NAME_BYTES];
    int64_t most = r->classes - 1;
    int widest = 4;
    m->columns = calloc(classes + 1, sizeof *m->columns);
    m->keys = calloc(classes, sizeof *m->keys);
    m->titles = calloc(classes, sizeof *m->titles);
    if (!m->columns || !m->keys || !m->titles) return 0;
    for (size_t j = 0; j < classes * classes; j++) most = r->counts[j] > most ? r->counts[j] : most;
    m->columns[0] = (braid_column){"true", "true", BRAID_CELL_TEXT, 4, 0, 0, 0};
    for (int c = 0; c < r->classes; c++) {
        class_name(r, c, name);
        int width = (int)strlen(name) + 4;
        widest = width > widest ? width : widest;
        make_key(r, c, m->keys[c]);
        snprintf(m->titles[c], sizeof m->titles[c], "%d", c);
        m->columns[c + 1] = (braid_column){m->keys[c], m->titles[c], BRAID_CELL_COUNT, digits_of(most), 0, 0, 0};
    }
    m->width = widest + r->classes * (digits_of(most) + 2);
    return 1;
}

/* For people a row is headed "12 kitchen", and what never happened is a dash. */
static braid_status fill_matrix(const eval_result *r, int for_people, braid_table *table) {
    char name[NAME_BYTES], heading[NAME_BYTES + 16];
    braid_status status = BRAID_OK;
    for (int c = 0; c < r->classes && !status; c++) {
        class_name(r, c, name);
        snprintf(heading, sizeof heading, "%2d %s", c, name);
        status = braid_table_add_text(table, for_people ? heading : name);
        for (int answer = 0; answer < r->classes && !status; answer++) {
            double count = (double)r->counts[(int64_t)c * r->classes + answer];
            status = braid_table_add_number(table, for_people && count == 0 ? NAN : count);
        }
    }
    return status;
}

static const braid_column mistake_columns[] = {{"true", "true", BRAID_CELL_TEXT, 12, 0, 0, 0},
                                               {"answer", "answer", BRAID_CELL_TEXT, 12, 0, 0, 0},
                                               {"samples", "samples", BRAID_CELL_COUNT, 8, 0, 0, 0},
                                               {"share", "of the class", BRAID_CELL_PERCENT, 8, 0, 0, 0}};

/* Mistakes in the order of their counts, then of their places: the one after another (-1: the first), or -1. */
static int64_t next_mistake(const eval_result *r, int64_t after) {
    int64_t found = -1, cells = (int64_t)r->classes * r->classes;
    for (int64_t j = 0; j < cells; j++) {
        if (j / r->classes == j % r->classes || r->counts[j] == 0) continue;
        int later = after < 0 || r->counts[j] < r->counts[after] || (r->counts[j] == r->counts[after] && j > after);
        if (later && (found < 0 || r->counts[j] > r->counts[found])) found = j;
    }
    return found;
}

static braid_status fill_mistakes(const eval_result *r, braid_table *table) {
    braid_status status = BRAID_OK;
    int64_t at = -1;
    for (int row = 0; row < MOST_MISTAKES && !status && (at = next_mistake(r, at)) >= 0; row++) {
        char name[NAME_BYTES], answer[NAME_BYTES];
        int64_t c = at / r->classes;
        class_name(r, (int)c, name);
        class_name(r, (int)(at % r->classes), answer);
        status = braid_table_add_text(table, name);
        if (!status) status = braid_table_add_text(table, answer);
        if (!status) status = braid_table_add_number(table, (double)r->counts[at]);
        if (!status) status = braid_table_add_number(table, (double)r->counts[at] / (double)r->each[c].samples);
    }
    return status;
}

/* ---- Scores -------------------------------------------------------------------------------- */

static const braid_column score_columns[] = {{"file", "file", BRAID_CELL_TEXT, 20, 0, 0, 1},
                                             {"class", "class", BRAID_CELL_TEXT, 8, 0, 0, 0},
                                             {"score", "score", BRAID_CELL_NUMBER, 9, 0, 0, 0}};

static braid_status fill_scores(const eval_result *r, braid_table *table) {
    char name[NAME_BYTES];
    braid_status status = BRAID_OK;
    for (int64_t f = 0; f < r->files && !status; f++) {
        char *path = NULL;
        status = braid_data_path(r->data, r->split, r->samples[f], 0, &path);
        class_name(r, braid_data_labels(r->data, r->split)[r->samples[f]], name);
        if (!status) status = braid_table_add_text(table, path);
        if (!status) status = braid_table_add_text(table, name);
        if (!status) status = braid_table_add_number(table, r->scores[f]);
        braid_text_destroy(path);
    }
    return status;
}

/* ---- The report ---------------------------------------------------------------------------- */

typedef braid_status fill_function(const eval_result *r, braid_table *table);

static braid_status add_table(const eval_result *r, braid_report *report, const char *key, const char *title,
                              const braid_column *columns, int count, fill_function *fill) {
    braid_table *table = NULL;
    braid_status status = braid_table_create(columns, count, &table);
    if (!status) status = fill(r, table);
    if (!status) return braid_report_add_table(report, key, title, table);
    braid_table_destroy(table);
    return status;
}
#define COUNT(columns) (int)(sizeof(columns) / sizeof(columns)[0])

static braid_status fill_for_people(const eval_result *r, braid_table *table) { return fill_matrix(r, 1, table); }
static braid_status fill_for_programs(const eval_result *r, braid_table *table) { return fill_matrix(r, 0, table); }

static braid_status add_confusion(const eval_result *r, braid_report *report, const matrix *m, braid_format format) {
    int for_people = format == BRAID_FORMAT_TABLE || format == BRAID_FORMAT_MD;
    int room = output_options(format).width;
    int fits = m->width <= (room > 0 ? room : WIDEST) && r->classes <= MOST_COLUMNS;
    if (!for_people) return add_table(r, report, "confusion", NULL, m->columns, r->classes + 1, fill_for_programs);
    if (fits)
        return add_table(r, report, "confusion", "Confusion: a row for each true class, a column for each answer",
                         m->columns, r->classes + 1, fill_for_people);
    braid_status status = add_table(r, report, "mistakes", "The most frequent mistakes", mistake_columns,
                                    COUNT(mistake_columns), fill_mistakes);
    return status ? status : braid_report_add_words(report, "The whole matrix: --what confusion -o csv");
}

static braid_status add_areas(const eval_result *r, braid_report *report) {
    braid_status status = braid_report_add_number(report, "files", "files", (double)r->files);
    if (!status)
        status = braid_report_add_number(report, "abnormal_files", "abnormal files", (double)r->areas.positives);
    if (!status) status = braid_report_add_number(report, "roc_auc", "ROC-AUC", r->areas.roc);
    if (!status) status = braid_report_add_number(report, "pr_auc", "PR-AUC", r->areas.pr);
    if (status || !isnan(r->areas.roc)) return status;
    return braid_report_add_words(report, "ROC-AUC and PR-AUC are not defined where all files are of one kind; the "
                                          "split test has both.");
}

static braid_status add_figures(const eval_result *r, braid_report *report) {
    braid_status status = braid_report_add_text(report, "model", "model", r->model);
    if (!status) status = braid_report_add_text(report, "data", "data", r->info->folder);
    if (!status) status = braid_report_add_text(report, "split", "split", braid_split_name(r->split));
    if (!status) status = braid_report_add_number(report, "samples", "samples", (double)r->all.samples);
    if (!status && r->counts) status = braid_report_add_number(report, "accuracy", "accuracy", r->whole.accuracy);
    if (!status && r->counts)
        status = braid_report_add_number(report, "balanced_accuracy", "balanced accuracy", r->whole.balanced_accuracy);
    if (!status) status = braid_report_add_number(report, "loss", "loss", r->all.loss);
    return status || r->counts ? status : add_areas(r, report);
}

static braid_status add_tables(const eval_result *r, braid_report *report, eval_part part, const matrix *m,
                               braid_format format) {
    braid_status status = BRAID_OK;
    int all = part == EVAL_ALL;
    if ((all && r->streams > 0) || part == EVAL_STREAMS)
        status = add_table(r, report, "streams", NULL, stream_columns, COUNT(stream_columns), fill_streams);
    if (!status && part == EVAL_SUBSETS)
        status = add_table(r, report, "subsets", NULL, subset_columns, COUNT(subset_columns), fill_subsets);
    if (!status && r->counts && (all || part == EVAL_CLASSES))
        status = add_table(r, report, "classes", NULL, class_columns, COUNT(class_columns), fill_classes);
    if (!status && r->counts && (all || part == EVAL_CONFUSION)) status = add_confusion(r, report, m, format);
    int programs = format == BRAID_FORMAT_CSV || format == BRAID_FORMAT_JSON;
    if (!status && !r->counts && ((all && programs) || part == EVAL_SCORES))
        status = add_table(r, report, "scores", NULL, score_columns, COUNT(score_columns), fill_scores);
    return status;
}

int eval_print(const eval_result *r, eval_part part, braid_format format) {
    braid_report *report = NULL;
    matrix m = {0};
    int code = 0;
    if (r->counts && !matrix_make(r, &m)) code = complain(BRAID_ERROR_MEMORY, "no memory for a confusion matrix");
    braid_status status = code ? BRAID_OK : braid_report_create(&report);
    if (!code && !status) status = add_figures(r, report);
    if (!code && !status) status = add_tables(r, report, part, &m, format);
    if (status) code = complain_lab(status);
    if (code)
        braid_report_destroy(report);
    else
        code = output_report(report, format);
    matrix_free(&m);
    return code;
}
