/*
 * Tests of the tables and reports: quoting, widths, values that are missing, text that is not ASCII.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/table.h"

static const braid_column columns[] = {
    {.key = "name", .title = "name"},
    {.key = "ms", .title = "ms", .cell = BRAID_CELL_NUMBER, .width = 8},
    {.key = "share", .title = "share", .cell = BRAID_CELL_PERCENT, .optional = 1},
    {.key = "bytes", .title = "bytes", .cell = BRAID_CELL_BYTES, .optional = 2},
    {.key = "hidden"},
};

static braid_table *two_rows(void) {
    braid_table *t = NULL;
    assert_int_equal(braid_table_create(columns, 5, &t), BRAID_OK);
    assert_int_equal(braid_table_add_text(t, "a,\"b\"|c"), BRAID_OK);
    assert_int_equal(braid_table_add_number(t, 1.25), BRAID_OK);
    assert_int_equal(braid_table_add_number(t, 0.434), BRAID_OK);
    assert_int_equal(braid_table_add_number(t, 1536), BRAID_OK);
    assert_int_equal(braid_table_add_text(t, "x"), BRAID_OK);
    assert_int_equal(braid_table_add_text(t, "caf\u00e9"), BRAID_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(braid_table_add_number(t, (double)NAN), BRAID_OK);
    assert_int_equal(braid_table_rows(t), 1);
    assert_int_equal(braid_table_add_text(t, NULL), BRAID_OK);
    assert_int_equal(braid_table_rows(t), 2);
    return t;
}

static void expect_print(const braid_table *t, braid_print_options options, const char *expected) {
    char *text = NULL;
    assert_int_equal(braid_table_print(t, &options, &text), BRAID_OK);
    assert_string_equal(text, expected);
    braid_text_destroy(text);
}

static void csv_quotes(void **state) {
    (void)state;
    braid_table *t = two_rows();
    expect_print(t, (braid_print_options){.format = BRAID_FORMAT_CSV},
                 "name,ms,share,bytes,hidden\n\"a,\"\"b\"\"|c\",1.25,0.434,1536,x\ncaf\u00e9,,,,\n");
    expect_print(t, (braid_print_options){.format = BRAID_FORMAT_CSV, .first_row = 1, .no_heading = 1},
                 "caf\u00e9,,,,\n");
    braid_table_destroy(t);
}

static void markdown_escapes(void **state) {
    (void)state;
    braid_table *t = two_rows();
    expect_print(t, (braid_print_options){.format = BRAID_FORMAT_MD},
                 "| name | ms | share | bytes |\n|---|---:|---:|---:|\n"
                 "| a,\"b\"\\|c | 1.250 | 43% | 1.5 KiB |\n| caf\u00e9 | - | - | - |\n");
    braid_table_destroy(t);
}

/* A key, such as the name of a class, that is not UTF-8. */
static void json_keys_of_any_bytes(void **state) {
    const braid_column odd[] = {{.key = "caf\xe9", .title = "caf\xe9", .cell = BRAID_CELL_COUNT}};
    braid_table *t = NULL;
    char *text = NULL;
    (void)state;
    assert_int_equal(braid_table_create(odd, 1, &t), BRAID_OK);
    assert_int_equal(braid_table_add_number(t, 7), BRAID_OK);
    assert_int_equal(braid_table_print(t, &(braid_print_options){.format = BRAID_FORMAT_JSON}, &text), BRAID_OK);
    assert_non_null(strstr(text, "\"caf?\": 7"));
    braid_text_destroy(text);
    braid_table_destroy(t);
}

static void json_has_every_key(void **state) {
    (void)state;
    braid_table *t = two_rows();
    char *text = NULL;
    assert_int_equal(braid_table_print(t, &(braid_print_options){.format = BRAID_FORMAT_JSON}, &text), BRAID_OK);
    json_t *list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++) assert_int_equal(json_object_size(json_array_get(list, i)), 5);
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "ms")));
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "bytes")), 1536);
    json_decref(list);
    braid_text_destroy(text);
    braid_table_destroy(t);
}

static void columns_line_up(void **state) {
    (void)state;
    braid_table *t = two_rows();
    expect_print(t, (braid_print_options){0},
                 "name           ms  share    bytes\n"
                 "a,\"b\"|c     1.250    43%  1.5 KiB\n"
                 "caf\u00e9            -      -        -\n");
    braid_table_destroy(t);
}

/* Optional columns go first, the higher number before the lower, then text is cut. */
static void narrow_terminals(void **state) {
    (void)state;
    braid_table *t = two_rows();
    expect_print(t, (braid_print_options){.width = 30},
                 "name           ms  share\na,\"b\"|c     1.250    43%\ncaf\u00e9            -      -\n");
    expect_print(t, (braid_print_options){.width = 20},
                 "name           ms\na,\"b\"|c     1.250\ncaf\u00e9            -\n");
    braid_table_destroy(t);
}

static void text_is_cut(void **state) {
    static const braid_column two[] = {
        {.key = "a", .title = "a"}, {.key = "b", .title = "b", .keep_end = 1}, {.key = "c", .title = "c"}};
    static const char *const cells[] = {"abcdefghijklmnop", "ABCDEFGHIJKLMNOP", "the last runs over"};
    (void)state;
    braid_table *t = NULL;
    assert_int_equal(braid_table_create(two, 3, &t), BRAID_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(braid_table_add_text(t, cells[i]), BRAID_OK);
    expect_print(t, (braid_print_options){.width = 42, .no_heading = 1},
                 "abcdefghijkl\u2026  \u2026EFGHIJKLMNOP  the last runs over\n");
    expect_print(t, (braid_print_options){.width = 3, .no_heading = 1},
                 "abcdefghijk\u2026  \u2026FGHIJKLMNOP  the last runs over\n");
    braid_table_destroy(t);
}

static void groups_and_colour(void **state) {
    static const braid_column grouped[] = {{.key = "g", .title = "g", .group = 1}, {.key = "v", .title = "v"}};
    static const char *const cells[] = {"one", "FAST", "one", "SLOW chosen", "two", "SAME"};
    (void)state;
    braid_table *t = NULL;
    assert_int_equal(braid_table_create(grouped, 2, &t), BRAID_OK);
    for (int i = 0; i < 6; i++) assert_int_equal(braid_table_add_text(t, cells[i]), BRAID_OK);
    expect_print(t, (braid_print_options){0}, "  v\none\n  FAST\n  SLOW chosen\ntwo\n  SAME\n");
    expect_print(t, (braid_print_options){.colour = 1, .no_heading = 1},
                 "one\n  \033[32mFAST\033[0m\n  \033[31mSLOW chosen\033[0m\ntwo\n  SAME\n");
    braid_table_destroy(t);
}

static void widths_of_text(void **state) {
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("caf\u00e9"), 4);
    assert_int_equal(text_width("e\u0301"), 1);
    assert_int_equal(text_width("\u6f22\u5b57"), 4);
    assert_int_equal(text_width("\xff\xc3"), 2);
    assert_int_equal(text_fit("\u6f22\u5b57", 3), 3);
    assert_int_equal(text_fit("abc", 2), 2);
    assert_int_equal(text_fit("abc", 9), 3);
}

static void text_that_is_not_utf8(void **state) {
    (void)state;
    braid_table *t = NULL;
    assert_int_equal(braid_table_create(columns, 1, &t), BRAID_OK);
    assert_int_equal(braid_table_add_text(t, "a\xff\xfe"), BRAID_OK);
    expect_print(t, (braid_print_options){.format = BRAID_FORMAT_CSV}, "name\na??\n");
    braid_table_destroy(t);
}

static void bad_arguments(void **state) {
    braid_table *t = NULL;
    char *text = NULL;
    (void)state;
    assert_int_equal(braid_table_create(NULL, 0, &t), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_lab_message(), "at least one column"));
    assert_null(t);
    t = two_rows();
    assert_int_equal(braid_table_print(t, &(braid_print_options){.format = (braid_format)9}, &text),
                     BRAID_ERROR_ARGUMENT);
    assert_null(text);
    assert_non_null(strstr(braid_lab_message(), "format: expected 0 to 3, got 9"));
    braid_table_destroy(t);
    braid_table_destroy(NULL);
    braid_report_destroy(NULL);
    braid_text_destroy(NULL);
}

static braid_report *small_report(void) {
    static const char *const list[] = {"bench", "a b"};
    braid_report *r = NULL;
    assert_int_equal(braid_report_create(&r), BRAID_OK);
    assert_int_equal(braid_report_add_text(r, "problem", "problem", "p"), BRAID_OK);
    assert_int_equal(braid_report_add_number(r, "flops", "work", 2.5), BRAID_OK);
    assert_int_equal(braid_report_add_number(r, "count", NULL, 3), BRAID_OK);
    assert_int_equal(braid_report_add_list(r, "argv", list, 2), BRAID_OK);
    assert_int_equal(braid_report_add_table(r, "rows", "Rows:", two_rows()), BRAID_OK);
    assert_int_equal(braid_report_add_words(r, "The end."), BRAID_OK);
    return r;
}

/* Without a table csv is a row of what people see. */
static void values_as_a_row(void **state) {
    const braid_print_options csv = {.format = BRAID_FORMAT_CSV};
    braid_report *r = NULL;
    char *text = NULL;
    (void)state;
    assert_int_equal(braid_report_create(&r), BRAID_OK);
    assert_int_equal(braid_report_print(r, &csv, &text), BRAID_OK);
    assert_string_equal(text, "");
    braid_text_destroy(text);
    assert_int_equal(braid_report_add_words(r, "The start."), BRAID_OK);
    assert_int_equal(braid_report_add_text(r, "state", "the state", "a,b"), BRAID_OK);
    assert_int_equal(braid_report_add_number(r, "count", NULL, 3), BRAID_OK);
    assert_int_equal(braid_report_add_number(r, "loss", "its loss", 0.123456789), BRAID_OK);
    assert_int_equal(braid_report_add_number(r, "none", "none", NAN), BRAID_OK);
    assert_int_equal(braid_report_print(r, &csv, &text), BRAID_OK);
    assert_string_equal(text, "state,loss,none\n\"a,b\",0.123456789,\n");
    braid_text_destroy(text);
    braid_report_destroy(r);
}

static void reports_in_every_format(void **state) {
    static const char *const expected[BRAID_FORMAT_COUNT] = {
        [BRAID_FORMAT_TABLE] =
            "problem  p\nwork     2.5\n\nRows:\nname           ms  share    bytes\n"
            "a,\"b\"|c     1.250    43%  1.5 KiB\ncaf\u00e9            -      -        -\n\nThe end.\n",
        [BRAID_FORMAT_CSV] = "name,ms,share,bytes,hidden\n\"a,\"\"b\"\"|c\",1.25,0.434,1536,x\ncaf\u00e9,,,,\n",
        [BRAID_FORMAT_MD] =
            "- problem: p\n- work: 2.5\n\n### Rows:\n\n| name | ms | share | bytes |\n|---|---:|---:|---:|\n"
            "| a,\"b\"\\|c | 1.250 | 43% | 1.5 KiB |\n| caf\u00e9 | - | - | - |\n\nThe end.\n",
    };
    (void)state;
    braid_report *r = small_report();
    for (int f = 0; f < BRAID_FORMAT_COUNT; f++) {
        char *text = NULL;
        assert_int_equal(braid_report_print(r, &(braid_print_options){.format = (braid_format)f}, &text), BRAID_OK);
        if (expected[f]) assert_string_equal(text, expected[f]);
        if (f == BRAID_FORMAT_JSON) {
            json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
            assert_int_equal(json_object_size(object), 5);
            assert_int_equal(json_array_size(json_object_get(object, "argv")), 2);
            assert_int_equal(json_array_size(json_object_get(object, "rows")), 2);
            json_decref(object);
        }
        braid_text_destroy(text);
    }
    braid_report_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_quotes),         cmocka_unit_test(markdown_escapes),
        cmocka_unit_test(json_has_every_key), cmocka_unit_test(json_keys_of_any_bytes),
        cmocka_unit_test(columns_line_up),    cmocka_unit_test(narrow_terminals),
        cmocka_unit_test(text_is_cut),        cmocka_unit_test(groups_and_colour),
        cmocka_unit_test(widths_of_text),     cmocka_unit_test(text_that_is_not_utf8),
        cmocka_unit_test(bad_arguments),      cmocka_unit_test(reports_in_every_format),
        cmocka_unit_test(values_as_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
