/*
 * The one tag of EXIF that changes what an image shows. A damaged block tells nothing, as in every viewer: pixels are
 * not in doubt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "data/exif.h"

#include <string.h>

#include "core/memory.h"

#define ORIENTATION 0x0112
#define SHORT 3
#define ENTRY 12

typedef struct block {
    const unsigned char *tiff;
    size_t bytes;
    int is_big_endian;
} block;

static unsigned number_at(const block *b, size_t at, int bytes) {
    unsigned value = 0;
    for (int j = 0; j < bytes; j++)
        value |= (unsigned)b->tiff[at + (size_t)j] << 8 * (b->is_big_endian ? bytes - 1 - j : j);
    return value;
}

int exif_orientation(const void *data, size_t bytes) {
    block b = {(const unsigned char *)data + 6, bytes - 6, 0};
    if (bytes < 6 + 14 || memcmp(data, "Exif\0\0", 6) != 0) return 1;
    if (memcmp(b.tiff, "II", 2) != 0 && memcmp(b.tiff, "MM", 2) != 0) return 1;
    b.is_big_endian = b.tiff[0] == 'M';
    const size_t first = number_at(&b, 4, 4);
    if (number_at(&b, 2, 2) != 42 || first > b.bytes - 2) return 1;
    const size_t count = number_at(&b, first, 2);
    for (size_t e = 0, at = first + 2; e < count && at <= b.bytes && b.bytes - at >= ENTRY; e++, at += ENTRY) {
        if (number_at(&b, at, 2) != ORIENTATION || number_at(&b, at + 2, 2) != SHORT) continue;
        const unsigned value = number_at(&b, at + 8, 2);
        return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

/* Bit 0: mirrored left to right, bit 1: top to bottom; bit 2: rows and columns change places, before that. */
static const unsigned char changes[9] = {0, 0, 1, 3, 2, 4, 5, 7, 6};

braid_status exif_turn(image *i, int orientation) {
    const unsigned change = orientation >= 1 && orientation <= 8 ? changes[orientation] : 0;
    void *memory;
    if (!change) return BRAID_OK;
    const int64_t height = change & 4 ? i->width : i->height, width = change & 4 ? i->height : i->width;
    TRY(memory_alloc((size_t)(height * width), (size_t)i->channels, "an image", &memory));
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const int64_t v = change & 2 ? height - 1 - y : y, h = change & 1 ? width - 1 - x : x;
            const int64_t from = change & 4 ? h * i->width + v : v * i->width + h;
            memcpy((unsigned char *)memory + (y * width + x) * i->channels,
                   (const unsigned char *)i->pixels + from * i->channels, (size_t)i->channels);
        }
    memory_free(i->pixels);
    *i = (image){.height = height, .width = width, .channels = i->channels, .bits = i->bits, .pixels = memory};
    return BRAID_OK;
}
