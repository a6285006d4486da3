/*
 * Fashion-MNIST at 86x86 in IDX files: train-86-* and t10k-86-*. A file is read whole. One in ten of the training
 * images, at random, is for validation. Pixels are used as they are, 0 to 255, as the network that comes with the set
 * expects: mean 0 and deviation 1/255 undo the division by 255.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files.h"
#include "core/memory.h"
#include "data/data.h"
#include "data/idx.h"
#include "data/image.h"
#include "data/lists.h"
#include "data/order.h"

#define SIDE 86
#define CLASSES 10
#define MAX_BYTES ((size_t)1 << 30)

static const char *const class_names[CLASSES] = {"t_shirt", "trouser", "pullover", "dress", "coat",
                                                 "sandal",  "shirt",   "sneaker",  "bag",   "ankle_boot"};
static const char *const file_endings[] = {".png", ".jpg", ".jpeg", ".npy", "idx3-ubyte", NULL};
static const char *const prefixes[BRAID_SPLIT_COUNT] = {[BRAID_SPLIT_TRAIN] = "train", [BRAID_SPLIT_TEST] = "t10k"};

typedef struct set_state {
    char *images[BRAID_SPLIT_COUNT]; /* the files */
    idx index[BRAID_SPLIT_COUNT];
    int64_t *places[BRAID_SPLIT_COUNT]; /* of train and val: each sample's image in the training file, rising */
} set_state;

static void file_name(char name[64], braid_split split, int is_labels) {
    snprintf(name, 64, "%s-86-%s-idx%d-ubyte", prefixes[split], is_labels ? "labels" : "images", is_labels ? 1 : 3);
}

static int exists(const char *folder, braid_split split, int is_labels) {
    char name[64], *path;
    struct stat info;
    if (!prefixes[split]) return 0;
    file_name(name, split, is_labels);
    if (files_join(folder, name, &path) != BRAID_OK) return 0;
    int there = stat(path, &info) == 0;
    memory_free(path);
    return there;
}

static int has_split(const char *folder, braid_split split) {
    return exists(folder, split, 0) || exists(folder, split, 1);
}

static int matches(braid_data *d) {
    return has_split(d->folder, BRAID_SPLIT_TRAIN) || has_split(d->folder, BRAID_SPLIT_TEST);
}

static void forget(braid_data *d) {
    set_state *state = d->state;
    for (int s = 0; state && s < BRAID_SPLIT_COUNT; s++) {
        memory_free(state->images[s]);
        memory_free(state->places[s]);
    }
    memory_free(state);
}

static braid_status check_rank(const idx *index, int rank) {
    if (index->rank == rank && (rank == 1 || (index->dims[1] == SIDE && index->dims[2] == SIDE))) return BRAID_OK;
    return fail(BRAID_ERROR_DATA, rank == 1 ? "expected a list of labels" : "expected images of 86x86");
}

/* Reads one of the two files of a split; a damaged one is a problem and leaves *text NULL. */
static braid_status read_idx(braid_data *d, braid_split split, int is_labels, problems *found, char **text, idx *out) {
    char name[64], *path;
    size_t bytes;
    file_name(name, split, is_labels);
    const data_file file = {d->root, d->folder, name, MAX_BYTES};
    braid_status status = data_read_file(&file, &path, text, &bytes);
    if (!status) status = idx_read(*text, bytes, out);
    if (!status) status = check_rank(out, is_labels ? 1 : 3);
    if (status) {
        memory_free(*text);
        *text = NULL;
    }
    status = path ? problems_catch(found, path, status) : status;
    memory_free(path);
    return status;
}

static braid_status check_labels(const braid_data *d, braid_split split, const char *path, problems *found) {
    const int32_t *labels = d->split[split].labels;
    for (int64_t i = 0; i < d->info.samples[split]; i++)
        if (labels[i] >= CLASSES)
            TRY(problems_add(found, path, "label %lld: expected 0 to %d, got %d", (long long)i, CLASSES - 1,
                             labels[i]));
    return BRAID_OK;
}

static braid_status take_labels(braid_data *d, braid_split split, const idx *labels, problems *found) {
    void *memory;
    char name[64], *path;
    TRY(memory_alloc((size_t)labels->dims[0], sizeof(int32_t), "labels", &memory));
    d->split[split].labels = memory;
    d->info.samples[split] = labels->dims[0];
    for (int64_t i = 0; i < labels->dims[0]; i++) d->split[split].labels[i] = labels->data[i];
    file_name(name, split, 1);
    TRY(files_join(d->folder, name, &path));
    braid_status status = check_labels(d, split, path, found);
    memory_free(path);
    return status;
}

static braid_status note_none(const braid_data *d, braid_split split, problems *found) {
    char name[64], *path;
    file_name(name, split, 0);
    TRY(files_join(d->folder, name, &path));
    braid_status status = problems_add(found, path, "expected images, got none");
    memory_free(path);
    return status;
}

static braid_status note_counts(const braid_data *d, braid_split split, const idx *labels, problems *found) {
    const set_state *state = d->state;
    char name[64], *path;
    file_name(name, split, 0);
    TRY(files_join(d->folder, name, &path));
    braid_status status = problems_add(found, path, "expected %lld images as there are labels, got %lld",
                                       (long long)labels->dims[0], (long long)state->index[split].dims[0]);
    memory_free(path);
    return status;
}

static braid_status scan_split(braid_data *d, braid_split split, problems *found) {
    set_state *state = d->state;
    char *text = NULL;
    idx labels;
    if (!has_split(d->folder, split)) return BRAID_OK;
    TRY(read_idx(d, split, 0, found, &state->images[split], &state->index[split]));
    braid_status status = read_idx(d, split, 1, found, &text, &labels);
    if (!status && text && state->images[split]) {
        if (labels.dims[0] == 0 && state->index[split].dims[0] == 0)
            status = note_none(d, split, found);
        else if (labels.dims[0] == state->index[split].dims[0])
            status = take_labels(d, split, &labels, found);
        else
            status = note_counts(d, split, &labels, found);
    }
    memory_free(text);
    d->info.files[split] = d->info.samples[split];
    return status;
}

/* ---- Validation --------------------------------------------------------------------------- */

/* The samples of a split: the images that a mask marks with `mark`, with their labels. */
static braid_status choose_images(braid_data *d, braid_split to, const int32_t *labels, const uint8_t *mask, int mark,
                                  int64_t count) {
    set_state *state = d->state;
    void *places, *chosen;
    int64_t used = 0;
    TRY(memory_alloc((size_t)count, sizeof *state->places[to], "images of a split", &places));
    state->places[to] = places;
    TRY(memory_alloc((size_t)count, sizeof *labels, "labels", &chosen));
    d->split[to].labels = chosen;
    d->info.samples[to] = d->info.files[to] = count;
    for (int64_t i = 0; used < count; i++) {
        if (mask[i] != mark) continue;
        d->split[to].labels[used] = labels[i];
        state->places[to][used++] = i;
    }
    return BRAID_OK;
}

static braid_status divide(braid_data *d, const int32_t *labels, int64_t total, uint8_t *mask) {
    int64_t validation;
    TRY(order_hold_out(mask, total, &validation));
    TRY(choose_images(d, BRAID_SPLIT_TRAIN, labels, mask, 0, total - validation));
    return choose_images(d, BRAID_SPLIT_VAL, labels, mask, 1, validation);
}

static braid_status hold_out(braid_data *d) {
    data_split *train = &d->split[BRAID_SPLIT_TRAIN];
    int64_t total = d->info.samples[BRAID_SPLIT_TRAIN];
    int32_t *labels = train->labels;
    void *mask;
    if (total == 0) return BRAID_OK;
    TRY(memory_alloc((size_t)total, 1, "a mask", &mask));
    train->labels = NULL;
    braid_status status = divide(d, labels, total, mask);
    memory_free(mask);
    memory_free(labels);
    return status;
}

/* The file that a split is in, and the place of a sample there. */
static braid_split file_of(braid_split split) { return split == BRAID_SPLIT_VAL ? BRAID_SPLIT_TRAIN : split; }

static int64_t place_of(const braid_data *d, braid_split split, int64_t sample) {
    const int64_t *places = ((const set_state *)d->state)->places[split];
    return places ? places[sample] : sample;
}

/* ---- The set ------------------------------------------------------------------------------ */

static braid_status scan(braid_data *d, const braid_data_options *options, problems *found) {
    TRY(memory_calloc(1, sizeof(set_state), "a data set", &d->state));
    if ((options->size[0] && options->size[0] != SIDE) || (options->size[1] && options->size[1] != SIDE))
        return fail(BRAID_ERROR_ARGUMENT, "size: expected 86x86, the size of fmnist86");
    d->info.dtype = BRAID_DTYPE_U8;
    d->info.streams = 1;
    d->info.size[0] = d->info.size[1] = SIDE;
    d->info.channels[0] = 1;
    d->info.std[0][0] = 1.0 / 255;
    d->info.has_statistics = 1;
    snprintf(d->stream_names[0], sizeof d->stream_names[0], "grey");
    d->info.classes = CLASSES;
    TRY(class_names_copy(class_names, CLASSES, &d->class_names));
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) TRY(scan_split(d, (braid_split)s, found));
    return hold_out(d);
}

static braid_status read_sample(const braid_data *d, braid_split split, int64_t sample, void *const *streams) {
    const set_state *state = d->state;
    memcpy(streams[0], state->index[file_of(split)].data + place_of(d, split, sample) * SIDE * SIDE, SIDE * SIDE);
    return BRAID_OK;
}

/* A file of several images is named with the place in it. */
static braid_status path_of_file(const braid_data *d, int64_t sample, char **out) {
    const int64_t *firsts = d->split[BRAID_SPLIT_TEST].first_samples;
    int64_t file = data_file_of(d, BRAID_SPLIT_TEST, sample);
    char name[4096];
    if (firsts[file + 1] - firsts[file] == 1) return memory_copy_text(d->files.stream[0].paths[file], out);
    snprintf(name, sizeof name, "%s image %lld", d->files.stream[0].paths[file], (long long)(sample - firsts[file]));
    return memory_copy_text(name, out);
}

static braid_status path(const braid_data *d, braid_split split, int64_t sample, int stream, char **out) {
    char name[96], file[64];
    (void)stream;
    if (d->files.count) return path_of_file(d, sample, out);
    file_name(file, file_of(split), 0);
    snprintf(name, sizeof name, "%s image %lld", file, (long long)place_of(d, split, sample));
    return files_join(d->folder, name, out);
}

/* The scan has read every byte there is. */
static braid_status check(const braid_data *d, problems *found, check_progress *progress) {
    (void)found;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        for (int is_labels = 0; is_labels < 2; is_labels++)
            progress->done += exists(d->folder, (braid_split)s, is_labels);
    return BRAID_OK;
}

/* ---- Files --------------------------------------------------------------------------------- */

static void describe(const braid_data *d, json_t *card) { (void)d, (void)card; }

/* Images that are gathered one behind the other. */
typedef struct pixels {
    uint8_t *data;
    size_t used, room; /* in images */
} pixels;

static braid_status add_image(pixels *to, const char *path, int resize) {
    image i;
    TRY(memory_grow((void **)&to->data, to->used, &to->room, SIDE * SIDE, "images"));
    TRY(image_read(NULL, path, &i));
    braid_status status = BRAID_OK;
    if (i.channels != 1 || (!resize && (i.height != SIDE || i.width != SIDE)))
        status = fail(BRAID_ERROR_DATA, "%s: expected 86x86 pixels with 1 channel, got %lldx%lld with %d", path,
                      (long long)i.height, (long long)i.width, i.channels);
    if (!status) status = image_to_bytes(&i, SIDE, SIDE, 1, to->data + to->used * SIDE * SIDE);
    image_free(&i);
    if (!status) to->used++;
    return status;
}

static braid_status add_idx(pixels *to, const char *path, const idx *from) {
    if (check_rank(from, 3) != BRAID_OK) return fail(BRAID_ERROR_DATA, "%s: %s", path, fail_message());
    for (int64_t k = 0; k < from->dims[0]; k++) {
        TRY(memory_grow((void **)&to->data, to->used, &to->room, SIDE * SIDE, "images"));
        memcpy(to->data + to->used++ * SIDE * SIDE, from->data + k * SIDE * SIDE, SIDE * SIDE);
    }
    return BRAID_OK;
}

/* IDX begins with two zeros; no image does. */
static braid_status add_any(pixels *to, const char *path, int resize) {
    char *text;
    size_t bytes;
    idx index;
    TRY(files_read(path, MAX_BYTES, BRAID_ERROR_DATA, &text, &bytes));
    int is_idx = bytes > 2 && text[0] == 0 && text[1] == 0;
    braid_status status = is_idx ? idx_read(text, bytes, &index) : BRAID_OK;
    if (status) status = fail(status, "%s: %s", path, fail_message());
    if (!status && is_idx) status = add_idx(to, path, &index);
    memory_free(text);
    return status || is_idx ? status : add_image(to, path, resize);
}

static braid_status take_files(braid_data *d, const json_t *card, int resize) {
    pixels all = {0};
    void *firsts;
    (void)card;
    if (d->info.streams != 1 || d->info.channels[0] != 1 || d->info.size[0] != SIDE || d->info.size[1] != SIDE)
        return fail(BRAID_ERROR_DATA, "card of the data: expected one stream of 86x86 with 1 channel for fmnist86");
    TRY(memory_calloc(1, sizeof(set_state), "a data set", &d->state));
    set_state *state = d->state;
    TRY(memory_calloc((size_t)d->files.count + 1, sizeof(int64_t), "samples of files", &firsts));
    int64_t *first = d->split[BRAID_SPLIT_TEST].first_samples = firsts;
    braid_status status = BRAID_OK;
    for (int64_t k = 0; k < d->files.count && !status; k++) {
        status = add_any(&all, d->files.stream[0].paths[k], resize);
        first[k + 1] = (int64_t)all.used;
    }
    state->images[BRAID_SPLIT_TEST] = (char *)all.data;
    state->index[BRAID_SPLIT_TEST] = (idx){.rank = 3, .dims = {(int64_t)all.used, SIDE, SIDE}, .data = all.data};
    TRY(status);
    return data_unlabelled(d, (int64_t)all.used);
}

const data_kind data_fmnist86 = {.name = "fmnist86",
                                 .endings = file_endings,
                                 .matches = matches,
                                 .scan = scan,
                                 .read = read_sample,
                                 .path = path,
                                 .check = check,
                                 .forget = forget,
                                 .describe = describe,
                                 .take_files = take_files};
