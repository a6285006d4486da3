/*
 * Predictions for images and sounds. Files are opened as a set of the kind that the model was trained on, and go the
 * way of an evaluation, so that a sample means the same in both.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "predict.h"
#include "train.h"

#define DEFAULT_BATCH 32
#define DEFAULT_TOP 3
#define MOST_COLUMNS 6

typedef struct answers {
    const prediction *p;
    feeding feeding;
    braid_split split;
    braid_trainer *trainer;
    progress progress;
    int done;
    braid_table *table;
    braid_column columns[MOST_COLUMNS];
    braid_status status; /* of the table: a failure of the lab */
    int code;            /* an exit code, after a message */
    float *logits;       /* for --out */
    int64_t outputs, seen;
    /* Of sounds, by file. */
    double *scores;
    int64_t *windows, *samples;
} answers;

/* ---- What is told --------------------------------------------------------------------------- */

static const braid_column class_columns[] = {{"sample", "sample", BRAID_CELL_TEXT, 10, 0, 0, 1},
                                             {"rank", "rank", BRAID_CELL_COUNT, 4, 0, 0, 0},
                                             {"class", "class", BRAID_CELL_COUNT, 5, 0, 0, 0},
                                             {"name", "name", BRAID_CELL_TEXT, 12, 0, 0, 0},
                                             {"probability", "probability", BRAID_CELL_NUMBER, 11, 0, 0, 0},
                                             {"label", "label", BRAID_CELL_TEXT, 12, 0, 0, 0}};
static const braid_column score_columns[] = {{"sample", "sample", BRAID_CELL_TEXT, 10, 0, 0, 1},
                                             {"windows", "windows", BRAID_CELL_COUNT, 7, 0, 0, 0},
                                             {"score", "score", BRAID_CELL_NUMBER, 9, 0, 0, 0},
                                             {"label", "label", BRAID_CELL_TEXT, 9, 0, 0, 0}};
#define CLASS_COLUMNS ((int)(sizeof class_columns / sizeof class_columns[0]))
#define SCORE_COLUMNS ((int)(sizeof score_columns / sizeof score_columns[0]))

static int top_of(const answers *a) { return a->p->options->top ? a->p->options->top : DEFAULT_TOP; }

/* Files have no label: the last column is left out. */
static int create_table(answers *a) {
    int sounds = a->feeding.info->kind == BRAID_DATA_MIMII, count = sounds ? SCORE_COLUMNS : CLASS_COLUMNS;
    if (sounds && a->p->options->top)
        return complain(BRAID_ERROR_ARGUMENT,
                        "--top: expected a network with classes, got one that gives back its input");
    memcpy(a->columns, sounds ? score_columns : class_columns, (size_t)count * sizeof a->columns[0]);
    a->columns[0].group = !sounds && top_of(a) > 1;
    braid_status status = braid_table_create(a->columns, count - a->feeding.info->unlabelled, &a->table);
    return status ? complain_lab(status) : 0;
}

static void add_text(answers *a, const char *text) {
    if (!a->status) a->status = braid_table_add_text(a->table, text);
}

static void add_number(answers *a, double number) {
    if (!a->status) a->status = braid_table_add_number(a->table, number);
}

static void add_path(answers *a, int64_t sample) {
    char *path = NULL;
    int stream = 0;
    while (a->feeding.info->missing >> stream & 1) stream++;
    if (!a->status) a->status = braid_data_path(a->feeding.data, a->split, sample, stream, &path);
    add_text(a, path);
    braid_text_destroy(path);
}

static void add_label(answers *a, int32_t label) {
    if (!a->feeding.info->unlabelled) add_text(a, a->feeding.info->class_names[label]);
}

/* A network may have more classes than there are names: the others are called by their number. */
static void add_class(answers *a, int c) {
    char number[32];
    snprintf(number, sizeof number, "class %d", c);
    add_text(a, c < a->feeding.info->classes ? a->feeding.info->class_names[c] : number);
}

/* The most likely class that is less likely than `before` (-1: the most likely of all); of equals the first. */
static int next_class(const braid_train_sample *s, int before) {
    int best = -1;
    for (int c = 0; c < s->classes; c++) {
        int is_less =
            before < 0 || s->outputs[c] < s->outputs[before] || (s->outputs[c] <= s->outputs[before] && c > before);
        if (is_less && (best < 0 || s->outputs[c] > s->outputs[best])) best = c;
    }
    return best;
}

static void add_classes(answers *a, const braid_train_sample *s) {
    double most = s->outputs[s->answer], sum = 0;
    for (int c = 0; c < s->classes; c++) sum += exp(s->outputs[c] - most);
    int rank = 1;
    for (int c = next_class(s, -1); c >= 0 && rank <= top_of(a); c = next_class(s, c)) {
        add_path(a, s->id);
        add_number(a, rank++);
        add_number(a, c);
        add_class(a, c);
        add_number(a, exp(s->outputs[c] - most) / sum);
        add_label(a, s->label);
    }
}

static void add_scores(answers *a) {
    for (int64_t f = 0; f < a->feeding.info->files[a->split] && a->scores; f++) {
        if (!a->windows[f]) continue;
        add_path(a, a->samples[f]);
        add_number(a, (double)a->windows[f]);
        add_number(a, a->scores[f] / (double)a->windows[f]);
        add_label(a, braid_data_labels(a->feeding.data, a->split)[a->samples[f]]);
    }
}

/* ---- Samples -------------------------------------------------------------------------------- */

static int no_memory(void) { return complain(BRAID_ERROR_MEMORY, "no memory for the outputs"); }

/* Looks at the first sample: what is there to be kept, and are the names those of another network? */
static int start(answers *a, const braid_train_sample *s) {
    const braid_data_info *info = a->feeding.info;
    size_t files = (size_t)info->files[a->split] + 1, samples = (size_t)info->samples[a->split];
    a->outputs = s->output_count;
    if (s->classes > 0 && s->classes < info->classes && a->p->options->like &&
        !braid_model_text(a->p->model, BRAID_DATA_KEY))
        return complain(BRAID_ERROR_DATA, "%s: expected the names of %d classes, as the network has, got %d",
                        info->folder, (int)s->classes, info->classes);
    if (a->p->options->out && predict_out_format(a->p->options) == BRAID_FORMAT_TABLE &&
        !(a->logits = calloc(samples * (size_t)a->outputs + 1, sizeof(float))))
        return no_memory();
    if (s->classes > 0) return 0;
    a->scores = calloc(files, sizeof *a->scores);
    a->windows = calloc(files, sizeof *a->windows);
    a->samples = calloc(files, sizeof *a->samples);
    return a->scores && a->windows && a->samples ? 0 : no_memory();
}

static void on_sample(void *user, const braid_train_sample *s) {
    answers *a = user;
    if (!a->seen && !a->code) a->code = start(a, s);
    if (a->code) return;
    for (int64_t j = 0; a->logits && j < a->outputs; j++) a->logits[a->seen * a->outputs + j] = (float)s->outputs[j];
    a->seen++;
    if (s->classes > 0) {
        add_classes(a, s);
        return;
    }
    if (!a->windows[s->file]++) a->samples[s->file] = s->id;
    a->scores[s->file] += s->score;
}

static int on_event(void *user, const braid_train_event *e) {
    answers *a = user;
    (void)e;
    progress_step(&a->progress, a->done++, "batches");
    return interrupted() || a->code || a->status || output_broken();
}

/* ---- Opening -------------------------------------------------------------------------------- */

static int take_card(const answers *a, char **card) {
    const char *like = a->p->options->like, *kept = braid_model_text(a->p->model, BRAID_DATA_KEY);
    char streams[512];
    braid_data *data = NULL;
    if (!like && !kept)
        return complain(BRAID_ERROR_DATA,
                        "%s: expected the size and the statistics of its inputs and the names of its classes "
                        "(%s in the metadata), got none; --like DIR takes them from a data set",
                        a->p->path, BRAID_DATA_KEY);
    if (kept) {
        if (like)
            complain(0, "--like %s is not used: %s tells itself how its samples are read (%s in the metadata)", like,
                     a->p->path, BRAID_DATA_KEY);
        *card = strdup(kept);
        return *card ? 0 : no_memory();
    }
    feeding_streams(a->p->net, streams, sizeof streams);
    const braid_data_options wanted = {.streams = streams[0] ? streams : NULL,
                                       .limits = limits_of(a->p->options->max_pixels)};
    braid_status status = braid_data_open(like, &wanted, &data);
    if (!status && !braid_data_describe(data)->has_statistics) status = braid_data_measure(data);
    if (!status) status = braid_data_card(data, card);
    braid_data_destroy(data);
    if (status) return interrupted() ? EXIT_INTERRUPTED : complain_lab(status);
    return 0;
}

/* 1 where a folder looks like a data set. */
static int has_splits(const char *folder) {
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/train", folder);
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int open_files(answers *a, const char *const *words, int count, feeding_options *o) {
    char *card = NULL;
    const braid_data_files files = {.words = words,
                                    .count = count,
                                    .resize = a->p->options->resize,
                                    .limits = limits_of(a->p->options->max_pixels)};
    int code = take_card(a, &card);
    braid_status status = code ? BRAID_OK : braid_data_open_files(card, &files, &o->data);
    braid_text_destroy(card);
    o->validate = BRAID_SPLIT_TEST;
    if (status && interrupted()) return EXIT_INTERRUPTED;
    if (status && count == 1 && has_splits(words[0]))
        return complain((int)status, "%s; a data set is given as --data %s", braid_lab_message(), words[0]);
    return status ? feeding_complain_lab(status, 0) : code;
}

static int open_set(const answers *a, feeding_options *o) {
    static const braid_split splits[] = {BRAID_SPLIT_COUNT, BRAID_SPLIT_VAL, BRAID_SPLIT_TEST, BRAID_SPLIT_TRAIN};
    o->folder = a->p->options->data;
    o->card = braid_model_text(a->p->model, BRAID_DATA_KEY);
    o->fit = a->p->options->fit;
    o->bytes = !feeding_takes_floats(a->p->net);
    o->validate = splits[a->p->options->split];
    return network_size(&a->p->options->network, o->size);
}

static int open_samples(answers *a, const char *const *words, int count) {
    const predict_options *options = a->p->options;
    char streams[512];
    feeding_options o = {.streams = streams,
                         .batch = options->network.batch ? options->network.batch : DEFAULT_BATCH,
                         .readers = options->readers,
                         .max_pixels = options->max_pixels};
    feeding_streams(a->p->net, streams, sizeof streams);
    int code = count ? open_files(a, words, count, &o) : open_set(a, &o);
    if (!code) code = feeding_open(&a->feeding, &o);
    a->split = a->feeding.validate;
    if (!code && a->feeding.batches[BRAID_PART_VALIDATE] == 0)
        return complain(BRAID_ERROR_DATA, "%s: expected samples in the split %s, got none", a->feeding.info->folder,
                        braid_split_name(a->split));
    if (!code) code = feeding_check(&a->feeding, a->p->net);
    if (!code) code = card_check_classes(o.card, &a->feeding, a->p->path);
    if (code) return code;
    braid_train_options train = {
        .step = {.batch = o.batch, .choice = {.effort = BRAID_EFFORT_ESTIMATE}}, .event = on_event, .user = a};
    feeding_describe(&a->feeding, &train);
    braid_status status = braid_trainer_create(a->p->model, &train, &a->trainer);
    return status ? complain_braid(status) : create_table(a);
}

/* ---- Running -------------------------------------------------------------------------------- */

static int look(answers *a) {
    braid_train_metrics unused;
    const unsigned missing = a->feeding.info->missing;
    const braid_evaluate_options o = {.part = BRAID_PART_VALIDATE, .blanked = missing, .sample = on_sample, .user = a};
    for (int i = 0; i < a->feeding.info->streams; i++)
        if (missing >> i & 1) complain(0, "no files of stream %s: it is blanked", a->feeding.info->stream_names[i]);
    progress_begin(&a->progress, (int)a->feeding.batches[BRAID_PART_VALIDATE], a->p->options->common.quiet);
    braid_status status = braid_trainer_evaluate(a->trainer, &o, &unused);
    progress_clear(&a->progress);
    if (status)
        return a->feeding.failed ? feeding_complain_lab(status, a->p->options->data != NULL) : complain_braid(status);
    add_scores(a);
    if (!a->code && a->status) return complain_lab(a->status);
    return a->code || !interrupted() ? a->code : EXIT_INTERRUPTED;
}

static int print(answers *a) {
    const braid_print_options options = output_options((braid_format)a->p->options->common.format);
    braid_table *table = a->table;
    a->table = NULL;
    if (predict_out_format(a->p->options) != BRAID_FORMAT_TABLE) return predict_save(table, a->p->options);
    int code = output_table(table, &options);
    if (code || !a->logits) return code;
    return predict_write(a->logits, a->seen, a->outputs, a->p->options->out);
}

int predict_samples(const prediction *p, const char *const *words, int count) {
    answers a = {.p = p};
    int code = open_samples(&a, words, count);
    if (!code) code = look(&a);
    if (!code) code = print(&a);
    braid_table_destroy(a.table);
    braid_trainer_destroy(a.trainer);
    feeding_close(&a.feeding);
    free(a.logits);
    free(a.scores);
    free(a.windows);
    free(a.samples);
    return code;
}
