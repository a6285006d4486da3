/*
 * What all image formats share: limits, the choice of a decoder, and the way from any image to the bytes of a batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/image.h"

#include <math.h>
#include <string.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "data/npy.h"

braid_status image_check_size(const char *format, int64_t height, int64_t width) {
    if (height < 1 || width < 1 || height > IMAGE_MAX_SIDE || width > IMAGE_MAX_SIDE ||
        height * width > IMAGE_MAX_PIXELS)
        return fail(BRAID_ERROR_DATA, "%s: expected at most %lld pixels and %d on a side, got %lldx%lld", format,
                    (long long)IMAGE_MAX_PIXELS, IMAGE_MAX_SIDE, (long long)height, (long long)width);
    return BRAID_OK;
}

void image_free(image *i) {
    memory_free(i->pixels);
    *i = (image){0};
}

static braid_status decode_npy(const void *data, size_t bytes, image *out) {
    npy n;
    TRY(npy_read(data, bytes, &n));
    int bits = n.type == NPY_U8 ? 8 : n.type == NPY_U16 ? 16 : 0;
    int64_t channels = n.rank == 3 ? n.dims[2] : 1;
    if (!bits || (n.rank != 2 && n.rank != 3) || (channels != 1 && channels != 3))
        return fail(BRAID_ERROR_DATA, "npy: expected an image of u1 or u2, [height][width] or [height][width][1 or 3]");
    TRY(image_check_size("npy", n.dims[0], n.dims[1]));
    *out = (image){.height = n.dims[0], .width = n.dims[1], .channels = (int)channels, .bits = bits};
    TRY(memory_alloc(n.bytes, 1, "an image", &out->pixels));
    memcpy(out->pixels, n.data, n.bytes);
    return BRAID_OK;
}

braid_status image_decode(const void *data, size_t bytes, image *out) {
    *out = (image){0};
    if (bytes >= 8 && !memcmp(data, "\x89PNG\r\n\x1a\n", 8)) return png_decode(data, bytes, out);
    if (bytes >= 3 && !memcmp(data, "\xff\xd8\xff", 3)) return jpeg_decode(data, bytes, out);
    if (bytes >= 6 && !memcmp(data, "\x93NUMPY", 6)) return decode_npy(data, bytes, out);
    return fail(BRAID_ERROR_DATA, "expected PNG, JPEG or npy, got a file of %zu bytes that begins like none of them",
                bytes);
}

braid_status image_read(const char *root, const char *path, image *out) {
    char *bytes;
    size_t count;
    *out = (image){0};
    TRY(files_read_within(root, path, IMAGE_MAX_BYTES, BRAID_ERROR_DATA, &bytes, &count));
    braid_status status = image_decode(bytes, count, out);
    memory_free(bytes);
    return status == BRAID_OK ? BRAID_OK : fail(status, "%s: %s", path, fail_message());
}

uint8_t image_byte_of_u16(uint16_t value) { return (uint8_t)(value / 257); }

/* ---- Resizing ----------------------------------------------------------------------------- */

/* The pixels that one output pixel is a weighted mean of. */
typedef struct taps {
    int64_t begin, count;
    double centre, scale, sum;
} taps;

static double weight_at(const taps *t, int64_t i) {
    double distance = fabs(((double)(t->begin + i) + 0.5 - t->centre) / t->scale);
    return distance < 1 ? 1 - distance : 0;
}

static taps taps_at(int64_t out, int64_t out_size, int64_t in_size) {
    double step = (double)in_size / (double)out_size, scale = step > 1 ? step : 1;
    taps t = {.centre = ((double)out + 0.5) * step, .scale = scale};
    double low = t.centre - scale + 0.5, high = t.centre + scale + 0.5;
    t.begin = low < 0 ? 0 : (int64_t)low;
    int64_t end = high > (double)in_size ? in_size : (int64_t)high;
    t.count = end - t.begin;
    for (int64_t i = 0; i < t.count; i++) t.sum += weight_at(&t, i);
    return t;
}

/* One axis of `in` as [before][in_size][after] floats. */
static void resize_axis(const float *in, float *out, int64_t before, int64_t in_size, int64_t out_size, int64_t after) {
    for (int64_t o = 0; o < out_size; o++) {
        taps t = taps_at(o, out_size, in_size);
        for (int64_t b = 0; b < before; b++) {
            float *to = out + (b * out_size + o) * after;
            memset(to, 0, (size_t)after * sizeof *to);
            for (int64_t i = 0; i < t.count; i++) {
                const float *from = in + (b * in_size + t.begin + i) * after;
                float weight = (float)(weight_at(&t, i) / t.sum);
                for (int64_t a = 0; a < after; a++) to[a] += weight * from[a];
            }
        }
    }
}

static float value_at(const image *from, int64_t i) {
    return from->bits == 16 ? (float)image_byte_of_u16(((const uint16_t *)from->pixels)[i])
                            : (float)((const uint8_t *)from->pixels)[i];
}

static void resize(const image *from, int64_t height, int64_t width, float *whole, float *wide, uint8_t *out) {
    int64_t values = from->height * from->width * from->channels;
    for (int64_t i = 0; i < values; i++) whole[i] = value_at(from, i);
    resize_axis(whole, wide, from->height, from->width, width, from->channels);
    resize_axis(wide, whole, 1, from->height, height, width * from->channels);
    for (int64_t i = 0; i < height * width * from->channels; i++) {
        float rounded = floorf(whole[i] + 0.5f);
        out[i] = (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
    }
}

static braid_status resize_image(const image *from, int64_t height, int64_t width, uint8_t *out) {
    void *whole = NULL, *wide = NULL;
    int64_t taller = height > from->height ? height : from->height;
    int64_t wider = width > from->width ? width : from->width, elements;
    TRY(image_check_size("resize", taller, wider));
    TRY(size_elements((int64_t[]){taller, wider, from->channels}, 3, "an image to resize", &elements));
    braid_status status = memory_alloc((size_t)elements, sizeof(float), "an image to resize", &whole);
    if (!status) status = memory_alloc((size_t)elements, sizeof(float), "an image to resize", &wide);
    if (!status) resize(from, height, width, whole, wide, out);
    memory_free(whole);
    memory_free(wide);
    return status;
}

braid_status image_to_bytes(const image *from, int64_t height, int64_t width, int channels, uint8_t *out) {
    if (from->channels != channels)
        return fail(BRAID_ERROR_DATA, "expected %d channel%s, got %d", channels, channels == 1 ? "" : "s",
                    from->channels);
    if (from->height != height || from->width != width) return resize_image(from, height, width, out);
    int64_t values = height * width * channels;
    if (from->bits == 8)
        memcpy(out, from->pixels, (size_t)values);
    else
        for (int64_t i = 0; i < values; i++) out[i] = image_byte_of_u16(((const uint16_t *)from->pixels)[i]);
    return BRAID_OK;
}
