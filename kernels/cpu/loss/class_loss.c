/*
 * The rows of class_loss.h: the largest logit, then the exponentials, piece by piece; a gradient makes the
 * exponentials again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/loss/class_loss.h"

#include <math.h>

#include "core/threads.h"
#include "kernels/cpu/isa/copy.h"

enum { VALUE_LOSS, VALUE_WEIGHT, VALUE_CORRECT };

/* The logits of a row from `c` on, at most a piece of them. */
static const float *load(const flat_parts *k, const buffers *b, int64_t sample, int64_t c, int64_t count, float *room) {
    return flat_load(k, b->plane[CLASS_X][0], sample * k->pitch[0] + c, count, room);
}

static float largest(const flat_parts *k, const buffers *b, int64_t sample, int64_t classes) {
    float room[FLAT_PIECE], most = -INFINITY;
    for (int64_t c = 0; c < classes; c += FLAT_PIECE) {
        int64_t count = at_most(classes - c, FLAT_PIECE);
        float here = k->flat->largest(load(k, b, sample, c, count, room), count);
        if (here > most || isnan(here)) most = here;
    }
    return most;
}

static class_softmax softmax(const flat_parts *k, const buffers *b, int64_t sample, int32_t label) {
    class_softmax s = {.largest = largest(k, b, sample, k->width[0])};
    float room[FLAT_PIECE];
    for (int64_t c = 0; c < k->width[0]; c += FLAT_PIECE) {
        int64_t count = at_most(k->width[0] - c, FLAT_PIECE);
        s.sum += k->flat->exponentials(load(k, b, sample, c, count, room), s.largest, count);
    }
    const float *own = load(k, b, sample, label, 1, room);
    s.label = k->flat->exponentials(own, s.largest, 1);
    s.others = s.sum - s.label; /* never negative: sums of positive numbers do not shrink */
    s.entropy = (double)s.largest - (double)*own + log(s.sum);
    if (!isfinite(s.largest)) s.sum = s.label = s.others = s.entropy = NAN;
    return s;
}

/* ---- Forward ------------------------------------------------------------------------------- */

/* The label has the first of the largest logits. */
static int is_right(const class_loss *a, const class_softmax *s, int64_t sample, int32_t label) {
    float room[1];
    if (*load(a->k, a->b, sample, label, 1, room) != s->largest) return 0;
    return label == 0 || largest(a->k, a->b, sample, label) < s->largest;
}

static void sum_part(void *context, int64_t part) {
    const class_loss *a = context;
    const int32_t *labels = a->b->plane[CLASS_LABELS][0];
    double *values = (double *)a->b->workspace + part * FLAT_VALUES;
    int64_t begin, end;
    flat_parts_find(a->k, part, &begin, &end);
    values[VALUE_LOSS] = values[VALUE_WEIGHT] = values[VALUE_CORRECT] = 0;
    for (int64_t sample = begin; sample < end; sample++) {
        double weight;
        if (!label_is_class(labels[sample], a->k->width[0])) continue;
        class_softmax s = softmax(a->k, a->b, sample, labels[sample]);
        values[VALUE_LOSS] += a->sample(a, &s, sample, labels[sample], &weight);
        values[VALUE_WEIGHT] += weight;
        values[VALUE_CORRECT] += is_right(a, &s, sample, labels[sample]);
    }
}

void class_loss_run(class_loss *a) {
    threads_for(a->k->parts, sum_part, a);
    double weight = flat_parts_total(a->k, a->b, VALUE_WEIGHT);
    *(float *)a->b->plane[CLASS_LOSS][0] = weight == 0 ? 0 : (float)(flat_parts_total(a->k, a->b, VALUE_LOSS) / weight);
    *(int64_t *)a->b->plane[CLASS_CORRECT][0] = (int64_t)flat_parts_total(a->k, a->b, VALUE_CORRECT);
}

double class_loss_distances(const class_loss *a, const class_softmax *s, int64_t sample, const float *weights) {
    float room[FLAT_PIECE];
    double sum = 0;
    for (int64_t c = 0; c < a->k->width[0]; c += FLAT_PIECE) {
        int64_t count = at_most(a->k->width[0] - c, FLAT_PIECE);
        const float *x = load(a->k, a->b, sample, c, count, room);
        sum += a->k->flat->distances(x, weights ? weights + c : NULL, s->largest, count);
    }
    return sum;
}

/* ---- Gradient ------------------------------------------------------------------------------ */

static void clear_row(const flat_parts *k, void *dx, int64_t sample) {
    memset((char *)dx + (size_t)(sample * k->pitch[0]) * k->bytes, 0, (size_t)k->width[0] * k->bytes);
}

static void write_row(const class_gradient *a, int64_t sample, int32_t label) {
    const flat_parts *k = a->k;
    class_softmax s = softmax(k, a->b, sample, label);
    class_slopes made = {0};
    float room[FLAT_PIECE];
    void *dx = a->b->plane[CLASS_DX][0];
    a->sample(a, &s, label, &made);
    for (int64_t c = 0; c < k->width[0]; c += FLAT_PIECE) {
        int64_t count = at_most(k->width[0] - c, FLAT_PIECE), at = sample * k->pitch[0] + c;
        const flat_softmax row = {s.largest, (float)made.slope, (float)made.offset,
                                  made.weights ? made.weights + c : NULL};
        const float *x = load(k, a->b, sample, c, count, room);
        float *to = flat_place(k, dx, at, room);
        k->flat->softmax_gradient(to, x, &row, count);
        if (label >= c && label < c + count) to[label - c] = (float)made.label;
        flat_store(k, dx, at, count, to);
    }
}

static void write_part(void *context, int64_t part) {
    const class_gradient *a = context;
    const int32_t *labels = a->b->plane[CLASS_LABELS][0];
    int64_t begin, end;
    flat_parts_find(a->k, part, &begin, &end);
    for (int64_t sample = begin; sample < end; sample++) {
        if (a->scale == 0 || !label_is_class(labels[sample], a->k->width[0]))
            clear_row(a->k, a->b->plane[CLASS_DX][0], sample);
        else
            write_row(a, sample, labels[sample]);
    }
    flat_parts_clear(a->k, part, a->b->plane[CLASS_DX][0]);
}

void class_gradient_run(class_gradient *a) { threads_for(a->k->parts, write_part, a); }
