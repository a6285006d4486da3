/*
 * Imported samples: what a stored value is worth, what a hole is, and how images of any shape come to one size. All
 * expected values are worked out here, from the numbers that were written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "braid_lab.h"
#include "core/dtype.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/exif.h"
#include "data/image.h"
#include "tests/support/folder.h"
#include "tests/support/jpeg_file.h"

#define SIDE 4
#define PIXELS (SIDE * SIDE)

static void write_png(const char *path, int bits, int channels, int height, int width, void *pixels) {
    void *file;
    size_t bytes;
    const image i = {.height = height, .width = width, .channels = channels, .bits = bits, .pixels = pixels};
    assert_int_equal(png_encode(&i, &file, &bytes), BRAID_OK);
    assert_int_equal(files_replace(path, file, bytes), BRAID_OK);
    memory_free(file);
}

/* [4][4] of a type with so many bytes a number. */
static void write_npy(const char *path, const char *type, int bytes, const void *numbers) {
    char file[512] = "\x93NUMPY\1\0\x76\0";
    memset(file + 10, ' ', 118);
    const int wrote = snprintf(file + 10, 119, "{'descr': '%s', 'fortran_order': False, 'shape': (4, 4), }", type);
    file[10 + wrote] = ' ';
    file[127] = '\n';
    memcpy(file + 128, numbers, (size_t)(PIXELS * bytes));
    assert_int_equal(files_replace(path, file, (size_t)(128 + PIXELS * bytes)), BRAID_OK);
}

static int begin(void **state) {
    if (folder_enter(state)) return 1;
    mkdir("f", 0700);
    return 0;
}

static void import_table(const char *rows, const braid_data_import_options *like) {
    braid_data_import_options o = like ? *like : (braid_data_import_options){0};
    braid_data_import_result result;
    assert_int_equal(files_replace("t.csv", rows, strlen(rows)), BRAID_OK);
    o.words = (const char *[]){"t.csv"};
    o.count = 1;
    if (braid_data_import("set", &o, &result)) fail_msg("%s", braid_lab_message());
    braid_data_import_forget(&result);
}

static braid_data *open_set(const braid_data_options *options) {
    braid_data *data = NULL;
    if (braid_data_open("set", options, &data)) fail_msg("%s", braid_lab_message());
    return data;
}

static void must_be(double value, double expected) {
    if (!(fabs(value - expected) < 1e-5)) fail_msg("expected %.9g, got %.9g", expected, value);
}

/* ---- Values ------------------------------------------------------------------------------- */

static uint16_t millimetres[PIXELS] = {0,   300, 1000, 8000, 9000, 65535, 2000, 4150,
                                       100, 301, 302,  303,  304,  305,   306,  0};

/* 16 bits keep what they have: a range in metres, zeros missing, the ends cut off, a channel for what is there. */
static void depth_is_a_quantity(void **state) {
    float x[2 * PIXELS];
    (void)state;
    write_png("f/d.png", 16, 1, SIDE, SIDE, millimetres);
    import_table("depth,label,split\nf/d.png,a,train\n",
                 &(braid_data_import_options){.ranges = "depth=0.3..8m", .masks = "depth"});
    braid_data *data = open_set(NULL);
    const braid_data_info *info = braid_data_describe(data);
    assert_true(info->dtype == BRAID_DTYPE_F32 && info->channels[0] == 2 && info->has_statistics);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
    double sum = 0, squares = 0, count = 0;
    for (int j = 0; j < PIXELS; j++) {
        const int is_hole = millimetres[j] == 0;
        double share = (millimetres[j] - 300) / 7700.0;
        share = share < 0 ? 0 : share > 1 ? 1 : share;
        assert_int_equal(isnan(x[2 * j]) != 0, is_hole);
        if (!is_hole) must_be((double)x[2 * j], share);
        must_be((double)x[2 * j + 1], is_hole ? 0 : 1);
        sum += is_hole ? 0 : share;
        squares += is_hole ? 0 : share * share;
        count += !is_hole;
    }
    must_be(info->mean[0][0], sum / count);
    must_be(info->std[0][0], sqrt(squares / count - sum / count * (sum / count)));
    assert_true(info->mean[0][1] == 0 && info->std[0][1] == 1);
    braid_data_destroy(data);
}

/* As bytes: 255 steps of the range, and a hole is the byte nearest to the mean. */
static void depth_as_bytes(void **state) {
    uint8_t x[PIXELS];
    (void)state;
    write_png("f/d.png", 16, 1, SIDE, SIDE, millimetres);
    import_table("depth,label,split\nf/d.png,a,train\n", &(braid_data_import_options){.ranges = "depth=30..800cm"});
    braid_data *data = open_set(&(braid_data_options){.bytes = 1});
    const braid_data_info *info = braid_data_describe(data);
    assert_int_equal(info->dtype, BRAID_DTYPE_U8);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
    assert_int_equal(x[0], (int)(255 * info->mean[0][0] + 0.5));
    assert_int_equal(x[1], 0);
    assert_int_equal(x[2], (int)(255 * 700 / 7700.0 + 0.5));
    assert_true(x[3] == 255 && x[5] == 255 && x[8] == 0);
    braid_data_destroy(data);
}

/* Without a range it is measured: of 16 bits, but for the outermost in a thousand; of floats all that are numbers. */
static void ranges_are_measured(void **state) {
    static uint16_t wide[64 * 64];
    float heat[PIXELS], x[PIXELS];
    uint16_t halves[PIXELS];
    (void)state;
    for (int j = 0; j < 64 * 64; j++) wide[j] = (uint16_t)(1000 + j % 1000);
    wide[0] = 0;
    wide[1] = 65535;
    wide[2] = 7;
    write_png("f/w.png", 16, 1, 64, 64, wide);
    import_table("depth,label,split\nf/w.png,a,train\n", NULL);
    char *text;
    size_t bytes;
    assert_int_equal(files_read("set/manifest.tsv", 10000, BRAID_ERROR_DATA, &text, &bytes), BRAID_OK);
    if (!strstr(text, "range\t1000\t1999\t-\t1\n")) fail_msg("expected 1000 to 1999, got %s", text);
    memory_free(text);
    for (int j = 0; j < PIXELS; j++) {
        heat[j] = j == 3 ? NAN : -5 + (float)j;
        halves[j] = f16_from_f32(heat[j]);
    }
    for (int half = 0; half < 2; half++) {
        write_npy("f/h.npy", half ? "<f2" : "<f4", half ? 2 : 4, half ? (void *)halves : heat);
        import_table("heat,label,split\nf/h.npy,a,train\n", NULL);
        braid_data *data = open_set(NULL);
        assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
        for (int j = 0; j < PIXELS; j++) {
            assert_int_equal(isnan(x[j]) != 0, j == 3 || j == 5); /* a zero is a hole */
            if (j != 3 && j != 5) must_be((double)x[j], j / 15.0);
        }
        braid_data_destroy(data);
    }
}

/* What lies outside of a range that was typed is cut off in the statistics, too, of floats as of integers. */
static void outliers_are_cut_off(void **state) {
    float heat[PIXELS];
    (void)state;
    for (int j = 0; j < PIXELS; j++) heat[j] = j == 7 ? 1e9F : 1 + (float)j;
    write_npy("f/h.npy", "<f4", 4, heat);
    import_table("heat,label,split\nf/h.npy,a,train\n", &(braid_data_import_options){.ranges = "heat=100..1100cm"});
    for (int again = 0; again < 2; again++) {
        braid_data_stats_result result;
        double sum = 0;
        for (int j = 0; j < PIXELS; j++) sum += j == 7 || j > 9 ? 1 : j / 10.0;
        braid_data *data = open_set(NULL);
        must_be(braid_data_describe(data)->mean[0][0], sum / PIXELS);
        braid_data_destroy(data);
        if (braid_data_stats("set", NULL, NULL, NULL, &result)) fail_msg("%s", braid_lab_message());
        braid_table_destroy(result.streams);
        braid_table_destroy(result.counts);
        braid_table_destroy(result.warnings);
    }
}

/* ---- Shapes -------------------------------------------------------------------------------- */

/* Columns 0, 10, 20, ... of a wide image. */
static void read_fit(const char *fit, uint8_t x[PIXELS]) {
    braid_data *data = open_set(&(braid_data_options){.size = {SIDE, SIDE}, .fit = fit});
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
    braid_data_destroy(data);
}

static void fits(void **state) {
    uint8_t pixels[4 * 8], x[PIXELS];
    (void)state;
    for (int j = 0; j < 4 * 8; j++) pixels[j] = (uint8_t)(10 * (j % 8));
    write_png("f/w.png", 8, 1, 4, 8, pixels);
    import_table("grey,label,split\nf/w.png,a,train\n", NULL);
    read_fit("crop", x);
    for (int j = 0; j < PIXELS; j++) assert_int_equal(x[j], 10 * (j % 4 + 2)); /* its middle, as it is */
    read_fit("stretch", x);
    for (int row = 1; row < SIDE; row++) assert_memory_equal(x, x + row * SIDE, SIDE);
    assert_true(x[0] > 0 && x[0] < 15 && x[1] == 25 && x[2] == 45 && x[3] > 55);
    read_fit("pad", x);
    braid_data *data = open_set(NULL);
    const uint8_t mean = (uint8_t)(255 * braid_data_describe(data)->mean[0][0] + 0.5);
    braid_data_destroy(data);
    for (int j = 0; j < SIDE; j++) {
        assert_int_equal(x[j], mean);
        assert_int_equal(x[3 * SIDE + j], mean);
        assert_true(x[SIDE + j] == x[2 * SIDE + j] && x[SIDE + j] != mean);
    }
    braid_data_options wrong = {.fit = "shrink"};
    assert_int_equal(braid_data_open("set", &wrong, &data), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_lab_message(), "expected stretch, crop or pad, got \"shrink\""));
}

/* Files of several sizes get that of most of them; a grey image among colours has three equal channels. */
static void any_size_and_colour(void **state) {
    uint8_t grey[PIXELS], colour[8 * 8 * 3], x[3 * PIXELS];
    (void)state;
    for (int j = 0; j < PIXELS; j++) grey[j] = (uint8_t)(j + 1);
    memset(colour, 99, sizeof colour);
    write_png("f/a.png", 8, 1, SIDE, SIDE, grey);
    write_png("f/b.png", 8, 1, SIDE, SIDE, grey);
    write_png("f/c.png", 8, 3, 8, 8, colour);
    import_table("rgb,label,split\nf/a.png,a,train\nf/b.png,b,train\nf/c.png,b,train\n", NULL);
    braid_data *data = open_set(NULL);
    assert_true(braid_data_describe(data)->size[0] == SIDE && braid_data_describe(data)->channels[0] == 3);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
    for (int j = 0; j < 3 * PIXELS; j++) assert_int_equal(x[j], j / 3 + 1);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 2, (void *[]){x}), BRAID_OK);
    for (int j = 0; j < 3 * PIXELS; j++) assert_int_equal(x[j], 99);
    braid_data_destroy(data);
}

static void import_mixed(uint64_t seed) {
    const braid_data_import_options o = {.words = (const char *[]){"t.csv"}, .count = 1, .seed = seed};
    braid_data_import_result result;
    char *notes = NULL;
    if (braid_data_import("set", &o, &result)) fail_msg("%s", braid_lab_message());
    assert_int_equal(braid_table_print(result.notes, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &notes), 0);
    if (!strstr(notes, "expected 16 bits as most files of stream depth have, got 8 bits")) fail_msg("%s", notes);
    assert_true(strstr(notes, "c0.png") && strstr(notes, "c3.png") && !strstr(notes, "f/d"));
    assert_true(result.left_out == 4 && result.broken == 4);
    braid_text_destroy(notes);
    braid_data_import_forget(&result);
}

/* Most files say how many bits a stream has, whichever is read first; of as many, the first by name. */
static void most_files_say_the_bits(void **state) {
    uint8_t colour[3 * PIXELS];
    char table[1024] = "depth,label\n", name[64];
    (void)state;
    memset(colour, 99, sizeof colour);
    for (int k = 0; k < 9; k++) {
        const int is_colour = k < 4;
        snprintf(name, sizeof name, is_colour ? "f/c%d.png" : "f/d%d.png", is_colour ? k : k - 4);
        write_png(name, is_colour ? 8 : 16, is_colour ? 3 : 1, SIDE, SIDE, is_colour ? (void *)colour : millimetres);
        strcat(strcat(table, name), ",a\n");
    }
    assert_int_equal(files_replace("t.csv", table, strlen(table)), BRAID_OK);
    for (uint64_t seed = 0; seed < 8; seed++) {
        import_mixed(seed);
        braid_data *data = open_set(NULL);
        const braid_data_info *info = braid_data_describe(data);
        assert_true(info->channels[0] == 1 && info->has_statistics);
        assert_int_equal(info->samples[0] + info->samples[1] + info->samples[2], 5);
        braid_data_destroy(data);
    }
    import_table("depth,label,split\nf/d0.png,a,train\nf/c0.png,a,val\n", NULL);
    braid_data *data = open_set(NULL);
    assert_true(braid_data_describe(data)->channels[0] == 3 && braid_data_describe(data)->samples[0] == 0);
    braid_data_destroy(data);
    assert_int_equal(memory_live(), 0);
}

/* Training files are grey, another split has colours: all are read with three channels, and so are the statistics. */
static void colours_in_another_split(void **state) {
    uint8_t grey[PIXELS], colour[3 * PIXELS];
    (void)state;
    memset(grey, 51, sizeof grey);
    memset(colour, 99, sizeof colour);
    write_png("f/a.png", 8, 1, SIDE, SIDE, grey);
    write_png("f/b.png", 8, 3, SIDE, SIDE, colour);
    import_table("rgb,label,split\nf/a.png,a,train\nf/b.png,a,val\n", NULL);
    braid_data *data = open_set(NULL);
    const braid_data_info *info = braid_data_describe(data);
    assert_true(info->channels[0] == 3 && info->has_statistics);
    for (int c = 0; c < 3; c++) must_be(info->mean[0][c], 0.2);
    braid_data_destroy(data);
}

/* Holes take no part in a resize: a pixel is the mean of what is there, and a hole where most is missing. */
static void holes_are_resized(void **state) {
    uint16_t pixels[8 * 8];
    float x[PIXELS];
    (void)state;
    for (int j = 0; j < 64; j++) pixels[j] = j / 8 < 4 ? 0 : j % 2 ? 100 : 300;
    pixels[0] = 200; /* alone among holes */
    write_png("f/d.png", 16, 1, 8, 8, pixels);
    import_table("depth,label,split\nf/d.png,a,train\n",
                 &(braid_data_import_options){.ranges = "depth=100..300", .size = {SIDE, SIDE}});
    braid_data *data = open_set(NULL);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){x}), BRAID_OK);
    for (int j = 0; j < SIDE; j++) assert_true(isnan(x[j]) && x[3 * SIDE + j] > 0.3F && x[3 * SIDE + j] < 0.7F);
    braid_data_destroy(data);
}

/* ---- Whose numbers ------------------------------------------------------------------------- */

/* Statistics belong to one manifest: where that is edited they are not taken. */
static void statistics_of_another_set(void **state) {
    char *text;
    size_t bytes;
    (void)state;
    write_png("f/d.png", 16, 1, SIDE, SIDE, millimetres);
    import_table("depth,label,split\nf/d.png,a,train\n", NULL);
    assert_int_equal(files_read("set/manifest.tsv", 10000, BRAID_ERROR_DATA, &text, &bytes), BRAID_OK);
    strcpy(strstr(text, "train"), "val\t0\tf/d.png\n");
    assert_int_equal(files_replace("set/manifest.tsv", text, strlen(text)), BRAID_OK);
    memory_free(text);
    braid_data *data = open_set(NULL);
    assert_int_equal(braid_data_describe(data)->has_statistics, 0);
    assert_int_equal(braid_data_measure(data), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "expected training samples to measure stream depth"));
    braid_data_destroy(data);
}

/* A model reads by the range that it was trained with, in whatever unit the files of another set are. */
static void the_range_of_a_card(void **state) {
    float metres[PIXELS], x[PIXELS];
    char *card = NULL;
    (void)state;
    write_png("f/d.png", 16, 1, SIDE, SIDE, millimetres);
    import_table("depth,label,split\nf/d.png,a,train\n", &(braid_data_import_options){.ranges = "depth=0.3..8m"});
    braid_data *data = open_set(NULL);
    assert_int_equal(braid_data_card(data, &card), BRAID_OK);
    braid_data_destroy(data);
    for (int j = 0; j < PIXELS; j++) metres[j] = (float)millimetres[j] / 1000;
    write_npy("f/m.npy", "<f4", 4, metres);
    import_table("depth,label,split\nf/m.npy,a,test\n", &(braid_data_import_options){.ranges = "depth=1..2m"});
    data = open_set(&(braid_data_options){.card = card});
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TEST, 0, (void *[]){x}), BRAID_OK);
    for (int j = 1; j < 5; j++) must_be((double)x[j], fmin(1, (millimetres[j] - 300) / 7700.0));
    braid_data_destroy(data);
    import_table("depth,label,split\nf/m.npy,a,test\n", NULL); /* in no unit */
    assert_int_equal(braid_data_open("set", &(braid_data_options){.card = card}, &data), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "expected 16 bits in stream depth as in training, got 32"));
    braid_text_destroy(card);
}

static void few_levels_are_a_warning(void **state) {
    braid_data_stats_result result;
    char *text;
    uint16_t few[PIXELS];
    (void)state;
    for (int j = 0; j < PIXELS; j++) few[j] = (uint16_t)(3281 + 15 * j);
    write_png("f/d.png", 16, 1, SIDE, SIDE, few);
    import_table("depth,label,split\nf/d.png,a,train\n", &(braid_data_import_options){.ranges = "depth=0..65m"});
    if (braid_data_stats("set", NULL, NULL, NULL, &result)) fail_msg("%s", braid_lab_message());
    assert_int_equal(braid_table_print(result.warnings, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &text), 0);
    if (!strstr(text, "uses 2 of 256 levels; if it is a quantity: --range depth=3.281..3.506m")) fail_msg("%s", text);
    braid_text_destroy(text);
    braid_table_destroy(result.streams);
    braid_table_destroy(result.counts);
    braid_table_destroy(result.warnings);
}

/* ---- JPEG ---------------------------------------------------------------------------------- */

/* A letter F of 3 rows by 2 columns, stored in all eight ways, stands upright each time. */
static void cameras_are_held_in_eight_ways(void **state) {
    static const uint8_t upright[6] = {1, 2, 3, 4, 5, 6};
    static const uint8_t stored[8][6] = {{1, 2, 3, 4, 5, 6}, {2, 1, 4, 3, 6, 5}, {6, 5, 4, 3, 2, 1},
                                         {5, 6, 3, 4, 1, 2}, {1, 3, 5, 2, 4, 6}, {2, 4, 6, 1, 3, 5},
                                         {6, 4, 2, 5, 3, 1}, {5, 3, 1, 6, 4, 2}};
    (void)state;
    for (int way = 1; way <= 8; way++) {
        void *pixels;
        assert_int_equal(memory_alloc(6, 1, "pixels", &pixels), BRAID_OK);
        memcpy(pixels, stored[way - 1], 6);
        image i = {.height = way < 5 ? 3 : 2, .width = way < 5 ? 2 : 3, .channels = 1, .bits = 8, .pixels = pixels};
        assert_int_equal(exif_turn(&i, way), BRAID_OK);
        assert_true(i.height == 3 && i.width == 2);
        assert_memory_equal(i.pixels, upright, 6);
        image_free(&i);
    }
}

/* The same out of a file: its marker turns it. */
static void the_marker_turns_a_file(void **state) {
    static const unsigned char exif[] = "\xff\xe1\x00\x22"
                                        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    uint8_t pixels[8 * 16], turned[1024];
    size_t bytes;
    image i;
    (void)state;
    for (int j = 0; j < 8 * 16; j++) pixels[j] = j % 16 < 8 ? 20 : 220;
    unsigned char *file = jpeg_file_make(pixels, 8, 16, 1, 0, &bytes);
    memcpy(turned, file, 2);
    memcpy(turned + 2, exif, 36);
    memcpy(turned + 38, file + 2, bytes - 2);
    assert_int_equal(image_decode(turned, bytes + 36, &i), BRAID_OK);
    assert_true(i.height == 16 && i.width == 8);
    assert_true(((uint8_t *)i.pixels)[0] < 40 && ((uint8_t *)i.pixels)[15 * 8] > 200);
    image_free(&i);
    free(file);
}

#define QUANTITY(test) cmocka_unit_test_setup_teardown(test, begin, folder_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        QUANTITY(depth_is_a_quantity),
        QUANTITY(depth_as_bytes),
        QUANTITY(ranges_are_measured),
        QUANTITY(outliers_are_cut_off),
        QUANTITY(fits),
        QUANTITY(any_size_and_colour),
        QUANTITY(most_files_say_the_bits),
        QUANTITY(colours_in_another_split),
        QUANTITY(holes_are_resized),
        QUANTITY(statistics_of_another_set),
        QUANTITY(the_range_of_a_card),
        QUANTITY(few_levels_are_a_warning),
        cmocka_unit_test(cameras_are_held_in_eight_ways),
        cmocka_unit_test(the_marker_turns_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
