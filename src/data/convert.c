/*
 * Samples, see the header. Holes take no part in a resize: values and what there is of them are resized side by side,
 * and a pixel of which more than half is missing is a hole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/convert.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/resize.h"

/* The part of the image that is taken, and where it goes in the sample. */
typedef struct placing {
    int64_t top, left, cut[2], into_top, into_left, inner[2];
} placing;

/* What becomes of the part of the image: shares times 255, and how much of each pixel is there. */
typedef struct canvas {
    float *values, *there; /* there: NULL without holes */
} canvas;

int convert_channels(const manifest_stream *s) { return s->channels + s->mask; }

braid_status convert_check(const image *from, const manifest_stream *s) {
    if (from->bits != s->bits)
        return fail(BRAID_ERROR_DATA, "expected %s in stream %s, got %s",
                    s->bits == 32   ? "floats"
                    : s->bits == 16 ? "16 bits"
                                    : "8 bits",
                    s->name,
                    from->bits == 32   ? "floats"
                    : from->bits == 16 ? "16 bits"
                                       : "8 bits");
    if (from->channels > s->channels)
        return fail(BRAID_ERROR_DATA, "expected %d channel in stream %s, got %d", s->channels, s->name, from->channels);
    return BRAID_OK;
}

double convert_stored(const image *from, int64_t index) {
    if (from->bits == 8) return ((const uint8_t *)from->pixels)[index];
    if (from->bits == 16) return ((const uint16_t *)from->pixels)[index];
    return (double)((const float *)from->pixels)[index];
}

double convert_share(const manifest_stream *s, double stored, int *is_hole) {
    *is_hole = 0;
    if (!s->has_range) return stored / 255;
    *is_hole = stored == 0 || !isfinite(stored);
    double share = (stored - s->low) / (s->high - s->low);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- Where things go ---------------------------------------------------------------------- */

static int64_t part_of(int64_t size, double share) {
    int64_t part = (int64_t)(share + 0.5);
    return part < 1 ? 1 : part > size ? size : part;
}

static placing place(const image *from, const convert_format *f) {
    const double high = (double)from->height, wide = (double)from->width;
    const double to_high = (double)f->size[0], to_wide = (double)f->size[1];
    placing p = {.cut = {from->height, from->width}, .inner = {f->size[0], f->size[1]}};
    if (f->fit == BRAID_FIT_CROP) {
        p.cut[0] = part_of(from->height, wide * to_high / to_wide);
        p.cut[1] = part_of(from->width, high * to_wide / to_high);
        p.top = (from->height - p.cut[0]) / 2;
        p.left = (from->width - p.cut[1]) / 2;
    }
    if (f->fit == BRAID_FIT_PAD) {
        p.inner[0] = part_of(f->size[0], to_wide * high / wide);
        p.inner[1] = part_of(f->size[1], to_high * wide / high);
        p.into_top = (f->size[0] - p.inner[0]) / 2;
        p.into_left = (f->size[1] - p.inner[1]) / 2;
    }
    return p;
}

/* ---- The way there ------------------------------------------------------------------------ */

/* The image as it is resized: its part, and which of the two. */
typedef struct part {
    const image *from;
    const convert_format *format;
    const placing *placing;
    int is_there; /* 1: what there is of each value, else the values */
} part;

static void load_row(const void *user, int64_t y, float *row) {
    const part *of = user;
    const placing *p = of->placing;
    const int channels = of->format->stream->channels;
    for (int64_t x = 0; x < p->cut[1]; x++)
        for (int c = 0; c < channels; c++) {
            const int64_t pixel = (p->top + y) * of->from->width + p->left + x;
            int is_hole;
            const double stored =
                convert_stored(of->from, pixel * of->from->channels + (of->from->channels == 1 ? 0 : c));
            const double share = convert_share(of->format->stream, stored, &is_hole);
            row[x * channels + c] = is_hole ? 0 : of->is_there ? 1 : (float)(255 * share);
        }
}

static float byte_of(double value) { return (float)floor((value < 0 ? 0 : value > 255 ? 255 : value) + 0.5); }

static void store(const convert_format *f, void *out, int64_t at, double value) {
    if (f->dtype == BRAID_DTYPE_U8)
        ((uint8_t *)out)[at] = (uint8_t)byte_of(isnan(value) ? 255 * f->mean : value);
    else
        ((float *)out)[at] = (float)(value / 255);
}

/* One pixel of the sample; inside < 0: nothing of the image is there. */
static void store_pixel(const convert_format *f, const canvas *v, int64_t pixel, int64_t inside, void *out) {
    const int channels = f->stream->channels, all = convert_channels(f->stream);
    int there = 1;
    for (int c = 0; c < channels; c++) {
        const int64_t at = inside * channels + c;
        const double share = inside < 0 ? 0 : v->there ? (double)v->there[at] : 1;
        const int is_hole = share < 0.5 && (v->there || inside < 0);
        store(f, out, pixel * all + c, is_hole ? (double)NAN : (double)v->values[at] / share);
        there &= !is_hole;
    }
    if (f->stream->mask) store(f, out, pixel * all + channels, there ? 255 : 0);
}

static void store_all(const convert_format *f, const placing *p, const canvas *v, void *out) {
    for (int64_t y = 0; y < f->size[0]; y++)
        for (int64_t x = 0; x < f->size[1]; x++) {
            const int64_t row = y - p->into_top, column = x - p->into_left;
            const int is_inside = row >= 0 && row < p->inner[0] && column >= 0 && column < p->inner[1];
            store_pixel(f, v, y * f->size[1] + x, is_inside ? row * p->inner[1] + column : -1, out);
        }
}

static braid_status convert(const image *from, const convert_format *f, const placing *p, const canvas *v, void *out) {
    const resize_shape shape = {{p->cut[0], p->cut[1]}, {p->inner[0], p->inner[1]}, f->stream->channels};
    TRY(resize_rows(&shape, load_row, &(part){from, f, p, 0}, v->values));
    if (v->there) TRY(resize_rows(&shape, load_row, &(part){from, f, p, 1}, v->there));
    store_all(f, p, v, out);
    return BRAID_OK;
}

/* Bytes that stay as they are. */
static int is_plain(const image *from, const convert_format *f) {
    return f->dtype == BRAID_DTYPE_U8 && from->bits == 8 && !f->stream->has_range &&
           from->channels == f->stream->channels && from->height == f->size[0] && from->width == f->size[1];
}

braid_status convert_image(const image *from, const convert_format *f, void *out) {
    const placing p = place(from, f);
    void *values = NULL, *there = NULL;
    int64_t elements;
    TRY(convert_check(from, f->stream));
    if (is_plain(from, f)) {
        memcpy(out, from->pixels, (size_t)(from->height * from->width * from->channels));
        return BRAID_OK;
    }
    TRY(resize_room(&(resize_shape){{p.cut[0], p.cut[1]}, {p.inner[0], p.inner[1]}, f->stream->channels}, &elements));
    braid_status status = memory_alloc((size_t)elements, sizeof(float), "an image to resize", &values);
    if (!status && f->stream->has_range)
        status = memory_alloc((size_t)elements, sizeof(float), "the holes of an image", &there);
    const canvas v = {values, there};
    if (!status) status = convert(from, f, &p, &v, out);
    memory_free(values);
    memory_free(there);
    return status;
}
