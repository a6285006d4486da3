/*
 * Files opened as a set: they read as the set reads them, bit for bit, from its card and from a card that a model file
 * has carried; what does not belong together, or is no card, is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "braid_lab.h"
#include "core/memory.h"
#include "tests/support/scratch.h"

static scratch folder;

static int begin(void **state) {
    (void)state;
    scratch_begin(&folder);
    return 0;
}

static int end(void **state) {
    (void)state;
    scratch_end(&folder);
    return 0;
}

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s %s", (int)status, braid_lab_message(), braid_message());
}

static braid_data *make(braid_data_kind kind, const char *name, const braid_data_options *options) {
    static const int64_t sizes[BRAID_DATA_KIND_COUNT][2] = {{16, 20}, {86, 86}, {1, 1}};
    const braid_data_make_options small = {.size = {sizes[kind][0], sizes[kind][1]}, .count = 10};
    braid_data *data;
    ok(braid_data_make(kind, scratch_path(&folder, name), &small));
    ok(braid_data_open(scratch_path(&folder, name), options, &data));
    return data;
}

/* Every sample of the split test, read in both ways. */
static void must_agree(const braid_data *set, const braid_data *files) {
    const braid_data_info *a = braid_data_describe(set), *b = braid_data_describe(files);
    static unsigned char x[3][16384], y[3][16384];
    assert_int_equal(b->unlabelled, 1);
    assert_int_equal(a->unlabelled, 0);
    assert_int_equal(a->streams, b->streams);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->samples[BRAID_SPLIT_TEST], b->samples[BRAID_SPLIT_TEST]);
    assert_true(b->samples[BRAID_SPLIT_TEST] > 1);
    assert_memory_equal(a->mean, b->mean, sizeof a->mean);
    assert_memory_equal(a->std, b->std, sizeof a->std);
    assert_memory_equal(a->size, b->size, sizeof a->size);
    for (int c = 0; c < a->classes; c++) assert_string_equal(a->class_names[c], b->class_names[c]);
    for (int64_t k = 0; k < a->samples[BRAID_SPLIT_TEST]; k++) {
        memset(x, 1, sizeof x);
        memset(y, 1, sizeof y);
        ok(braid_data_read(set, BRAID_SPLIT_TEST, k, (void *[]){x[0], x[1], x[2]}));
        ok(braid_data_read(files, BRAID_SPLIT_TEST, k, (void *[]){y[0], y[1], y[2]}));
        assert_memory_equal(x, y, sizeof x);
    }
}

static void rooms(void **state) {
    const braid_data_options resized = {.streams = "rgb,depth", .size = {12, 14}};
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        braid_data *set = make(BRAID_DATA_SUNRGBD, "rooms", twice ? &resized : NULL), *files;
        char *card, *test = strdup(scratch_path(&folder, "rooms/test"));
        ok(braid_data_card(set, &card));
        ok(braid_data_open_files(card, &(braid_data_files){.words = (const char *[]){test}, .count = 1}, &files));
        must_agree(set, files);
        braid_data_destroy(files);
        braid_data_destroy(set);
        braid_text_destroy(card);
        free(test);
        scratch_end(&folder);
        scratch_begin(&folder);
    }
    assert_int_equal(memory_live(), 0);
}

static void fashion_and_fans(void **state) {
    (void)state;
    braid_data *set = make(BRAID_DATA_FMNIST86, "fashion", NULL), *files;
    char *card, *path = strdup(scratch_path(&folder, "fashion/t10k-86-images-idx3-ubyte"));
    ok(braid_data_card(set, &card));
    ok(braid_data_open_files(card, &(braid_data_files){.words = (const char *[]){path}, .count = 1}, &files));
    must_agree(set, files);
    braid_data_destroy(files);
    braid_data_destroy(set);
    braid_text_destroy(card);
    free(path);
    set = make(BRAID_DATA_MIMII, "fans", NULL);
    ok(braid_data_card(set, &card));
    char *sounds[4] = {NULL};
    int64_t count = 0;
    for (int64_t k = 0; k < braid_data_describe(set)->samples[BRAID_SPLIT_TEST] && count < 4; k++) {
        ok(braid_data_path(set, BRAID_SPLIT_TEST, k, 0, &path));
        if (count && !strcmp(sounds[count - 1], path))
            braid_text_destroy(path);
        else
            sounds[count++] = path;
    }
    assert_int_equal(count, braid_data_describe(set)->files[BRAID_SPLIT_TEST]);
    ok(braid_data_open_files(card, &(braid_data_files){.words = (const char *const *)sounds, .count = (int)count},
                             &files));
    must_agree(set, files);
    braid_data_destroy(files);
    braid_data_destroy(set);
    braid_text_destroy(card);
    for (int64_t k = 0; k < count; k++) braid_text_destroy(sounds[k]);
    assert_int_equal(memory_live(), 0);
}

static void refuse(const char *card, const char *word, const char *said) {
    braid_data *files;
    assert_int_equal(braid_data_open_files(card, &(braid_data_files){.words = &word, .count = 1}, &files),
                     BRAID_ERROR_DATA);
    assert_null(files);
    if (!strstr(braid_lab_message(), said)) fail_msg("expected \"%s\", got \"%s\"", said, braid_lab_message());
}

#define STREAM "{\"name\":\"rgb\",\"channels\":3,\"bits\":8,\"mean\":[0,0,0],\"std\":[1,1,1]}"
#define CARD(streams, size) "{\"kind\":\"sunrgbd\",\"size\":" size ",\"classes\":[\"a\"],\"streams\":[" streams "]}"

static void refusals(void **state) {
    (void)state;
    braid_data_destroy(make(BRAID_DATA_SUNRGBD, "rooms", NULL));
    char *image = strdup(scratch_path(&folder, "rooms/test/rgb/00000.png"));
    char *mixed = strdup(scratch_path(&folder, "rooms"));
    braid_data *files;
    ok(braid_data_open_files(CARD(STREAM, "[16,20]"), &(braid_data_files){.words = (const char *[]){image}, .count = 1},
                             &files));
    braid_data_destroy(files);
    for (int resize = 0; resize < 2; resize++) { /* of another size than training had */
        unsigned char pixels[9 * 9 * 3];
        ok(braid_data_open_files(CARD(STREAM, "[9,9]"),
                                 &(braid_data_files){.words = (const char *[]){image}, .count = 1, .resize = resize},
                                 &files));
        assert_int_equal(braid_data_read(files, BRAID_SPLIT_TEST, 0, (void *[]){pixels}),
                         resize ? 0 : BRAID_ERROR_DATA);
        braid_data_destroy(files);
    }
    refuse("{}", image, "kind");
    refuse("[]", image, "expected an object");
    refuse("{\"kind\":\"cats\"}", image, "expected a kind of set, got \"cats\"");
    refuse(CARD("", "[16,20]"), image, "1 to 8 streams, got 0");
    refuse(CARD(STREAM, "[0,20]"), image, "got 0x20");
    refuse(CARD("{\"name\":\"a/b\",\"channels\":3}", "[9,9]"), image, "a stream's name");
    refuse(CARD("{\"name\":\"rgb\",\"channels\":9}", "[9,9]"), image, "1 to 4 channels");
    refuse(CARD("{\"name\":\"rgb\",\"channels\":1,\"mean\":[1],\"std\":[0]}", "[9,9]"), image,
           "std: expected 1 numbers");
    refuse("{\"kind\":\"sunrgbd\",\"size\":[9,9],\"classes\":[1],\"streams\":[" STREAM "]}", image, "to be texts");
    refuse(CARD(STREAM, "[16,20]"), "nosuch.png", "nosuch.png: there is no such file");
    refuse(CARD(STREAM ",{\"name\":\"b\",\"channels\":1,\"bits\":8,\"mean\":[0],\"std\":[1]}", "[16,20]"), mixed,
           "expected a folder for a stream (rgb, b), got none");
    free(image);
    free(mixed);
    assert_int_equal(memory_live(), 0);
}

#define DEPTH "{\"name\":\"depth\",\"channels\":1,\"bits\":16,\"mean\":[0.25],\"std\":[0.125]}"

/* A folder read as a card says: its size unless another is asked for, and the statistics of its streams by name. */
static void folders_by_a_card(void **state) {
    static const int64_t sizes[2][2] = {{9, 11}, {12, 14}};
    braid_data *data, *own = make(BRAID_DATA_SUNRGBD, "rooms", NULL);
    const braid_data_info *usual = braid_data_describe(own);
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        const braid_data_options o = {.size = {asked ? 12 : 0, asked ? 14 : 0},
                                      .card = CARD(DEPTH "," STREAM, "[9,11]")};
        ok(braid_data_open(scratch_path(&folder, "rooms"), &o, &data));
        const braid_data_info *info = braid_data_describe(data);
        assert_memory_equal(info->size, sizes[asked], sizeof info->size);
        assert_true(info->streams == 3 && info->mean[0][0] == 0 && info->std[0][2] == 1);
        assert_true(info->mean[1][0] == 0.25 && info->std[1][0] == 0.125);
        assert_memory_equal(info->mean[2], usual->mean[2], sizeof info->mean[2]); /* the card has no orth */
        assert_memory_equal(info->std[2], usual->std[2], sizeof info->std[2]);
        braid_data_destroy(data);
    }
    const braid_data_options damaged = {.card = CARD(STREAM, "[0,9]")}, other = {.card = "{\"kind\":\"nosuch\"}"};
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), &damaged, &data), BRAID_ERROR_DATA);
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), &other, &data), BRAID_ERROR_DATA);
    const braid_data_options alien = {.card = CARD(STREAM, "[9,9]")}; /* says nothing of another kind */
    braid_data_destroy(make(BRAID_DATA_FMNIST86, "fashion", &alien));
    braid_data_destroy(make(BRAID_DATA_MIMII, "fans", &alien));
    braid_data_destroy(own);
    assert_int_equal(memory_live(), 0);
}

/* A model's file carries the card; images of another name do not belong together. */
static void carried(void **state) {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_data *set = make(BRAID_DATA_SUNRGBD, "rooms", NULL), *files;
    char *card, *path = strdup(scratch_path(&folder, "m.safetensors"));
    char *test = strdup(scratch_path(&folder, "rooms/test"));
    (void)state;
    ok(braid_data_card(set, &card));
    ok(braid_context_create(&(braid_context_options){.device = "cpu", .cache_dir = ""}, &context));
    ok(braid_net_create("mlp", &(braid_net_options){.layers = {4, 3}}, &net));
    ok(braid_model_create(context, net, NULL, &model));
    assert_int_equal(braid_model_set_text(model, "braid.net", "x"), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_model_set_text(model, "x", "\xff"), BRAID_ERROR_ARGUMENT);
    assert_null(braid_model_text(model, "x"));
    ok(braid_model_set_text(model, BRAID_DATA_KEY, card));
    ok(braid_model_save(model, path));
    ok(braid_model_set_text(model, BRAID_DATA_KEY, NULL));
    ok(braid_model_set_text(model, "other", "is gone when the file is loaded"));
    assert_null(braid_model_text(model, BRAID_DATA_KEY));
    ok(braid_model_load(model, path));
    assert_null(braid_model_text(model, "other"));
    assert_string_equal(braid_model_text(model, BRAID_DATA_KEY), card);
    ok(braid_data_open_files(braid_model_text(model, BRAID_DATA_KEY),
                             &(braid_data_files){.words = (const char *[]){test}, .count = 1}, &files));
    must_agree(set, files);
    braid_data_destroy(files);
    char *from = strdup(scratch_path(&folder, "rooms/test/depth/00000.png"));
    assert_int_equal(rename(from, scratch_path(&folder, "rooms/test/depth/10000.png")), 0);
    free(from);
    refuse(card, test, "that belongs to");
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    braid_data_destroy(set);
    braid_text_destroy(card);
    free(path);
    free(test);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rooms, begin, end),
        cmocka_unit_test_setup_teardown(fashion_and_fans, begin, end),
        cmocka_unit_test_setup_teardown(refusals, begin, end),
        cmocka_unit_test_setup_teardown(folders_by_a_card, begin, end),
        cmocka_unit_test_setup_teardown(carried, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
