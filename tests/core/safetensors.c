/*
 * Tests of core/safetensors: files of the reference implementation, what we write byte for byte, every
 * single byte of a file changed, and every allocation and file call failing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/fail_nth.h"

#define ROOM 4096
#define FILE_NAME "model.safetensors"

/* Written by the reference implementation (the Python package safetensors 0.8.0). */
static const char foreign_header[] =
    "{\"__metadata__\":{\"format\":\"pt\"},\"count\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
    "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,16]},"
    "\"b.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[16,40]},"
    "\"empty\":{\"dtype\":\"F32\",\"shape\":[64,0,1,1],\"data_offsets\":[40,40]},"
    "\"i\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[40,44]},"
    "\"h\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[44,46]},"
    "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[46,49]}}    ";
static const char foreign_data[] =
    "\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\xc0\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@"
    "\xff\xff\xff\xff\0>\x01\x02\xff";

/* The values of that file. */
static const float b_weight[6] = {0, 1, 2, 3, 4, 5};
static const int64_t count = 7;
static const double d = -2.5;
static const int32_t i32 = -1;
static const uint16_t half = 0x3e00;
static const unsigned char a[3] = {1, 2, 255};

static char start_folder[4096];

static int enter_folder(void **state) {
    static char folder[] = "/tmp/braid_model_XXXXXX";
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    char command[256];
    fail_files_remove();
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return chdir(start_folder) != 0 || system(command) != 0;
}

/* Length, header and data; the header is a text. Returns the bytes. */
static size_t make_image(char *image, const char *header, const char *data, size_t data_bytes) {
    size_t length = strlen(header);
    assert_true(8 + length + data_bytes <= ROOM);
    for (int i = 0; i < 8; i++) image[i] = (char)(length >> (8 * i));
    memcpy(image + 8, header, length);
    memcpy(image + 8 + length, data, data_bytes);
    return 8 + length + data_bytes;
}

/* ---- Good files --------------------------------------------------------------------------- */

static void assert_tensor(const safetensors *file, const char *name, braid_dtype dtype, int rank, const void *data,
                          size_t bytes) {
    char read[64];
    const safetensors_entry *entry = safetensors_find(file, name);
    assert_non_null(entry);
    assert_string_equal(entry->name, name);
    assert_int_equal(entry->dtype, dtype);
    assert_int_equal(entry->rank, rank);
    assert_int_equal(entry->end - entry->begin, bytes);
    assert_int_equal(safetensors_read(file, entry, read), BRAID_OK);
    assert_int_equal(safetensors_verify(file, entry), BRAID_OK);
    if (bytes > 0) assert_memory_equal(read, data, bytes);
}

static void assert_foreign_contents(const safetensors *file) {
    static const char *const order[] = {"count", "d", "b.weight", "empty", "i", "h", "a"};
    assert_int_equal(safetensors_count(file), 7);
    for (size_t i = 0; i < 7; i++) assert_string_equal(safetensors_at(file, i)->name, order[i]);
    assert_tensor(file, "count", BRAID_DTYPE_I64, 0, &count, 8);
    assert_tensor(file, "d", BRAID_DTYPE_F64, 1, &d, 8);
    assert_tensor(file, "b.weight", BRAID_DTYPE_F32, 2, b_weight, 24);
    assert_int_equal(safetensors_find(file, "b.weight")->dims[0], 2);
    assert_int_equal(safetensors_find(file, "b.weight")->dims[1], 3);
    assert_tensor(file, "empty", BRAID_DTYPE_F32, 4, NULL, 0);
    assert_int_equal(safetensors_find(file, "empty")->dims[0], 64);
    assert_int_equal(safetensors_find(file, "empty")->dims[1], 0);
    assert_tensor(file, "i", BRAID_DTYPE_I32, 1, &i32, 4);
    assert_tensor(file, "h", BRAID_DTYPE_F16, 1, &half, 2);
    assert_tensor(file, "a", BRAID_DTYPE_U8, 1, a, 3);
    assert_null(safetensors_find(file, "b"));
    assert_null(safetensors_find(file, ""));
    assert_string_equal(safetensors_metadata(file, "format"), "pt");
    assert_null(safetensors_metadata(file, "forma"));
}

static void foreign_file(void **state) {
    char image[ROOM];
    safetensors *file;
    (void)state;
    size_t bytes = make_image(image, foreign_header, foreign_data, sizeof foreign_data - 1);
    assert_int_equal(bytes, 497);
    assert_int_equal(safetensors_open_memory(image, bytes, &file), BRAID_OK);
    assert_foreign_contents(file);
    assert_false(safetensors_has_checksums(file));
    safetensors_close(file);
    assert_int_equal(files_replace(FILE_NAME, image, bytes), BRAID_OK);
    assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
    assert_foreign_contents(file);
    safetensors_close(file);
    safetensors_close(NULL);
    assert_int_equal(memory_live(), 0);
}

/* A source that checks that it is asked for every byte once, in order. */
typedef struct stream {
    const unsigned char *data;
    size_t given;
} stream;

static braid_status give(void *user, size_t offset, void *to, size_t bytes) {
    stream *s = user;
    assert_int_equal(offset, s->given);
    memcpy(to, s->data + offset, bytes);
    s->given += bytes;
    return BRAID_OK;
}

/* The tensors of the foreign file, one of them by a source. */
static braid_status add_tensors(safetensors_writer *writer, stream *s) {
    const safetensors_tensor tensors[] = {
        {.name = "a", .dtype = BRAID_DTYPE_U8, .rank = 1, .dims = {3}, .data = a},
        {.name = "empty", .dtype = BRAID_DTYPE_F32, .rank = 4, .dims = {64, 0, 1, 1}},
        {.name = "b.weight", .dtype = BRAID_DTYPE_F32, .rank = 2, .dims = {2, 3}, .source = give, .user = s},
        {.name = "h", .dtype = BRAID_DTYPE_F16, .rank = 1, .dims = {1}, .data = &half},
        {.name = "i", .dtype = BRAID_DTYPE_I32, .rank = 1, .dims = {1}, .data = &i32},
        {.name = "d", .dtype = BRAID_DTYPE_F64, .rank = 1, .dims = {1}, .data = &d},
        {.name = "count", .dtype = BRAID_DTYPE_I64, .data = &count},
    };
    for (int i = 0; i < 7; i++) TRY(safetensors_writer_add(writer, &tensors[i]));
    return safetensors_writer_metadata(writer, "format", "pt");
}

static braid_status write_model(void) {
    safetensors_writer *writer;
    stream s = {.data = (const unsigned char *)b_weight};
    TRY(safetensors_writer_create(&writer));
    braid_status status = add_tensors(writer, &s);
    if (status == BRAID_OK) status = safetensors_writer_write(writer, FILE_NAME);
    safetensors_writer_destroy(writer);
    return status;
}

/* Our file is the reference's file with one more text in the metadata. */
static void written_file(void **state) {
    char *image;
    size_t bytes;
    safetensors *file;
    (void)state;
    assert_int_equal(write_model(), BRAID_OK);
    assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
    assert_foreign_contents(file);
    assert_true(safetensors_has_checksums(file));
    assert_int_equal(strlen(safetensors_metadata(file, SAFETENSORS_CHECKSUM)), 5 + 16 * 8);
    safetensors_close(file);
    assert_int_equal(files_read(FILE_NAME, ROOM, BRAID_ERROR_DATA, &image, &bytes), BRAID_OK);
    assert_int_equal(image[0] % 8, 0);
    const char *rest = strstr(image + 8, "\"format\"");
    size_t header_bytes = strlen(foreign_header) - strlen("{\"__metadata__\":{") - 4; /* padded otherwise */
    assert_non_null(rest);
    assert_memory_equal(rest, foreign_header + strlen("{\"__metadata__\":{"), header_bytes);
    assert_memory_equal(image + bytes - 49, foreign_data, 49);
    memory_free(image);
    assert_int_equal(memory_live(), 0);
}

static void awkward_texts(void **state) {
    static const char *const texts[] = {"", "\"\\/\b\f\n\r\t\x01\x1f", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f",
                                        "{}[]:,", "\\u0041"};
    safetensors_writer *writer;
    safetensors *file;
    (void)state;
    assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
    for (int i = 0; i < 5; i++) {
        char key[] = "key0";
        key[3] = (char)('0' + 4 - i);
        assert_int_equal(safetensors_writer_metadata(writer, key, texts[i]), BRAID_OK);
    }
    const safetensors_tensor odd = {.name = "\xc3\xa9 \"\\ name", .dtype = BRAID_DTYPE_U8, .data = a};
    assert_int_equal(safetensors_writer_add(writer, &odd), BRAID_OK);
    assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_OK);
    safetensors_writer_destroy(writer);
    assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
    for (int i = 0; i < 5; i++) {
        char key[] = "key0";
        key[3] = (char)('0' + 4 - i);
        assert_string_equal(safetensors_metadata(file, key), texts[i]);
    }
    assert_tensor(file, odd.name, BRAID_DTYPE_U8, 0, a, 1);
    safetensors_close(file);
}

/* More data than one piece, by a source and by a pointer: the same file. */
static void large_tensors(void **state) {
    size_t bytes = (5u << 18) + 7;
    unsigned char *data = malloc(bytes), *read = malloc(bytes);
    char *images[2];
    size_t sizes[2];
    (void)state;
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (int pass = 0; pass < 2; pass++) {
        safetensors_writer *writer;
        safetensors *file;
        stream s = {.data = data};
        safetensors_tensor t = {.name = "x", .dtype = BRAID_DTYPE_U8, .rank = 1, .dims = {(int64_t)bytes}};
        t.data = pass ? data : NULL;
        t.source = give;
        t.user = &s;
        assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
        assert_int_equal(safetensors_writer_add(writer, &t), BRAID_OK);
        assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_OK);
        safetensors_writer_destroy(writer);
        assert_int_equal(s.given, pass ? 0 : bytes);
        assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
        assert_int_equal(safetensors_verify(file, safetensors_at(file, 0)), BRAID_OK);
        assert_int_equal(safetensors_read(file, safetensors_at(file, 0), read), BRAID_OK);
        assert_memory_equal(read, data, bytes);
        safetensors_close(file);
        assert_int_equal(files_read(FILE_NAME, 2 * bytes, BRAID_ERROR_DATA, &images[pass], &sizes[pass]), BRAID_OK);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(images[0], images[1], sizes[0]);
    memory_free(images[0]);
    memory_free(images[1]);
    free(data);
    free(read);
}

/* ---- Bad files ---------------------------------------------------------------------------- */

static void bad_lengths(void **state) {
    static const struct {
        unsigned char bytes[12];
        size_t count;
        const char *message;
    } cases[] = {{{0}, 0, "at least 8 bytes, got 0"},
                 {{2, 0, 0, 0, 0, 0, 0}, 7, "at least 8 bytes, got 7"},
                 {{2, 0, 0, 0, 0, 0, 0, 0, '{'}, 9, "a header of 2 bytes, got a file that ends after 1"},
                 {{1, 0xe1, 0xf5, 5, 0, 0, 0, 0, '{', '}'}, 10, "at most 100000000 bytes, got 100000001"},
                 {{255, 255, 255, 255, 255, 255, 255, 255, '{', '}'}, 10, "at most 100000000 bytes"},
                 {{0}, 8, "'{' as the first byte of the header, got the end"}};
    safetensors *file;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(safetensors_open_memory(cases[i].bytes, cases[i].count, &file), BRAID_ERROR_MODEL);
        if (!strstr(braid_message(), cases[i].message)) fail_msg("case %zu: %s", i, braid_message());
        assert_int_equal(files_replace(FILE_NAME, cases[i].bytes, cases[i].count), BRAID_OK);
        assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_ERROR_MODEL);
        if (!strstr(braid_message(), cases[i].message)) fail_msg("case %zu: %s", i, braid_message());
        assert_non_null(strstr(braid_message(), FILE_NAME ": "));
    }
    assert_int_equal(safetensors_open("missing", &file), BRAID_ERROR_MODEL);
    assert_int_equal(safetensors_open("/", &file), BRAID_ERROR_MODEL);
    assert_int_equal(safetensors_open("", &file), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_open(NULL, &file), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_open_memory(NULL, 8, &file), BRAID_ERROR_ARGUMENT);
    assert_int_equal(memory_live(), 0);
}

/* Whether a file's contents, all of it read, are those that were written. */
static int same_contents(const safetensors *file) {
    char read[64], joined[64];
    size_t used = 0;
    const char *format = safetensors_metadata(file, "format");
    const safetensors_entry *empty = safetensors_find(file, "empty");
    if (safetensors_count(file) != 7 || !format || strcmp(format, "pt") != 0) return 0;
    if (!empty || empty->dims[0] != 64 || empty->dims[2] != 1 || empty->dims[3] != 1)
        return 0; /* has no data to damage */
    for (size_t i = 0; i < 7; i++) {
        const safetensors_entry *entry = safetensors_at(file, i);
        size_t bytes = entry->end - entry->begin;
        if (safetensors_read(file, entry, read) != BRAID_OK) return -1;
        memcpy(joined + used, read, bytes);
        used += bytes;
    }
    return used == 49 && memcmp(joined, foreign_data, 49) == 0;
}

/* A flipped bit in the key of the checksums, in the mark or in the key of all metadata does not switch the
 * verification off, and says what is wrong; a file without either is another program's. */
static void flipped_keys(void **state) {
    static const char *const keys[] = {
        "\"" SAFETENSORS_CHECKSUM "\":", "\"" SAFETENSORS_MARK "\":", "\"__metadata__\":", "\"format\":"};
    char *image;
    size_t bytes;
    safetensors *file;
    (void)state;
    assert_int_equal(write_model(), BRAID_OK);
    assert_int_equal(files_read(FILE_NAME, ROOM, BRAID_ERROR_DATA, &image, &bytes), BRAID_OK);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        char *key = strstr(image + 8, keys[k]);
        assert_non_null(key);
        for (size_t bit = 0; bit < 8 * strlen(keys[k]); bit++) {
            char *changed = key + bit / 8;
            *changed = (char)(*changed ^ 1 << bit % 8);
            if (safetensors_open_memory(image, bytes, &file) != BRAID_ERROR_MODEL)
                fail_msg("%s: bit %zu flipped: the file was believed", keys[k], bit);
            *changed = (char)(*changed ^ 1 << bit % 8);
        }
    }
    char *key = strstr(image + 8, SAFETENSORS_CHECKSUM);
    key[0] = 'B';
    assert_int_equal(safetensors_open_memory(image, bytes, &file), BRAID_ERROR_MODEL);
    assert_non_null(strstr(braid_message(), "expected braid.checksum in its metadata"));
    strstr(image + 8, SAFETENSORS_MARK)[0] = 'B';
    assert_int_equal(safetensors_open_memory(image, bytes, &file), BRAID_OK);
    assert_false(safetensors_has_checksums(file));
    safetensors_close(file);
    memory_free(image);
    assert_int_equal(memory_live(), 0);
}

/* No change of one byte and no cut goes unnoticed, except where the contents stay the same. */
static void every_byte_counts(void **state) {
    char *image, changed[ROOM];
    size_t bytes;
    safetensors *file;
    int unnoticed = 0, refused = 0;
    (void)state;
    assert_int_equal(write_model(), BRAID_OK);
    assert_int_equal(files_read(FILE_NAME, ROOM, BRAID_ERROR_DATA, &image, &bytes), BRAID_OK);
    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(changed, image, bytes);
            changed[at] = (char)(changed[at] ^ 1 << bit);
            if (safetensors_open_memory(changed, bytes, &file) != BRAID_OK) {
                refused++;
                continue;
            }
            int same = same_contents(file);
            if (same == 0) fail_msg("byte %zu bit %d: other contents were believed", at, bit);
            if (same < 0) refused++;
            if (same > 0) unnoticed++;
            safetensors_close(file);
        }
        assert_int_not_equal(safetensors_open_memory(image, at, &file), BRAID_OK);
    }
    assert_true(refused > 8 * 500);
    assert_in_range(unnoticed, 0, 8 * 8); /* of the padding; measured: 0 */
    memory_free(image);
    assert_int_equal(memory_live(), 0);
}

static void damaged_data(void **state) {
    char *image, read[64];
    size_t bytes;
    safetensors *file;
    (void)state;
    assert_int_equal(write_model(), BRAID_OK);
    assert_int_equal(files_read(FILE_NAME, ROOM, BRAID_ERROR_DATA, &image, &bytes), BRAID_OK);
    image[bytes - 1] = 0;
    assert_int_equal(files_replace(FILE_NAME, image, bytes), BRAID_OK);
    assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
    const safetensors_entry *damaged = safetensors_find(file, "a");
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(pass ? safetensors_verify(file, damaged) : safetensors_read(file, damaged, read),
                         BRAID_ERROR_MODEL);
        assert_non_null(strstr(braid_message(), FILE_NAME ": tensor a: expected the checksum "));
        assert_non_null(strstr(braid_message(), "copy it again"));
    }
    assert_int_equal(safetensors_read(file, safetensors_find(file, "i"), read), BRAID_OK);
    safetensors_close(file);
    /* cut while it is open */
    assert_int_equal(safetensors_open(FILE_NAME, &file), BRAID_OK);
    assert_int_equal(truncate(FILE_NAME, (off_t)bytes - 2), 0);
    assert_int_equal(safetensors_read(file, safetensors_find(file, "a"), read), BRAID_ERROR_MODEL);
    assert_non_null(strstr(braid_message(), "cut while it was read"));
    safetensors_close(file);
    memory_free(image);
}

/* ---- Bad writes --------------------------------------------------------------------------- */

static void refused_tensors(void **state) {
    static const struct {
        safetensors_tensor tensor;
        const char *message;
    } cases[] = {
        {{.name = NULL, .data = a}, "expected a text, got NULL"},
        {{.name = "", .data = a}, "got an empty one"},
        {{.name = "a\nb", .data = a}, "control characters"},
        {{.name = "\xff", .data = a}, "expected UTF-8, got the byte 0xff"},
        {{.name = "__metadata__", .data = a}, "another than __metadata__"},
        {{.name = "x", .dtype = BRAID_DTYPE_COUNT, .data = a}, "expected a dtype"},
        {{.name = "x", .rank = 9, .data = a}, "rank of 0 to 8, got 9"},
        {{.name = "x", .rank = -1, .data = a}, "rank of 0 to 8, got -1"},
        {{.name = "x", .rank = 2, .dims = {1, -1}, .data = a}, "0 or more, got -1"},
        {{.name = "x", .rank = 2, .dims = {INT64_MAX, 4}, .data = a}, "fit in 63 bits"},
        {{.name = "x", .rank = 1, .dims = {2}}, "data or a source for its 8 bytes"},
    };
    safetensors_writer *writer;
    (void)state;
    assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(safetensors_writer_add(writer, &cases[i].tensor), BRAID_ERROR_ARGUMENT);
        if (!strstr(braid_message(), cases[i].message)) fail_msg("case %zu: %s", i, braid_message());
    }
    assert_int_equal(safetensors_writer_metadata(writer, "", "x"), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_writer_metadata(writer, "x", NULL), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_writer_metadata(writer, "x", "\x80"), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_writer_metadata(writer, SAFETENSORS_CHECKSUM, "x"), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_writer_metadata(writer, SAFETENSORS_MARK, "x"), BRAID_ERROR_ARGUMENT);
    assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_OK); /* nothing was added: an empty file */
    for (int i = 0; i < 2; i++) assert_int_equal(safetensors_writer_metadata(writer, "k", "v"), BRAID_OK);
    assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "\"k\" twice"));
    safetensors_writer_destroy(writer);
    assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
    const safetensors_tensor twice[2] = {{.name = "x", .dtype = BRAID_DTYPE_U8, .data = a},
                                         {.name = "x", .data = b_weight}};
    for (int i = 0; i < 2; i++) assert_int_equal(safetensors_writer_add(writer, &twice[i]), BRAID_OK);
    assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "\"x\" twice"));
    safetensors_writer_destroy(writer);
    safetensors_writer_destroy(NULL);
    assert_int_equal(memory_live(), 0);
}

static braid_status refuse(void *user, size_t offset, void *to, size_t bytes) {
    (void)user, (void)offset, (void)to, (void)bytes;
    return fail(BRAID_ERROR_DEVICE, "the device is gone");
}

/* A source that fails leaves the old file and no temporary. */
static void failing_source(void **state) {
    safetensors_writer *writer;
    (void)state;
    assert_int_equal(write_model(), BRAID_OK);
    assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
    const safetensors_tensor t = {.name = "x", .rank = 1, .dims = {1}, .source = refuse};
    assert_int_equal(safetensors_writer_add(writer, &t), BRAID_OK);
    assert_int_equal(safetensors_writer_write(writer, FILE_NAME), BRAID_ERROR_DEVICE);
    safetensors_writer_destroy(writer);
    assert_int_equal(system("test \"$(ls -A)\" = " FILE_NAME), 0);
}

/* ---- Faults ------------------------------------------------------------------------------- */

static braid_status read_model(void) {
    safetensors *file;
    TRY(safetensors_open(FILE_NAME, &file));
    char read[64];
    braid_status status = BRAID_OK;
    for (size_t i = 0; i < safetensors_count(file) && status == BRAID_OK; i++) {
        status = safetensors_read(file, safetensors_at(file, i), read);
        if (status == BRAID_OK) status = safetensors_verify(file, safetensors_at(file, i));
    }
    safetensors_close(file);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    fail_alloc_install();
    for (int writing = 1; writing >= 0; writing--) {
        int64_t nth = 0, failures;
        do {
            fail_alloc_arm(++nth, FAIL_ONCE);
            braid_status status = writing ? write_model() : read_model();
            failures = fail_alloc_disarm();
            assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
            assert_int_equal(memory_live(), 0);
        } while (failures > 0);
        assert_in_range(nth, 6, 60);
    }
    fail_alloc_remove();
}

/* Every file call of a write fails: the file is the old one or the new one, and the status tells. */
static void every_file_call_fails(void **state) {
    static const int errors[] = {ENOSPC, EIO, EINTR, FAIL_SHORT};
    (void)state;
    fail_files_install();
    for (int e = 0; e < 4; e++) {
        int64_t nth = 0, failures;
        do {
            assert_int_equal(files_replace(FILE_NAME, "old", 3), BRAID_OK);
            fail_files_arm(FAIL_ANY_FILE_CALL, ++nth, FAIL_ONCE, errors[e]);
            braid_status status = write_model();
            failures = fail_files_disarm();
            char *image;
            size_t bytes;
            assert_int_equal(files_read(FILE_NAME, ROOM, BRAID_ERROR_DATA, &image, &bytes), BRAID_OK);
            if (status != BRAID_OK) assert_int_equal(status, BRAID_ERROR_DISK);
            if (status == BRAID_OK || strstr(braid_message(), "in place"))
                assert_int_equal(read_model(), BRAID_OK);
            else
                assert_string_equal(image, "old");
            memory_free(image);
            assert_int_equal(system("test \"$(ls -A)\" = " FILE_NAME), 0);
            assert_int_equal(memory_live(), 0);
        } while (failures > 0);
        assert_true(nth > 5);
    }
    assert_int_equal(write_model(), BRAID_OK);
    for (int64_t nth = 1, failures = 1; failures > 0; nth++) {
        fail_files_arm(FAIL_OPEN | FAIL_PREAD, nth, FAIL_ONCE, EIO);
        braid_status status = read_model();
        failures = fail_files_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MODEL : BRAID_OK);
        assert_int_equal(memory_live(), 0);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(foreign_file),
        IN_FOLDER(written_file),
        IN_FOLDER(awkward_texts),
        IN_FOLDER(large_tensors),
        IN_FOLDER(bad_lengths),
        IN_FOLDER(every_byte_counts),
        IN_FOLDER(flipped_keys),
        IN_FOLDER(damaged_data),
        IN_FOLDER(refused_tensors),
        IN_FOLDER(failing_source),
        IN_FOLDER(every_allocation_fails),
        IN_FOLDER(every_file_call_fails),
    };
    if (!getcwd(start_folder, sizeof start_folder)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
