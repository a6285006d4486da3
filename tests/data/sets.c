/*
 * Sets on disk: what is made opens and reads as it was made, the same bytes for the same seed; and of a damaged set
 * every single fault is listed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid_lab.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/image.h"
#include "data/mel.h"
#include "data/wav.h"
#include "tests/support/fail_nth.h"
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
    return memory_live() != 0;
}

static void make(braid_data_kind kind, const char *name, int64_t size, int64_t count, uint64_t seed) {
    const braid_data_make_options options = {.size = {size, size}, .count = count, .seed = seed};
    assert_int_equal(braid_data_make(kind, scratch_path(&folder, name), &options), BRAID_OK);
}

static braid_data *open_set(const char *name, const braid_data_options *options) {
    braid_data *data = NULL;
    if (braid_data_open(scratch_path(&folder, name), options, &data) != BRAID_OK) fail_msg("%s", braid_lab_message());
    return data;
}

static void must_not_open(const char *name, const braid_data_options *options, braid_status code, const char *words) {
    braid_data *data = NULL;
    assert_int_equal(braid_data_open(scratch_path(&folder, name), options, &data), code);
    assert_null(data);
    if (!strstr(braid_lab_message(), words)) fail_msg("expected \"%s\" in \"%s\"", words, braid_lab_message());
}

/* The problems of a set must be these, each a piece of a line "file,problem", and no more. */
static void must_list(const char *name, const char *const *lines) {
    braid_data_check_result result;
    char *text;
    int count = 0;
    assert_int_equal(braid_data_check(scratch_path(&folder, name), NULL, NULL, NULL, &result), BRAID_OK);
    const braid_print_options csv = {.format = BRAID_FORMAT_CSV};
    assert_int_equal(braid_table_print(result.problems, &csv, &text), BRAID_OK);
    for (; lines[count]; count++)
        if (!strstr(text, lines[count])) fail_msg("expected \"%s\" in:\n%s", lines[count], text);
    if (braid_table_rows(result.problems) != count) fail_msg("expected %d problems, got:\n%s", count, text);
    braid_text_destroy(text);
    braid_table_destroy(result.problems);
    braid_table_destroy(result.counts);
    braid_table_destroy(result.warnings);
}

static char *read_text(const char *name, size_t *bytes) {
    char *data;
    assert_int_equal(files_read(scratch_path(&folder, name), 1 << 28, BRAID_ERROR_DATA, &data, bytes), BRAID_OK);
    return data;
}

static int same_file(const char *a, const char *b) {
    size_t a_bytes, b_bytes;
    char *first = read_text(a, &a_bytes), *second = read_text(b, &b_bytes);
    int same = a_bytes == b_bytes && !memcmp(first, second, a_bytes);
    memory_free(first);
    memory_free(second);
    return same;
}

/* ---- Making ------------------------------------------------------------------------------- */

static void seeds_decide(void **state) {
    (void)state;
    static const struct {
        braid_data_kind kind;
        int64_t size, count;
        const char *files[4];
    } kinds[] = {
        {BRAID_DATA_SUNRGBD,
         20,
         6,
         {"train/rgb/00003.png", "val/orth/00001.png", "train/labels.txt", "norm_stats.json"}},
        {BRAID_DATA_FMNIST86, 0, 6, {"train-86-images-idx3-ubyte", "t10k-86-images-idx3-ubyte", NULL}},
        {BRAID_DATA_MIMII,
         1,
         6,
         {"0_dB_fan/fan/id_00/normal/00000000.wav", "0_dB_fan/fan/id_02/abnormal/00000000.wav"}},
    };
    for (int k = 0; k < 3; k++) {
        make(kinds[k].kind, "a", kinds[k].size, kinds[k].count, 5);
        make(kinds[k].kind, "b", kinds[k].size, kinds[k].count, 5);
        make(kinds[k].kind, "c", kinds[k].size, kinds[k].count, 6);
        for (int f = 0; f < 4 && kinds[k].files[f]; f++) {
            char a[128], b[128], c[128];
            snprintf(a, sizeof a, "a/%s", kinds[k].files[f]);
            snprintf(b, sizeof b, "b/%s", kinds[k].files[f]);
            snprintf(c, sizeof c, "c/%s", kinds[k].files[f]);
            assert_true(same_file(a, b));
            assert_false(same_file(a, c));
        }
        scratch_end(&folder);
        scratch_begin(&folder);
    }
}

static void only_into_an_empty_folder(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 1, 1);
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), NULL), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_lab_message(), "expected an empty folder or none"));
    const braid_data_make_options tiny = {.size = {4, 4}}, square = {.size = {28, 28}}, none = {.count = -1};
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "x"), &tiny), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_data_make(BRAID_DATA_FMNIST86, scratch_path(&folder, "y"), &square), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_data_make(BRAID_DATA_MIMII, scratch_path(&folder, "z"), &none), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_data_make(BRAID_DATA_KIND_COUNT, scratch_path(&folder, "z"), NULL), BRAID_ERROR_ARGUMENT);
}

static int stop_at_three(void *user, int64_t done, int64_t total, const char *what) {
    assert_true(total > 3 && what);
    return ++*(int *)user == 3 && done == 2;
}

static void making_can_be_stopped(void **state) {
    (void)state;
    int calls = 0;
    const braid_data_make_options options = {.count = 20, .size = {16, 16}, .progress = stop_at_three, .user = &calls};
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &options), BRAID_ERROR_CHECK);
    assert_int_equal(calls, 3);
}

/* ---- SUN RGB-D ---------------------------------------------------------------------------- */

static void rooms_are_described(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 24, 45, 1);
    braid_data *data = open_set("rooms", NULL);
    const braid_data_info *info = braid_data_describe(data);
    assert_int_equal(info->kind, BRAID_DATA_SUNRGBD);
    assert_int_equal(info->streams, 3);
    assert_string_equal(info->stream_names[0], "rgb");
    assert_string_equal(info->stream_names[1], "depth");
    assert_string_equal(info->stream_names[2], "orth");
    assert_true(info->channels[0] == 3 && info->channels[1] == 1 && info->channels[2] == 1);
    assert_true(info->size[0] == 24 && info->size[1] == 24 && info->dtype == BRAID_DTYPE_U8);
    assert_int_equal(info->classes, 15);
    assert_string_equal(info->class_names[4], "corridor");
    assert_true(info->samples[0] == 45 && info->samples[1] == 9 && info->samples[2] == 9);
    assert_int_equal(info->has_statistics, 1);
    double sum = 0, square = 0; /* of the green of all training images */
    static uint8_t rgb[24 * 24 * 3], grey[24 * 24];
    for (int64_t k = 0; k < 45; k++) {
        assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, k, (void *[]){rgb, grey, grey}), BRAID_OK);
        for (int p = 0; p < 24 * 24; p++) {
            sum += rgb[3 * p + 1];
            square += rgb[3 * p + 1] * rgb[3 * p + 1];
        }
    }
    double mean = sum / (45 * 576), deviation = sqrt(square / (45 * 576) - mean * mean);
    assert_true(fabs(info->mean[0][1] - mean / 255) < 1e-6 && fabs(info->std[0][1] - deviation / 255) < 1e-6);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 45, NULL), BRAID_ERROR_ARGUMENT);
    char *path;
    assert_int_equal(braid_data_path(data, BRAID_SPLIT_VAL, 7, 1, &path), BRAID_OK);
    assert_non_null(strstr(path, "/rooms/val/depth/00007.png"));
    braid_text_destroy(path);
    braid_data_destroy(data);
    must_list("rooms", (const char *[]){NULL});
}

static void streams_and_sizes_are_chosen(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 20, 6, 1);
    braid_data *data = open_set("rooms", &(braid_data_options){.streams = "orth,rgb", .size = {10, 16}});
    const braid_data_info *info = braid_data_describe(data);
    uint8_t orth[160], rgb[480];
    assert_int_equal(info->streams, 2);
    assert_string_equal(info->unused, "depth");
    assert_true(info->channels[0] == 1 && info->channels[1] == 3 && info->size[0] == 10 && info->size[1] == 16);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){orth, rgb}), BRAID_OK);
    braid_data_destroy(data);
    data = open_set("rooms", &(braid_data_options){.stream_count = 1});
    info = braid_data_describe(data);
    assert_int_equal(info->streams, 1);
    assert_string_equal(info->stream_names[0], "rgb");
    assert_string_equal(info->unused, "depth, orth");
    braid_data_destroy(data);
    data = open_set("rooms", NULL);
    assert_string_equal(braid_data_describe(data)->unused, "");
    braid_data_destroy(data);
    must_not_open("rooms", &(braid_data_options){.stream_count = 4}, BRAID_ERROR_DATA,
                  "rooms: the set has 3 streams (rgb, depth, orth), expected 4");
    must_not_open("rooms", &(braid_data_options){.streams = "rgb,ir"}, BRAID_ERROR_DATA,
                  "rooms: the set has 3 streams (rgb, depth, orth), expected 2 (rgb, ir)");
    must_not_open("rooms", &(braid_data_options){.streams = ""}, BRAID_ERROR_ARGUMENT, "streams: expected names");
    must_not_open("rooms", &(braid_data_options){.size = {-1, 5}}, BRAID_ERROR_ARGUMENT, "size: expected");
}

/* An image file of a chosen shape in place of another. */
static void write_image(const char *name, int64_t height, int64_t width, int channels, int bits) {
    static uint16_t pixels[64 * 64 * 3];
    const image i = {.height = height, .width = width, .channels = channels, .bits = bits, .pixels = pixels};
    void *file;
    size_t bytes;
    assert_int_equal(png_encode(&i, &file, &bytes), BRAID_OK);
    scratch_write(&folder, name, file, bytes);
    memory_free(file);
}

static void every_fault_is_listed(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 20, 3);
    assert_int_equal(unlink(scratch_path(&folder, "rooms/train/depth/00003.png")), 0);
    assert_int_equal(unlink(scratch_path(&folder, "rooms/val/rgb/00000.png")), 0);
    scratch_cut(&folder, "rooms/train/rgb/00001.png", 60);
    scratch_write(&folder, "rooms/train/orth/00002.png", "not an image", 12);
    write_image("rooms/train/rgb/00004.png", 16, 17, 3, 8);
    write_image("rooms/train/depth/00005.png", 16, 16, 3, 16);
    write_image("rooms/test/orth/00001.png", 16, 16, 1, 8);
    write_image("rooms/train/rgb/00020.png", 16, 16, 3, 8); /* without a label */
    scratch_write(&folder, "rooms/train/depth/00006.jpg", "", 0);
    write_image("rooms/val/orth/00001.npy", 16, 16, 1, 16); /* a second image of a sample */
    scratch_write(&folder, "rooms/test/labels.txt", "1\nx\n15\n2\n", 9);
    must_list("rooms", (const char *[]){
                           "rooms/train/depth/00003.png,missing", "rooms/val/rgb/00000.png,missing",
                           "rooms/train/rgb/00001.png,PNG: the file ends too early (at byte",
                           "rooms/train/orth/00002.png,\"expected PNG, JPEG or npy",
                           ("rooms/train/rgb/00004.png,\"expected 16x16 pixels with 3 channel(s) of 8 bits as in the "
                            "first image, got 16x17 with 3 of 8"),
                           "rooms/train/depth/00005.png,", "rooms/test/orth/00001.png,",
                           "rooms/train/rgb/00020.png,\"has no line in labels.txt, which has 20",
                           ("rooms/train/depth/00006.png,\"expected one image of a sample, got one that ends in .jpg, "
                            "too"),
                           "rooms/train/depth/00006.jpg,", "rooms/val/orth/00001.png,\"expected one image",
                           "line 2: expected a class from 0 to 14, got \"\"x\"\"",
                           "line 3: expected a class from 0 to 14, got \"\"15\"\"", NULL});
}

static void whole_files_can_be_wrong(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 5, 3);
    scratch_write(&folder, "rooms/norm_stats.json", "{\"rgb_mean\": [1, 2]}", 20);
    scratch_write(&folder, "rooms/class_names.txt", "0: a\n2: b\n", 10);
    assert_int_equal(unlink(scratch_path(&folder, "rooms/val/labels.txt")), 0);
    braid_data_check_result result;
    assert_int_equal(braid_data_check(scratch_path(&folder, "rooms"), NULL, NULL, NULL, &result), BRAID_OK);
    char *text;
    const braid_print_options csv = {.format = BRAID_FORMAT_CSV};
    assert_int_equal(braid_table_print(result.problems, &csv, &text), BRAID_OK);
    assert_non_null(strstr(text, "class_names.txt,\"line 2: expected \"\"1: name\"\", got \"\"2: b"));
    assert_non_null(strstr(text, "val/labels.txt,could not open: No such file or directory"));
    assert_non_null(strstr(text, "norm_stats.json,rgb_mean: expected a list of 3 numbers"));
    braid_text_destroy(text);
    braid_table_destroy(result.problems);
    braid_table_destroy(result.counts);
    braid_table_destroy(result.warnings);
    must_not_open("rooms", NULL, BRAID_ERROR_DATA, "class_names.txt: line 2");
    assert_non_null(strstr(braid_lab_message(), "braid data check"));
    must_not_open("nowhere", NULL, BRAID_ERROR_DATA, "there is no such folder");
    assert_int_equal(mkdir(scratch_path(&folder, "empty"), 0700), 0);
    must_not_open("empty", NULL, BRAID_ERROR_DATA, "expected a data set");
    assert_int_equal(braid_data_check(scratch_path(&folder, "empty"), NULL, NULL, NULL, &result), BRAID_ERROR_DATA);
}

/* Mean and deviation of the second channel of the first stream, added up here, are what is measured. */
static void measure_by_hand(braid_data *data) {
    static uint8_t rgb[3 * 16 * 16], others[2][16 * 16];
    double sum = 0, squares = 0, count = 0;
    for (int64_t k = 0; k < braid_data_describe(data)->samples[BRAID_SPLIT_TRAIN]; k++) {
        assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, k, (void *[]){rgb, others[0], others[1]}), BRAID_OK);
        count += 16 * 16;
        for (int j = 1; j < 3 * 16 * 16; j += 3) {
            sum += rgb[j] / 255.0;
            squares += rgb[j] / 255.0 * (rgb[j] / 255.0);
        }
    }
    assert_int_equal(braid_data_measure(data), BRAID_OK);
    assert_int_equal(braid_data_describe(data)->has_statistics, 1);
    assert_true(fabs(braid_data_describe(data)->mean[0][1] - sum / count) < 1e-9);
    assert_true(fabs(braid_data_describe(data)->std[0][1] - sqrt(squares / count - sum / count * (sum / count))) <
                1e-9);
}

static void statistics_have_substitutes(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 5, 3);
    const char *without_orth = "{\"rgb_mean\": [0.5, 0.4, 0.3], \"rgb_std\": [0.1, 0.2, 0.3], \"depth_mean\": [0.25], "
                               "\"depth_std\": [0.125]}";
    scratch_write(&folder, "rooms/norm_stats.json", without_orth, strlen(without_orth));
    braid_data *data = open_set("rooms", NULL);
    assert_true(braid_data_describe(data)->mean[0][2] == 0.3 && braid_data_describe(data)->std[2][0] == 0.125);
    braid_data_destroy(data);
    assert_int_equal(unlink(scratch_path(&folder, "rooms/norm_stats.json")), 0);
    data = open_set("rooms", NULL);
    assert_int_equal(braid_data_describe(data)->has_statistics, 0);
    assert_true(braid_data_describe(data)->mean[0][0] == 0.5 && braid_data_describe(data)->std[2][0] == 0.25);
    measure_by_hand(data);
    braid_data_destroy(data);
}

/* Other endings, and a fourth stream. */
static void streams_of_any_name(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 2, 3);
    static const char *const splits[] = {"train", "val", "test"};
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < (s ? 1 : 2); k++) {
            char name[64],
                npy[512] = "\x93NUMPY\1\0\x3e\0{'descr': '|u1', 'fortran_order': False, 'shape': (16, 16), }  \n";
            snprintf(name, sizeof name, "rooms/%s/heat", splits[s]);
            mkdir(scratch_path(&folder, name), 0700);
            snprintf(name, sizeof name, "rooms/%s/heat/%05d.npy", splits[s], k);
            memset(npy + 72, 100 + k, 256);
            npy[8] = 62;
            scratch_write(&folder, name, npy, 72 + 256);
        }
    const char *statistics = "{\"rgb_mean\": [0.5, 0.4, 0.3], \"rgb_std\": [0.1, 0.2, 0.3], \"depth_mean\": [0.25], "
                             "\"depth_std\": [0.125], \"heat_mean\": [0.5], \"heat_std\": [0.5]}";
    scratch_write(&folder, "rooms/norm_stats.json", statistics, strlen(statistics));
    braid_data *data = open_set("rooms", NULL);
    static uint8_t out[4][16 * 16 * 3];
    assert_int_equal(braid_data_describe(data)->streams, 4);
    assert_string_equal(braid_data_describe(data)->stream_names[3], "heat");
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 1, (void *[]){out[0], out[1], out[2], out[3]}), BRAID_OK);
    assert_int_equal(out[3][255], 101);
    braid_data_destroy(data);
}

/* ---- Fashion-MNIST ------------------------------------------------------------------------ */

static void clothes(void **state) {
    (void)state;
    make(BRAID_DATA_FMNIST86, "clothes", 86, 20, 1);
    braid_data *data = open_set("clothes", NULL);
    const braid_data_info *info = braid_data_describe(data);
    static uint8_t image_bytes[86 * 86];
    size_t bytes;
    assert_true(info->samples[0] == 18 && info->samples[1] == 2 && info->samples[2] == 4 && info->classes == 10);
    assert_true(info->size[0] == 86 && info->mean[0][0] == 0 && info->std[0][0] == 1.0 / 255);
    char *file = read_text("clothes/train-86-images-idx3-ubyte", &bytes);
    assert_int_equal(bytes, 16 + 20 * 86 * 86);
    assert_memory_equal(file, "\0\0\10\3\0\0\0\24\0\0\0\126\0\0\0\126", 16);
    char *labels = read_text("clothes/train-86-labels-idx1-ubyte", &bytes);
    int seen[20] = {0};
    for (int split = 0; split < 2; split++)
        for (int64_t k = 0; k < info->samples[split]; k++) {
            char *path;
            int place;
            assert_int_equal(braid_data_path(data, (braid_split)split, k, 0, &path), BRAID_OK);
            assert_int_equal(sscanf(strstr(path, " image "), " image %d", &place), 1);
            braid_text_destroy(path);
            assert_true(place >= 0 && place < 20 && !seen[place]++); /* each image in one of the two splits */
            assert_int_equal(braid_data_labels(data, (braid_split)split)[k], labels[8 + place]);
            assert_int_equal(braid_data_read(data, (braid_split)split, k, (void *[]){image_bytes}), BRAID_OK);
            assert_memory_equal(file + 16 + place * 86 * 86, image_bytes, sizeof image_bytes);
        }
    memory_free(labels);
    memory_free(file);
    braid_data_destroy(data);
    must_list("clothes", (const char *[]){NULL});
    scratch_cut(&folder, "clothes/train-86-images-idx3-ubyte", 1000);
    scratch_write(&folder, "clothes/t10k-86-labels-idx1-ubyte", "\0\0\10\1\0\0\0\4\1\12\3\377", 12);
    must_list("clothes",
              (const char *[]){"train-86-images-idx3-ubyte,\"IDX: expected 20 x 86 x 86 bytes after the header",
                               "t10k-86-labels-idx1-ubyte,\"label 1: expected 0 to 9, got 10",
                               "t10k-86-labels-idx1-ubyte,\"label 3: expected 0 to 9, got 255", NULL});
    scratch_write(&folder, "clothes/t10k-86-labels-idx1-ubyte", "\0\0\10\1\0\0\0\3\1\2\3", 11);
    must_not_open("clothes", NULL, BRAID_ERROR_DATA, "train-86-images-idx3-ubyte: IDX");
    assert_int_equal(unlink(scratch_path(&folder, "clothes/train-86-labels-idx1-ubyte")), 0);
    must_list("clothes",
              (const char *[]){"train-86-images-idx3-ubyte,\"IDX", "train-86-labels-idx1-ubyte,could not open",
                               "expected 3 images as there are labels, got 4", NULL});
}

/* ---- MIMII -------------------------------------------------------------------------------- */

static void fans(void **state) {
    (void)state;
    make(BRAID_DATA_MIMII, "fans", 1, 10, 1);
    braid_data *data = open_set("fans", NULL);
    const braid_data_info *info = braid_data_describe(data);
    int64_t windows = 1 + 16000 / 512 - 4; /* of a sound */
    assert_true(info->dtype == BRAID_DTYPE_F32 && info->channels[0] == 320 && info->size[0] == 1 && info->classes == 2);
    assert_int_equal(info->samples[0] + info->samples[1], 10 * windows);
    assert_int_equal(info->samples[1], 10 * windows / 10);
    assert_int_equal(info->samples[2], 4 * windows); /* one normal and one abnormal sound of each machine */
    const int32_t *labels = braid_data_labels(data, BRAID_SPLIT_TEST);
    for (int64_t k = 0; k < info->samples[2]; k++) assert_int_equal(labels[k], k / windows % 2);
    for (int64_t k = 0; k < info->samples[0]; k++) assert_int_equal(braid_data_labels(data, BRAID_SPLIT_TRAIN)[k], 0);
    char *path, *file;
    size_t bytes;
    wav_info sound;
    float *samples, out[320];
    mel *m;
    assert_int_equal(braid_data_path(data, BRAID_SPLIT_TEST, windows + 3, 0, &path), BRAID_OK);
    assert_non_null(strstr(path, "fan/id_00/abnormal/00000000.wav"));
    assert_int_equal(files_read(path, 1 << 20, BRAID_ERROR_DATA, &file, &bytes), BRAID_OK);
    assert_int_equal(wav_read(file, bytes, &sound, &samples), BRAID_OK);
    assert_int_equal(mel_create(&(mel_options){16000, 1024, 512, 64}, &m), BRAID_OK);
    static float spectrogram[40 * 64];
    assert_int_equal(mel_run(m, samples, sound.frames, spectrogram), BRAID_OK);
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TEST, windows + 3, (void *[]){out}), BRAID_OK);
    for (int band = 0; band < 64; band++) /* mel-major */
        for (int f = 0; f < 5; f++) assert_true(out[band * 5 + f] == spectrogram[(3 + f) * 64 + band]);
    mel_destroy(m);
    memory_free(samples);
    memory_free(file);
    braid_text_destroy(path);
    braid_data_destroy(data);
}

/* Training and validation windows together are every window once. */
static void fans_are_split_by_window(void **state) {
    (void)state;
    make(BRAID_DATA_MIMII, "fans", 1, 4, 1);
    braid_data *data = open_set("fans", NULL);
    const braid_data_info *info = braid_data_describe(data);
    static float seen[400][320];
    int64_t count = 0;
    for (int s = 0; s < 2; s++)
        for (int64_t k = 0; k < info->samples[s]; k++)
            assert_int_equal(braid_data_read(data, (braid_split)s, k, (void *[]){seen[count++]}), BRAID_OK);
    assert_int_equal(count, 4 * 28);
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < a; b++) assert_memory_not_equal(seen[a], seen[b], sizeof seen[0]);
    braid_data_destroy(data);
}

static void broken_fans(void **state) {
    (void)state;
    float samples[3000] = {0};
    void *file;
    size_t bytes;
    make(BRAID_DATA_MIMII, "fans", 1, 10, 1);
    must_list("fans", (const char *[]){NULL});
    scratch_cut(&folder, "fans/0_dB_fan/fan/id_00/normal/00000003.wav", 1000);
    assert_int_equal(wav_write(samples, 3000, 8000, &file, &bytes), BRAID_OK);
    scratch_write(&folder, "fans/0_dB_fan/fan/id_00/abnormal/00000000.wav", file, bytes);
    memory_free(file);
    assert_int_equal(wav_write(samples, 1500, 16000, &file, &bytes), BRAID_OK);
    scratch_write(&folder, "fans/0_dB_fan/fan/id_02/normal/00000000.wav", file, bytes);
    memory_free(file);
    must_list("fans", (const char *[]){"id_00/normal/00000003.wav,\"WAV: expected 32000 bytes after byte 44",
                                       "id_00/abnormal/00000000.wav,\"expected 16000 samples a second",
                                       "id_02/normal/00000000.wav,\"expected 5 frames or more", NULL});
    must_not_open("fans", NULL, BRAID_ERROR_DATA, "and more: braid data check");
}

/* ---- Faults ------------------------------------------------------------------------------- */

static braid_status open_and_read(const char *name, int streams) {
    static float out[3][64 * 64 * 3];
    braid_data *data;
    braid_loader *loader = NULL;
    braid_batch batch;
    TRY(braid_data_open(scratch_path(&folder, name), NULL, &data));
    void *places[] = {out[0], out[1], out[2]};
    assert_true(streams <= 3);
    braid_status status = braid_data_read(data, BRAID_SPLIT_TEST, 0, places);
    if (!status) status = braid_loader_create(data, &(braid_loader_options){.batch = 2, .in_order = 1}, &loader);
    if (!status) status = braid_loader_start(loader, 0, 0);
    if (!status) status = braid_loader_next(loader, &batch);
    braid_loader_destroy(loader);
    braid_data_destroy(data);
    return status;
}

static void no_memory(void **state) {
    (void)state;
    static const char *const names[] = {"rooms", "clothes", "fans"};
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 2, 1);
    make(BRAID_DATA_FMNIST86, "clothes", 86, 2, 1);
    make(BRAID_DATA_MIMII, "fans", 1, 2, 1);
    fail_alloc_install();
    for (int k = 0; k < 3; k++)
        for (int64_t nth = 1;; nth++) {
            fail_alloc_arm(nth, FAIL_ONCE);
            braid_status status = open_and_read(names[k], 3);
            int64_t failures = fail_alloc_disarm();
            assert_int_equal(memory_live(), 0);
            if (!failures) assert_int_equal(status, BRAID_OK);
            /* a thread may have been reading ahead when it failed; and a kind that cannot look is no match */
            if (status != BRAID_OK && status != BRAID_ERROR_MEMORY && status != BRAID_ERROR_DATA)
                fail_msg("allocation %lld: %s", (long long)nth, braid_lab_message());
            if (!failures) break;
        }
    fail_alloc_remove();
}

static void unreadable_files(void **state) {
    (void)state;
    make(BRAID_DATA_SUNRGBD, "rooms", 16, 2, 1);
    make(BRAID_DATA_MIMII, "fans", 1, 2, 1);
    for (int k = 0; k < 2; k++) {
        fail_files_install();
        for (int64_t nth = 1;; nth++) {
            fail_files_arm(FAIL_OPEN | FAIL_PREAD, nth, FAIL_ONCE, 5 /* EIO */);
            braid_status status = open_and_read(k ? "fans" : "rooms", 3);
            int64_t failures = fail_files_disarm();
            assert_int_equal(memory_live(), 0);
            if (status != BRAID_OK) assert_int_equal(status, BRAID_ERROR_DATA);
            if (!failures) {
                assert_int_equal(status, BRAID_OK);
                break;
            }
        }
        fail_files_remove();
    }
}

static void full_disks(void **state) {
    (void)state;
    for (int64_t nth = 1; nth < 12; nth += 3) {
        const braid_data_make_options options = {.size = {16, 16}, .count = 1};
        char name[16];
        snprintf(name, sizeof name, "rooms%d", (int)nth);
        fail_files_install();
        fail_files_arm(FAIL_WRITE, nth, FAIL_ONCE, 28 /* ENOSPC */);
        braid_status status = braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, name), &options);
        assert_int_equal(fail_files_disarm(), 1);
        fail_files_remove();
        assert_int_equal(status, BRAID_ERROR_DISK);
        assert_non_null(strstr(braid_lab_message(), "No space left"));
        assert_int_equal(memory_live(), 0);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(seeds_decide),
        CASE(only_into_an_empty_folder),
        CASE(making_can_be_stopped),
        CASE(rooms_are_described),
        CASE(streams_and_sizes_are_chosen),
        CASE(every_fault_is_listed),
        CASE(whole_files_can_be_wrong),
        CASE(statistics_have_substitutes),
        CASE(streams_of_any_name),
        CASE(clothes),
        CASE(fans),
        CASE(fans_are_split_by_window),
        CASE(broken_fans),
        CASE(no_memory),
        CASE(unreadable_files),
        CASE(full_disks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
