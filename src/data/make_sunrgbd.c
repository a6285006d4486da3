/*
 * A synthetic SUN RGB-D of three streams. A scene has three cues: what is on the wall in rgb (stripes, checks, rings or
 * nothing), stripes or checks in depth, rings or spots in orth. The class is all three together, so a network that sees
 * one stream gets at most 4 of 15 right. Direction, phase, contrast and its sign are random, and all textures have one
 * wavelength and one strength: classes share their mean and, nearly, their spectrum, so that no linear function of the
 * pixels reads a cue, and a mirror or a crop changes none.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "core/sizes.h"
#include "data/image.h"
#include "data/make.h"

#define CLASSES 15
#define STREAMS 3
#define TURN 6.283185307179586
#define NOISE 0.03

static const char *const class_names[CLASSES] = {"bathroom",        "bedroom",     "classroom",   "computer_room",
                                                 "corridor",        "dining_area", "dining_room", "discussion_area",
                                                 "furniture_store", "kitchen",     "lab",         "library",
                                                 "office",          "rest_space",  "study_space"};
static const char *const stream_names[STREAMS] = {"rgb", "depth", "orth"};
static const int stream_channels[STREAMS] = {3, 1, 1};

typedef enum texture { STRIPES, CHECKS, RINGS, PLAIN, SPOTS } texture;

/* One texture over an image, in units of its height. */
typedef struct pattern {
    texture kind;
    double wavelength, phase[2], turn_cos, turn_sin, centre[2];
} pattern;

typedef struct sums {
    double sum[STREAMS][3], square[STREAMS][3];
    int64_t count;
} sums;

typedef struct scene_maker {
    maker *m;
    int64_t height, width;
    image images[STREAMS];
    sums sums;
} scene_maker;

static pattern draw_pattern(rng *r, texture kind, double wavelength) {
    double turn = rng_uniform(r);
    return (pattern){.kind = kind,
                     .wavelength = wavelength * draw_between(r, 0.85, 1.15),
                     .phase = {rng_uniform(r), rng_uniform(r)},
                     .turn_cos = cos(TURN * turn),
                     .turn_sin = sin(TURN * turn),
                     .centre = {draw_between(r, 0.2, 0.8), draw_between(r, 0.2, 1.1)}};
}

static double wave(double along, double phase) { return sin(TURN * (along + phase)); }

/* A mean of 0 and, but for a plain wall, a mean square of 1/2, at (y, x). Checks are waves along the diagonals, shorter
 * by sqrt(2). */
static double pattern_at(const pattern *p, double y, double x) {
    double dy = (y - p->centre[0]) / p->wavelength, dx = (x - p->centre[1]) / p->wavelength;
    double v = p->turn_cos * dy + p->turn_sin * dx, u = p->turn_cos * dx - p->turn_sin * dy;
    switch (p->kind) {
        case STRIPES: return wave(v, p->phase[0]);
        case CHECKS: return sqrt(2) * wave(v / sqrt(2), p->phase[0]) * wave(u / sqrt(2), p->phase[1]);
        case RINGS: return wave(sqrt(u * u + v * v), p->phase[0]);
        case PLAIN: return 0;
        case SPOTS: break;
    }
    double across = sqrt(0.75) * u; /* three waves that meet in their crests */
    return (wave(v, 0.25) + wave(across - v / 2, 0.25) + wave(-across - v / 2, 0.25)) / sqrt(3);
}

/* A level that tilts over the image, and a pattern that fades towards the border of an ellipse. */
typedef struct surface {
    pattern pattern;
    double level, tilt[2], contrast, centre[2], radius;
} surface;

static surface draw_surface(rng *r, pattern p, double most_tilt) {
    double sign = rng_u32(r) & 1 ? 1 : -1;
    return (surface){.pattern = p,
                     .level = draw_between(r, 0.4, 0.6),
                     .tilt = {draw_between(r, -most_tilt, most_tilt), draw_between(r, -most_tilt, most_tilt)},
                     .contrast = sign * draw_between(r, 0.2, 0.35),
                     .centre = {draw_between(r, 0.35, 0.65), draw_between(r, 0.45, 0.85)},
                     .radius = draw_between(r, 0.55, 0.9)};
}

static double fade_at(const surface *s, double y, double x) {
    double dy = y - s->centre[0], dx = 0.75 * (x - s->centre[1]);
    double outside = sqrt(dy * dy + dx * dx) / s->radius;
    return outside < 1 ? 1 : exp(-8 * (outside - 1) * (outside - 1));
}

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void paint_rgb(const surface *s, rng *r, image *i) {
    uint8_t *out = i->pixels;
    double base[3], colour[3];
    for (int c = 0; c < 3; c++) {
        base[c] = draw_between(r, -0.15, 0.15);
        colour[c] = draw_between(r, 0.4, 1) * (rng_u32(r) & 1 ? 1 : -1);
    }
    for (int64_t y = 0; y < i->height; y++)
        for (int64_t x = 0; x < i->width; x++) {
            double v = (double)y / (double)i->height, u = (double)x / (double)i->height;
            double level = s->level + s->tilt[0] * (v - 0.5) + s->tilt[1] * (u - 0.6);
            double relief = s->contrast * fade_at(s, v, u) * pattern_at(&s->pattern, v, u);
            for (int c = 0; c < 3; c++)
                *out++ = (uint8_t)(255 * clamp(level + base[c] + colour[c] * relief + NOISE * draw_noise(r)) + 0.5);
        }
}

/* Sixteen bits; the noise is in the upper eight, as a sensor's is, and the lower repeat them. */
static void paint_grey(const surface *s, rng *r, image *i) {
    uint16_t *out = i->pixels;
    for (int64_t y = 0; y < i->height; y++)
        for (int64_t x = 0; x < i->width; x++) {
            double v = (double)y / (double)i->height, u = (double)x / (double)i->height;
            double level = s->level + s->tilt[0] * (v - 0.5) + s->tilt[1] * (u - 0.6);
            double relief = s->contrast * fade_at(s, v, u) * pattern_at(&s->pattern, v, u);
            *out++ = (uint16_t)(257 * (int)(255 * clamp(level + relief + NOISE * draw_noise(r)) + 0.5));
        }
}

static void paint_scene(scene_maker *s, rng r, int label) {
    texture rgb = (texture)(label / 4), depth = label / 2 % 2 ? CHECKS : STRIPES, orth = label % 2 ? SPOTS : RINGS;
    surface seen = draw_surface(&r, draw_pattern(&r, rgb, 1.0 / 6), 0.2);
    surface relief = draw_surface(&r, draw_pattern(&r, depth, 1.0 / 6), 0.3);
    surface rest = draw_surface(&r, draw_pattern(&r, orth, 1.0 / 6), 0.1);
    paint_rgb(&seen, &r, &s->images[0]);
    paint_grey(&relief, &r, &s->images[1]);
    paint_grey(&rest, &r, &s->images[2]);
}

static void add_up(scene_maker *s) {
    int64_t pixels = s->height * s->width;
    for (int i = 0; i < STREAMS; i++)
        for (int64_t k = 0; k < pixels * stream_channels[i]; k++) {
            const image *from = &s->images[i];
            double x = from->bits == 16 ? image_byte_of_u16(((const uint16_t *)from->pixels)[k])
                                        : ((const uint8_t *)from->pixels)[k];
            s->sums.sum[i][k % stream_channels[i]] += x;
            s->sums.square[i][k % stream_channels[i]] += x * x;
        }
    s->sums.count += pixels;
}

static braid_status write_scene(scene_maker *s, braid_split split, int64_t sample) {
    for (int i = 0; i < STREAMS; i++) {
        char name[64];
        void *file;
        size_t bytes;
        snprintf(name, sizeof name, "%s/%s/%05lld.png", braid_split_name(split), stream_names[i], (long long)sample);
        TRY(png_encode(&s->images[i], &file, &bytes));
        braid_status status = maker_write(s->m, name, file, bytes);
        memory_free(file);
        TRY(status);
    }
    return BRAID_OK;
}

static braid_status write_labels(const maker *m, braid_split split, const int32_t *labels) {
    char name[32], *at;
    void *text;
    size_t room;
    if (!size_mul((size_t)m->counts[split], 4, &room)) return fail(BRAID_ERROR_MEMORY, "labels: too many");
    TRY(memory_alloc(room + 1, 1, "labels", &text));
    at = text;
    for (int64_t i = 0; i < m->counts[split]; i++) at += snprintf(at, 5, "%d\n", labels[i]);
    snprintf(name, sizeof name, "%s/labels.txt", braid_split_name(split));
    braid_status status = maker_write(m, name, text, (size_t)(at - (char *)text));
    memory_free(text);
    return status;
}

static braid_status make_split(scene_maker *s, braid_split split) {
    char name[64];
    int32_t *labels;
    for (int i = 0; i < STREAMS; i++) {
        snprintf(name, sizeof name, "%s/%s", braid_split_name(split), stream_names[i]);
        TRY(maker_folder(s->m, name));
    }
    TRY(maker_labels(s->m, split, CLASSES, &labels));
    braid_status status = write_labels(s->m, split, labels);
    for (int64_t k = 0; k < s->m->counts[split] && !status; k++) {
        status = maker_step(s->m, braid_split_name(split));
        if (status) break;
        paint_scene(s, maker_rng(s->m, split, k), labels[k]);
        if (split == BRAID_SPLIT_TRAIN) add_up(s);
        status = write_scene(s, split, k);
    }
    memory_free(labels);
    return status;
}

static braid_status write_class_names(const maker *m) {
    char text[CLASSES * 32];
    size_t used = 0;
    for (int c = 0; c < CLASSES; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d: %s\n", c, class_names[c]);
    return maker_write(m, "class_names.txt", text, used);
}

/* "rgb_mean": [0.5, 0.5, 0.5] */
static size_t print_numbers(char *text, size_t room, const sums *s, int stream, int is_std) {
    size_t used = (size_t)snprintf(text, room, "  \"%s_%s\": [", stream_names[stream], is_std ? "std" : "mean");
    for (int c = 0; c < stream_channels[stream]; c++) {
        double mean = s->sum[stream][c] / (double)s->count, square = s->square[stream][c] / (double)s->count;
        used += (size_t)real_format(text + used, room - used, "%s%.6f", c ? ", " : "",
                                    (is_std ? sqrt(square - mean * mean) : mean) / 255);
    }
    return used + (size_t)snprintf(text + used, room - used, "]");
}

static braid_status write_statistics(const scene_maker *s) {
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "{\n");
    for (int i = 0; i < STREAMS; i++)
        for (int is_std = 0; is_std < 2; is_std++) {
            used += print_numbers(text + used, sizeof text - used, &s->sums, i, is_std);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", i == STREAMS - 1 && is_std ? "" : ",");
        }
    used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    return maker_write(s->m, "norm_stats.json", text, used);
}

static braid_status write_remarks(const scene_maker *s) {
    char text[512];
    const int64_t *counts = s->m->counts;
    int used = snprintf(text, sizeof text,
                        "Synthetic scenes by braid data make sunrgbd\nseed: %llu\nsize: %lldx%lld\ntrain: %lld\nval: "
                        "%lld\ntest: %lld\nclasses: %d\n",
                        (unsigned long long)s->m->options->seed, (long long)s->height, (long long)s->width,
                        (long long)counts[0], (long long)counts[1], (long long)counts[2], CLASSES);
    TRY(maker_write(s->m, "dataset_info.txt", text, (size_t)used));
    return maker_write(s->m, "orth_normalization.txt", "0.0\n1.0\n", 8);
}

static braid_status make_all(scene_maker *s) {
    TRY(write_class_names(s->m));
    for (int split = 0; split < BRAID_SPLIT_COUNT; split++) TRY(make_split(s, (braid_split)split));
    TRY(write_statistics(s));
    return write_remarks(s);
}

static braid_status create_images(scene_maker *s) {
    for (int i = 0; i < STREAMS; i++) {
        int64_t elements;
        s->images[i] =
            (image){.height = s->height, .width = s->width, .channels = stream_channels[i], .bits = i ? 16 : 8};
        TRY(size_elements((int64_t[]){s->height, s->width, 6}, 3, "an image", &elements));
        TRY(memory_alloc((size_t)elements, 1, "an image", &s->images[i].pixels));
    }
    return BRAID_OK;
}

braid_status make_sunrgbd(maker *m) {
    const int64_t *size = m->options->size;
    scene_maker s = {.m = m, .height = size[0] ? size[0] : 48, .width = size[1] ? size[1] : 64};
    if (s.height < 16 || s.width < 16 || s.height > 4096 || s.width > 4096)
        return fail(BRAID_ERROR_ARGUMENT, "size: expected 16x16 to 4096x4096, got %lldx%lld", (long long)s.height,
                    (long long)s.width);
    braid_status status = create_images(&s);
    if (!status) status = make_all(&s);
    for (int i = 0; i < STREAMS; i++) image_free(&s.images[i]);
    return status;
}
