/*
 * Measuring. Integers are counted, so that mean, deviation and range come from one pass whatever the range turns out
 * to be; floats are added up, which is enough where the range is all of them. Files are decoded several at a time and
 * counted one after the other, so that the sums do not depend on the number of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "data/limits.h"

#define MOST_JOBS 4     /* whose images are in memory at once */
#define OUTERMOST 0.001 /* share of the values that a range leaves out at either end */

static int64_t level_count(const stats_stream *s) { return s->bits == 8 ? 256 : 65536; }

void stats_free(stats_set *s) {
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++)
        for (int i = 0; i < BRAID_MAX_STREAMS; i++) memory_free(s->of[split][i].counts);
    *s = (stats_set){0};
}

/* ---- Counting ----------------------------------------------------------------------------- */

static void count_size(stats_stream *s, const image *from) {
    int at = 0;
    while (at < s->sizes && at < STATS_SIZES &&
           (s->size[at].height != from->height || s->size[at].width != from->width))
        at++;
    if (at == STATS_SIZES) s->sizes = STATS_SIZES + 1;
    if (at == STATS_SIZES) return;
    if (at == s->sizes) s->size[s->sizes++] = (stats_size){from->height, from->width, 0};
    s->size[at].files++;
}

static braid_status begin(stats_stream *s, const image *from) {
    s->bits = from->bits;
    s->least = INFINITY;
    s->most = -INFINITY;
    if (s->bits == 32) return BRAID_OK;
    return memory_calloc((size_t)(3 * level_count(s)), sizeof *s->counts, "the values of a stream",
                         (void **)&s->counts);
}

static void count_value(stats_stream *s, int c, double value) {
    if (s->counts) {
        s->counts[c * level_count(s) + (int64_t)value]++;
    } else {
        if (s->cut[1] > s->cut[0]) value = fmin(s->cut[1], fmax(s->cut[0], value));
        s->sum[c] += value;
        s->squares[c] += value * value;
    }
}

braid_status stats_add(stats_stream *s, const image *from, int has_holes) {
    const int64_t values = from->height * from->width * from->channels;
    if (!s->bits) TRY(begin(s, from));
    if (from->bits != s->bits)
        return fail(BRAID_ERROR_DATA, "expected %d bits as in the first file of the stream, got %d", s->bits,
                    from->bits);
    for (int64_t j = 0; j < values; j++) {
        const double value = convert_stored(from, j);
        if (!isfinite(value) || (has_holes && value == 0)) {
            s->holes++;
            continue;
        }
        if (value < s->least) s->least = value;
        if (value > s->most) s->most = value;
        if (from->channels == 3)
            count_value(s, (int)(j % 3), value);
        else
            for (int c = 0; c < 3; c++) count_value(s, c, value);
    }
    s->values += values;
    s->files++;
    if (from->channels > s->channels) s->channels = from->channels;
    count_size(s, from);
    return BRAID_OK;
}

/* ---- Ranges, means ------------------------------------------------------------------------ */

/* The first value, from one end, that has more than the outermost ones before it. */
static double trim(const stats_stream *s, int from_top) {
    const int64_t levels = level_count(s);
    double all = 0, seen = 0;
    for (int64_t v = 1; v < levels; v++) all += (double)s->counts[v];
    for (int64_t j = 1; j < levels; j++) {
        const int64_t v = from_top ? levels - j : j;
        seen += (double)s->counts[v];
        if (seen > all * OUTERMOST) return (double)v;
    }
    return from_top ? (double)levels - 1 : 0;
}

void stats_range(const stats_stream *s, double *low, double *high) {
    const int is_empty = !(s->least <= s->most);
    *low = is_empty ? 0 : s->counts ? trim(s, 0) : s->least;
    *high = is_empty ? 1 : s->counts ? trim(s, 1) : s->most;
    if (*high > *low) return;
    *low -= 1; /* one value: it is in the middle of a range */
    *high += 1;
}

/* What a stored value is worth, in both kinds of set; 16 bits without a range keep their upper half. */
static double share_of(const stats_stream *s, const manifest_stream *stream, double value) {
    int is_hole;
    if (s->bits == 16 && !stream->has_range) return image_byte_of_u16((uint16_t)value) / 255.0;
    return convert_share(stream, value, &is_hole);
}

static void finish_counts(stats_stream *s, const manifest_stream *stream) {
    char used[256] = {0};
    s->levels = 0;
    for (int c = 0; c < 3; c++) {
        double count = 0, sum = 0, squares = 0;
        for (int64_t v = 0; v < level_count(s); v++) {
            const double times = (double)s->counts[c * level_count(s) + v];
            if (times < 1) continue;
            const double share = share_of(s, stream, (double)v);
            count += times;
            sum += times * share;
            squares += times * share * share;
            used[(int)(share * 255 + 0.5)] = 1;
        }
        s->mean[c] = count > 0 ? sum / count : 0;
        s->std[c] = count > 0 ? sqrt(fmax(0, squares / count - s->mean[c] * s->mean[c])) : 0;
    }
    for (int j = 0; j < 256; j++) s->levels += used[j];
}

static void finish_floats(stats_stream *s, const manifest_stream *stream) {
    const double channels = s->channels ? s->channels : 1, count = (double)(s->values - s->holes) / channels;
    s->levels = -1;
    for (int c = 0; c < 3; c++) {
        const double mean = count > 0 ? s->sum[c] / count : 0, span = stream->high - stream->low;
        const double variance = count > 0 ? s->squares[c] / count - mean * mean : 0;
        s->mean[c] = fmin(1, fmax(0, (mean - stream->low) / span));
        s->std[c] = fmin(1, sqrt(fmax(0, variance)) / span);
    }
}

void stats_finish(stats_stream *s, const manifest_stream *stream) {
    if (s->counts)
        finish_counts(s, stream);
    else
        finish_floats(s, stream);
    for (int c = 0; c < 3; c++) s->std[c] = s->std[c] < 1e-3 ? 1e-3 : s->std[c]; /* of a stream that is all one value */
}

/* ---- Reading files ------------------------------------------------------------------------ */

typedef struct job {
    const braid_data *data;
    braid_split split;
    int64_t sample;
    int stream;
    char *path;
    image image;
    braid_status status;
    char why[400];
} job;

static void *read_job(void *context) {
    job *j = context;
    limits_begin(&j->data->limits);
    j->status = j->data->kind->path(j->data, j->split, j->sample, j->stream, &j->path);
    if (!j->status) j->status = image_read(j->data->root, j->path, &j->image);
    if (j->status) snprintf(j->why, sizeof j->why, "%s", fail_message());
    limits_give(j->image.share); /* the images wait for each other, so that none may wait for the memory of another */
    j->image.share = 0;
    limits_end();
    return NULL;
}

static int holes_of(const stats_options *o, const job *j) {
    const int asked = o->has_holes ? o->has_holes[j->stream] : -1;
    return asked < 0 ? j->image.bits > 8 : asked;
}

static braid_status finish_job(const stats_options *o, job *j, stats_set *out) {
    braid_status status = j->status;
    stats_stream *to = &out->of[j->split][j->stream];
    if (o->cut) memcpy(to->cut, o->cut[j->stream], sizeof to->cut);
    if (status) status = fail(status, "%s", j->why);
    if (!status && o->decoded) o->decoded(o->user, j->split, j->sample, j->stream, &j->image);
    if (!status) status = stats_add(to, &j->image, holes_of(o, j));
    if (status == BRAID_ERROR_DATA && o->bad_file)
        status = o->bad_file(o->user, j->split, j->sample, j->stream, j->path);
    if (!status && o->progress) status = check_step(o->progress, j->path);
    image_free(&j->image);
    memory_free(j->path);
    *j = (job){0};
    return status;
}

typedef struct reading {
    const stats_options *options;
    stats_set *out;
    job job[MOST_JOBS];
    int count, most;
} reading;

/* One thread each; the last one, and whatever no thread can be had for, is read here. */
static void read_jobs(reading *r) {
    pthread_t thread[MOST_JOBS];
    int started = 0;
    while (started + 1 < r->count && !pthread_create(&thread[started], NULL, read_job, &r->job[started])) started++;
    for (int k = started; k < r->count; k++) read_job(&r->job[k]);
    for (int k = 0; k < started; k++) pthread_join(thread[k], NULL);
}

static braid_status flush(reading *r) {
    braid_status status = BRAID_OK;
    read_jobs(r);
    for (int k = 0; k < r->count; k++) {
        if (status) {
            image_free(&r->job[k].image);
            memory_free(r->job[k].path);
        } else {
            status = finish_job(r->options, &r->job[k], r->out);
        }
    }
    r->count = 0;
    return status;
}

static braid_status measure_split(const braid_data *d, braid_split split, reading *r) {
    const int64_t all = d->info.samples[split], most = r->options->most;
    const int64_t count = most && most < all ? most : all;
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < d->info.streams; i++) {
            r->job[r->count++] = (job){.data = d, .split = split, .sample = k * all / count, .stream = i};
            if (r->count == r->most) TRY(flush(r));
        }
    return flush(r);
}

braid_status stats_measure(const braid_data *d, const stats_options *options, stats_set *out) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    reading r = {.options = options, .out = out, .most = cores < 1 ? 1 : cores > MOST_JOBS ? MOST_JOBS : (int)cores};
    *out = (stats_set){0};
    if (options->progress) {
        for (int s = 0; s < BRAID_SPLIT_COUNT; s++) options->progress->total += d->info.samples[s] * d->info.streams;
    }
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        if (!options->train_only || s == BRAID_SPLIT_TRAIN) TRY(measure_split(d, (braid_split)s, &r));
    return BRAID_OK;
}
