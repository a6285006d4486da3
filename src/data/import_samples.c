/*
 * Files into samples: those of one split, class and key belong together. A sample without a file for each stream is
 * left out and named, and so is a second file of one stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "data/import.h"
#include "data/order.h"

/* ---- Order --------------------------------------------------------------------------------- */

static int by_sample(const void *one, const void *other) {
    const import_file *a = one, *b = other;
    if (a->split != b->split) return a->split < b->split ? -1 : 1;
    int order = strcmp(a->label, b->label);
    if (!order) order = strcmp(a->key, b->key);
    if (!order) order = a->stream - b->stream;
    return order ? order : strcmp(a->path, b->path);
}

static int is_same_sample(const import_file *a, const import_file *b) {
    return a->split == b->split && !strcmp(a->label, b->label) && !strcmp(a->key, b->key);
}

/* rgb, depth and orth first, as in every set, then by name; those that were asked for in that order. */
static int rank(const import *a, const char *name) {
    static const char *const first[] = {"rgb", "color", "colour", "depth", "orth"};
    int at = 0;
    for (const char *word = a->options->streams; word && *word; word += strcspn(word, ","), word += *word == ',', at++)
        if (strcspn(word, ",") == strlen(name) && !strncasecmp(word, name, strlen(name))) return at;
    for (at = 0; at < 5; at++)
        if (!strcasecmp(first[at], name)) break;
    return 100 + at;
}

static braid_status sort_streams(import *a) {
    manifest *m = &a->m;
    int place[BRAID_MAX_STREAMS];
    manifest_stream sorted[BRAID_MAX_STREAMS];
    for (int i = 0; i < m->streams; i++) {
        place[i] = 0;
        for (int j = 0; j < m->streams; j++) {
            const int x = rank(a, m->stream[j].name), y = rank(a, m->stream[i].name);
            place[i] += x < y || (x == y && strcmp(m->stream[j].name, m->stream[i].name) < 0);
        }
        sorted[place[i]] = m->stream[i];
    }
    memcpy(m->stream, sorted, (size_t)m->streams * sizeof *sorted);
    for (int64_t k = 0; k < a->file_count; k++) a->files[k].stream = place[a->files[k].stream];
    return BRAID_OK;
}

/* ---- Classes ------------------------------------------------------------------------------- */

static int is_number(const char *text) { return *text && !text[strspn(text, "0123456789")] && strlen(text) < 10; }

/* Numbers by their value, texts by their letters. */
static int by_label(const void *one, const void *other) {
    const char *a = *(const char *const *)one, *b = *(const char *const *)other;
    if (!is_number(a) || !is_number(b)) return strcmp(a, b);
    const long x = strtol(a, NULL, 10), y = strtol(b, NULL, 10);
    return x < y ? -1 : x > y ? 1 : strcmp(a, b);
}

static braid_status list_classes(import *a) {
    manifest *m = &a->m;
    const char *last = "";
    for (int64_t k = 0; k < a->file_count; k++) { /* within a split they are sorted: few are looked up */
        if (!strcmp(a->files[k].label, last)) continue;
        last = a->files[k].label;
        if (manifest_find_class(m, last) < 0) TRY(manifest_add_class(m, last));
    }
    if (m->classes) qsort(m->class_names, (size_t)m->classes, sizeof *m->class_names, by_label);
    return BRAID_OK;
}

/* ---- Samples ------------------------------------------------------------------------------- */

static braid_status add_group(import *a, int64_t first, int64_t end) {
    manifest *m = &a->m;
    const char *paths[BRAID_MAX_STREAMS] = {NULL};
    char lacks[512] = "";
    for (int64_t k = first; k < end; k++) {
        const int i = a->files[k].stream;
        if (paths[i]) {
            a->result->duplicates++;
            TRY(import_note(a, a->files[k].path, "a second file of stream %s for one sample; the first is taken: %s",
                            m->stream[i].name, paths[i]));
        } else {
            paths[i] = a->files[k].path;
        }
    }
    for (int i = 0; i < m->streams; i++) {
        if (paths[i]) continue;
        strncat(lacks, *lacks ? ", " : "", sizeof lacks - strlen(lacks) - 1);
        strncat(lacks, m->stream[i].name, sizeof lacks - strlen(lacks) - 1);
    }
    if (!*lacks)
        return manifest_add_sample(
            m, (manifest_sample){a->files[first].split, manifest_find_class(m, a->files[first].label)}, paths);
    a->result->orphans += end - first;
    for (int64_t k = first; k < end; k++)
        TRY(import_note(a, a->files[k].path, "an orphan: its sample has no file of stream %s", lacks));
    return BRAID_OK;
}

/* What the files lack, where nothing comes of them. */
static braid_status refuse_all(const import *a) {
    if (a->lacks.missing)
        return fail(BRAID_ERROR_DATA, "%s: expected files that are there, got %lld that are not; the first is %s",
                    a->lacks.source, (long long)a->lacks.missing, a->lacks.file);
    if (!a->file_count && a->lacks.classless)
        return fail(BRAID_ERROR_DATA, "%s: expected a folder for each class, got images directly in it",
                    a->lacks.folder);
    if (!a->file_count)
        return fail(BRAID_ERROR_DATA, "expected samples, got none%s%s",
                    *a->lacks.note ? "; the first that takes no part is " : "", a->lacks.note);
    return fail(BRAID_ERROR_DATA,
                "expected samples, got %lld files of which none has one of every stream; %s%s: files of a sample have "
                "the same name; --streams a,b names the streams",
                (long long)a->file_count, a->m.streams ? "the first stream is " : "there is no stream",
                a->m.streams ? a->m.stream[0].name : "");
}

braid_status import_group(import *a) {
    TRY(sort_streams(a));
    if (a->file_count) qsort(a->files, (size_t)a->file_count, sizeof *a->files, by_sample);
    TRY(list_classes(a));
    for (int64_t k = 0, first = 0; k < a->file_count; k++) {
        if (k + 1 < a->file_count && is_same_sample(&a->files[k], &a->files[k + 1])) continue;
        TRY(add_group(a, first, k + 1));
        first = k + 1;
    }
    return a->m.samples ? BRAID_OK : refuse_all(a);
}

/* ---- Splits -------------------------------------------------------------------------------- */

/* How many of a class go to validation, and as many to the test: a tenth each, one where there are three. */
static int64_t held_out(int64_t count) { return count < 3 ? 0 : count < 15 ? 1 : (count + 5) / 10; }

/* The samples of one class, which follow each other, in an order that follows from seed and class alone; to the test
 * go as many as to validation, where `tests`. */
static braid_status divide_class(const import *a, int64_t first, int64_t count, int tests) {
    const int64_t val = held_out(count), held = tests ? 2 * val : val;
    void *order;
    TRY(memory_alloc((size_t)count, sizeof(int64_t), "samples", &order));
    order_shuffle(order, count, a->options->seed, (uint64_t)a->m.sample[first].label);
    for (int64_t k = 0; k < count; k++)
        a->m.sample[first + ((const int64_t *)order)[k]].split = k < val    ? BRAID_SPLIT_VAL
                                                                 : k < held ? BRAID_SPLIT_TEST
                                                                            : BRAID_SPLIT_TRAIN;
    memory_free(order);
    return BRAID_OK;
}

/* Divides the samples that are in a split, class by class. */
static braid_status divide(const import *a, int split, int tests) {
    const manifest *m = &a->m;
    for (int64_t k = 0, first = 0; k < m->samples; k++) {
        const manifest_sample one = m->sample[k];
        const int goes_on = k + 1 < m->samples && m->sample[k + 1].label == one.label;
        if (goes_on && m->sample[k + 1].split == one.split) continue;
        if (one.split == split) TRY(divide_class(a, first, k + 1 - first, tests));
        first = k + 1;
    }
    return BRAID_OK;
}

static int by_split(const manifest_sample *a, const manifest_sample *b) { return a->split - b->split; }

/* Samples of a split follow each other, in the order that they have. */
static braid_status sort_samples(manifest *m) {
    manifest sorted = *m;
    sorted.sample = NULL;
    sorted.paths = NULL;
    sorted.samples = 0;
    sorted.sample_room = sorted.path_room = 0;
    braid_status status = BRAID_OK;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        const manifest_sample of = {s, 0};
        for (int64_t k = 0; k < m->samples && !status; k++)
            if (by_split(&m->sample[k], &of) == 0)
                status = manifest_add_sample(&sorted, m->sample[k], m->paths + k * m->streams);
    }
    memory_free(status ? sorted.sample : m->sample);
    memory_free(status ? sorted.paths : m->paths);
    if (!status) *m = sorted;
    return status;
}

braid_status import_divide(import *a) {
    manifest *m = &a->m;
    int64_t count[BRAID_SPLIT_COUNT + 1] = {0};
    for (int64_t k = 0; k < m->samples; k++) count[m->sample[k].split - IMPORT_NO_SPLIT]++;
    a->result->divided = count[0];
    if (count[0]) TRY(divide(a, IMPORT_NO_SPLIT, 1));
    if (!count[0] && !count[1 + BRAID_SPLIT_VAL]) {
        a->result->divided = count[1 + BRAID_SPLIT_TRAIN];
        TRY(divide(a, BRAID_SPLIT_TRAIN, 0));
    }
    return sort_samples(m);
}
