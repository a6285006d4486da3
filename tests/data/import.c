/*
 * Importing: folders, tables and lists in many layouts become the samples that they mean, and every file that takes no
 * part is named. Nothing but names decides, so that most files here are the same little image.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "braid_lab.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/image.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"

#define MOST 12

static void make_folders(const char *path) {
    char part[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0700);
    }
}

static void write_text(const char *path, const char *text) {
    make_folders(path);
    assert_int_equal(files_replace(path, text, strlen(text)), BRAID_OK);
}

static void write_image(const char *path, int side) {
    uint8_t pixels[64 * 64] = {0};
    void *file;
    size_t bytes;
    for (int j = 0; j < side * side; j++) pixels[j] = (uint8_t)(j * 37);
    const image i = {.height = side, .width = side, .channels = 1, .bits = 8, .pixels = pixels};
    assert_int_equal(png_encode(&i, &file, &bytes), BRAID_OK);
    make_folders(path);
    assert_int_equal(files_replace(path, file, bytes), BRAID_OK);
    memory_free(file);
}

static braid_status import_words(const char *const *words, int count, const char *streams,
                                 braid_data_import_result *result) {
    const braid_data_import_options options = {.words = words, .count = count, .streams = streams, .seed = 1};
    return braid_data_import("set", &options, result);
}

/* All samples, "split class first-file second-file ..." a line, as the set gives them. */
static void list_samples(char *text, size_t size) {
    braid_data *data = NULL;
    size_t used = 0;
    char here[256];
    if (braid_data_open("set", NULL, &data)) fail_msg("%s", braid_lab_message());
    const braid_data_info *info = braid_data_describe(data);
    assert_non_null(getcwd(here, sizeof here));
    text[0] = 0;
    for (int s = 0; s < BRAID_SPLIT_COUNT; s++)
        for (int64_t k = 0; k < info->samples[s]; k++) {
            used += (size_t)snprintf(text + used, size - used, "%s %s", braid_split_name((braid_split)s),
                                     info->class_names[braid_data_labels(data, (braid_split)s)[k]]);
            for (int i = 0; i < info->streams; i++) {
                char *path = NULL;
                assert_int_equal(braid_data_path(data, (braid_split)s, k, i, &path), BRAID_OK);
                const char *below = strncmp(path, here, strlen(here)) ? path : path + strlen(here) + 1;
                used += (size_t)snprintf(text + used, size - used, " %s=%s", info->stream_names[i], below);
                braid_text_destroy(path);
            }
            used += (size_t)snprintf(text + used, size - used, "\n");
        }
    braid_data_destroy(data);
}

/* ---- Layouts ------------------------------------------------------------------------------ */

typedef struct layout {
    const char *name, *streams;
    const char *files[MOST];
    const char *samples[4]; /* without the split, where the files name none; each must be there */
} layout;

static const layout layouts[] = {
    {"streams above classes",
     NULL,
     {"f/rgb/cat/1.png", "f/rgb/dog/1.png", "f/depth/cat/1.png", "f/depth/dog/1.png", "f/rgb/cat/2.jpg.png",
      "f/depth/cat/2.jpg.png"},
     {" cat rgb=f/rgb/cat/1.png depth=f/depth/cat/1.png\n", " dog rgb=f/rgb/dog/1.png depth=f/depth/dog/1.png\n",
      " cat rgb=f/rgb/cat/2.jpg.png depth=f/depth/cat/2.jpg.png\n"}},
    {"streams below classes",
     NULL,
     {"f/cat/Depth/1.png", "f/cat/RGB/1.png", "f/dog/RGB/x y.png", "f/dog/Depth/x y.png"},
     {" cat RGB=f/cat/RGB/1.png Depth=f/cat/Depth/1.png\n", " dog RGB=f/dog/RGB/x y.png Depth=f/dog/Depth/x y.png\n"}},
    {"splits on top",
     NULL,
     {"f/train/rgb/cat/1.png", "f/train/depth/cat/1.png", "f/val/rgb/cat/1.png", "f/val/depth/cat/1.png",
      "f/testing/rgb/dog/9.png", "f/testing/depth/dog/9.png"},
     {"train cat rgb=f/train/rgb/cat/1.png depth=f/train/depth/cat/1.png\n",
      "val cat rgb=f/val/rgb/cat/1.png depth=f/val/depth/cat/1.png\n",
      "test dog rgb=f/testing/rgb/dog/9.png depth=f/testing/depth/dog/9.png\n"}},
    {"splits in the middle",
     NULL,
     {"f/thermal/train/cat/1.png", "f/ir/train/cat/1.png", "f/thermal/validation/cat/2.png",
      "f/ir/validation/cat/2.png"},
     {"train cat ir=f/ir/train/cat/1.png thermal=f/thermal/train/cat/1.png\n",
      "val cat ir=f/ir/validation/cat/2.png thermal=f/thermal/validation/cat/2.png\n"}},
    {"names that end in the stream",
     NULL,
     {"f/cat/scene1_rgb.png", "f/cat/scene1_depth.png", "f/dog/a-b_rgb.png", "f/dog/a-b_depth.png"},
     {" cat rgb=f/cat/scene1_rgb.png depth=f/cat/scene1_depth.png\n",
      " dog rgb=f/dog/a-b_rgb.png depth=f/dog/a-b_depth.png\n"}},
    {"names that begin with the stream, in folders of it",
     NULL,
     {"f/color/cat/rgb_1.png", "f/depth/cat/depth-1.png", "f/color/dog/rgb_2.png", "f/depth/dog/depth-2.png"},
     {" cat color=f/color/cat/rgb_1.png depth=f/depth/cat/depth-1.png\n"}},
    {"streams of no known name",
     NULL,
     {"f/topcam/cat/1.png", "f/topcam/dog/2.png", "f/sidecam/cat/1.png", "f/sidecam/dog/2.png"},
     {" cat sidecam=f/sidecam/cat/1.png topcam=f/topcam/cat/1.png\n"}},
    {"one stream",
     NULL,
     {"f/cat/1.png", "f/cat/2.png", "f/dog/1.png", "f/dog/2.png"},
     {" cat image=f/cat/1.png\n", " dog image=f/dog/2.png\n"}},
    {"folders below classes",
     NULL,
     {"f/rgb/cat/a/1.png", "f/rgb/cat/b/1.png", "f/depth/cat/a/1.png", "f/depth/cat/b/1.png"},
     {" cat rgb=f/rgb/cat/a/1.png depth=f/depth/cat/a/1.png\n",
      " cat rgb=f/rgb/cat/b/1.png depth=f/depth/cat/b/1.png\n"}},
    {"streams that are asked for",
     "dog,cat",
     {"f/cat/x/1.png", "f/dog/x/1.png"},
     {" x dog=f/dog/x/1.png cat=f/cat/x/1.png\n"}},
};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

static void import_layout(void **state) {
    const layout *l = &layouts[*(const size_t *)*state];
    braid_data_import_result result;
    char found[4096];
    for (int j = 0; j < MOST && l->files[j]; j++) write_image(l->files[j], 4);
    if (import_words((const char *[]){"f"}, 1, l->streams, &result)) fail_msg("%s", braid_lab_message());
    list_samples(found, sizeof found);
    for (int j = 0; j < 4 && l->samples[j]; j++)
        if (!strstr(found, l->samples[j])) fail_msg("expected %s, got\n%s", l->samples[j], found);
    assert_int_equal(result.left_out, 0);
    braid_data_import_forget(&result);
    assert_int_equal(memory_live(), 0);
}

static void each_layout(void **state) {
    for (size_t j = 0; j < LAYOUTS; j++) {
        void *one = &j;
        print_message("    %s\n", layouts[j].name);
        import_layout(&one);
        assert_int_equal(system("rm -r f set"), 0);
    }
    (void)state;
}

/* Names alone cannot tell: it is refused, with what to type. */
static void streams_or_classes(void **state) {
    braid_data_import_result result;
    (void)state;
    write_image("f/a/x/1.png", 4);
    write_image("f/a/y/1.png", 4);
    write_image("f/b/x/1.png", 4);
    write_image("f/b/y/1.png", 4);
    assert_int_equal(import_words((const char *[]){"f"}, 1, NULL, &result), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "cannot tell streams from classes"));
    assert_non_null(strstr(braid_lab_message(), "--streams a,b names the streams"));
    assert_int_equal(memory_live(), 0);
}

/* ---- What takes no part --------------------------------------------------------------------- */

static void must_note(const braid_data_import_result *result, const char *file, const char *note) {
    char *text = NULL;
    assert_int_equal(braid_table_print(result->notes, &(braid_print_options){.format = BRAID_FORMAT_CSV}, &text), 0);
    const char *line = strstr(text, file);
    if (!line || !strstr(line, note)) fail_msg("expected \"%s\" of %s, got\n%s", note, file, text);
    braid_text_destroy(text);
}

static void every_file_that_is_left_out_is_named(void **state) {
    braid_data_import_result result;
    (void)state;
    write_image("f/rgb/cat/1.png", 4);
    write_image("f/rgb/cat/1.jpg", 4); /* told by its first bytes, whatever its name says */
    write_image("f/depth/cat/1.png", 4);
    write_image("f/rgb/cat/2.png", 4);
    write_image("f/rgb/cat/3.png", 4);
    write_text("f/depth/cat/3.png", "no image");
    write_text("f/depth/cat/4.tif", "II*");
    write_image("f/rgb/5.png", 4);
    write_text("f/notes.txt", "not looked at");
    if (import_words((const char *[]){"f"}, 1, NULL, &result)) fail_msg("%s", braid_lab_message());
    must_note(&result, "rgb/cat/1.png", "a second file of stream rgb");
    must_note(&result, "rgb/cat/2.png", "an orphan: its sample has no file of stream depth");
    must_note(&result, "depth/cat/3.png", "expected PNG, JPEG or npy");
    must_note(&result, "4.tif", "gdal_translate");
    must_note(&result, "rgb/5.png", "is of no class");
    assert_int_equal(result.left_out, 5);
    assert_int_equal(result.orphans, 1);
    assert_int_equal(result.duplicates, 1);
    assert_int_equal(result.broken, 1);
    assert_int_equal(result.samples[BRAID_SPLIT_TRAIN], 1);
    braid_data_import_forget(&result);
}

static void nothing_is_left(void **state) {
    static const struct {
        const char *word, *said;
    } cases[] = {
        {"empty", "expected images (.png, .jpg, .npy), got none"},
        {"nowhere", "got nothing of that name"},
        {"alone", "none has one of every stream"},
        {"flat", "/flat: expected a folder for each class, got images directly in it"},
        {"flat2", "/flat2/rgb: expected a folder for each class, got images directly in it"},
        {"old", "old: expected images to import, got a set already: --data old takes it"},
        {"gone.csv", "gone.csv: expected files that are there, got 2 that are not; the first is d/a.png (line "
                     "2), relative to /"},
        {"splits.csv", "got none; the first that takes no part is splits.csv line 2: expected train, val or test"},
        {"t.csv", "expected a column \"label\""},
        {"u.csv", "line 3: expected 2 cells, got fewer"},
        {"rgb=list", "expected a list of labels (label=FILE)"}};
    braid_data_import_result result;
    (void)state;
    mkdir("empty", 0700);
    write_image("flat/1.png", 4);
    write_image("flat/2.png", 4);
    write_image("flat2/rgb/1.png", 4);
    write_image("photos/cat/1.png", 4);
    assert_int_equal(import_words((const char *[]){"photos"}, 1, NULL, &result), BRAID_OK);
    braid_data_import_forget(&result);
    assert_int_equal(rename("set", "old"), 0);
    write_text("splits.csv", "rgb,label,split\nphotos/cat/1.png,cat,soon\n");
    write_text("gone.csv", "rgb,label\nd/a.png,cat\nd/b.png,cat\n");
    write_image("alone/rgb/cat/1.png", 4);
    write_image("alone/depth/cat/2.png", 4);
    write_text("t.csv", "rgb,kind\na.png,cat\n");
    write_text("u.csv", "rgb,label\na.png,cat\nb.png\n");
    write_text("list", "a.png\n");
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
        assert_int_equal(import_words(&cases[j].word, 1, NULL, &result), BRAID_ERROR_DATA);
        if (!strstr(braid_lab_message(), cases[j].said))
            fail_msg("expected \"%s\", got \"%s\"", cases[j].said, braid_lab_message());
        assert_int_equal(access("set", F_OK), -1); /* nothing was written */
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- Streams that are asked for ------------------------------------------------------------- */

typedef struct choice {
    const char *word, *streams;
    braid_status status;
    const char *said; /* the message, or a note */
    int64_t samples;
} choice;

/* A name that is not there is refused with those that are; a stream that is not named takes no part. */
static void streams_are_chosen(void **state) {
    static const choice choices[] = {
        {"below", "depth,dept", BRAID_ERROR_ARGUMENT, "that are there (depth, rgb), got \"dept\"", 0},
        {"below", "thermal", BRAID_ERROR_ARGUMENT, "(depth, rgb), got \"thermal\"", 0},
        {"below", "rgb,RGB", BRAID_ERROR_ARGUMENT, "expected each stream once, got \"RGB\" twice", 0},
        {"unknown", "topcm", BRAID_ERROR_ARGUMENT, "(sidecam, topcam), got \"topcm\"", 0},
        {"either", "a3", BRAID_ERROR_ARGUMENT, "got \"a3\"; ", 0},
        {"t.csv", "rgb,dept", BRAID_ERROR_ARGUMENT, "(rgb, depth), got \"dept\"", 0},
        {"t.csv", "dept", BRAID_ERROR_ARGUMENT, "(rgb, depth), got \"dept\"", 0},
        {"t.csv", "rgb,rgb", BRAID_ERROR_ARGUMENT, "got \"rgb\" twice", 0},
        {"below", "depth", BRAID_OK, "2 files of stream rgb, which --streams leaves out", 2},
        {"unknown", "topcam", BRAID_OK, "2 files of stream sidecam, which --streams leaves out", 2},
        {"mixed", "front", BRAID_OK, "1 file of stream rgb, which --streams leaves out", 1},
        {"endings", "rgb", BRAID_OK, "1 file of stream depth, which --streams leaves out", 1},
        {"plain", "grey", BRAID_OK, "", 1},
        {"t.csv", "rgb", BRAID_OK, "", 1},
    };
    static const char *const files[] = {
        "below/cat/rgb/1.png",       "below/cat/depth/1.png",     "below/dog/rgb/1.png",
        "below/dog/depth/1.png",     "unknown/topcam/cat/1.png",  "unknown/topcam/dog/2.png",
        "unknown/sidecam/cat/1.png", "unknown/sidecam/dog/2.png", "mixed/front/cat/1.png",
        "mixed/rgb/cat/1.png",       "endings/cat/x_rgb.png",     "endings/cat/x_depth.png",
        "plain/cat/1.png",           "either/a/x/1.png",          "either/a/y/1.png",
        "either/b/x/1.png",          "either/b/y/1.png"};
    (void)state;
    for (size_t j = 0; j < sizeof files / sizeof *files; j++) write_image(files[j], 4);
    write_text("t.csv", "rgb,depth,label\nplain/cat/1.png,plain/cat/1.png,cat\n");
    for (size_t j = 0; j < sizeof choices / sizeof *choices; j++) {
        const choice *c = &choices[j];
        braid_data_import_result result;
        print_message("    %s --streams %s\n", c->word, c->streams);
        assert_int_equal(import_words(&c->word, 1, c->streams, &result), c->status);
        if (c->status && !strstr(braid_lab_message(), c->said)) fail_msg("%s", braid_lab_message());
        if (c->status) continue;
        if (*c->said) must_note(&result, "", c->said);
        assert_int_equal(result.left_out, *c->said != 0);
        assert_int_equal(result.samples[0] + result.samples[1] + result.samples[2], c->samples);
        braid_data_import_forget(&result);
    }
    assert_int_equal(memory_live(), 0);
}

/* ---- Tables and lists ----------------------------------------------------------------------- */

static void tables(void **state) {
    braid_data_import_result result;
    char found[4096];
    (void)state;
    write_image("d/a.png", 4);
    write_image("d/b, c.png", 4);
    write_image("d/x.png", 4);
    write_text("t.csv",
               "id,\"colour\",thermal,label,split\r\n1,d/a.png,d/x.png,\"a \"\"cat\"\"\",train\r\n"
               "2,\"d/b, c.png\",d/x.png,dog,test\r\n3,d/nosuch.png,d/x.png,dog,val\r\n4,d/a.png,d/x.png,dog,soon\r\n");
    if (import_words((const char *[]){"t.csv"}, 1, NULL, &result)) fail_msg("%s", braid_lab_message());
    list_samples(found, sizeof found);
    assert_string_equal(found, "train a \"cat\" colour=d/a.png thermal=d/x.png\n"
                               "test dog colour=d/b, c.png thermal=d/x.png\n");
    must_note(&result, "d/nosuch.png", "there is no such file (line 4 of t.csv)");
    must_note(&result, "t.csv line 5", "expected train, val or test as its split, got \"\"soon");
    must_note(&result, "d/x.png", "an orphan: its sample has no file of stream colour");
    braid_data_import_forget(&result);
}

static void lists(void **state) {
    braid_data_import_result result;
    char found[4096];
    (void)state;
    write_image("d/a.png", 4);
    write_image("d/b.png", 4);
    write_text("d/rgb.txt", "a.png\nb.png\n");
    write_text("depth.txt", "d/b.png\nd/a.png\n");
    write_text("labels.txt", "10\n9\n");
    write_text("splits.txt", "train\nval\n");
    if (import_words((const char *[]){"rgb=d/rgb.txt", "depth=depth.txt", "label=labels.txt", "split=splits.txt"}, 4,
                     NULL, &result))
        fail_msg("%s", braid_lab_message());
    list_samples(found, sizeof found);
    assert_string_equal(found, "train 10 rgb=d/a.png depth=d/b.png\nval 9 rgb=d/b.png depth=d/a.png\n");
    braid_data_import_forget(&result);
    write_text("labels.txt", "1\n");
    assert_int_equal(import_words((const char *[]){"rgb=d/rgb.txt", "label=labels.txt"}, 2, NULL, &result),
                     BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "as many lines"));
}

/* ---- Splits --------------------------------------------------------------------------------- */

static void read_manifest(char *text, size_t size) {
    char *all;
    size_t bytes;
    assert_int_equal(files_read("set/manifest.tsv", size - 1, BRAID_ERROR_DATA, &all, &bytes), BRAID_OK);
    memcpy(text, all, bytes + 1);
    memory_free(all);
}

/* A tenth of each class for each of validation and test; the same for the same seed. */
static void splits_are_stratified(void **state) {
    static char first[8192], again[8192], other[8192];
    braid_data_import_result result;
    braid_data *data = NULL;
    int64_t counts[2];
    (void)state;
    for (int k = 0; k < 40; k++) {
        char name[64];
        snprintf(name, sizeof name, "f/%s/%d.png", k < 30 ? "cat" : "dog", k);
        write_image(name, 4);
    }
    for (int run = 0; run < 3; run++) {
        const braid_data_import_options o = {.words = (const char *[]){"f"}, .count = 1, .seed = run == 2 ? 2 : 1};
        assert_int_equal(braid_data_import("set", &o, &result), BRAID_OK);
        assert_int_equal(result.divided, 40);
        braid_data_import_forget(&result);
        read_manifest(run == 0 ? first : run == 1 ? again : other, sizeof first);
    }
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_int_equal(braid_data_open("set", NULL, &data), BRAID_OK);
    for (int s = BRAID_SPLIT_VAL; s < BRAID_SPLIT_COUNT; s++) {
        braid_data_class_counts(data, (braid_split)s, counts);
        assert_int_equal(counts[0], 3);
        assert_int_equal(counts[1], 1);
    }
    braid_data_destroy(data);
}

/* A set with a test but no validation gets one out of its training samples, and its test stays as it is. */
static void validation_out_of_training(void **state) {
    braid_data_import_result result;
    (void)state;
    for (int k = 0; k < 20; k++) {
        char name[64];
        snprintf(name, sizeof name, "f/%s/cat/%d.png", k < 15 ? "train" : "test", k);
        write_image(name, 4);
    }
    if (import_words((const char *[]){"f"}, 1, NULL, &result)) fail_msg("%s", braid_lab_message());
    assert_int_equal(result.samples[BRAID_SPLIT_TRAIN], 13);
    assert_int_equal(result.samples[BRAID_SPLIT_VAL], 2);
    assert_int_equal(result.samples[BRAID_SPLIT_TEST], 5);
    braid_data_import_forget(&result);
}

/* ---- Places --------------------------------------------------------------------------------- */

/* Beside its images a set can be moved with them; its own folder is not looked into. */
static void a_set_moves_with_its_images(void **state) {
    braid_data_import_result result;
    braid_data *data = NULL;
    static char text[4096];
    (void)state;
    write_image("f/cat/1.png", 4);
    write_image("f/cat/2.png", 4);
    const braid_data_import_options o = {.words = (const char *[]){"f"}, .count = 1};
    assert_int_equal(braid_data_import("f", &o, &result), BRAID_OK);
    braid_data_import_forget(&result);
    assert_int_equal(rename("f", "g"), 0);
    assert_int_equal(braid_data_open("g", NULL, &data), BRAID_OK);
    uint8_t pixels[16];
    assert_int_equal(braid_data_read(data, BRAID_SPLIT_TRAIN, 0, (void *[]){pixels}), BRAID_OK);
    assert_int_equal(pixels[1], 37);
    braid_data_destroy(data);
    assert_int_equal(files_remove("g/manifest.tsv"), BRAID_OK);
    (void)text;
}

static void no_memory(void **state) {
    (void)state;
    write_image("f/rgb/cat/1.png", 4);
    write_image("f/depth/cat/1.png", 4);
    write_text("t.csv", "rgb,depth,label\nf/rgb/cat/1.png,f/depth/cat/1.png,cat\n");
    fail_alloc_install();
    for (int way = 0; way < 2; way++)
        for (int64_t nth = 1;; nth++) {
            braid_data_import_result result;
            fail_alloc_arm(nth, FAIL_ONCE);
            braid_status status = import_words((const char *[]){way ? "t.csv" : "f"}, 1, NULL, &result);
            if (!status) braid_data_import_forget(&result);
            int64_t failures = fail_alloc_disarm();
            assert_int_equal(memory_live(), 0);
            if (!failures) assert_int_equal(status, BRAID_OK);
            /* a kind that cannot look is no match */
            if (failures && status && status != BRAID_ERROR_MEMORY && status != BRAID_ERROR_DATA)
                fail_msg("allocation %lld: %d %s", (long long)nth, (int)status, braid_lab_message());
            if (!failures) break;
        }
    fail_alloc_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(each_layout),
        IN_FOLDER(streams_or_classes),
        IN_FOLDER(every_file_that_is_left_out_is_named),
        IN_FOLDER(nothing_is_left),
        IN_FOLDER(streams_are_chosen),
        IN_FOLDER(tables),
        IN_FOLDER(lists),
        IN_FOLDER(splits_are_stratified),
        IN_FOLDER(validation_out_of_training),
        IN_FOLDER(a_set_moves_with_its_images),
        IN_FOLDER(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
