/*
 * Imported sets: a folder with a manifest, and the statistics of its files. What the manifest names may lie anywhere;
 * it must be a file.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "core/crc32c.h"
#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/data.h"
#include "data/imported.h"
#include "data/lists.h"
#include "data/stats.h"

static const char *const file_endings[] = {".png", ".jpg", ".jpeg", ".npy", NULL};

static int matches(braid_data *d) {
    char *path = NULL;
    int found = files_join(d->folder, MANIFEST_FILE, &path) == BRAID_OK && data_is_file(path);
    memory_free(path);
    return found;
}

static void forget(braid_data *d) {
    imported *state = d->state;
    if (!state) return;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) memory_free(state->row[s]);
    manifest_free(&state->m);
    memory_free(state->root);
    memory_free(state);
}

static braid_status path(const braid_data *d, braid_split split, int64_t sample, int stream, char **out) {
    const imported *state = d->state;
    if (d->files.count) return memory_copy_text(d->files.stream[stream].paths[sample], out);
    const char *name = state->m.paths[state->row[split][sample] * state->m.streams + state->column[stream]];
    return name[0] == '/' ? memory_copy_text(name, out) : files_join(state->root, name, out);
}

/* ---- Samples ------------------------------------------------------------------------------ */

/* Without a size of its own, that of the first image is that of all. */
static braid_status check_size(const braid_data *d, const char *file, const image *i) {
    const imported *state = d->state;
    const int64_t *size = d->info.size;
    if (state->resizes || (i->height == size[0] && i->width == size[1])) return BRAID_OK;
    return fail(BRAID_ERROR_DATA,
                "%s: expected %lldx%lld pixels with %d channel(s) of %d bits as in %s, got %lldx%lld with %d of %d",
                file, (long long)size[0], (long long)size[1], i->channels, i->bits,
                d->files.count ? "training" : "the first image", (long long)i->height, (long long)i->width, i->channels,
                i->bits);
}

static braid_status read_image(const braid_data *d, const char *file, int stream, void *out) {
    const imported *state = d->state;
    const convert_format f = {.dtype = d->info.dtype,
                              .size = {d->info.size[0], d->info.size[1]},
                              .fit = state->fit,
                              .stream = &state->stream[stream],
                              .mean = d->info.mean[stream][0]};
    image i;
    TRY(image_read(d->root, file, &i));
    braid_status status = convert_check(&i, f.stream);
    if (status) status = fail(status, "%s: %s", file, fail_message());
    if (!status) status = check_size(d, file, &i);
    if (!status && out) status = convert_image(&i, &f, out);
    image_free(&i);
    return status;
}

static braid_status read_sample(const braid_data *d, braid_split split, int64_t sample, void *const *streams) {
    for (int s = 0; s < d->info.streams; s++) {
        char *file;
        if (d->info.missing >> s & 1) {
            memset(streams[s], 0, data_sample_bytes(d, s));
            continue;
        }
        TRY(path(d, split, sample, s, &file));
        braid_status status = read_image(d, file, s, streams[s]);
        memory_free(file);
        TRY(status);
    }
    return BRAID_OK;
}

static braid_status check(const braid_data *d, problems *found, check_progress *progress) {
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) progress->total += d->info.samples[s] * d->info.streams;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        for (int64_t k = 0; k < d->info.samples[s] * d->info.streams; k++) {
            char *file;
            const int i = (int)(k % d->info.streams);
            TRY(path(d, (braid_split)s, k / d->info.streams, i, &file));
            braid_status status = check_step(progress, file);
            if (!status) status = problems_catch(found, file, read_image(d, file, i, NULL));
            memory_free(file);
            TRY(status);
        }
    return BRAID_OK;
}

/* ---- Streams ------------------------------------------------------------------------------ */

static void list_streams(const manifest *m, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < m->streams && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", m->stream[i].name);
}

static braid_status choose_stream(braid_data *d, const char *name, size_t length) {
    imported *state = d->state;
    char has[512];
    for (int j = 0; j < state->m.streams && d->info.streams < BRAID_MAX_STREAMS; j++) {
        const manifest_stream *s = &state->m.stream[j];
        if (strlen(s->name) != length || memcmp(s->name, name, length) != 0) continue;
        state->column[d->info.streams] = j;
        state->stream[d->info.streams++] = *s;
        return BRAID_OK;
    }
    list_streams(&state->m, has, sizeof has);
    return fail(BRAID_ERROR_DATA, "%s: the set has %d stream%s (%s), expected %.*s", d->folder, state->m.streams,
                state->m.streams == 1 ? "" : "s", has, (int)length, name);
}

static braid_status choose_streams(braid_data *d, const braid_data_options *o) {
    imported *state = d->state;
    char has[512];
    list_streams(&state->m, has, sizeof has);
    if (!o->streams && o->stream_count > state->m.streams)
        return fail(BRAID_ERROR_DATA, "%s: the set has %d stream%s (%s), expected %d", d->folder, state->m.streams,
                    state->m.streams == 1 ? "" : "s", has, o->stream_count);
    for (const char *at = o->streams; at && *at;) {
        const size_t length = strcspn(at, ",");
        TRY(choose_stream(d, at, length));
        at += length + (at[length] == ',');
    }
    const int count = o->stream_count ? o->stream_count : state->m.streams;
    for (int j = 0; !o->streams && j < count; j++)
        TRY(choose_stream(d, state->m.stream[j].name, strlen(state->m.stream[j].name)));
    return BRAID_OK;
}

static void show_streams(braid_data *d) {
    const imported *state = d->state;
    size_t used = 0;
    for (int i = 0; i < d->info.streams; i++) {
        memcpy(d->stream_names[i], state->stream[i].name, sizeof d->stream_names[i]);
        d->info.channels[i] = convert_channels(&state->stream[i]);
    }
    for (int j = 0; j < state->m.streams && !d->files.count && used < sizeof d->unused; j++) {
        int is_used = 0;
        for (int i = 0; i < d->info.streams; i++) is_used |= state->column[i] == j;
        if (is_used) continue;
        used += (size_t)snprintf(d->unused + used, sizeof d->unused - used, "%s%s", used ? ", " : "",
                                 state->m.stream[j].name);
    }
}

/* Bytes, unless a stream has more to tell. */
static braid_dtype choose_dtype(const braid_data *d) {
    const imported *state = d->state;
    for (int i = 0; i < d->info.streams; i++)
        if (state->stream[i].bits > 8) return BRAID_DTYPE_F32;
    return BRAID_DTYPE_U8;
}

/* ---- Statistics --------------------------------------------------------------------------- */

static void usual_statistics(braid_data *d) {
    const imported *state = d->state;
    for (int i = 0; i < d->info.streams; i++)
        for (int c = 0; c < BRAID_DATA_CHANNELS; c++) {
            const int is_mask = state->stream[i].mask && c == state->stream[i].channels;
            d->info.mean[i][c] = is_mask ? 0 : 0.5;
            d->info.std[i][c] = is_mask ? 1 : 0.25;
        }
}

static braid_status read_statistics(braid_data *d, uint32_t sum) {
    imported *state = d->state;
    char *file, *text;
    size_t bytes;
    double mean[BRAID_MAX_STREAMS][3], std[BRAID_MAX_STREAMS][3];
    const data_file statistics = {d->root, d->folder, STATS_FILE, LISTS_MAX_BYTES};
    const fail_kept kept = fail_keep();
    usual_statistics(d);
    braid_status status = data_read_file(&statistics, &file, &text, &bytes);
    if (!status) {
        status = stats_read(text, bytes, sum, &state->m, mean, std, &d->info.has_statistics);
        if (status) status = fail(status, "%s: %s", file, fail_message());
    } else if (status == BRAID_ERROR_DATA && !data_is_file(file)) { /* whoever needs them measures */
        fail_put_back(&kept);
        status = BRAID_OK;
    }
    for (int i = 0; i < d->info.streams && d->info.has_statistics && !status; i++) {
        memcpy(d->info.mean[i], mean[state->column[i]], (size_t)state->stream[i].channels * sizeof mean[0][0]);
        memcpy(d->info.std[i], std[state->column[i]], (size_t)state->stream[i].channels * sizeof std[0][0]);
    }
    memory_free(file);
    memory_free(text);
    return status;
}

/* ---- The set ------------------------------------------------------------------------------ */

static braid_status read_manifest(braid_data *d, uint32_t *sum) {
    imported *state = d->state;
    char *file, *text;
    size_t bytes;
    const data_file from = {d->root, d->folder, MANIFEST_FILE, MANIFEST_MAX_BYTES};
    braid_status status = data_read_file(&from, &file, &text, &bytes);
    if (!status) {
        *sum = crc32c(text, bytes);
        status = manifest_read(text, bytes, &state->m);
        if (status) status = fail(status, "%s: %s", file, fail_message());
    }
    memory_free(file);
    memory_free(text);
    return status;
}

braid_status imported_take_samples(braid_data *d) {
    imported *state = d->state;
    const manifest *m = &state->m;
    for (int64_t k = 0; k < m->samples; k++) d->info.samples[m->sample[k].split]++;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++) {
        void *labels, *rows;
        TRY(memory_alloc((size_t)d->info.samples[s], sizeof(int32_t), "labels", &labels));
        d->split[s].labels = labels;
        TRY(memory_alloc((size_t)d->info.samples[s], sizeof(int64_t), "samples", &rows));
        state->row[s] = rows;
        d->info.files[s] = d->info.samples[s];
        d->info.samples[s] = 0;
    }
    for (int64_t k = 0; k < m->samples; k++) {
        const int s = m->sample[k].split;
        state->row[s][d->info.samples[s]] = k;
        d->split[s].labels[d->info.samples[s]++] = m->sample[k].label;
    }
    return BRAID_OK;
}

/* A size and a fit that were asked for; otherwise those of the card, and then of the manifest. */
static braid_status choose_size(braid_data *d, const braid_data_options *o) {
    imported *state = d->state;
    const int64_t *size = o->size[0] || o->size[1] ? o->size : state->m.size;
    memcpy(d->info.size, size, sizeof d->info.size);
    if (d->info.size[0] && image_check_size("size", d->info.size[0], d->info.size[1]))
        return fail(BRAID_ERROR_ARGUMENT, "%s", fail_message());
    state->resizes = d->info.size[0] != 0;
    return o->fit ? imported_parse_fit(o->fit, &state->fit) : BRAID_OK;
}

/* Without a size, the first image that can be read has that of all. */
static braid_status learn_size(braid_data *d, problems *found) {
    for (int s = 0; s < BRAID_SPLIT_COUNT && !d->info.size[0]; s++)
        for (int64_t k = 0; k < d->info.samples[s] && !d->info.size[0]; k++) {
            char *file;
            image i;
            TRY(path(d, (braid_split)s, k, 0, &file));
            braid_status status = image_read(d->root, file, &i);
            if (!status) {
                d->info.size[0] = i.height;
                d->info.size[1] = i.width;
            }
            image_free(&i);
            status =
                found->count ? (status == BRAID_ERROR_DATA ? BRAID_OK : status) : problems_catch(found, file, status);
            memory_free(file);
            TRY(status);
        }
    return BRAID_OK;
}

static braid_status scan(braid_data *d, const braid_data_options *options, problems *found) {
    uint32_t sum = 0;
    TRY(memory_calloc(1, sizeof(imported), "a data set", &d->state));
    imported *state = d->state;
    TRY(read_manifest(d, &sum));
    TRY(state->m.root[0] == '/' ? memory_copy_text(state->m.root, &state->root)
                                : files_join(d->folder, state->m.root, &state->root));
    TRY(class_names_copy(state->m.class_names, state->m.classes, &d->class_names));
    d->info.classes = state->m.classes;
    TRY(choose_streams(d, options));
    TRY(imported_take_samples(d));
    state->fit = state->m.fit;
    d->info.dtype = options->bytes ? BRAID_DTYPE_U8 : choose_dtype(d);
    if (options->card) TRY(imported_take_card(d, options->card));
    TRY(choose_size(d, options));
    show_streams(d);
    TRY(read_statistics(d, sum));
    memory_free(d->root); /* the files that it names may lie anywhere */
    d->root = NULL;
    return learn_size(d, found);
}

static braid_status take_files(braid_data *d, const json_t *card, int resize) {
    TRY(memory_calloc(1, sizeof(imported), "a data set", &d->state));
    imported *state = d->state;
    state->resizes = resize || json_is_true(json_object_get(card, "resize"));
    TRY(imported_read_card(card, d->info.streams, state));
    return data_unlabelled(d, d->files.count);
}

const data_kind data_imported = {.name = "imported",
                                 .endings = file_endings,
                                 .matches = matches,
                                 .scan = scan,
                                 .read = read_sample,
                                 .path = path,
                                 .check = check,
                                 .forget = forget,
                                 .describe = imported_describe,
                                 .take_files = take_files};
