/*
 * Tests of numbers and files that sets are made of and from: the noise of synthetic sets, and files beside a set's own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "braid_lab.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/make.h"
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

/* Mean 0 and deviation 1, to five deviations of what so many draws show; about as many above as below. */
static void noise_has_mean_and_deviation(void **state) {
    enum { DRAWS = 40000 };
    rng r = {.seed = 11};
    double sum = 0, squares = 0;
    int above = 0;
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        const double value = draw_noise(&r);
        sum += value;
        squares += value * value;
        above += value > 0;
    }
    assert_true(fabs(sum / DRAWS) < 5 / sqrt(DRAWS));
    assert_true(fabs(squares / DRAWS - 1) < 0.03);
    assert_true(fabs((double)above / DRAWS - 0.5) < 0.02);
}

/* Files that are no images of a set lie in its folders unnoticed; an image too many does not. */
static void other_files_are_no_images(void **state) {
    static const char *const others[] = {"00000.gif", "00000.txt", "99999.bmp", "0000.png",
                                         "notes.png", "00000",     "00000."};
    const braid_data_make_options options = {.size = {32, 32}, .count = 2, .seed = 3};
    braid_data_check_result result;
    char path[64];
    (void)state;
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &options), BRAID_OK);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "rooms/train/rgb/%s", others[i]);
        scratch_write(&folder, path, "no image", 8);
    }
    assert_int_equal(braid_data_check(scratch_path(&folder, "rooms"), NULL, NULL, NULL, &result), BRAID_OK);
    assert_int_equal(braid_table_rows(result.problems), 0);
    braid_table_destroy(result.problems);
    braid_table_destroy(result.counts);
    braid_table_destroy(result.warnings);
}

/* Each stream has its own numbers; a set of older days that has none for orth has those of depth. */
static void every_stream_has_its_statistics(void **state) {
    static const char with[] = "{\"rgb_mean\": [0.1, 0.2, 0.3], \"rgb_std\": [0.4, 0.5, 0.6], \"depth_mean\": [0.7], "
                               "\"depth_std\": [0.8], \"orth_mean\": [0.9], \"orth_std\": [0.25]}";
    static const char without[] = "{\"rgb_mean\": [0.1, 0.2, 0.3], \"rgb_std\": [0.4, 0.5, 0.6], "
                                  "\"depth_mean\": [0.7], \"depth_std\": [0.8]}";
    const braid_data_make_options options = {.size = {32, 32}, .count = 2, .seed = 3};
    (void)state;
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &options), BRAID_OK);
    for (int has_orth = 0; has_orth < 2; has_orth++) {
        braid_data *data = NULL;
        const char *text = has_orth ? with : without;
        scratch_write(&folder, "rooms/norm_stats.json", text, strlen(text));
        assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), NULL, &data), BRAID_OK);
        const braid_data_info *info = braid_data_describe(data);
        assert_int_equal(info->streams, 3);
        for (int i = 0; i < info->streams; i++) {
            const char *name = info->stream_names[i];
            const int is_orth = strcmp(name, "orth") == 0 && has_orth;
            const double mean = strcmp(name, "rgb") == 0 ? 0.1 : is_orth ? 0.9 : 0.7;
            const double std = strcmp(name, "rgb") == 0 ? 0.4 : is_orth ? 0.25 : 0.8;
            assert_true(info->mean[i][0] == mean && info->std[i][0] == std);
        }
        braid_data_destroy(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(noise_has_mean_and_deviation, begin, end),
        cmocka_unit_test_setup_teardown(other_files_are_no_images, begin, end),
        cmocka_unit_test_setup_teardown(every_stream_has_its_statistics, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
