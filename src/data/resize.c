/*
 * Resizing, one axis at a time, see the header.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/resize.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "data/image.h"
#include "data/limits.h"

/* The pixels that one output pixel is a weighted mean of, and their weights, which add up to 1. */
typedef struct taps {
    int64_t begin, count;
    float *weights;
} taps;

typedef struct place {
    double centre, scale;
} place;

static double weight_at(const place *p, int64_t i) {
    double distance = fabs(((double)i + 0.5 - p->centre) / p->scale);
    return distance < 1 ? 1 - distance : 0;
}

static place place_of(int64_t out, int64_t out_size, int64_t in_size) {
    double step = (double)in_size / (double)out_size;
    return (place){.centre = ((double)out + 0.5) * step, .scale = step > 1 ? step : 1};
}

static void find_taps(const place *p, int64_t in_size, taps *t) {
    double low = p->centre - p->scale + 0.5, high = p->centre + p->scale + 0.5;
    t->begin = low < 0 ? 0 : (int64_t)low;
    t->count = (high > (double)in_size ? in_size : (int64_t)high) - t->begin;
}

/* An axis of the result: the taps of every pixel, and their weights one after the other. */
typedef struct axis {
    taps *taps;
    float *weights;
    int64_t size;
} axis;

static void axis_free(axis *a) {
    memory_free(a->taps);
    memory_free(a->weights);
}

static void fill_taps(axis *a, int64_t in_size) {
    float *to = a->weights;
    for (int64_t o = 0; o < a->size; to += a->taps[o++].count) {
        const place p = place_of(o, a->size, in_size);
        taps *t = &a->taps[o];
        double sum = 0;
        t->weights = to;
        for (int64_t i = 0; i < t->count; i++) sum += weight_at(&p, t->begin + i);
        for (int64_t i = 0; i < t->count; i++) to[i] = (float)(weight_at(&p, t->begin + i) / sum);
    }
}

static braid_status axis_create(axis *a, int64_t out_size, int64_t in_size) {
    size_t all = 0;
    *a = (axis){.size = out_size};
    TRY(memory_alloc((size_t)out_size, sizeof *a->taps, "an image to resize", (void **)&a->taps));
    for (int64_t o = 0; o < out_size; o++) {
        const place p = place_of(o, out_size, in_size);
        find_taps(&p, in_size, &a->taps[o]);
        all += (size_t)a->taps[o].count; /* two of every input or output pixel, and no more */
    }
    TRY(memory_alloc(all, sizeof *a->weights, "an image to resize", (void **)&a->weights));
    fill_taps(a, in_size);
    return BRAID_OK;
}

/* A row of the image is made as wide as the result, and added to the rows of the result that it is a part of. */
typedef struct resizing {
    const resize_shape *shape;
    axis across, down;
    float *row, *wide, *sums;
} resizing;

static void widen_row(const resizing *r) {
    const int64_t channels = r->shape->channels;
    memset(r->wide, 0, (size_t)(r->across.size * channels) * sizeof *r->wide);
    for (int64_t o = 0; o < r->across.size; o++) {
        const taps *t = &r->across.taps[o];
        for (int64_t i = 0; i < t->count; i++)
            for (int64_t c = 0; c < channels && t->weights[i] > 0; c++)
                r->wide[o * channels + c] += t->weights[i] * r->row[(t->begin + i) * channels + c];
    }
}

/* *first: the first row of the result that still lacks a part. */
static void add_row(const resizing *r, int64_t y, int64_t *first) {
    const int64_t values = r->across.size * r->shape->channels;
    while (*first < r->down.size && r->down.taps[*first].begin + r->down.taps[*first].count <= y) ++*first;
    for (int64_t o = *first; o < r->down.size && r->down.taps[o].begin <= y; o++) {
        const taps *t = &r->down.taps[o];
        if (y >= t->begin + t->count) continue;
        float weight = t->weights[y - t->begin], *to = r->sums + o * values;
        for (int64_t j = 0; j < values && weight > 0; j++) to[j] += weight * r->wide[j];
    }
}

static braid_status add_rows(const resizing *r, resize_row *row, const void *user) {
    int64_t first = 0;
    for (int64_t y = 0; y < r->shape->from[0]; y++) {
        row(user, y, r->row);
        widen_row(r);
        add_row(r, y, &first);
        TRY(limits_work((size_t)(r->shape->from[1] * r->shape->channels)));
    }
    return BRAID_OK;
}

static braid_status allocate_rows(resizing *r) {
    const size_t channels = (size_t)r->shape->channels;
    TRY(memory_alloc((size_t)r->shape->from[1] * channels, sizeof(float), "an image to resize", (void **)&r->row));
    return memory_alloc((size_t)r->across.size * channels, sizeof(float), "an image to resize", (void **)&r->wide);
}

braid_status resize_room(const resize_shape *s, int64_t *elements) {
    TRY(image_check_size("resize", s->to[0], s->to[1]));
    return size_elements((int64_t[]){s->to[0], s->to[1], s->channels}, 3, "an image to resize", elements);
}

braid_status resize_rows(const resize_shape *s, resize_row *row, const void *user, float *out) {
    resizing r = {.shape = s, .sums = out};
    int64_t elements;
    TRY(resize_room(s, &elements));
    memset(out, 0, (size_t)elements * sizeof *out);
    braid_status status = axis_create(&r.across, s->to[1], s->from[1]);
    if (!status) status = axis_create(&r.down, s->to[0], s->from[0]);
    if (!status) status = allocate_rows(&r);
    if (!status) status = add_rows(&r, row, user);
    axis_free(&r.across);
    axis_free(&r.down);
    memory_free(r.row);
    memory_free(r.wide);
    return status;
}
