/*
 * Fuzz target: PNG. Any bytes are refused in words, or give an image of the size that it tells; what is read can be
 * written, and reads back as the same pixels. Every input is tried as it is and with the checksums of its chunks
 * mended, for without that hardly one comes past the first chunk.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/image.h"
#include "tests/support/mutate.h"

static void must_write(const image *i) {
    image again;
    void *file;
    size_t bytes;
    MUTATE_MUST(png_encode(i, &file, &bytes) == BRAID_OK);
    MUTATE_MUST(png_decode(file, bytes, &again) == BRAID_OK);
    MUTATE_MUST(again.height == i->height && again.width == i->width && again.channels == i->channels &&
                again.bits == i->bits);
    MUTATE_MUST(!memcmp(again.pixels, i->pixels, (size_t)(i->height * i->width * i->channels * i->bits / 8)));
    image_free(&again);
    memory_free(file);
}

static uint32_t checksum(const uint8_t *data, size_t bytes) {
    uint32_t sum = 0xffffffff;
    for (size_t k = 0; k < bytes; k++) {
        sum ^= data[k];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

static void mend_checksums(uint8_t *file, size_t bytes) {
    for (size_t at = 8; at + 12 <= bytes;) {
        size_t length = (size_t)file[at] << 24 | (size_t)file[at + 1] << 16 | (size_t)file[at + 2] << 8 | file[at + 3];
        if (length > bytes - at - 12) return;
        uint32_t sum = checksum(file + at + 4, length + 4);
        for (int k = 0; k < 4; k++) file[at + 8 + length + (size_t)k] = (uint8_t)(sum >> (24 - 8 * k));
        at += 12 + length;
    }
}

static void try_bytes(const uint8_t *data, size_t bytes) {
    image i;
    if (png_decode(data, bytes, &i) == BRAID_OK) {
        MUTATE_MUST((i.channels == 1 || i.channels == 3) && (i.bits == 8 || i.bits == 16));
        must_write(&i);
        image_free(&i);
    } else {
        MUTATE_MUST(strstr(fail_message(), "PNG") != NULL && i.pixels == NULL);
    }
    MUTATE_MUST(memory_live() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    try_bytes(data, bytes);
    uint8_t *mended = malloc(bytes ? bytes : 1);
    MUTATE_MUST(mended);
    if (bytes) memcpy(mended, data, bytes);
    mend_checksums(mended, bytes);
    try_bytes(mended, bytes);
    free(mended);
    return 0;
}

#ifndef BRAID_LIBFUZZER
/* A palette of two colours, one bit a pixel, interlaced, 4x4, the pixels stored; checksums are mended by the target. */
static const uint8_t palette[] =
    "\x89PNG\r\n\x1a\n"
    "\0\0\0\rIHDR\0\0\0\4\0\0\0\4\1\3\0\0\1----"
    "\0\0\0\6PLTE\0\0\0\xff\xff\xff----"
    "\0\0\0\3tEXta\0b----"
    "\0\0\0\x19IDAT\x78\x01\x01\x0e\x00\xf1\xff\x00\x80\x00\x80\x00\x80\x00\x80\x00\x80\x00\x80\x00\x80"
    "\x18\x8e\x03\x81----"
    "\0\0\0\0IEND----";

int main(int count, char **arguments) {
    static uint16_t pixels[12 * 12 * 3];
    mutate_seed seeds[6] = {{0}};
    for (int k = 0; k < 12 * 12 * 3; k++) pixels[k] = (uint16_t)(k * 331);
    for (int k = 0; k < 4; k++) {
        image i = {.height = 5 + k, .width = 7 + k % 2, .channels = k % 2 ? 3 : 1, .bits = k / 2 ? 16 : 8};
        void *file;
        i.pixels = pixels;
        MUTATE_MUST(png_encode(&i, &file, &seeds[k].bytes) == BRAID_OK);
        void *copy = malloc(seeds[k].bytes); /* outside of braid's memory, which must be empty */
        seeds[k].data = memcpy(copy, file, seeds[k].bytes);
        memory_free(file);
    }
    seeds[4] = (mutate_seed){palette, sizeof palette - 1};
    int code = mutate_bytes_main(count, arguments, LLVMFuzzerTestOneInput, seeds, 50000);
    for (int k = 0; k < 4; k++) free((void *)seeds[k].data);
    return code;
}
#endif
