/*
 * Tests of the header of safetensors: every kind of hostile header is refused with its message, and the
 * limits are where they are said to be.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/safetensors.h"

#define ROOM 4096
#define ENTRY(name, dtype, shape, begin, end) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"

/* Opens a file of this header, a text, and zeros for data. */
static braid_status open_header(const char *header, size_t data_bytes, safetensors **file) {
    static char image[ROOM];
    size_t length = strlen(header);
    assert_true(8 + length + data_bytes <= ROOM);
    for (int i = 0; i < 8; i++) image[i] = (char)(length >> (8 * i));
    memcpy(image + 8, header, length);
    memset(image + 8 + length, 0, data_bytes);
    return safetensors_open_memory(image, 8 + length + data_bytes, file);
}

static void escapes(void **state) {
    safetensors *file;
    (void)state;
    assert_int_equal(
        open_header("{ \"__metadata__\" : { \"k\" : \"\\u0041\\u00e9\\u20AC\\uD83D\\ude00\\n\\/\" } ,\n\t"
                    "\"\\u0061\" : { \"data_offsets\" : [ 0 , 0 ] , \"shape\" : [ 0 ] , \"dtype\" : \"F32\" "
                    "} } \n",
                    0, &file),
        BRAID_OK);
    assert_string_equal(safetensors_metadata(file, "k"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n/");
    assert_non_null(safetensors_find(file, "a"));
    safetensors_close(file);
    assert_int_equal(open_header("{}", 0, &file), BRAID_OK);
    assert_int_equal(safetensors_count(file), 0);
    assert_null(safetensors_find(file, "a"));
    assert_null(safetensors_metadata(file, "a"));
    safetensors_close(file);
    assert_int_equal(open_header("{\"__metadata__\":{}}", 0, &file), BRAID_OK);
    safetensors_close(file);
}

typedef struct bad_header {
    const char *header;
    size_t data_bytes;
    const char *message;
} bad_header;

#define OF_X(rest) "{\"x\":{" rest "}}"
static const bad_header bad_headers[] = {
    {"", 0, "'{' as the first byte"},
    {" {}", 0, "'{' as the first byte"},
    {"[]", 0, "got '['"},
    {"{", 0, "the end of the header"},
    {"{}{}", 0, "nothing but spaces"},
    {"{},", 0, "nothing but spaces"},
    {"{\"x\"}", 0, "expected ':', got '}'"},
    {"{\"x\":1}", 0, "expected '{', got '1'"},
    {"{\"x\":{}}", 0, "the field of a tensor"},
    {"{x:{}}", 0, "the name of a tensor, got 'x'"},
    {"{\"x:{}}", 0, "after a text, got the end"},
    {"{\"x\n\":{}}", 0, "got 0x0a"},
    {"{\"\\x\":{}}", 0, "an escape of JSON"},
    {"{\"\\u00g0\":{}}", 0, "a character's number"},
    {"{\"\\u0000\":{}}", 0, "a character's number"},
    {"{\"\\udc00\":{}}", 0, "a character's number"},
    {"{\"\\ud800\":{}}", 0, "the second half"},
    {"{\"\\ud800\\u0041\":{}}", 0, "the second half"},
    {"{\"\xff\":{}}", 0, "UTF-8"},
    {"{\"\xc0\x80\":{}}", 0, "UTF-8"},
    {"{\"\xe0\x80\x80\":{}}", 0, "UTF-8"},
    {"{\"\xed\xa0\x80\":{}}", 0, "UTF-8"},
    {"{\"\xf4\x90\x80\x80\":{}}", 0, "UTF-8"},
    {"{\"\xe2\x82\":{}}", 0, "UTF-8"},
    {"{\"\":{}}", 0, "got an empty one"},
    {"{\"a\\tb\":{}}", 0, "without control characters, got one with 0x09"},
    {"{\"a\\u009bb\":{}}", 0, "without control characters, got one with 0x9b"},
    {"{\"\x7f\":{}}", 0, "without control characters, got one with 0x7f"},
    {OF_X("\"dtype\":\"F32\",\"shape\":[1]"), 4, "expected dtype, shape and data_offsets, got fewer"},
    {OF_X("\"dtype\":\"F32\",\"dtype\":\"F32\""), 4, "\"dtype\" twice"},
    {OF_X("\"dtype\":\"F32\",\"strides\":[1]"), 4, "got \"strides\""},
    {OF_X("\"dtype\":3"), 4, "the name of a dtype"},
    {"{" ENTRY("x", "BOOL", "4", 0, 4) "}", 4, "got \"BOOL\"; convert the tensor"},
    {"{" ENTRY("x", "f32", "1", 0, 4) "}", 4, "got \"f32\""},
    {"{" ENTRY("x", "F8_E4M3", "4", 0, 4) "}", 4, "got \"F8_E4M3\""},
    {"{" ENTRY("x", "F32", "1,1,1,1,1,1,1,1,1", 0, 4) "}", 4, "at most 8 dimensions"},
    {"{" ENTRY("x", "F32", "-1", 0, 4) "}", 4, "a whole number of 0 or more, got '-'"},
    {"{" ENTRY("x", "F32", "1.0", 0, 4) "}", 4, "expected ']', got '.'"},
    {"{" ENTRY("x", "F32", "1e0", 0, 4) "}", 4, "expected ']', got 'e'"},
    {"{" ENTRY("x", "F32", "01", 0, 4) "}", 4, "without leading zeros"},
    {"{" ENTRY("x", "F32", "1,", 0, 4) "}", 4, "a whole number"},
    {"{" ENTRY("x", "F32", "[1]", 0, 4) "}", 4, "a whole number"},
    {"{" ENTRY("x", "F32", "9223372036854775808", 0, 4) "}", 4, "below 2^63"},
    {"{" ENTRY("x", "F32", "99999999999999999999999999", 0, 4) "}", 4, "below 2^63"},
    {"{" ENTRY("x", "F32", "9223372036854775807", 0, 4) "}", 4, "fit in 63 bits"},
    {"{" ENTRY("x", "F32", "4294967296,4294967296", 0, 4) "}", 4, "fit in 63 bits"},
    {"{" ENTRY("x", "F32", "4611686018427387905", 0, 4) "}", 4, "fit in 63 bits"}, /* 4 when it wraps around */
    {"{" ENTRY("x", "F32", "0,4611686018427387904,4", 0, 0) "}", 0, "fit in 63 bits"},
    {"{" ENTRY("x", "F32", "2", 0, 4) "}", 4, "expected 8 bytes of data (its shape and dtype), got 4"},
    {"{" ENTRY("x", "F32", "1", 0, 8) "}", 8, "expected 4 bytes of data (its shape and dtype), got 8"},
    {"{" ENTRY("x", "F32", "0", 0, 4) "}", 4, "expected 0 bytes"},
    {"{" ENTRY("x", "F32", "", 0, 0) "}", 0, "expected 4 bytes"},
    {"{" ENTRY("x", "F32", "1", 4, 0) "}", 4, "offsets in order"},
    {"{" ENTRY("x", "F32", "2", 0, 8) "}", 4, "within the 4 bytes of data, got 0 to 8"},
    {"{" ENTRY("x", "F32", "1", 9223372036854775804, 9223372036854775807) "}", 4, "within the 4 bytes"},
    {"{" ENTRY("x", "F32", "1", 4, 8) "}", 8, "expected its data at byte 0, without a hole, got byte 4"},
    {"{" ENTRY("x", "F32", "1", 0, 4) "}", 8, "expected 4 bytes of data (all tensors), got 8"},
    {"{}", 8, "expected 0 bytes of data (all tensors), got 8"},
    {"{" ENTRY("x", "F32", "2", 0, 8) "," ENTRY("y", "F32", "2", 4, 12) "}", 12,
     "\"y\": expected its data at byte 8, "
     "without overlap, got byte 4"},
    {"{" ENTRY("x", "F32", "1", 0, 4) "," ENTRY("y", "F32", "1", 0, 4) "}", 4, "overlap"},
    {"{" ENTRY("x", "F32", "1", 0, 4) "," ENTRY("y", "F32", "1", 8, 12) "}", 12, "a hole"},
    {"{" ENTRY("x", "F32", "1", 0, 4) "," ENTRY("y", "F32", "0", 2, 2) "}", 4, "overlap"},
    {"{" ENTRY("x", "F32", "1", 0, 4) "," ENTRY("x", "F32", "1", 4, 8) "}", 8, "every tensor once, got \"x\" twice"},
    {"{" ENTRY("x", "F32", "1", 0, 4) ",}", 4, "the name of a tensor"},
    {"{" ENTRY("x", "F32", "1", 0, 4) " " ENTRY("y", "F32", "1", 4, 8) "}", 8, "expected '}'"},
    {"{\"__metadata__\":{\"a\":\"1\"},\"__metadata__\":{\"a\":\"1\"}}", 0, "__metadata__ once"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__ once"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "every key of the metadata once, got \"a\" twice"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "a text as metadata, got '1'"},
    {"{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, "a text as metadata"},
    {"{\"__metadata__\":[]}", 0, "expected '{'"},
    {"{\"__metadata__\":{\"a\":\"1\",}}", 0, "a key of the metadata"},
    {"{\"__metadata__\":{\"\":\"1\"}}", 0, "metadata text, got an empty one"},
    {"{\"__metadata__\":{\"braid.checksum\":\"crc:00\"}}", 0, "\"xxh3:\" and 16 digits, got \"crc:00\""},
    {"{\"__metadata__\":{\"braid.checksum\":\"xxh3:00\"}}", 0, "16 digits"},
    {"{\"__metadata__\":{\"braid.checksum\":\"xxh3:0123456789abcdef\"}}", 0,
     "the header: expected the checksum 0123456789abcdef"},
};

static void hostile_headers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        safetensors *file;
        braid_status status = open_header(bad_headers[i].header, bad_headers[i].data_bytes, &file);
        if (status != BRAID_ERROR_MODEL || !strstr(braid_message(), bad_headers[i].message))
            fail_msg("%s: status %d, message %s", bad_headers[i].header, (int)status, braid_message());
        assert_null(file);
        assert_int_equal(memory_live(), 0);
    }
}

static void long_names(void **state) {
    char header[ROOM], name[SAFETENSORS_MAX_NAME + 2];
    safetensors *file;
    (void)state;
    memset(name, 'n', sizeof name);
    for (int longer = 0; longer < 2; longer++) {
        name[SAFETENSORS_MAX_NAME + longer] = 0;
        snprintf(header, sizeof header, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", name);
        assert_int_equal(open_header(header, 1, &file), longer ? BRAID_ERROR_MODEL : BRAID_OK);
        if (longer) assert_non_null(strstr(braid_message(), "at most 1023 bytes, got 1024"));
        safetensors_close(file);
        memset(name, 'n', sizeof name);
    }
}

/* One more tensor, or one more pair, than allowed. */
static void too_many(void **state) {
    size_t most = SAFETENSORS_MAX_TENSORS, room = 90 * (most + 2);
    char *image = malloc(room);
    (void)state;
    for (int metadata = 0; metadata < 2; metadata++) {
        for (size_t more = 0; more < 2; more++) {
            safetensors *file;
            size_t used = 8 + (size_t)sprintf(image + 8, metadata ? "{\"__metadata__\":{" : "{");
            for (size_t i = 0; i < most + more; i++)
                used += (size_t)sprintf(image + used,
                                        metadata ? "%s\"%zu\":\"\""
                                                 : "%s\"%zu\":{\"dtype\":\"U8\",\"shape\":[0]"
                                                   ",\"data_offsets\":[0,0]}",
                                        i ? "," : "", i);
            used += (size_t)sprintf(image + used, metadata ? "}}" : "}");
            for (int i = 0; i < 8; i++) image[i] = (char)((used - 8) >> (8 * i));
            assert_int_equal(safetensors_open_memory(image, used, &file), more ? BRAID_ERROR_MODEL : BRAID_OK);
            if (more) assert_non_null(strstr(braid_message(), "at most 1000000"));
            safetensors_close(file);
        }
    }
    free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(long_names),
        cmocka_unit_test(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
