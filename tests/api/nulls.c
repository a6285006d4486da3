/*
 * Calls of the public headers without what they need: NULL in the place of an object, of an argument or of a result is
 * refused in words, or answered with nothing; no call crashes, and none leaves memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "braid_lab.h"
#include "core/memory.h"
#include "tests/support/scratch.h"

static scratch folder;
static braid_data *rooms;
static braid_loader *loader;
static char *card;

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_lab_message());
}

static int begin(void **state) {
    const braid_data_make_options small = {.size = {16, 16}, .count = 5};
    (void)state;
    scratch_begin(&folder);
    ok(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &small));
    ok(braid_data_open(scratch_path(&folder, "rooms"), NULL, &rooms));
    ok(braid_loader_create(rooms, NULL, &loader));
    ok(braid_data_card(rooms, &card));
    return 0;
}

static int end(void **state) {
    (void)state;
    braid_loader_destroy(loader);
    braid_data_destroy(rooms);
    braid_text_destroy(card);
    scratch_end(&folder);
    return memory_live() != 0;
}

#define REFUSED(call)                                                                                     \
    do {                                                                                                  \
        assert_int_equal((call), BRAID_ERROR_ARGUMENT);                                                   \
        if (!strstr(braid_lab_message(), "expected")) fail_msg("%s: \"%s\"", #call, braid_lab_message()); \
    } while (0)

static void of_sets(void **state) {
    const char *const none[] = {NULL};
    const braid_data_files without = {.words = none, .count = 1};
    braid_data *data = rooms;
    char *text = card;
    void *streams[BRAID_MAX_STREAMS] = {NULL};
    braid_data_check_result result;
    braid_data_stats_result stats;
    braid_data_import_result imported;
    (void)state;
    REFUSED(braid_data_open(scratch_path(&folder, "rooms"), NULL, NULL));
    REFUSED(braid_data_open(NULL, NULL, &data));
    assert_null(data);
    REFUSED(braid_data_card(NULL, &text));
    assert_null(text);
    REFUSED(braid_data_card(rooms, NULL));
    REFUSED(braid_data_open_files(card, &without, &data));
    REFUSED(braid_data_open_files(card, &without, NULL));
    REFUSED(braid_data_open_files(card, NULL, &data));
    REFUSED(braid_data_open_files(NULL, &without, &data));
    REFUSED(braid_data_path(NULL, BRAID_SPLIT_TRAIN, 0, 0, &text));
    REFUSED(braid_data_path(rooms, BRAID_SPLIT_TRAIN, 0, 0, NULL));
    REFUSED(braid_data_read(NULL, BRAID_SPLIT_TRAIN, 0, streams));
    REFUSED(braid_data_read(rooms, BRAID_SPLIT_TRAIN, 0, NULL));
    REFUSED(braid_data_read(rooms, BRAID_SPLIT_TRAIN, 0, streams));
    REFUSED(braid_data_make(BRAID_DATA_SUNRGBD, NULL, NULL));
    REFUSED(braid_data_check(scratch_path(&folder, "rooms"), NULL, NULL, NULL, NULL));
    REFUSED(braid_data_check(NULL, NULL, NULL, NULL, &result));
    REFUSED(braid_data_stats(scratch_path(&folder, "rooms"), NULL, NULL, NULL, NULL));
    REFUSED(braid_data_stats(NULL, NULL, NULL, NULL, &stats));
    REFUSED(braid_data_measure(NULL));
    REFUSED(braid_data_preview(NULL, 1, "p.png"));
    REFUSED(braid_data_preview(rooms, 1, NULL));
    REFUSED(braid_data_preview(rooms, 65, "p.png"));
    REFUSED(braid_data_import("set", NULL, &imported));
    REFUSED(braid_data_import("set", &(braid_data_import_options){.words = none}, &imported));
    REFUSED(braid_data_import(NULL, &(braid_data_import_options){.words = none, .count = 1}, &imported));
    REFUSED(braid_data_import("set", &(braid_data_import_options){.words = none, .count = 1}, NULL));
    REFUSED(braid_data_import("set", &(braid_data_import_options){.words = none, .count = 1}, &imported));
    assert_null(braid_fit_name(BRAID_FIT_COUNT));
    assert_null(braid_data_describe(NULL));
    assert_null(braid_data_labels(NULL, BRAID_SPLIT_TRAIN));
    assert_null(braid_data_labels(rooms, BRAID_SPLIT_COUNT));
    braid_data_class_counts(NULL, BRAID_SPLIT_TRAIN, NULL);
    braid_data_class_counts(rooms, BRAID_SPLIT_TRAIN, NULL);
    braid_data_class_weights(NULL, BRAID_SPLIT_TRAIN, NULL);
    braid_data_class_weights(rooms, BRAID_SPLIT_TRAIN, NULL);
    braid_data_destroy(NULL);
}

static void of_loaders(void **state) {
    braid_loader *made = loader;
    braid_batch batch;
    (void)state;
    REFUSED(braid_loader_create(NULL, NULL, &made));
    assert_null(made);
    REFUSED(braid_loader_create(rooms, NULL, NULL));
    REFUSED(braid_loader_start(NULL, 0, 0));
    REFUSED(braid_loader_next(NULL, &batch));
    assert_int_equal(batch.count, 0);
    ok(braid_loader_start(loader, 0, 0));
    REFUSED(braid_loader_next(loader, NULL));
    ok(braid_loader_next(loader, &batch)); /* nothing was lost */
    assert_int_equal(batch.index, 0);
    assert_int_equal(braid_loader_batches(NULL), 0);
    assert_int_equal(braid_loader_measure(NULL).batches, 0);
    braid_loader_destroy(NULL);
}

static void of_tables_and_reports(void **state) {
    static const braid_column column = {.key = "a", .title = "a"};
    braid_table *table = NULL;
    braid_report *report = NULL;
    char *text = card;
    (void)state;
    REFUSED(braid_table_create(&column, 1, NULL));
    REFUSED(braid_table_create(NULL, 1, &table));
    REFUSED(braid_table_add_text(NULL, "a"));
    REFUSED(braid_table_add_number(NULL, 1));
    REFUSED(braid_table_print(NULL, NULL, &text));
    assert_null(text);
    assert_int_equal(braid_table_rows(NULL), 0);
    ok(braid_table_create(&column, 1, &table));
    REFUSED(braid_table_print(table, NULL, NULL));
    REFUSED(braid_report_create(NULL));
    REFUSED(braid_report_add_text(NULL, "a", NULL, "b"));
    REFUSED(braid_report_add_number(NULL, "a", NULL, 1));
    REFUSED(braid_report_add_words(NULL, "a"));
    REFUSED(braid_report_add_table(NULL, "a", NULL, table)); /* takes it */
    ok(braid_report_create(&report));
    REFUSED(braid_report_add_list(report, "a", NULL, 1));
    REFUSED(braid_report_print(report, NULL, NULL));
    REFUSED(braid_report_print(NULL, NULL, &text));
    REFUSED(braid_machine_table(NULL, &table));
    REFUSED(braid_machine_table(NULL, NULL));
    REFUSED(braid_text_save(NULL, "a", "b"));
    REFUSED(braid_text_save("a", NULL, "b"));
    REFUSED(braid_text_save("a", "b", NULL));
    braid_report_destroy(report);
}

static void of_suites_and_benches(void **state) {
    braid_bench *bench;
    braid_suite *suite;
    braid_table *table;
    braid_bench_summary summary;
    (void)state;
    REFUSED(braid_suite_read(NULL, &suite));
    REFUSED(braid_suite_read("linet3", NULL));
    REFUSED(braid_suite_names(NULL));
    assert_int_equal(braid_suite_count(NULL), 0);
    assert_null(braid_suite_problem(NULL, 0));
    assert_null(braid_suite_path(NULL));
    REFUSED(braid_bench_create(NULL, NULL, &bench));
    REFUSED(braid_bench_create(NULL, NULL, NULL));
    REFUSED(braid_bench_run(NULL, "linear_fwd:b2:c2:k2"));
    REFUSED(braid_bench_table(NULL, 0, 0, &table));
    assert_int_equal(braid_bench_count(NULL), 0);
    assert_null(braid_bench_result_at(NULL, 0));
    braid_bench_summarize(NULL, &summary);
    assert_int_equal(summary.problems, 0);
    braid_bench_summarize(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_sets),
        cmocka_unit_test(of_loaders),
        cmocka_unit_test(of_tables_and_reports),
        cmocka_unit_test(of_suites_and_benches),
    };
    return cmocka_run_group_tests_name("nulls", tests, begin, end);
}
