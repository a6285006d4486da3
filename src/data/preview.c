/*
 * A picture of a set: samples below each other, their streams side by side, and below every stream its numbers. A
 * stream of one channel is grey; a missing value is magenta, which no grey is.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/reals.h"
#include "data/imported.h"
#include "data/lettering.h"
#include "data/order.h"

#define MOST_SAMPLES 64
#define USUAL_SAMPLES 6
#define LEAST_SIDE 160 /* of an image in the picture, at least and at most */
#define MOST_SIDE 320
#define GAP 12
#define LINE 12
#define LINES 4 /* of numbers */
#define DARK 40
#define PALE 120

typedef struct picture {
    const braid_data *data;
    image canvas;
    int64_t tile[2], samples;
    braid_split split;
    void *stream[BRAID_MAX_STREAMS]; /* of the sample that is drawn */
    int64_t holes[BRAID_MAX_STREAMS], values[BRAID_MAX_STREAMS];
} picture;

static double value_at(const picture *p, int stream, int64_t index) {
    if (p->data->info.dtype == BRAID_DTYPE_U8) return ((const uint8_t *)p->stream[stream])[index];
    return 255 * (double)((const float *)p->stream[stream])[index];
}

/* The colours of one pixel of a sample. */
static void pixel_of(const picture *p, int stream, int64_t pixel, uint8_t rgb[3]) {
    static const uint8_t missing[3] = {255, 0, 255};
    const int64_t channels = p->data->info.channels[stream];
    for (int c = 0; c < 3; c++) {
        const double value = value_at(p, stream, pixel * channels + (channels >= 3 ? c : 0));
        rgb[c] = isnan(value) ? missing[c] : (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
    }
}

static void draw_tile(picture *p, int stream, int64_t top, int64_t left) {
    const int64_t *size = p->data->info.size;
    for (int64_t y = 0; y < p->tile[0]; y++)
        for (int64_t x = 0; x < p->tile[1]; x++) {
            const int64_t pixel = y * size[0] / p->tile[0] * size[1] + x * size[1] / p->tile[1];
            pixel_of(p, stream, pixel, (uint8_t *)p->canvas.pixels + ((top + y) * p->canvas.width + left + x) * 3);
        }
    for (int64_t j = 0; j < size[0] * size[1]; j++) {
        p->holes[stream] += isnan(value_at(p, stream, j * p->data->info.channels[stream]));
        p->values[stream]++;
    }
}

/* ---- Words --------------------------------------------------------------------------------- */

static void write_line(picture *p, int64_t top, int64_t left, const char *text, uint8_t grey) {
    char cut[128];
    snprintf(cut, sizeof cut, "%.*s", (int)(p->tile[1] / LETTERING_WIDTH), text);
    lettering_write(&p->canvas, top, left, cut, 1, grey);
}

static void write_numbers(picture *p, int stream, int64_t top, int64_t left) {
    const braid_data *d = p->data;
    const manifest_stream *s = d->kind == &data_imported ? &((const imported *)d->state)->stream[stream] : NULL;
    char text[160];
    size_t used;
    snprintf(text, sizeof text, "%lldx%lldx%lld %s%s", (long long)d->info.size[0], (long long)d->info.size[1],
             (long long)d->info.channels[stream],
             s ? (s->bits == 32   ? "floats"
                  : s->bits == 16 ? "16 bits"
                                  : "8 bits")
               : "",
             s && s->mask ? " mask" : "");
    write_line(p, top, left, text, DARK);
    used = (size_t)snprintf(text, sizeof text, "mean");
    for (int c = 0; c < d->info.channels[stream] && c < 3 && used < sizeof text; c++)
        used += (size_t)real_format(text + used, sizeof text - used, " %.3f", d->info.mean[stream][c]);
    write_line(p, top + LINE, left, text, DARK);
    used = (size_t)snprintf(text, sizeof text, "std ");
    for (int c = 0; c < d->info.channels[stream] && c < 3 && used < sizeof text; c++)
        used += (size_t)real_format(text + used, sizeof text - used, " %.3f", d->info.std[stream][c]);
    write_line(p, top + 2 * LINE, left, text, DARK);
    if (!s || !s->has_range) return;
    real_format(text, sizeof text, "%.6g..%.6g %s holes %.1f%%", s->low * s->scale, s->high * s->scale,
                s->unit[0] == '-' ? "" : s->unit,
                p->values[stream] ? 100.0 * (double)p->holes[stream] / (double)p->values[stream] : 0);
    write_line(p, top + 3 * LINE, left, text, DARK);
}

/* ---- The picture --------------------------------------------------------------------------- */

static int64_t row_top(const picture *p, int64_t row) { return GAP + LINE + row * (p->tile[0] + LINE + GAP); }

static int64_t column_left(const picture *p, int stream) { return GAP + stream * (p->tile[1] + GAP); }

static braid_status draw_sample(picture *p, int64_t row, int64_t sample) {
    const braid_data *d = p->data;
    const int32_t label = d->split[p->split].labels[sample];
    char *path = NULL, text[400];
    TRY(d->kind->read(d, p->split, sample, p->stream));
    TRY(d->kind->path(d, p->split, sample, 0, &path));
    const char *name = strrchr(path, '/');
    snprintf(text, sizeof text, "%s  %s", d->class_names[label], name ? name + 1 : path);
    memory_free(path);
    for (int i = 0; i < d->info.streams; i++) draw_tile(p, i, row_top(p, row) + LINE, column_left(p, i));
    lettering_write(&p->canvas, row_top(p, row), GAP, text, 1, PALE);
    return BRAID_OK;
}

static braid_status draw(picture *p) {
    const int64_t all = p->data->info.samples[p->split];
    void *order;
    TRY(memory_alloc((size_t)all, sizeof(int64_t), "the order of samples", &order));
    order_shuffle(order, all, 1, 0);
    braid_status status = BRAID_OK;
    for (int64_t k = 0; k < p->samples && !status; k++) status = draw_sample(p, k, ((const int64_t *)order)[k]);
    memory_free(order);
    for (int i = 0; i < p->data->info.streams && !status; i++) {
        write_line(p, GAP, column_left(p, i), p->data->stream_names[i], DARK);
        write_numbers(p, i, row_top(p, p->samples), column_left(p, i));
    }
    return status;
}

/* Small images are enlarged by a whole factor, large ones made smaller. */
static void choose_tile(picture *p) {
    const int64_t *size = p->data->info.size, larger = size[0] > size[1] ? size[0] : size[1];
    const int64_t factor = larger < LEAST_SIDE ? (LEAST_SIDE + larger - 1) / larger : 1;
    const double shrink = larger > MOST_SIDE ? (double)MOST_SIDE / (double)larger : 1;
    for (int axis = 0; axis < 2; axis++) {
        p->tile[axis] = (int64_t)((double)(size[axis] * factor) * shrink);
        if (p->tile[axis] < 1) p->tile[axis] = 1;
    }
    if (p->tile[1] < LEAST_SIDE) p->tile[1] = LEAST_SIDE; /* for its numbers */
}

static braid_status create(picture *p) {
    choose_tile(p);
    image *c = &p->canvas;
    *c = (image){.channels = 3, .bits = 8};
    c->width = column_left(p, p->data->info.streams);
    c->height = row_top(p, p->samples) + LINES * LINE + GAP;
    TRY(image_check_size("preview", c->height, c->width));
    TRY(memory_alloc((size_t)(c->height * c->width), 3, "a picture", &c->pixels));
    memset(c->pixels, 250, (size_t)(c->height * c->width * 3));
    for (int i = 0; i < p->data->info.streams; i++)
        TRY(memory_alloc(data_sample_bytes(p->data, i), 1, "a sample", &p->stream[i]));
    return BRAID_OK;
}

braid_status braid_data_preview(const braid_data *data, int samples, const char *path) {
    picture p = {.data = data};
    void *file = NULL;
    size_t bytes;
    if (!data || !path || samples < 0 || samples > MOST_SAMPLES)
        return fail(BRAID_ERROR_ARGUMENT, "braid_data_preview: expected a set, 0 to %d samples and a path",
                    MOST_SAMPLES);
    if (data->kind == &data_mimii)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a set of images, got sounds", data->folder);
    while (p.split + 1 < BRAID_SPLIT_COUNT && !data->info.samples[p.split]) p.split++;
    p.samples = samples ? samples : USUAL_SAMPLES;
    if (p.samples > data->info.samples[p.split]) p.samples = data->info.samples[p.split];
    braid_status status = create(&p);
    if (!status) status = draw(&p);
    if (!status) status = png_encode(&p.canvas, &file, &bytes);
    if (!status) status = files_replace(path, file, bytes);
    memory_free(file);
    image_free(&p.canvas);
    for (int i = 0; i < BRAID_MAX_STREAMS; i++) memory_free(p.stream[i]);
    return status;
}
