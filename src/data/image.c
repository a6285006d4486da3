/*
 * What all image formats share: limits, the choice of a decoder, and the way from any image to the bytes of a batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/image.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/image_format.h"
#include "data/limits.h"
#include "data/npy.h"
#include "data/resize.h"

braid_status image_check_size(const char *format, int64_t height, int64_t width) {
    int64_t most = limits_max_pixels();
    if (height < 1 || width < 1 || height > IMAGE_MAX_SIDE || width > IMAGE_MAX_SIDE)
        return fail(BRAID_ERROR_DATA, "%s: expected 1 to %d pixels on a side, got %lldx%lld", format, IMAGE_MAX_SIDE,
                    (long long)height, (long long)width);
    if (height * width > most)
        return fail(BRAID_ERROR_DATA,
                    "%s: expected at most %lld pixels, got %lldx%lld: too many pixels; --max-pixels %lld allows them",
                    format, (long long)most, (long long)height, (long long)width, (long long)(height * width));
    return BRAID_OK;
}

void image_free(image *i) {
    memory_free(i->pixels);
    limits_give(i->share);
    *i = (image){0};
}

braid_status image_take(image *i, size_t bytes) {
    TRY(limits_take(bytes));
    i->share = bytes;
    return BRAID_OK;
}

/* The halves of a file, which are not aligned. */
static void widen_halves(const unsigned char *from, int64_t count, float *to) {
    for (int64_t j = 0; j < count; j++) to[j] = f32_from_f16((uint16_t)(from[2 * j] | from[2 * j + 1] << 8));
}

static braid_status decode_npy(const void *data, size_t bytes, image *out) {
    npy n;
    TRY(limits_begin_file(bytes));
    TRY(npy_read(data, bytes, &n));
    int is_float = n.type == NPY_F16 || n.type == NPY_F32;
    int bits = n.type == NPY_U8 ? 8 : n.type == NPY_U16 ? 16 : is_float ? 32 : 0;
    int64_t channels = n.rank == 3 ? n.dims[2] : 1;
    if (!bits || (n.rank != 2 && n.rank != 3) || (channels != 1 && channels != 3))
        return fail(BRAID_ERROR_DATA,
                    "npy: expected an image of u1, u2, f2 or f4, [height][width] or [height][width][1 or 3]");
    TRY(image_check_size("npy", n.dims[0], n.dims[1]));
    *out = (image){.height = n.dims[0], .width = n.dims[1], .channels = (int)channels, .bits = bits};
    const size_t values = (size_t)(n.dims[0] * n.dims[1] * channels);
    TRY(image_take(out, values * (size_t)bits / 8));
    braid_status status = memory_alloc(values, (size_t)bits / 8, "an image", &out->pixels);
    if (status)
        image_free(out);
    else if (n.type == NPY_F16)
        widen_halves(n.data, n.dims[0] * n.dims[1] * channels, out->pixels);
    else
        memcpy(out->pixels, n.data, n.bytes);
    return status;
}

braid_status image_decode(const void *data, size_t bytes, image *out) {
    *out = (image){0};
    if (bytes >= 8 && !memcmp(data, "\x89PNG\r\n\x1a\n", 8)) return png_decode(data, bytes, out);
    if (bytes >= 3 && !memcmp(data, "\xff\xd8\xff", 3)) return jpeg_decode(data, bytes, out);
    if (bytes >= 6 && !memcmp(data, "\x93NUMPY", 6)) return decode_npy(data, bytes, out);
    return image_refuse_format(data, bytes);
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

/* ---- Bytes ---------------------------------------------------------------------------------- */

static float value_at(const image *from, int64_t i) {
    return from->bits == 16 ? (float)image_byte_of_u16(((const uint16_t *)from->pixels)[i])
                            : (float)((const uint8_t *)from->pixels)[i];
}

static void load_row(const void *user, int64_t y, float *row) {
    const image *from = user;
    const int64_t values = from->width * from->channels;
    for (int64_t j = 0; j < values; j++) row[j] = value_at(from, y * values + j);
}

static braid_status resize_image(const image *from, int64_t height, int64_t width, uint8_t *out) {
    const resize_shape shape = {{from->height, from->width}, {height, width}, from->channels};
    void *sums = NULL;
    int64_t elements;
    TRY(resize_room(&shape, &elements));
    TRY(memory_alloc((size_t)elements, sizeof(float), "an image to resize", &sums));
    braid_status status = resize_rows(&shape, load_row, from, sums);
    for (int64_t i = 0; i < elements && !status; i++) {
        float rounded = floorf(((const float *)sums)[i] + 0.5f);
        out[i] = (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
    }
    memory_free(sums);
    return status;
}

braid_status image_to_bytes(const image *from, int64_t height, int64_t width, int channels, uint8_t *out) {
    if (from->channels != channels)
        return fail(BRAID_ERROR_DATA, "expected %d channel%s, got %d", channels, channels == 1 ? "" : "s",
                    from->channels);
    if (from->bits == 32)
        return fail(BRAID_ERROR_DATA, "expected 8 or 16 bits, got floats; braid data import makes a set of them");
    if (from->height != height || from->width != width) return resize_image(from, height, width, out);
    int64_t values = height * width * channels;
    if (from->bits == 8)
        memcpy(out, from->pixels, (size_t)values);
    else
        for (int64_t i = 0; i < values; i++) out[i] = image_byte_of_u16(((const uint16_t *)from->pixels)[i]);
    return BRAID_OK;
}
