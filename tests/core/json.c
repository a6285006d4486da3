/*
 * Tests of core/json: what is refused, the fields of an object, and text that comes back equal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/memory.h"
#include "tests/support/fail_nth.h"

static braid_status read_text(const char *text, json_t **out) {
    return json_read(text, strlen(text), "wisdom", BRAID_ERROR_DATA, out);
}

static void refused(const char *text, size_t bytes) {
    json_t *value = (json_t *)(uintptr_t)1;
    if (json_read(text, bytes, "wisdom", BRAID_ERROR_MODEL, &value) != BRAID_ERROR_MODEL)
        fail_msg("not refused: %.*s", (int)bytes, text);
    assert_null(value);
    assert_non_null(strstr(braid_message(), "wisdom"));
}

static void bad_text(void **state) {
    static const char *const texts[] = {
        "",      " ",    "{",           "[1,",   "[1,]",    "{\"a\":1,\"a\":2}",
        "1 2",   "{} x", "nul",         "'a'",   "\"\\q\"", "\"\xff\"",
        "1e999", "NaN",  "Infinity",    "01",    "\"\n\"",  "99999999999999999999",
        "[1}",   "]",    "\"\\u0000\"", "{1:2}", "// c\n1", "{\"a\":{\"b\":1,\"b\":1}}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) refused(texts[i], strlen(texts[i]));
    refused("1\0", 2);
    refused(NULL, 0);
    refused("x", SIZE_MAX);
}

/* Each is read from a buffer of its exact length, so that a sanitizer sees a read behind the end. */
static void every_truncation(void **state) {
    static const char whole[] = "{\"a\":[1,2.5e3,\"t\\u00e9\\\"x\",true,null,{\"b\":-1}]}";
    json_t *value;
    (void)state;
    for (size_t bytes = 0; bytes < strlen(whole); bytes++) {
        char *copy = malloc(bytes + 1); /* + 1: never of size 0 */
        assert_non_null(copy);
        memcpy(copy + 1, whole, bytes);
        refused(copy + 1, bytes);
        free(copy);
    }
    assert_int_equal(read_text(whole, &value), BRAID_OK);
    json_decref(value);
}

/* "[0,0,...]" of so many values, the list itself being one. */
static braid_status read_many(size_t values) {
    size_t bytes = 2 * values - 1;
    char *text = malloc(bytes + 1);
    json_t *value;
    assert_non_null(text);
    for (size_t k = 0; k < bytes; k++) text[k] = k % 2 ? '0' : ',';
    text[0] = '[';
    text[bytes - 1] = ']';
    braid_status status = json_read(text, bytes, "wisdom", BRAID_ERROR_DATA, &value);
    json_decref(value);
    free(text);
    return status;
}

/* Whatever jansson makes of a value, there are not too many of them. */
static void size(void **state) {
    json_t *value;
    char *text = malloc(JSON_MAX_BYTES + 1);
    (void)state;
    assert_non_null(text);
    assert_int_equal(read_many(JSON_MAX_VALUES), BRAID_OK);
    assert_int_equal(read_many(JSON_MAX_VALUES + 1), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_message(), "expected JSON of at most 1048576 values"));
    memset(text, ' ', JSON_MAX_BYTES + 1);
    text[0] = '7';
    assert_int_equal(json_read(text, JSON_MAX_BYTES, "wisdom", BRAID_ERROR_DATA, &value), BRAID_OK);
    json_decref(value);
    assert_int_equal(json_read(text, JSON_MAX_BYTES + 1, "wisdom", BRAID_ERROR_DATA, &value), BRAID_ERROR_DATA);
    free(text);
}

static void depth(void **state) {
    static char text[400001];
    json_t *value;
    (void)state;
    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_int_equal(read_text(text, &value), BRAID_OK);
    json_decref(value);
    memset(text, '[', JSON_MAX_DEPTH + 1);
    memset(text + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
    refused(text, strlen(text));
    assert_non_null(strstr(braid_message(), "17"));
    memset(text, '[', 400000);
    refused(text, 400000);
    assert_int_equal(read_text("[\"[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[\"]", &value), BRAID_OK); /* brackets in a string */
    json_decref(value);
    refused("\"\\", 2); /* an escape at the very end */
}

static void single_values(void **state) {
    json_t *value;
    (void)state;
    assert_int_equal(read_text(" 3 ", &value), BRAID_OK);
    assert_true(json_is_integer(value));
    json_decref(value);
    assert_int_equal(read_text("\"x\"", &value), BRAID_OK);
    json_decref(value);
}

static void fields(void **state) {
    json_t *object, *array;
    const char *text;
    double number;
    int64_t integer;
    (void)state;
    assert_int_equal(read_text("{\"t\":\"x\",\"i\":-7,\"r\":0.5,\"a\":[1],\"n\":null}", &object), BRAID_OK);
    assert_int_equal(json_get_text(object, "t", &text), BRAID_OK);
    assert_string_equal(text, "x");
    assert_int_equal(json_get_integer(object, "i", &integer), BRAID_OK);
    assert_int_equal(integer, -7);
    assert_int_equal(json_get_number(object, "i", &number), BRAID_OK);
    assert_true(number == -7);
    assert_int_equal(json_get_number(object, "r", &number), BRAID_OK);
    assert_true(number == 0.5);
    assert_int_equal(json_get_array(object, "a", &array), BRAID_OK);
    assert_int_equal(json_array_size(array), 1);
    assert_int_equal(json_get_text(object, "i", &text), BRAID_ERROR_DATA);
    assert_string_equal(braid_message(), "JSON field \"i\": expected a text, got an integer");
    assert_int_equal(json_get_integer(object, "r", &integer), BRAID_ERROR_DATA);
    assert_int_equal(json_get_number(object, "t", &number), BRAID_ERROR_DATA);
    assert_int_equal(json_get_array(object, "n", &array), BRAID_ERROR_DATA);
    assert_int_equal(json_get_number(object, "missing", &number), BRAID_ERROR_DATA);
    assert_string_equal(braid_message(), "JSON field \"missing\": expected a finite number, got nothing");
    assert_int_equal(json_get_number(json_object_get(object, "a"), "x", &number), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_message(), "an array"));
    assert_int_equal(json_get_text(NULL, "x", &text), BRAID_ERROR_DATA);
    json_decref(object);
}

static void round_trip(void **state) {
    static const double numbers[] = {0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, -0.0, 1e16, 123456789.125};
    json_t *array = json_array(), *back;
    char *text, *again;
    size_t bytes, again_bytes;
    (void)state;
    for (int i = 0; i < 8; i++) assert_int_equal(json_array_append_new(array, json_real(numbers[i])), 0);
    assert_int_equal(json_write(array, &text, &bytes), BRAID_OK);
    assert_int_equal(strlen(text), bytes);
    assert_int_equal(json_read(text, bytes, "text", BRAID_ERROR_DATA, &back), BRAID_OK);
    for (size_t i = 0; i < 8; i++) {
        double value = json_number_value(json_array_get(back, i));
        assert_memory_equal(&value, &numbers[i], sizeof value);
    }
    assert_int_equal(json_write(back, &again, &again_bytes), BRAID_OK);
    assert_string_equal(text, again);
    json_decref(array);
    json_decref(back);
    memory_free(text);
    memory_free(again);
    assert_int_equal(memory_live(), 0);
}

static void writing(void **state) {
    json_t *value;
    char *text;
    size_t bytes;
    (void)state;
    assert_int_equal(read_text("{ \"b\" : 1 , \"a\" : [ true , \"\\n\" ] , \"B\" : { } }", &value), BRAID_OK);
    assert_int_equal(json_write(value, &text, &bytes), BRAID_OK);
    assert_string_equal(text, "{\"B\":{},\"a\":[true,\"\\n\"],\"b\":1}");
    memory_free(text);
    assert_int_equal(json_write(NULL, &text, &bytes), BRAID_ERROR_MEMORY);
    assert_null(text);
    fail_alloc_install();
    fail_alloc_arm(1, FAIL_ONCE);
    assert_int_equal(json_write(value, &text, &bytes), BRAID_ERROR_MEMORY);
    assert_int_equal(fail_alloc_disarm(), 1);
    assert_null(text);
    fail_alloc_remove();
    json_decref(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_text),   cmocka_unit_test(every_truncation), cmocka_unit_test(depth),
        cmocka_unit_test(size),       cmocka_unit_test(single_values),    cmocka_unit_test(fields),
        cmocka_unit_test(round_trip), cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
