/*
 * Opening a set and what is common to all kinds: the description, labels, class counts, and the list of problems.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/within.h"
#include "data/card.h"
#include "data/data.h"
#include "data/gather.h"
#include "data/limits.h"
#include "data/lists.h"
#include "data/manifest.h"

static const data_kind *const kinds[BRAID_DATA_KIND_COUNT] = {[BRAID_DATA_IMPORTED] = &data_imported,
                                                              [BRAID_DATA_SUNRGBD] = &data_sunrgbd,
                                                              [BRAID_DATA_FMNIST86] = &data_fmnist86,
                                                              [BRAID_DATA_MIMII] = &data_mimii};

const char *braid_data_kind_name(braid_data_kind kind) {
    return (unsigned)kind < BRAID_DATA_KIND_COUNT ? kinds[kind]->name : NULL;
}

const char *braid_split_name(braid_split split) {
    static const char *const names[] = {"train", "val", "test"};
    return (unsigned)split < BRAID_SPLIT_COUNT ? names[split] : NULL;
}

/* ---- Problems ----------------------------------------------------------------------------- */

braid_status problems_add(problems *p, const char *path, const char *format, ...) {
    char text[400];
    va_list arguments;
    if (p->count++ >= PROBLEMS_MOST || (p->count > 1 && !p->table)) return BRAID_OK;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->count == 1) snprintf(p->first, sizeof p->first, "%s: %s", path, text);
    if (!p->table) return BRAID_OK;
    TRY(braid_table_add_text(p->table, path));
    return braid_table_add_text(p->table, text);
}

braid_status problems_catch(problems *p, const char *path, braid_status status) {
    char text[400];
    if (status != BRAID_ERROR_DATA) return status;
    const char *message = fail_message();
    size_t length = strlen(path);
    if (!strncmp(message, path, length) && !strncmp(message + length, ": ", 2)) message += length + 2;
    snprintf(text, sizeof text, "%s", message);
    return problems_add(p, path, "%s", text);
}

braid_status check_step(check_progress *p, const char *what) {
    if (p->call && p->call(p->user, p->done, p->total, what))
        return fail(BRAID_ERROR_CHECK, "stopped before the file %s", what);
    p->done++;
    return BRAID_OK;
}

/* ---- Folders ------------------------------------------------------------------------------ */

int folder_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int data_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

void folder_free(folder_list *list) {
    for (int64_t i = 0; i < list->count; i++) memory_free(list->names[i]);
    memory_free(list->names);
    *list = (folder_list){0};
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static braid_status add_name(folder_list *list, int64_t *room, const char *name) {
    if (list->count == *room) {
        void *larger;
        int64_t wanted = *room ? 2 * *room : 64;
        TRY(memory_alloc((size_t)wanted, sizeof *list->names, "the names in a folder", &larger));
        if (list->count) memcpy(larger, list->names, (size_t)list->count * sizeof *list->names);
        memory_free(list->names);
        list->names = larger;
        *room = wanted;
    }
    TRY(memory_copy_text(name, &list->names[list->count]));
    list->count++;
    return BRAID_OK;
}

braid_status folder_read(const char *root, const char *folder, folder_list *out) {
    int64_t room = 0;
    *out = (folder_list){0};
    DIR *stream = opendir(folder);
    if (!stream && errno == ENOENT) return BRAID_OK;
    if (!stream) return fail(BRAID_ERROR_DATA, "%s: could not read the folder", folder);
    braid_status status = within_check(root, dirfd(stream), folder, BRAID_ERROR_DATA);
    for (struct dirent *entry; !status && (entry = readdir(stream));)
        if (entry->d_name[0] != '.') status = add_name(out, &room, entry->d_name);
    closedir(stream);
    if (status)
        folder_free(out);
    else if (out->count)
        qsort(out->names, (size_t)out->count, sizeof *out->names, by_name);
    return status;
}

braid_status data_read_file(const data_file *file, char **path, char **text, size_t *bytes) {
    *path = *text = NULL;
    TRY(files_join(file->folder, file->name, path));
    return files_read_within(file->root, *path, file->most, BRAID_ERROR_DATA, text, bytes);
}

/* ---- Sets --------------------------------------------------------------------------------- */

int64_t data_file_of(const braid_data *d, braid_split split, int64_t sample) {
    const int64_t *first = d->split[split].first_samples;
    if (!first) return sample;
    int64_t low = 0, high = d->info.files[split];
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (first[middle] <= sample)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t data_sample_bytes(const braid_data *d, int stream) {
    return (size_t)(d->info.size[0] * d->info.size[1] * d->info.channels[stream]) * dtype_bytes(d->info.dtype);
}

void braid_data_destroy(braid_data *data) {
    if (!data) return;
    if (data->kind) data->kind->forget(data);
    gathered_free(&data->files, data->info.streams);
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        memory_free(data->split[s].labels);
        memory_free(data->split[s].first_samples);
    }
    class_names_free(data->class_names, data->info.classes);
    memory_free(data->folder);
    memory_free(data->root);
    memory_free(data);
}

/* A manifest says itself what a folder is, whatever else lies in it: the last kind is asked first. */
static braid_status find_kind(braid_data *d) {
    for (int k = BRAID_DATA_KIND_COUNT - 1; k >= 0; k--)
        if (kinds[k]->matches(d)) {
            d->kind = kinds[k];
            d->info.kind = (braid_data_kind)k;
            return BRAID_OK;
        }
    return fail(
        BRAID_ERROR_DATA,
        "%s: expected a data set: train/ with labels.txt (sunrgbd), *-86-images-idx3-ubyte (fmnist86), folders with "
        "normal/*.wav (mimii), or " MANIFEST_FILE " (imported); folders of your own become a set by braid data "
        "import %s --out SET",
        d->folder, d->folder);
}

static braid_status find_kind_of_card(braid_data *d, const json_t *card) {
    const char *name;
    TRY(json_get_text(card, "kind", &name));
    for (int k = 0; k < BRAID_DATA_KIND_COUNT && !d->kind; k++)
        if (!strcmp(name, kinds[k]->name)) {
            d->kind = kinds[k];
            d->info.kind = (braid_data_kind)k;
        }
    const char *dtype = json_string_value(json_object_get(card, "dtype"));
    const int is_f32 = d->kind == &data_mimii || (d->kind == &data_imported && dtype && !strcmp(dtype, "f32"));
    d->info.dtype = is_f32 ? BRAID_DTYPE_F32 : BRAID_DTYPE_U8;
    return d->kind ? BRAID_OK : fail(BRAID_ERROR_DATA, "card of the data: expected a kind of set, got \"%.40s\"", name);
}

static void show_names(braid_data *d) {
    for (int i = 0; i < d->info.streams; i++) d->info.stream_names[i] = d->stream_names[i];
    d->info.unused = d->unused;
    d->info.class_names = (const char *const *)d->class_names;
}

/* Streams are told by their names: the set may have them in another order, or more of them. */
static void take_statistics(braid_data *d, const braid_data *from) {
    for (int i = 0; i < d->info.streams; i++)
        for (int j = 0; j < from->info.streams; j++) {
            if (strcmp(d->stream_names[i], from->stream_names[j])) continue;
            memcpy(d->info.mean[i], from->info.mean[j], sizeof d->info.mean[i]);
            memcpy(d->info.std[i], from->info.std[j], sizeof d->info.std[i]);
            d->info.has_statistics = 1;
        }
}

/* The size of a card and its statistics hold for images of its own kind; it says nothing of another kind. */
static braid_status scan_like(braid_data *d, const braid_data *like, const braid_data_options *options,
                              problems *found) {
    braid_data_options wanted = *options;
    int same = d->kind == like->kind && d->kind != &data_mimii;
    if (same && !wanted.size[0] && !wanted.size[1]) memcpy(wanted.size, like->info.size, sizeof wanted.size);
    TRY(d->kind->scan(d, &wanted, found));
    if (same) take_statistics(d, like);
    return BRAID_OK;
}

static braid_status scan_by_card(braid_data *d, const braid_data_options *options, problems *found) {
    braid_data like = {0};
    json_t *card;
    TRY(json_read(options->card, strlen(options->card), "the card of the data", BRAID_ERROR_DATA, &card));
    braid_status status = find_kind_of_card(&like, card);
    if (!status) status = card_read(&like, card);
    if (!status) status = scan_like(d, &like, options, found);
    class_names_free(like.class_names, like.info.classes);
    json_decref(card);
    return status;
}

static braid_status scan(braid_data *d, const braid_data_options *options, problems *found) {
    TRY(find_kind(d));
    TRY(options->card ? scan_by_card(d, options, found) : d->kind->scan(d, options, found));
    show_names(d);
    return BRAID_OK;
}

/* A set that braid data make has left unfinished has a file that says so. */
static braid_status check_finished(const char *folder) {
    char *path;
    TRY(files_join(folder, DATA_UNFINISHED, &path));
    int unfinished = data_is_file(path);
    memory_free(path);
    if (!unfinished) return BRAID_OK;
    return fail(BRAID_ERROR_DATA,
                "%s: expected a whole set, got one whose making was stopped (it has a file " DATA_UNFINISHED
                "); remove the folder, and make it again with braid data make",
                folder);
}

static braid_status create(const char *folder, braid_data **data) {
    void *memory;
    *data = NULL;
    if (!folder || !*folder) return fail(BRAID_ERROR_ARGUMENT, "folder: expected a path, got none");
    if (data_is_file(folder))
        return fail(BRAID_ERROR_DATA, "%s: expected the folder of a data set, got a file", folder);
    if (!folder_exists(folder))
        return fail(BRAID_ERROR_DATA, "%s: there is no such folder; braid data make KIND --out DIR writes a set",
                    folder);
    TRY(memory_calloc(1, sizeof **data, "a data set", &memory));
    *data = memory;
    TRY(memory_copy_text(folder, &(*data)->folder));
    (*data)->info.folder = (*data)->folder;
    TRY(check_finished(folder));
    return within_root(folder, &(*data)->root);
}

braid_status braid_data_open(const char *folder, const braid_data_options *options, braid_data **data) {
    const braid_data_options none = {0};
    problems found = {0};
    if (!data) return fail(BRAID_ERROR_ARGUMENT, "braid_data_open: expected a place for the set, got NULL");
    *data = NULL;
    if (!options) options = &none;
    TRY(limits_check(&options->limits));
    braid_status status = create(folder, data);
    if (!status) {
        (*data)->limits = options->limits;
        limits_begin(&(*data)->limits);
        status = scan(*data, options, &found);
        limits_end();
    }
    if (!status && found.count)
        status = fail(BRAID_ERROR_DATA, "%s%s: braid data check %s lists %s", found.first,
                      found.count > 1 ? ", and more" : "", folder, found.count > 1 ? "them all" : "it");
    if (!status) return BRAID_OK;
    braid_data_destroy(*data);
    *data = NULL;
    return status;
}

/* ---- Files --------------------------------------------------------------------------------- */

/* Text of ours becomes the caller's. */
static braid_status give_card(char *text, char **card) {
    *card = strdup(text);
    memory_free(text);
    return *card ? BRAID_OK : fail(BRAID_ERROR_MEMORY, "no memory for the card of a set");
}

braid_status braid_data_card(const braid_data *data, char **card) {
    char *text;
    if (card) *card = NULL;
    if (!data || !card)
        return fail(BRAID_ERROR_ARGUMENT, "braid_data_card: expected a set and a place for its card, got NULL");
    TRY(card_write(data, &text));
    return give_card(text, card);
}

braid_status braid_data_card_copy(const char *card, char **copy) {
    json_t *parsed;
    char *text;
    size_t bytes;
    if (copy) *copy = NULL;
    if (!card || !copy)
        return fail(BRAID_ERROR_ARGUMENT, "braid_data_card_copy: expected a card and a place for its copy, got NULL");
    TRY(json_read(card, strlen(card), "card of the data", BRAID_ERROR_DATA, &parsed));
    braid_status status = json_write(parsed, &text, &bytes);
    json_decref(parsed);
    return status ? status : give_card(text, copy);
}

braid_status data_unlabelled(braid_data *d, int64_t samples) {
    void *labels;
    TRY(memory_calloc((size_t)samples, sizeof(int32_t), "labels", &labels));
    d->split[BRAID_SPLIT_TEST].labels = labels;
    d->info.samples[BRAID_SPLIT_TEST] = samples;
    d->info.files[BRAID_SPLIT_TEST] = d->files.count;
    return BRAID_OK;
}

static braid_status fill_from_files(braid_data *d, const json_t *card, const braid_data_files *files) {
    TRY(memory_copy_text("files", &d->folder));
    d->info.folder = d->folder;
    d->info.unlabelled = 1;
    TRY(find_kind_of_card(d, card));
    TRY(card_read(d, card));
    show_names(d);
    TRY(gather_files(d, files->words, files->count));
    return d->kind->take_files(d, card, files->resize);
}

braid_status braid_data_open_files(const char *card, const braid_data_files *files, braid_data **data) {
    json_t *object;
    void *memory;
    if (!data) return fail(BRAID_ERROR_ARGUMENT, "braid_data_open_files: expected a place for the set, got NULL");
    *data = NULL;
    if (!card || !files || !files->words || files->count < 1)
        return fail(BRAID_ERROR_ARGUMENT, "files: expected a card and at least one file, got none");
    for (int i = 0; i < files->count; i++)
        if (!files->words[i]) return fail(BRAID_ERROR_ARGUMENT, "files: expected a file as word %d, got NULL", i);
    TRY(limits_check(&files->limits));
    TRY(json_read(card, strlen(card), "the card of the data", BRAID_ERROR_DATA, &object));
    braid_status status = memory_calloc(1, sizeof **data, "a data set", &memory);
    if (!status) {
        *data = memory;
        (*data)->limits = files->limits;
        limits_begin(&(*data)->limits);
        status = fill_from_files(*data, object, files);
        limits_end();
    }
    json_decref(object);
    if (!status) return BRAID_OK;
    braid_data_destroy(*data);
    *data = NULL;
    return status;
}

/* ---- Asking -------------------------------------------------------------------------------- */

const braid_data_info *braid_data_describe(const braid_data *data) { return data ? &data->info : NULL; }

static int has_split(const braid_data *data, braid_split split) { return data && (unsigned)split < BRAID_SPLIT_COUNT; }

const int32_t *braid_data_labels(const braid_data *data, braid_split split) {
    return has_split(data, split) ? data->split[split].labels : NULL;
}

void braid_data_class_counts(const braid_data *data, braid_split split, int64_t *counts) {
    if (!has_split(data, split) || !counts) return;
    memset(counts, 0, (size_t)data->info.classes * sizeof *counts);
    for (int64_t i = 0; i < data->info.samples[split]; i++) {
        int32_t label = data->split[split].labels[i];
        if (label >= 0 && label < data->info.classes) counts[label]++;
    }
}

void braid_data_class_weights(const braid_data *data, braid_split split, double *weights) {
    if (!has_split(data, split) || !weights) return;
    memset(weights, 0, (size_t)data->info.classes * sizeof *weights);
    for (int64_t i = 0; i < data->info.samples[split]; i++) weights[data->split[split].labels[i]]++;
    for (int c = 0; c < data->info.classes; c++)
        if (weights[c] > 0) weights[c] = (double)data->info.samples[split] / (data->info.classes * weights[c]);
}

static braid_status check_sample(const braid_data *data, braid_split split, int64_t sample) {
    if (!data) return fail(BRAID_ERROR_ARGUMENT, "data: expected a set, got NULL");
    if (!has_split(data, split) || sample < 0 || sample >= data->info.samples[split])
        return fail(BRAID_ERROR_ARGUMENT, "sample: expected one of the split's, got split %d, sample %lld", (int)split,
                    (long long)sample);
    return BRAID_OK;
}

braid_status braid_data_path(const braid_data *data, braid_split split, int64_t sample, int stream, char **path) {
    char *own;
    if (!path) return fail(BRAID_ERROR_ARGUMENT, "braid_data_path: expected a place for the path, got NULL");
    *path = NULL;
    TRY(check_sample(data, split, sample));
    if (stream < 0 || stream >= data->info.streams)
        return fail(BRAID_ERROR_ARGUMENT, "stream: expected 0 to %d, got %d", data->info.streams - 1, stream);
    TRY(data->kind->path(data, split, sample, stream, &own));
    *path = strdup(own);
    memory_free(own);
    return *path ? BRAID_OK : fail(BRAID_ERROR_MEMORY, "no memory for a path");
}

braid_status braid_data_read(const braid_data *data, braid_split split, int64_t sample, void *const *streams) {
    TRY(check_sample(data, split, sample));
    for (int i = 0; i < data->info.streams; i++)
        if (!streams || !streams[i])
            return fail(BRAID_ERROR_ARGUMENT, "braid_data_read: expected a place for stream %d, got NULL", i);
    limits_begin(&data->limits);
    braid_status status = data->kind->read(data, split, sample, streams);
    limits_end();
    return status;
}

/* ---- Checking ----------------------------------------------------------------------------- */

static const braid_column problem_columns[] = {{.key = "file", .title = "file", .cell = BRAID_CELL_TEXT},
                                               {.key = "problem", .title = "problem", .cell = BRAID_CELL_TEXT}};
static const braid_column count_columns[] = {{.key = "split", .title = "split", .cell = BRAID_CELL_TEXT},
                                             {.key = "class", .title = "class", .cell = BRAID_CELL_COUNT},
                                             {.key = "name", .title = "name", .cell = BRAID_CELL_TEXT},
                                             {.key = "samples", .title = "samples", .cell = BRAID_CELL_COUNT},
                                             {.key = "files", .title = "files", .cell = BRAID_CELL_COUNT}};

/* What a split has of a class. */
typedef struct class_count {
    int64_t samples, files, last_file; /* last_file: counted from 1 */
} class_count;

static void count_classes(const braid_data *d, braid_split split, class_count *counts) {
    for (int64_t i = 0; i < d->info.samples[split]; i++) {
        int32_t label = d->split[split].labels[i];
        if (label < 0 || label >= d->info.classes) continue;
        int64_t file = data_file_of(d, split, i) + 1;
        counts[label].samples++;
        counts[label].files += file != counts[label].last_file;
        counts[label].last_file = file;
    }
}

static braid_status add_counts(const braid_data *d, braid_split split, class_count *counts, braid_table *table) {
    memset(counts, 0, (size_t)d->info.classes * sizeof *counts);
    count_classes(d, split, counts);
    for (int c = 0; c < d->info.classes; c++) {
        TRY(braid_table_add_text(table, braid_split_name(split)));
        TRY(braid_table_add_number(table, c));
        TRY(braid_table_add_text(table, d->class_names[c]));
        TRY(braid_table_add_number(table, (double)counts[c].samples));
        TRY(braid_table_add_number(table, (double)counts[c].files));
    }
    return BRAID_OK;
}

static braid_status fill_counts(const braid_data *d, braid_table *table) {
    void *counts;
    TRY(memory_alloc((size_t)d->info.classes, sizeof(class_count), "samples of classes", &counts));
    braid_status status = BRAID_OK;
    for (int s = 0; s < BRAID_SPLIT_COUNT && !status; s++)
        if (d->info.samples[s]) status = add_counts(d, (braid_split)s, counts, table);
    memory_free(counts);
    return status;
}

braid_status data_counts(const braid_data *d, braid_table **table) {
    TRY(braid_table_create(count_columns, 5, table));
    return fill_counts(d, *table);
}

static braid_status check_set(const char *folder, const braid_data_limits *limits, braid_data **data, problems *found,
                              check_progress *progress) {
    const braid_data_options none = {0};
    TRY(create(folder, data));
    if (limits) (*data)->limits = *limits;
    TRY(limits_check(&(*data)->limits));
    limits_begin(&(*data)->limits);
    braid_status status = scan(*data, &none, found);
    if (!status) status = (*data)->kind->check(*data, found, progress);
    limits_end();
    return status;
}

braid_status braid_data_check(const char *folder, const braid_data_limits *limits, braid_data_progress *progress,
                              void *user, braid_data_check_result *result) {
    braid_data *data = NULL;
    problems found = {0};
    check_progress counter = {.call = progress, .user = user};
    const fail_kept kept = fail_keep(); /* bad files are rows */
    if (!result) return fail(BRAID_ERROR_ARGUMENT, "braid_data_check: expected a place for the result, got NULL");
    *result = (braid_data_check_result){0};
    braid_status status = braid_table_create(problem_columns, 2, &found.table);
    if (!status) status = check_set(folder, limits, &data, &found, &counter);
    if (!status) status = data_counts(data, &result->counts);
    if (!status) status = data_warnings(data, &result->warnings);
    if (data) result->kind = data->info.kind;
    result->files = counter.done;
    result->problems = found.table;
    result->problem_count = found.count;
    braid_data_destroy(data);
    if (!status) {
        fail_put_back(&kept);
        return BRAID_OK;
    }
    braid_table_destroy(result->problems);
    braid_table_destroy(result->counts);
    braid_table_destroy(result->warnings);
    *result = (braid_data_check_result){0};
    return status;
}
