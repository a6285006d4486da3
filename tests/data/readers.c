/*
 * Readers of images and arrays: known answers, round trips, and files that are wrong in every way they can be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/idx.h"
#include "data/image.h"
#include "data/npy.h"
#include "tests/support/fail_nth.h"
#include "tests/support/jpeg_file.h"

static void must_refuse(braid_status status, const char *words) {
    assert_int_equal(status, BRAID_ERROR_DATA);
    if (!strstr(fail_message(), words)) fail_msg("expected \"%s\" in \"%s\"", words, fail_message());
}

/* ---- PNG ---------------------------------------------------------------------------------- */

static uint16_t pixels[40 * 40 * 3];

static image make_image(int64_t height, int64_t width, int channels, int bits) {
    for (int i = 0; i < 40 * 40 * 3; i++) pixels[i] = (uint16_t)(i * 40503);
    return (image){.height = height, .width = width, .channels = channels, .bits = bits, .pixels = pixels};
}

static void png_round_trips(void **state) {
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2)
        for (int bits = 8; bits <= 16; bits += 8)
            for (int64_t side = 1; side <= 37; side += 9) {
                image from = make_image(side, 38 - side, channels, bits), back;
                void *file;
                size_t bytes;
                assert_int_equal(png_encode(&from, &file, &bytes), BRAID_OK);
                assert_int_equal(image_decode(file, bytes, &back), BRAID_OK);
                assert_true(back.height == side && back.width == 38 - side);
                assert_true(back.channels == channels && back.bits == bits);
                assert_memory_equal(back.pixels, pixels, (size_t)(side * (38 - side) * channels * bits / 8));
                image_free(&back);
                memory_free(file);
            }
}

/* Written by another program: 2x2, 4 bits of grey (0 5 10 15). */
static const unsigned char grey4[] =
    "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00\x00\x02\x04"
    "\x00\x00\x00\x00\x92\x2d\xbf\xf9\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\x60\x65\x58\x0f\x00\x00"
    "\xc2\x00\xb5\x8d\x03\xf2\xb6\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/* 2x1 of a palette, whose two colours (10 20 30, 40 50 60) are transparent, and half so. */
static const unsigned char palette[] =
    "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00\x00\x01\x08"
    "\x03\x00\x00\x00\xc3\xfc\x8f\xb8\x00\x00\x00\x06\x50\x4c\x54\x45\x0a\x14\x1e\x28\x32\x3c\xd5\x1b\xb4\xe9"
    "\x00\x00\x00\x02\x74\x52\x4e\x53\x00\x80\x9b\x2b\x4e\x18\x00\x00\x00\x0b\x49\x44\x41\x54\x78\xda\x63\x60"
    "\x60\x04\x00\x00\x04\x00\x02\x2c\xde\x48\xad\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

static void png_of_other_kinds(void **state) {
    (void)state;
    image i;
    assert_int_equal(png_decode(palette, sizeof palette - 1, &i), BRAID_OK);
    assert_true(i.height == 1 && i.width == 2 && i.channels == 3 && i.bits == 8);
    assert_memory_equal(i.pixels, ((uint8_t[]){10, 20, 30, 40, 50, 60}), 6);
    image_free(&i);
    assert_int_equal(png_decode(grey4, sizeof grey4 - 1, &i), BRAID_OK);
    assert_true(i.height == 2 && i.width == 2 && i.channels == 1 && i.bits == 8);
    assert_memory_equal(i.pixels, ((uint8_t[]){0, 85, 170, 255}), 4);
    image_free(&i);
}

static void png_refuses_any_damage(void **state) {
    (void)state;
    image from = make_image(6, 5, 3, 8), i;
    void *file;
    size_t bytes;
    assert_int_equal(png_encode(&from, &file, &bytes), BRAID_OK);
    for (size_t cut = 0; cut < bytes; cut++) must_refuse(png_decode(file, cut, &i), "PNG");
    for (size_t at = 0; at < bytes; at++) {
        ((unsigned char *)file)[at] ^= 0x10;
        must_refuse(png_decode(file, bytes, &i), "PNG"); /* every byte is under a checksum */
        assert_null(i.pixels);
        ((unsigned char *)file)[at] ^= 0x10;
    }
    must_refuse(png_decode(file, 40, &i), "the file ends too early (at byte");
    memory_free(file);
    assert_int_equal(memory_live(), 0);
}

/* A header of any size, its checksum made right, and nothing behind it. */
static size_t make_header(unsigned char *file, uint32_t height, uint32_t width) {
    static const unsigned char start[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    memcpy(file, start, 16);
    for (int k = 0; k < 4; k++) {
        file[16 + k] = (unsigned char)(width >> (24 - 8 * k));
        file[20 + k] = (unsigned char)(height >> (24 - 8 * k));
    }
    memcpy(file + 24, "\10\0\0\0\0", 5);
    uint32_t sum = 0xffffffff;
    for (int k = 12; k < 29; k++) {
        sum ^= file[k];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    for (int k = 0; k < 4; k++) file[29 + k] = (unsigned char)(~sum >> (24 - 8 * k));
    memcpy(file + 33, "\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
    return 45;
}

static void png_refuses_bombs(void **state) {
    (void)state;
    unsigned char file[64];
    image i;
    fail_alloc_install();
    fail_alloc_arm(0, FAIL_ONCE);
    must_refuse(png_decode(file, make_header(file, 60000, 60000), &i), "too many pixels");
    must_refuse(png_decode(file, make_header(file, 4000, 4000), &i),
                "more pixels in the header than the file can hold");
    must_refuse(png_decode(file, make_header(file, 70000, 2), &i), "PNG: ");
    must_refuse(png_decode(file, make_header(file, 0x80000000u, 1), &i), "PNG: ");
    must_refuse(png_decode(file, make_header(file, 0, 1), &i), "PNG: ");
    fail_alloc_disarm();
    assert_int_equal(memory_live(), 0);
    fail_alloc_remove();
}

static braid_status png_there_and_back(void) {
    image from = make_image(9, 8, 3, 16), back;
    void *file;
    size_t bytes;
    TRY(png_encode(&from, &file, &bytes));
    braid_status status = png_decode(file, bytes, &back);
    image_free(&back);
    memory_free(file);
    return status;
}

static void png_without_memory(void **state) {
    (void)state;
    fail_alloc_install();
    for (int64_t nth = 1;; nth++) {
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = png_there_and_back();
        int64_t failures = fail_alloc_disarm();
        assert_int_equal(memory_live(), 0);
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        if (!failures) break;
    }
    fail_alloc_remove();
}

/* ---- JPEG --------------------------------------------------------------------------------- */

static void make_smooth(uint8_t *out, int height, int width, int channels) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++) *out++ = (uint8_t)(40 + 5 * y + 3 * x + 20 * c);
}

static void jpeg_is_close(void **state) {
    (void)state;
    uint8_t smooth[20 * 17 * 3];
    for (int channels = 1; channels <= 3; channels += 2)
        for (int progressive = 0; progressive < 2; progressive++) {
            size_t bytes;
            image i;
            make_smooth(smooth, 20, 17, channels);
            unsigned char *file = jpeg_file_make(smooth, 20, 17, channels, progressive, &bytes);
            assert_int_equal(image_decode(file, bytes, &i), BRAID_OK);
            assert_true(i.height == 20 && i.width == 17 && i.channels == channels && i.bits == 8);
            for (int k = 0; k < 20 * 17 * channels; k++)
                assert_in_range(((const uint8_t *)i.pixels)[k] + 3 - smooth[k], 0, 6);
            image_free(&i);
            free(file);
        }
}

static void jpeg_refuses_what_is_cut(void **state) {
    (void)state;
    uint8_t smooth[20 * 17 * 3];
    image i;
    for (int progressive = 0; progressive < 2; progressive++) {
        size_t bytes;
        make_smooth(smooth, 20, 17, 3);
        unsigned char *file = jpeg_file_make(smooth, 20, 17, 3, progressive, &bytes);
        for (size_t cut = 0; cut < bytes; cut++) must_refuse(jpeg_decode(file, cut, &i), "JPEG: ");
        free(file);
    }
    assert_int_equal(memory_live(), 0);
}

/* Finds the marker's segment. */
static size_t find_marker(const unsigned char *file, size_t bytes, int marker) {
    for (size_t at = 2; at + 4 < bytes; at++)
        if (file[at] == 0xff && file[at + 1] == marker) return at;
    fail_msg("no marker %02x", marker);
    return 0;
}

static void jpeg_refuses_bombs(void **state) {
    (void)state;
    uint8_t smooth[20 * 17];
    size_t bytes;
    image i;
    make_smooth(smooth, 20, 17, 1);
    unsigned char *file = jpeg_file_make(smooth, 20, 17, 1, 0, &bytes);
    size_t frame = find_marker(file, bytes, 0xc0);
    memcpy(file + frame + 5, "\x27\x10\x27\x10", 4); /* 10000x10000 */
    must_refuse(jpeg_decode(file, bytes, &i), "too many pixels");
    memcpy(file + frame + 5, "\x10\0\x10\0", 4); /* 4096x4096 in a few hundred bytes */
    must_refuse(jpeg_decode(file, bytes, &i), "more pixels in the header than the file can hold");
    free(file);
    size_t scan_bytes, room = 0; /* one scan, said again and again */
    file = jpeg_file_make(smooth, 20, 17, 1, 0, &bytes);
    size_t scan = find_marker(file, bytes, 0xda);
    scan_bytes = bytes - 2 - scan;
    unsigned char *many = calloc(scan + 300 * scan_bytes + 2, 1);
    assert_non_null(many);
    memcpy(many, file, scan);
    for (room = scan; room < scan + 300 * scan_bytes; room += scan_bytes) memcpy(many + room, file + scan, scan_bytes);
    memcpy(many + room, "\xff\xd9", 2);
    braid_status status = jpeg_decode(many, room + 2, &i);
    if (status == BRAID_OK) image_free(&i); /* a baseline file ends with its first scan */
    assert_true(status == BRAID_OK || status == BRAID_ERROR_DATA);
    free(many);
    free(file);
}

/* ---- npy ---------------------------------------------------------------------------------- */

typedef struct npy_case {
    const char *header, *words;
} npy_case;

static braid_status read_npy(const char *header, size_t data_bytes, npy *out, unsigned char *file) {
    size_t length = strlen(header);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (unsigned char)length;
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + 10, header, length);
    for (size_t i = 0; i < data_bytes; i++) file[10 + length + i] = (unsigned char)i;
    return npy_read(file, 10 + length + data_bytes, out);
}

static void npy_is_read(void **state) {
    (void)state;
    unsigned char file[512];
    npy n;
    assert_int_equal(read_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n", 24, &n, file),
                     BRAID_OK);
    assert_true(n.type == NPY_F32 && n.rank == 2 && n.dims[0] == 2 && n.dims[1] == 3 && n.bytes == 24);
    assert_int_equal(((const unsigned char *)n.data)[5], 5);
    assert_int_equal(read_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }\n", 7, &n, file), BRAID_OK);
    assert_true(n.type == NPY_U8 && n.rank == 1 && n.dims[0] == 7);
    assert_int_equal(read_npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8, &n, file), BRAID_OK);
    assert_int_equal(n.rank, 0);
    assert_int_equal(read_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5), }\n", 0, &n, file), BRAID_OK);
}

static void npy_refuses(void **state) {
    (void)state;
    static const npy_case cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "one of the types"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", "one of the types"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", "Fortran order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", "whole numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }\n", "a comma"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", "at most 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
         "whole numbers in 'shape', at byte 79"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", "fits in memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}\n", "to end"},
        {"{'shape': (1,)}\n", "begin with {'descr':, at byte 11"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
         "expected 8 bytes after the header, got 4, at byte 68"},
    };
    unsigned char file[512];
    npy n;
    image i;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        must_refuse(read_npy(cases[k].header, 4, &n, file), cases[k].words);
    assert_int_equal(read_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, &n, file), BRAID_OK);
    for (size_t cut = 0; cut < 10 + 58 + 4; cut++) must_refuse(npy_read(file, cut, &n), ", at byte ");
    must_refuse(image_decode(file, 10 + 58 + 4, &i), "npy: expected");
}

static void npy_images(void **state) {
    (void)state;
    unsigned char file[512];
    npy n;
    image i;
    const char *header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n";
    assert_int_equal(read_npy(header, 12, &n, file), BRAID_OK);
    assert_int_equal(image_decode(file, 10 + strlen(header) + 12, &i), BRAID_OK);
    assert_true(i.height == 2 && i.width == 3 && i.channels == 1 && i.bits == 16);
    assert_int_equal(((const uint16_t *)i.pixels)[1], 0x0302);
    image_free(&i);
}

/* ---- IDX ---------------------------------------------------------------------------------- */

static void idx_known_answers(void **state) {
    (void)state;
    uint8_t file[64];
    idx i;
    size_t header = idx_write_header(file, 3, (int64_t[]){2, 1, 3});
    assert_int_equal(header, 16);
    assert_memory_equal(file, "\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\3", 16); /* the magic is 2051 */
    memcpy(file + header, "abcdef", 6);
    assert_int_equal(idx_read(file, header + 6, &i), BRAID_OK);
    assert_true(i.rank == 3 && i.dims[0] == 2 && i.dims[1] == 1 && i.dims[2] == 3 && i.data[5] == 'f');
    for (size_t cut = 0; cut < header + 6; cut++) must_refuse(idx_read(file, cut, &i), "IDX: expected");
    must_refuse(idx_read(file, header + 7, &i), "IDX: expected 2 x 1 x 3 bytes after the header, got 7");
    file[2] = 9;
    must_refuse(idx_read(file, header + 6, &i), "2049 (labels) or 2051 (images), got 2307");
    assert_int_equal(idx_write_header(file, 1, (int64_t[]){300}), 8);
    assert_memory_equal(file, "\0\0\10\1\0\0\1\54", 8);
    memset(file + 4, 0xff, 4);
    must_refuse(idx_read(file, 20, &i), "IDX: expected 4294967295");
}

/* ---- Images to bytes ---------------------------------------------------------------------- */

static void sixteen_bits_are_cut(void **state) {
    (void)state;
    for (int v = 0; v <= 65535; v++) assert_int_equal(image_byte_of_u16((uint16_t)v), (int)((double)v * 255 / 65535));
}

static void resize_is_pils(void **state) {
    (void)state;
    static const uint8_t small[] = {59, 137, 139, 133, 111, 136, 174, 133, 115, 156, 137, 114};
    static const uint8_t large[] = {0,   30, 81,  131, 182, 90, 27,  78,  108, 20,  53,  107, 162, 217,
                                    129, 70, 124, 157, 65,  80, 103, 156, 215, 169, 136, 159, 174};
    uint8_t in[7 * 5], out[10 * 9];
    image i = {.height = 7, .width = 5, .channels = 1, .bits = 8, .pixels = in};
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 5; x++) in[y * 5 + x] = (uint8_t)((37 * y * y + 91 * x + 13 * x * y) % 256);
    assert_int_equal(image_to_bytes(&i, 3, 4, 1, out), BRAID_OK);
    for (int k = 0; k < 12; k++) assert_in_range(out[k] + 1 - small[k], 0, 2); /* PIL rounds between rows and columns */
    assert_int_equal(image_to_bytes(&i, 10, 9, 1, out), BRAID_OK);
    for (int k = 0; k < 27; k++) assert_in_range(out[k] + 1 - large[k], 0, 2);
    assert_int_equal(image_to_bytes(&i, 7, 5, 1, out), BRAID_OK);
    assert_memory_equal(out, in, 35);
    must_refuse(image_to_bytes(&i, 7, 5, 3, out), "expected 3 channels, got 1");
    memset(in, 200, sizeof in);
    assert_int_equal(image_to_bytes(&i, 10, 9, 1, out), BRAID_OK);
    for (int k = 0; k < 90; k++) assert_int_equal(out[k], 200);
}

static void colours_keep_apart(void **state) {
    (void)state;
    uint8_t in[4 * 4 * 3], out[2 * 8 * 3];
    image i = {.height = 4, .width = 4, .channels = 3, .bits = 8, .pixels = in};
    for (int k = 0; k < 48; k++) in[k] = (uint8_t)(k % 3 * 100);
    assert_int_equal(image_to_bytes(&i, 2, 8, 3, out), BRAID_OK);
    for (int k = 0; k < 48; k++) assert_int_equal(out[k], k % 3 * 100);
}

static void unknown_files(void **state) {
    (void)state;
    image i;
    must_refuse(image_decode("GIF89a", 6, &i), "expected PNG, JPEG or npy");
    must_refuse(image_decode("", 0, &i), "a file of 0 bytes");
    must_refuse(image_decode("\x89PNG\r\n\x1a\n", 8, &i), "PNG: "); /* no more than what tells them apart */
    must_refuse(image_decode("\xff\xd8\xff", 3, &i), "JPEG: ");
    must_refuse(image_decode("\x93NUMPY", 6, &i), "npy: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_round_trips),
        cmocka_unit_test(png_of_other_kinds),
        cmocka_unit_test(png_refuses_any_damage),
        cmocka_unit_test(png_refuses_bombs),
        cmocka_unit_test(png_without_memory),
        cmocka_unit_test(jpeg_is_close),
        cmocka_unit_test(jpeg_refuses_what_is_cut),
        cmocka_unit_test(jpeg_refuses_bombs),
        cmocka_unit_test(npy_is_read),
        cmocka_unit_test(npy_refuses),
        cmocka_unit_test(npy_images),
        cmocka_unit_test(idx_known_answers),
        cmocka_unit_test(sixteen_bits_are_cut),
        cmocka_unit_test(resize_is_pils),
        cmocka_unit_test(colours_keep_apart),
        cmocka_unit_test(unknown_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
