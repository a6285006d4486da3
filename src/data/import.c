/*
 * braid_data_import: what was named is looked at by name, then every file is read once: what can be read at all, how
 * many bits and channels a stream has, its range, holes, mean and deviation. Then two files are written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/crc32c.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/within.h"
#include "data/imported.h"
#include "data/limits.h"
#include "data/lists.h"
#include "data/stats_tables.h"

static const braid_column note_columns[] = {{"file", "file", BRAID_CELL_TEXT, 20, 0, 0, 1},
                                            {"note", "note", BRAID_CELL_TEXT, 20, 0, 0, 0}};

/* ---- Ranges -------------------------------------------------------------------------------- */

/* How much of a file's unit is one of these: files of integers are in millimetres, those of floats in metres. */
static double per_unit(const char *unit, int bits) {
    const double metre = bits == 32 ? 1 : 1000;
    return !strcmp(unit, "m") ? metre : !strcmp(unit, "cm") ? metre / 100 : !strcmp(unit, "mm") ? metre / 1000 : 1;
}

static manifest_stream *find_stream(manifest *m, const char *name, size_t length) {
    for (int i = 0; i < m->streams; i++)
        if (strlen(m->stream[i].name) == length && !strncasecmp(m->stream[i].name, name, length)) return &m->stream[i];
    return NULL;
}

static braid_status refuse_stream(const manifest *m, const char *option, const char *name, size_t length) {
    char has[512] = "";
    size_t used = 0;
    for (int i = 0; i < m->streams && used < sizeof has; i++)
        used += (size_t)snprintf(has + used, sizeof has - used, "%s%s", i ? ", " : "", m->stream[i].name);
    return fail(BRAID_ERROR_ARGUMENT, "%s: expected a stream of the set (%s), got \"%.*s\"", option, has, (int)length,
                name);
}

/* One "depth=0.3..8m", in the unit that was typed. */
static braid_status read_range(manifest *m, const char *text, size_t length) {
    char copy[128], *end;
    const size_t name = strcspn(text, "=");
    if (length >= sizeof copy || name >= length)
        return fail(BRAID_ERROR_ARGUMENT, "ranges: expected STREAM=LOW..HIGH[UNIT], got \"%.*s\"", (int)length, text);
    manifest_stream *s = find_stream(m, text, name);
    if (!s) return refuse_stream(m, "ranges", text, name);
    memcpy(copy, text, length);
    copy[length] = 0;
    char *low = copy + name + 1, *dots = strstr(low, "..");
    const char *high = dots ? dots + 2 : "";
    if (dots) *dots = 0; /* or "30." would be the number */
    s->low = real_read(low, &end);
    const int is_low = dots && end != low && end == dots;
    s->high = real_read(high, &end);
    if (!is_low || end == high || !isfinite(s->low) || !isfinite(s->high) || !(s->high > s->low) ||
        strlen(end) >= sizeof s->unit)
        return fail(BRAID_ERROR_ARGUMENT,
                    "ranges: expected STREAM=LOW..HIGH[UNIT] with LOW below HIGH, such as depth=0.3..8m, got \"%.*s\"",
                    (int)length, text);
    snprintf(s->unit, sizeof s->unit, "%s", *end ? end : "-");
    s->has_range = 1;
    return BRAID_OK;
}

static braid_status read_options(import *a) {
    for (const char *at = a->options->ranges; at && *at; at += strcspn(at, ","), at += *at == ',')
        TRY(read_range(&a->m, at, strcspn(at, ",")));
    for (const char *at = a->options->masks; at && *at; at += strcspn(at, ","), at += *at == ',') {
        manifest_stream *s = find_stream(&a->m, at, strcspn(at, ","));
        if (!s) return refuse_stream(&a->m, "masks", at, strcspn(at, ","));
        s->mask = 1;
    }
    return BRAID_OK;
}

/* What was typed becomes what is stored; what was not is what was measured. */
static braid_status set_stream(manifest_stream *s, const stats_stream *measured) {
    s->bits = measured->bits;
    s->channels = measured->channels;
    if (s->has_range) {
        const double factor = per_unit(s->unit, s->bits);
        s->scale = 1 / factor;
        s->low *= factor;
        s->high *= factor;
    } else if (s->bits > 8) {
        stats_range(measured, &s->low, &s->high);
        s->has_range = 1;
    }
    if (s->mask && !s->has_range)
        return fail(BRAID_ERROR_ARGUMENT,
                    "masks: expected a stream with holes, got %s, which has 8 bits and no range; "
                    "--range %s=LOW..HIGH makes it a quantity",
                    s->name, s->name);
    return BRAID_OK;
}

/* ---- Sources ------------------------------------------------------------------------------- */

static int has_ending(const char *path, const char *ending) {
    const char *dot = strrchr(path, '.');
    return dot && !strcasecmp(dot, ending);
}

static braid_status add_word(import *a, const char *word) {
    if (folder_exists(word)) return import_folder(a, word, NULL);
    if (has_ending(word, ".csv") || has_ending(word, ".tsv") || has_ending(word, ".txt")) return import_table(a, word);
    return fail(
        BRAID_ERROR_DATA,
        "%s: expected a folder, a table (.csv, .tsv), STREAM=FOLDER, or lists (rgb=FILE depth=FILE label=FILE), "
        "got %s",
        word, data_is_file(word) ? "another file" : "nothing of that name");
}

/* "rgb=FILE": where its path begins; 0 for a word that is none, also where such a file is there. */
static size_t name_length(const char *word) {
    const size_t length = strcspn(word, "=");
    return word[length] && length > 0 && !memchr(word, '/', length) && !data_is_file(word) && !folder_exists(word)
               ? length
               : 0;
}

static braid_status add_words(import *a) {
    const char *names[BRAID_MAX_STREAMS + 2], *paths[BRAID_MAX_STREAMS + 2];
    int lists = 0;
    for (int w = 0; w < a->options->count; w++) {
        const char *word = a->options->words[w], *path = word + name_length(word) + 1, *name;
        char copy[32];
        if (path == word + 1) {
            TRY(add_word(a, word));
            continue;
        }
        if (name_length(word) >= sizeof copy || lists == BRAID_MAX_STREAMS + 2)
            return fail(BRAID_ERROR_ARGUMENT, "%s: expected at most %d lists with names of 1 to 31 letters", word,
                        BRAID_MAX_STREAMS + 2);
        snprintf(copy, sizeof copy, "%.*s", (int)name_length(word), word);
        TRY(import_keep(a, copy, &name));
        if (folder_exists(path)) {
            TRY(import_folder(a, path, name));
            continue;
        }
        names[lists] = name;
        paths[lists++] = path;
    }
    return lists ? import_lists(a, names, paths, lists) : BRAID_OK;
}

static braid_status refuse_asked(const import *a, const char *name, size_t length) {
    char has[1024] = "";
    size_t used = 0;
    for (int i = 0; i < a->m.streams + a->unasked_count && used < sizeof has; i++)
        used += (size_t)snprintf(has + used, sizeof has - used, "%s%s", i ? ", " : "",
                                 i < a->m.streams ? a->m.stream[i].name : a->unasked[i - a->m.streams].name);
    return fail(BRAID_ERROR_ARGUMENT,
                "streams: expected names of streams that are there (%s), got \"%.*s\"; STREAM=FOLDER takes all images "
                "of a folder as one stream",
                used ? has : "none was found", (int)length, name);
}

/* Nothing to import in a folder that is a set says that it is one. */
static braid_status name_set(const import *a, braid_status status) {
    const fail_kept kept = fail_keep();
    for (int w = 0; w < a->options->count; w++) {
        braid_data *data = NULL;
        const char *word = a->options->words[w];
        const int is_set = folder_exists(word) && !braid_data_open(word, NULL, &data);
        braid_data_destroy(data);
        if (is_set)
            return fail(BRAID_ERROR_DATA, "%s: expected images to import, got a set already: --data %s takes it", word,
                        word);
    }
    fail_put_back(&kept);
    return status;
}

/* Every name of --streams is a stream that is there, and is there once. */
static braid_status check_streams(import *a) {
    const char *list = a->options->streams;
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ",");
        for (const char *other = list; other < at; other += strcspn(other, ",") + 1)
            if (strcspn(other, ",") == length && !strncasecmp(other, at, length))
                return fail(BRAID_ERROR_ARGUMENT, "streams: expected each stream once, got \"%.*s\" twice", (int)length,
                            at);
        if (!find_stream(&a->m, at, length)) return refuse_asked(a, at, length);
    }
    for (int i = 0; i < a->unasked_count; i++) {
        const import_unasked *one = &a->unasked[i];
        if (one->files)
            TRY(import_note(a, a->root, "%lld file%s of stream %s, which --streams leaves out", (long long)one->files,
                            one->files == 1 ? "" : "s", one->name));
    }
    return BRAID_OK;
}

/* ---- Measuring ----------------------------------------------------------------------------- */

typedef struct measuring {
    import *a;
    braid_data *data;
    unsigned char *broken; /* of every sample */
    unsigned char *bits;   /* [samples][streams] of every file; 0: it cannot be read */
} measuring;

static int64_t row_of(const measuring *m, braid_split split, int64_t sample) {
    return ((const imported *)m->data->state)->row[split][sample];
}

static void on_decoded(void *user, braid_split split, int64_t sample, int stream, const image *from) {
    const measuring *m = user;
    m->bits[row_of(m, split, sample) * m->a->m.streams + stream] = (unsigned char)from->bits;
}

static braid_status on_bad_file(void *user, braid_split split, int64_t sample, int stream, const char *path) {
    measuring *m = user;
    char why[400];
    const size_t length = strlen(path);
    const char *message = fail_message();
    const int64_t row = row_of(m, split, sample);
    if (m->bits[row * m->a->m.streams + stream]) return BRAID_OK; /* of other bits than others: drop_bits decides */
    if (!strncmp(message, path, length) && !strncmp(message + length, ": ", 2)) message += length + 2;
    snprintf(why, sizeof why, "%s", message);
    m->broken[row] = 1;
    m->a->result->broken++;
    return import_note(m->a, path, "%s", why);
}

/* A set of what was found so far, to be measured; the manifest is lent to it. */
static braid_status open_found(import *a, braid_data **data) {
    void *memory;
    TRY(memory_calloc(1, sizeof **data, "a data set", &memory));
    *data = memory;
    TRY(memory_calloc(1, sizeof(imported), "a data set", &(*data)->state));
    (*data)->kind = &data_imported;
    (*data)->limits = a->options->limits;
    imported *state = (*data)->state;
    state->m = a->m;
    (*data)->info.streams = a->m.streams;
    for (int i = 0; i < a->m.streams; i++) state->column[i] = i;
    return imported_take_samples(*data);
}

static void close_found(braid_data *data) {
    imported *state = data ? data->state : NULL;
    if (state) state->m = (manifest){0};
    braid_data_destroy(data);
}

/* Samples with a broken file are left out. */
static void drop_broken(manifest *m, const unsigned char *broken) {
    int64_t kept = 0;
    for (int64_t k = 0; k < m->samples; k++) {
        if (broken[k]) continue;
        m->sample[kept] = m->sample[k];
        memmove(m->paths + kept * m->streams, m->paths + k * m->streams, (size_t)m->streams * sizeof *m->paths);
        kept++;
    }
    m->samples = kept;
}

/* The bits that most files of a stream have; of as many, those of the file that is the first by name. */
static int usual_bits(const measuring *m, int stream) {
    static const int bits[] = {8, 16, 32};
    const int streams = m->a->m.streams;
    const char *first[3] = {NULL};
    int64_t files[3] = {0};
    int best = 0;
    for (int64_t k = 0; k < m->a->m.samples; k++)
        for (int b = 0; b < 3; b++) {
            const char *path = m->a->m.paths[k * streams + stream];
            if (m->broken[k] || m->bits[k * streams + stream] != bits[b]) continue;
            if (!first[b] || strcmp(path, first[b]) < 0) first[b] = path;
            files[b]++;
        }
    for (int b = 1; b < 3; b++)
        if (files[b] > files[best] || (files[b] && files[b] == files[best] && strcmp(first[b], first[best]) < 0))
            best = b;
    return bits[best];
}

/* Samples with a file of other bits than most of its stream are broken; *found: there are some. */
static braid_status drop_bits(const measuring *m, int *found) {
    const manifest *set = &m->a->m;
    int usual[BRAID_MAX_STREAMS] = {0};
    for (int i = 0; i < set->streams; i++) usual[i] = usual_bits(m, i);
    *found = 0;
    for (int64_t k = 0; k < set->samples; k++) {
        const int was_broken = m->broken[k];
        for (int i = 0; i < set->streams && !was_broken; i++) {
            const int64_t at = k * set->streams + i;
            if (m->bits[at] == usual[i]) continue;
            *found = m->broken[k] = 1;
            m->a->result->broken++;
            TRY(import_note(m->a, set->paths[at], "expected %d bits as most files of stream %s have, got %d bits",
                            usual[i], set->stream[i].name, m->bits[at]));
        }
    }
    return BRAID_OK;
}

/* All files are read once; where a stream has files of several kinds, those that are left are read again. */
static braid_status measure_found(measuring *m, const stats_options *o, stats_set *out) {
    int is_mixed = 0;
    braid_status status = open_found(m->a, &m->data);
    if (!status) status = stats_measure(m->data, o, out);
    close_found(m->data);
    m->data = NULL;
    if (!status) status = drop_bits(m, &is_mixed);
    if (!status) drop_broken(&m->a->m, m->broken);
    if (status || !is_mixed) return status;
    stats_free(out);
    memset(m->broken, 0, (size_t)m->a->m.samples);
    memset(m->bits, 0, (size_t)(m->a->m.samples * m->a->m.streams));
    status = open_found(m->a, &m->data);
    if (!status) status = stats_measure(m->data, o, out);
    close_found(m->data);
    if (!status) drop_broken(&m->a->m, m->broken); /* of files that changed meanwhile */
    return status;
}

static braid_status measure(import *a, stats_set *out) {
    int has_holes[BRAID_MAX_STREAMS];
    double cut[BRAID_MAX_STREAMS][2];
    check_progress progress = {.call = a->options->progress, .user = a->options->user};
    measuring m = {.a = a};
    stats_options o = {.cut = (const double(*)[2])cut,
                       .has_holes = has_holes,
                       .bad_file = on_bad_file,
                       .decoded = on_decoded,
                       .user = &m,
                       .progress = &progress};
    for (int i = 0; i < a->m.streams; i++) {
        const manifest_stream *s = &a->m.stream[i];
        has_holes[i] = s->has_range ? 1 : -1;
        cut[i][0] = s->low * per_unit(s->unit, 32);
        cut[i][1] = s->high * per_unit(s->unit, 32);
    }
    braid_status status = memory_calloc((size_t)a->m.samples, 1, "samples", (void **)&m.broken);
    if (!status) status = memory_calloc((size_t)(a->m.samples * a->m.streams), 1, "files", (void **)&m.bits);
    if (!status) status = measure_found(&m, &o, out);
    memory_free(m.broken);
    memory_free(m.bits);
    if (!status && a->m.samples == 0)
        status = fail(BRAID_ERROR_DATA,
                      "expected files that can be read, got %lld samples of which each has one that cannot: %s",
                      (long long)a->result->broken, fail_message());
    return status;
}

/* The training samples say what a stream is, or the others where there are none. */
static const stats_stream *source_of(const stats_set *s, int stream) {
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++)
        if (s->of[split][stream].files) return &s->of[split][stream];
    return &s->of[0][stream];
}

static braid_status set_streams(import *a, stats_set *s) {
    manifest *m = &a->m;
    for (int i = 0; i < m->streams; i++) {
        TRY(set_stream(&m->stream[i], source_of(s, i)));
        for (int split = 0; split < BRAID_SPLIT_COUNT; split++) {
            stats_stream *one = &s->of[split][i];
            if (one->files && one->channels > m->stream[i].channels) m->stream[i].channels = one->channels;
            if (one->files) stats_finish(one, &m->stream[i]);
        }
    }
    return BRAID_OK;
}

/* The size that was asked for; else, where files differ, that of most of the first stream. */
static braid_status set_size(import *a, const stats_set *s) {
    manifest *m = &a->m;
    const stats_size *first = stats_usual_size(source_of(s, 0));
    if (a->options->fit) TRY(imported_parse_fit(a->options->fit, &m->fit));
    int differ = 0;
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++)
        for (int i = 0; i < m->streams; i++) {
            const stats_stream *one = &s->of[split][i];
            differ |= one->sizes > 1 ||
                      (one->sizes && (one->size[0].height != first->height || one->size[0].width != first->width));
        }
    memcpy(m->size, a->options->size, sizeof m->size);
    if (!m->size[0] && differ) memcpy(m->size, (int64_t[]){first->height, first->width}, sizeof m->size);
    return m->size[0] ? image_check_size("size", m->size[0], m->size[1]) : BRAID_OK;
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* What is left of a path that lies in a folder; NULL where it does not. */
static const char *below(const char *path, const char *folder) {
    const size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) return NULL;
    return path[length] == '/' ? path + length + 1 : !path[length] ? "" : NULL;
}

static braid_status shorten_paths(import *a) {
    manifest *m = &a->m;
    if (!manifest_can_hold(a->root))
        return fail(BRAID_ERROR_DATA, "%s: expected a folder without control characters in its path", a->root);
    const char *inside = below(a->root, a->out);
    m->root = !inside ? a->root : *inside ? inside : ".";
    for (int64_t k = 0; k < m->samples * m->streams; k++) {
        const char *rest = below(m->paths[k], a->root);
        if (rest && *rest) m->paths[k] = rest;
    }
    return BRAID_OK;
}

static braid_status write_file(const import *a, const char *name, const char *text, size_t bytes) {
    char *path;
    TRY(files_join(a->out, name, &path));
    braid_status status = files_replace(path, text, bytes);
    memory_free(path);
    return status;
}

static braid_status write_set(import *a, const stats_set *s) {
    char *text = NULL, *numbers = NULL;
    size_t bytes, number_bytes;
    TRY(shorten_paths(a));
    braid_status status = manifest_write(&a->m, &text, &bytes);
    if (!status) status = stats_write(s, &a->m, crc32c(text, bytes), &numbers, &number_bytes);
    if (!status) status = write_file(a, MANIFEST_FILE, text, bytes);
    if (!status) status = write_file(a, STATS_FILE, numbers, number_bytes);
    memory_free(text);
    memory_free(numbers);
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------- */

static braid_status make_out(import *a, const char *out) {
    int made;
    TRY(files_make_folder(out, &made));
    memory_free(a->out);
    a->out = NULL;
    return within_root(out, &a->out);
}

static braid_status describe(import *a, const stats_set *s, const char *out) {
    braid_data *data = NULL;
    for (int64_t k = 0; k < a->m.samples; k++) a->result->samples[a->m.sample[k].split]++;
    TRY(stats_tables(s, &a->m, out, &a->result->stats));
    const braid_data_options o = {.limits = a->options->limits};
    TRY(braid_data_open(out, &o, &data)); /* what was written can be read */
    braid_status status = data_counts(data, &a->result->stats.counts);
    braid_data_destroy(data);
    return status;
}

static braid_status run(import *a, const char *out) {
    stats_set s = {0};
    TRY(braid_table_create(note_columns, 2, &a->notes));
    braid_status status = folder_exists(out) ? within_root(out, &a->out) : BRAID_OK;
    if (!status) status = add_words(a);
    if (!status) status = check_streams(a);
    if (!status) status = import_group(a);
    if (status == BRAID_ERROR_DATA && !a->file_count) status = name_set(a, status);
    if (!status) status = read_options(a);
    if (!status) status = import_divide(a);
    if (!status) status = measure(a, &s);
    if (!status) status = set_streams(a, &s);
    if (!status) status = set_size(a, &s);
    if (!status) status = make_out(a, out);
    if (!status) status = write_set(a, &s);
    if (!status) status = describe(a, &s, out);
    stats_free(&s);
    return status;
}

static void forget(import *a) {
    for (size_t j = 0; j < a->strings.count; j++) memory_free(a->strings.text[j]);
    memory_free(a->strings.text);
    memory_free(a->files);
    memory_free(a->root);
    memory_free(a->out);
    manifest_free(&a->m);
}

void braid_data_import_forget(braid_data_import_result *result) {
    braid_table_destroy(result->stats.streams);
    braid_table_destroy(result->stats.counts);
    braid_table_destroy(result->stats.warnings);
    braid_table_destroy(result->notes);
    *result = (braid_data_import_result){0};
}

braid_status braid_data_import(const char *out, const braid_data_import_options *options,
                               braid_data_import_result *result) {
import a = {.options = options, .result = result };
    if (!out || !*out || !options || !options->words || options->count < 1 || !result)
        return fail(BRAID_ERROR_ARGUMENT, "braid_data_import: expected a folder to write, words and a result, got %s",
                    !out || !*out                 ? "no folder"
                    : !options || !options->words ? "no words"
                                                  : "no result");
    for (int w = 0; w < options->count; w++)
        if (!options->words[w]) return fail(BRAID_ERROR_ARGUMENT, "words: expected a text as word %d, got NULL", w);
    TRY(limits_check(&options->limits));
    *result = (braid_data_import_result){0};
    braid_status status = run(&a, out);
    result->notes = a.notes;
    forget(&a);
    if (status) {
        const fail_kept kept = fail_keep();
        braid_data_import_forget(result);
        fail_put_back(&kept);
    }
    return status;
}
