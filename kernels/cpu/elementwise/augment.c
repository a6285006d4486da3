/*
 * augment: a sample of a stream at a time, as planes of one channel in the workspace, so that every step is a pass of
 * whole vectors over floats. What happens to the sample is drawn in src/ops/augment_draw.h.
 *
 * A part is a room of the workspace and does every so manyth sample; which samples it does changes no bit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/augment.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/elementwise/image_patterns.h"
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/isa/copy.h"

#define ROOMS 64 /* at most: samples that are worked on at the same time */
#define WRITE_PIXELS 256
#define NOISE_VALUES 1024 /* made at a time: whole vectors */

static const float anything[2] = {-INFINITY, INFINITY}, unit[2] = {0, 1};

/* The floats of a room: `planes` of a plane each, then what a step needs beside them. */
typedef struct augment_state {
    const images *images;
    int64_t rooms, plane, spare, room;
} augment_state;

typedef struct work {
    const braid_problem *p;
    const augment_state *s;
    const buffers *b;
    images_pattern rows[BRAID_MAX_STREAMS][2], plain[2]; /* bytes to outputs, and to a plane; as they are, mirrored */
} work;

/* One sample of one stream while it is worked on. */
typedef struct canvas {
    const work *a;
    const images *images;
    int stream;
    int64_t channels, height, width, pixels; /* of the output */
    const uint8_t *x, *begin, *end;          /* of the sample, and where all samples begin and end */
    float *planes, *spare;
    augment_draws d;
} canvas;

static float *plane_of(const canvas *v, int64_t c) { return v->planes + c * v->a->s->plane; }

/* ---- The source ---------------------------------------------------------------------------- */

/* The bytes of a row of the image from a column of the mirrored image on, and the step to the next column. */
static const uint8_t *source_row(const canvas *v, int64_t row, int64_t column, int64_t *step) {
    int64_t width = v->a->p->size[1], at = v->d.source.left + column;
    if (v->d.flip) at = width - 1 - at;
    *step = v->d.flip ? -v->channels : v->channels;
    return v->x + ((v->d.source.top + row) * width + at) * v->channels;
}

/* Rows of the source through a pattern; `out` is a row of outputs or of a plane. */
static void pass_row(const canvas *v, int64_t row, const images_pattern *t, braid_dtype dtype, int64_t values,
                     void *out) {
    int64_t step;
    images_span span = {.x = source_row(v, row, 0, &step), .values = values};
    span.room = v->end - span.x;
    span.back = span.x - v->begin;
    v->images->normalize(out, dtype, t, &span);
}

static void crop_colours(const canvas *v, int64_t row) {
    int64_t step, first = row * v->width;
    const uint8_t *from = source_row(v, row, 0, &step);
    float *r = plane_of(v, 0) + first, *g = plane_of(v, 1) + first, *b = plane_of(v, 2) + first;
    for (int64_t column = 0; column < v->width; column++, from += step) {
        r[column] = from[0] * (1 / 255.0f);
        g[column] = from[1] * (1 / 255.0f);
        b[column] = from[2] * (1 / 255.0f);
    }
}

static void crop_channel(const canvas *v, int64_t row, int64_t c) {
    int64_t step;
    const uint8_t *from = source_row(v, row, 0, &step) + c;
    float *to = plane_of(v, c) + row * v->width;
    for (int64_t column = 0; column < v->width; column++, from += step) to[column] = *from * (1 / 255.0f);
}

static void crop(const canvas *v) {
    for (int64_t row = 0; row < v->height; row++) {
        if (v->channels == 1)
            pass_row(v, row, &v->a->plain[v->d.flip], BRAID_DTYPE_F32, v->width, v->planes + row * v->width);
        else if (v->channels == 3)
            crop_colours(v, row);
        else
            for (int64_t c = 0; c < v->channels; c++) crop_channel(v, row, c);
    }
}

/* The weights of one output place, which add up to `sum`. */
static void make_taps(float *weights, int64_t from, int64_t to, int64_t out, double sum, int64_t *first,
                      int64_t *count) {
    double total = 0;
    augment_taps(from, to, out, first, count);
    for (int64_t t = 0; t < *count; t++) total += augment_tap_weight(from, to, out, *first + t);
    for (int64_t t = 0; t < *count; t++) {
        weights[t] = (float)(augment_tap_weight(from, to, out, *first + t) * sum / total);
    }
}

/* Along the rows of the source, then along its columns. */
static void resample(const canvas *v) {
    int64_t first, count, step, height = v->d.source.height;
    float *rows = v->spare, *weights = v->spare + v->a->p->size[0] * v->width + v->images->width;
    for (int64_t c = 0; c < v->channels; c++) {
        for (int64_t column = 0; column < v->width; column++) {
            make_taps(weights, v->d.source.width, v->width, column, 1 / 255.0, &first, &count);
            for (int64_t row = 0; row < height; row++) {
                const uint8_t *from = source_row(v, row, first, &step) + c;
                float sum = 0;
                for (int64_t t = 0; t < count; t++) sum += weights[t] * from[t * step];
                rows[row * v->width + column] = sum;
            }
        }
        for (int64_t row = 0; row < v->height; row++) {
            make_taps(weights, height, v->height, row, 1, &first, &count);
            v->images->weigh(plane_of(v, c) + row * v->width, rows + first * v->width, v->width, weights, count,
                             v->width);
        }
    }
}

/* ---- Values -------------------------------------------------------------------------------- */

static void adjust_colours(const canvas *v, const images_colours *a) {
    for (int j = 0; j < AUGMENT_STEPS; j++) {
        double scale = v->d.brightness, shift = 0;
        switch (v->d.order[j]) {
            case AUGMENT_STEP_SATURATION: v->images->saturate(a, (float)v->d.saturation); continue;
            case AUGMENT_STEP_HUE: v->images->turn_hue(a, (float)(6 * v->d.hue)); continue;
            case AUGMENT_STEP_CONTRAST:
                scale = v->d.contrast;
                shift = (1 - scale) * v->images->grey_sum(a) / (double)v->pixels;
                break;
            default: break;
        }
        for (int64_t c = 0; c < 3; c++) v->images->line(plane_of(v, c), (float)scale, (float)shift, unit, v->pixels);
    }
}

/* One row with its reflections on both sides, and the rows above and below likewise. */
static void blur(const canvas *v, float *plane) {
    int64_t reach = v->d.blur_taps / 2, width = v->width;
    float *rows = v->spare, *row = v->spare + (v->height + 2 * reach) * width + v->images->width;
    float weights[AUGMENT_MOST_TAPS];
    for (int t = 0; t < v->d.blur_taps; t++) weights[t] = (float)v->d.blur_weights[t];
    for (int64_t y = 0; y < v->height; y++) {
        copy_floats(row + reach, plane + y * width, width);
        for (int64_t t = 1; t <= reach; t++) {
            row[reach - t] = plane[y * width + augment_reflect(-t, width)];
            row[reach + width - 1 + t] = plane[y * width + augment_reflect(width - 1 + t, width)];
        }
        v->images->weigh(rows + (reach + y) * width, row, 1, weights, v->d.blur_taps, width);
    }
    for (int64_t t = 1; t <= reach; t++) {
        copy_floats(rows + (reach - t) * width, rows + (reach + augment_reflect(-t, v->height)) * width, width);
        copy_floats(rows + (reach + v->height - 1 + t) * width,
                    rows + (reach + augment_reflect(v->height - 1 + t, v->height)) * width, width);
    }
    v->images->weigh(plane, rows, width, weights, v->d.blur_taps, v->pixels);
}

static void change_colours(const canvas *v) {
    images_colours a = {plane_of(v, 0), plane_of(v, 1), plane_of(v, 2), v->pixels};
    if (v->d.adjust) adjust_colours(v, &a);
    for (int64_t c = 0; v->d.blur_taps && c < 3; c++) blur(v, plane_of(v, c));
    if (v->d.grey) v->images->make_grey(&a);
}

/* The noise lies [pixel][channel]. */
static void add_noise(const canvas *v) {
    float noise[NOISE_VALUES];
    uint32_t words[2 * NOISE_VALUES + FLAT_WORDS_SLACK];
    rng numbers = v->d.noise_numbers;
    for (int64_t first = 0; first < v->pixels * v->channels; first += NOISE_VALUES) {
        int64_t count = at_most(NOISE_VALUES, v->pixels * v->channels - first);
        numbers.index = 2 * (uint64_t)first;
        v->images->flat->random_words(words, &numbers, ceil_div(count, 2));
        v->images->normals(noise, words, count);
        if (v->channels == 1) v->images->add(v->planes + first, noise, (float)v->d.noise, count);
        for (int64_t j = 0; v->channels > 1 && j < count; j++) {
            plane_of(v, (first + j) % v->channels)[(first + j) / v->channels] += (float)v->d.noise * noise[j];
        }
    }
}

static void change_plain(const canvas *v) {
    float scale = (float)(v->d.contrast * v->d.brightness);
    float shift = (float)((0.5 - 0.5 * v->d.contrast) * v->d.brightness);
    if (!v->d.adjust) return;
    for (int64_t c = 0; c < v->channels; c++) v->images->line(plane_of(v, c), scale, shift, anything, v->pixels);
    if (v->d.noise > 0) add_noise(v);
    for (int64_t c = 0; c < v->channels; c++) v->images->line(plane_of(v, c), 1, 0, unit, v->pixels);
}

/* ---- The output ---------------------------------------------------------------------------- */

static void normalize(const canvas *v) {
    const float *mean = v->a->b->plane[AUGMENT_MEAN][v->stream], *std = v->a->b->plane[AUGMENT_STD][v->stream];
    const augment_rectangle *e = &v->d.erased;
    for (int64_t c = 0; c < v->channels; c++) {
        float *plane = plane_of(v, c);
        v->images->line(plane, (float)(1 / (double)std[c]), (float)(-(double)mean[c] / (double)std[c]), anything,
                        v->pixels);
        for (int64_t row = e->top; row < e->top + e->height; row++) {
            zero_floats(plane + row * v->width + e->left, e->width);
        }
    }
}

static void interleave_floats(float *y, int64_t pitch, const float *plane, int64_t pixels) {
    for (int64_t j = 0; j < pixels; j++) y[j * pitch] = plane[j];
}

static void interleave_halves(uint16_t *y, int64_t pitch, const uint16_t *plane, int64_t pixels) {
    for (int64_t j = 0; j < pixels; j++) y[j * pitch] = plane[j];
}

/* A few pixels at a time, which stay in the first cache until all of their channels are written. */
static void write_planes(const canvas *v, unsigned char *y, int64_t pitch) {
    braid_dtype dtype = v->a->p->dtype;
    const channel_loops *l = v->images->flat->loops;
    const halves *format = dtype == BRAID_DTYPE_BF16 ? &l->bf16 : &l->f16;
    size_t pixel = (size_t)pitch * dtype_bytes(dtype);
    for (int64_t first = 0; first < v->pixels; first += WRITE_PIXELS) {
        int64_t count = at_most(WRITE_PIXELS, v->pixels - first);
        unsigned char *to = y + (size_t)first * pixel;
        if (pitch > v->channels) memset(to, 0, (size_t)count * pixel);
        for (int64_t c = 0; c < v->channels; c++) {
            const float *plane = plane_of(v, c) + first;
            uint16_t narrow[WRITE_PIXELS];
            if (dtype == BRAID_DTYPE_F32) {
                interleave_floats((float *)(void *)to + c, pitch, plane, count);
                continue;
            }
            format->narrow(narrow, plane, count);
            interleave_halves((uint16_t *)(void *)to + c, pitch, narrow, count);
        }
    }
}

/* Nothing but place and erasure, and a pattern for it: the bytes go straight to the output. */
static int is_straight(const canvas *v) {
    const augment_draws *d = &v->d;
    return !d->resample && !d->adjust && !d->blur_taps && !d->grey && v->a->rows[v->stream][d->flip].period > 0;
}

static void write_bytes(const canvas *v, unsigned char *y, int64_t pitch) {
    braid_dtype dtype = v->a->p->dtype;
    const augment_rectangle *e = &v->d.erased;
    size_t pixel = (size_t)pitch * dtype_bytes(dtype), row_bytes = (size_t)v->width * pixel;
    for (int64_t row = 0; row < v->height; row++, y += row_bytes) {
        pass_row(v, row, &v->a->rows[v->stream][v->d.flip], dtype, v->width * pitch, y);
        if (row >= e->top && row < e->top + e->height) memset(y + (size_t)e->left * pixel, 0, (size_t)e->width * pixel);
    }
}

/* ---- The parts ----------------------------------------------------------------------------- */

static void draw_canvas(canvas *v, int64_t sample) {
    const buffers *b = v->a->b;
    const float *table = b->plane[AUGMENT_SETTINGS_TABLE][v->stream];
    double settings[AUGMENT_SETTINGS];
    for (int j = 0; j < AUGMENT_SETTINGS; j++) settings[j] = (double)table[j];
    augment_draw(v->a->p, v->stream, b->plane[AUGMENT_KEY][0], ((const int64_t *)b->plane[AUGMENT_IDS][0])[sample],
                 settings, &v->d);
}

static void run_sample(const work *a, int i, int64_t sample, float *room) {
    const braid_problem *p = a->p;
    canvas v = {.a = a,
                .images = a->s->images,
                .stream = i,
                .channels = p->in_channels[i],
                .height = p->out_size[0],
                .width = p->out_size[1],
                .pixels = p->out_size[0] * p->out_size[1],
                .planes = room,
                .spare = room + a->s->spare};
    v.x = (const uint8_t *)a->b->plane[AUGMENT_X][i] + sample * p->size[0] * p->size[1] * v.channels;
    v.begin = a->b->plane[AUGMENT_X][i];
    v.end = v.begin + p->batch * p->size[0] * p->size[1] * v.channels;
    unsigned char *y = a->b->plane[AUGMENT_Y][i];
    y += (size_t)(sample * v.pixels * p->in_pitch[i]) * dtype_bytes(p->dtype);
    draw_canvas(&v, sample);
    if (is_straight(&v)) {
        write_bytes(&v, y, p->in_pitch[i]);
        return;
    }
    if (v.d.resample)
        resample(&v);
    else
        crop(&v);
    if (v.d.colour)
        change_colours(&v);
    else
        change_plain(&v);
    normalize(&v);
    write_planes(&v, y, p->in_pitch[i]);
}

static void run_part(void *context, int64_t part) {
    const work *a = context;
    int64_t samples = a->p->streams * a->p->batch;
    float *room = (float *)a->b->workspace + part * a->s->room;
    for (int64_t j = part; j < samples; j += a->s->rooms) {
        run_sample(a, (int)(j / a->p->batch), j % a->p->batch, room);
    }
}

/* ---- The kernel ---------------------------------------------------------------------------- */

/* The floats of a room: planes for the widest stream, rows of the source or of a blur, and the weights of taps. */
static braid_status lay_room(const braid_problem *p, augment_state *s) {
    int64_t widest = 1, vector = s->images->width, rows = p->out_size[0] + AUGMENT_MOST_TAPS, taps = 0, total;
    if (p->size[0] > rows) rows = p->size[0];
    for (int i = 0; i < p->streams; i++) widest = p->in_channels[i] > widest ? p->in_channels[i] : widest;
    for (int axis = 0; axis < 2; axis++) taps += augment_most_taps(p->size[axis], p->out_size[axis]);
    s->plane = ceil_div(p->out_size[0] * p->out_size[1], vector) * vector + vector;
    TRY(size_elements((const int64_t[]){widest, s->plane}, 2, "planes of augment", &s->spare));
    TRY(size_elements((const int64_t[]){rows, p->out_size[1]}, 2, "rows of augment", &total));
    s->room = s->spare + total + p->out_size[1] + AUGMENT_MOST_TAPS + 3 * vector + taps;
    s->room = ceil_div(s->room, vector) * vector;
    s->rooms = at_most(ROOMS, p->streams * p->batch);
    return BRAID_OK;
}

/* A pattern as it is and one mirrored for every stream, and for planes. */
static int64_t count_vectors(const braid_problem *p, const images *m) {
    int64_t vectors = 2;
    for (int i = 0; i < p->streams; i++) vectors += 2 * images_period(p->in_pitch[i], m->width);
    return vectors;
}

static braid_status create(const braid_problem *p, const images *m, void **state, size_t *workspace_bytes) {
    augment_state *s = NULL;
    int64_t floats = 0;
    size_t patterns = 0;
    TRY(memory_calloc(1, sizeof *s, "state of augment", (void **)&s));
    s->images = m;
    braid_status status = lay_room(p, s);
    if (!status) status = size_elements((const int64_t[]){s->rooms, s->room}, 2, "workspace of augment", &floats);
    if (!status) status = size_array((size_t)floats, sizeof(float), "workspace of augment", workspace_bytes);
    if (!status)
        status = size_array((size_t)count_vectors(p, m), sizeof(images_vector), "patterns of augment", &patterns);
    if (!status && !size_add(*workspace_bytes, patterns, workspace_bytes))
        status = fail(BRAID_ERROR_MEMORY, "workspace of augment: expected a size that fits in 64 bits");
    if (status) {
        memory_free(s);
        return status;
    }
    *state = s;
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

static void make_patterns(work *a) {
    images_vector *vectors = (images_vector *)(void *)((float *)a->b->workspace + a->s->rooms * a->s->room);
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        for (int i = 0; i < a->p->streams; i++) {
            images_channels c = {a->p->in_channels[i], a->p->in_pitch[i], a->b->plane[AUGMENT_MEAN][i],
                                 a->b->plane[AUGMENT_STD][i], mirrored};
            a->rows[i][mirrored] = images_make_pattern(vectors, &c, a->s->images->width);
            vectors += a->rows[i][mirrored].period;
        }
        images_channels one = {.channels = 1, .pitch = 1, .mirrored = mirrored};
        a->plain[mirrored] = images_make_pattern(vectors++, &one, a->s->images->width);
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    work a = {.p = p, .s = state, .b = b};
    (void)d;
    make_patterns(&a);
    threads_for(a.s->rooms, run_part, &a);
    return BRAID_OK;
}

static double cost(const braid_problem *p, const machine *on, const images *m) {
    return cost_seconds(p, on, m->flat->loops->flops, 1, 2e-6);
}

TILE_KERNELS(AVX512, augment, cpu_direct, images, supports_all, cost, create, launch, destroy)
