/*
 * Tests of the weight files of networks: weights-86.bin as its course defines it, built here number by number, to
 * safetensors and back; everything that must be refused; every allocation failing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/safetensors.h"
#include "tests/support/fail_nth.h"

#define BIN "weights-86.bin"
#define SAFE "lenet86.safetensors"
#define BIN_BYTES 180788

static const uint32_t counts[10] = {200, 0, 0, 3152, 0, 0, 41504, 0, 330, 0};

/* What the file's definition says of each tensor: the first of its numbers, counted in values over all layers. */
static const struct {
    const char *name;
    int rank;
    int64_t dims[4];
    uint32_t first, count;
} expected[8] = {
    {"conv1.weight", 4, {4, 1, 7, 7}, 0, 196},     {"conv1.bias", 1, {4}, 196, 4},
    {"conv2.weight", 4, {16, 4, 7, 7}, 200, 3136}, {"conv2.bias", 1, {16}, 3336, 16},
    {"fc1.weight", 2, {32, 1296}, 3352, 41472},    {"fc1.bias", 1, {32}, 44824, 32},
    {"fc2.weight", 2, {10, 32}, 44856, 320},       {"fc2.bias", 1, {10}, 45176, 10},
};

static unsigned char image[BIN_BYTES];
static char start_folder[4096];

/* Values are bit patterns, so that NaN and infinity are among them: they must pass as they are. */
static uint32_t value_at(uint32_t index) { return index * 2654435761u; }

static void put(size_t *at, uint32_t number) {
    for (int i = 0; i < 4; i++) image[(*at)++] = (unsigned char)(number >> (8 * i));
}

static void make_image(void) {
    size_t at = 0;
    uint32_t index = 0;
    put(&at, 10);
    for (int layer = 0; layer < 10; layer++) {
        put(&at, counts[layer]);
        for (uint32_t i = 0; i < counts[layer]; i++) put(&at, value_at(index++));
    }
    assert_int_equal(at, BIN_BYTES);
}

static int enter_folder(void **state) {
    static char folder[] = "/tmp/braid_nets_XXXXXX";
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    *state = folder;
    make_image();
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return chdir(start_folder) != 0 || system(command) != 0;
}

static void write_image(size_t bytes) { assert_int_equal(files_replace(BIN, image, bytes), BRAID_OK); }

static void assert_refused(const char *from, const char *to, braid_status status, const char *message) {
    braid_status got = braid_convert(from, to);
    if (got != status || !strstr(braid_message(), message))
        fail_msg("%s to %s: status %d, message %s", from ? from : "NULL", to ? to : "NULL", (int)got, braid_message());
    assert_int_equal(memory_live(), 0);
}

static void there_and_back(void **state) {
    safetensors *file;
    uint32_t values[41472];
    char *back;
    size_t bytes;
    (void)state;
    write_image(BIN_BYTES);
    assert_int_equal(braid_convert(BIN, SAFE), BRAID_OK);
    assert_int_equal(safetensors_open(SAFE, &file), BRAID_OK);
    assert_int_equal(safetensors_count(file), 8);
    assert_non_null(strstr(safetensors_metadata(file, SAFETENSORS_NET), "lenet86"));
    for (int t = 0; t < 8; t++) {
        const safetensors_entry *entry = safetensors_find(file, expected[t].name);
        assert_non_null(entry);
        assert_int_equal(entry->dtype, BRAID_DTYPE_F32);
        assert_int_equal(entry->rank, expected[t].rank);
        for (int axis = 0; axis < entry->rank; axis++) assert_int_equal(entry->dims[axis], expected[t].dims[axis]);
        assert_int_equal(entry->end - entry->begin, 4 * expected[t].count);
        assert_int_equal(safetensors_read(file, entry, values), BRAID_OK);
        for (uint32_t i = 0; i < expected[t].count; i++) assert_int_equal(values[i], value_at(expected[t].first + i));
    }
    safetensors_close(file);
    assert_int_equal(braid_convert(SAFE, "back.bin"), BRAID_OK);
    assert_int_equal(files_read("back.bin", BIN_BYTES, BRAID_ERROR_DATA, &back, &bytes), BRAID_OK);
    assert_int_equal(bytes, BIN_BYTES);
    assert_memory_equal(back, image, BIN_BYTES);
    memory_free(back);
    assert_int_equal(memory_live(), 0);
}

/* A layer's count, and the number of layers, one too many or too few. */
static void bad_bin(void **state) {
    size_t at = 4;
    (void)state;
    assert_refused(BIN, SAFE, BRAID_ERROR_MODEL, BIN ": could not open");
    write_image(BIN_BYTES - 1);
    assert_refused(BIN, SAFE, BRAID_ERROR_MODEL, "with 180788 bytes, got 180787; copy it again");
    write_image(0);
    assert_refused(BIN, SAFE, BRAID_ERROR_MODEL, "got 0;");
    for (int layer = -1; layer < 10; layer++) {
        char message[64];
        size_t place = layer < 0 ? 0 : at;
        image[place]++;
        write_image(BIN_BYTES);
        if (layer < 0)
            snprintf(message, sizeof message, "expected 10 layers, got 11");
        else
            snprintf(message, sizeof message, "layer %d: expected %u numbers, got %u", layer, counts[layer],
                     counts[layer] + 1);
        assert_refused(BIN, SAFE, BRAID_ERROR_MODEL, message);
        image[place]--;
        if (layer >= 0) at += 4 * (counts[layer] + 1);
    }
    assert_int_not_equal(access(SAFE, F_OK), 0);
    assert_int_equal(system("cp " BIN " larger.bin && echo >> larger.bin"), 0);
    assert_refused("larger.bin", SAFE, BRAID_ERROR_MODEL, "at most 180788 bytes");
    assert_refused(BIN, "weights.pt", BRAID_ERROR_ARGUMENT, "ends in .safetensors or in .bin");
    assert_refused(BIN, ".bin", BRAID_ERROR_ARGUMENT, "ends in .safetensors");
    assert_refused(NULL, SAFE, BRAID_ERROR_ARGUMENT, "from: expected the name of a file");
    assert_refused(SAFE, NULL, BRAID_ERROR_ARGUMENT, "to: expected the name of a file");
    make_image();
    write_image(BIN_BYTES);
    assert_refused(BIN, "missing/" SAFE, BRAID_ERROR_DISK, "missing");
    assert_refused(BIN, "other.bin", BRAID_ERROR_MODEL, "is it a safetensors file?");
}

/* A safetensors file of lenet86 in which tensor `changed` has another name, dtype or shape, or is left out. */
typedef enum change { NO_CHANGE, NAME, DTYPE, RANK, SHAPE, LEFT_OUT, ONE_MORE } change;

static void write_changed(int changed, change what) {
    safetensors_writer *writer;
    assert_int_equal(safetensors_writer_create(&writer), BRAID_OK);
    for (int t = 0; t < 8; t++) {
        safetensors_tensor tensor = {.name = expected[t].name, .rank = expected[t].rank, .data = image};
        memcpy(tensor.dims, expected[t].dims, sizeof expected[t].dims);
        if (t == changed && what == LEFT_OUT) continue;
        if (t == changed && what == NAME) tensor.name = "other";
        if (t == changed && what == DTYPE) tensor.dtype = BRAID_DTYPE_I32;
        if (t == changed && what == RANK) tensor.dims[tensor.rank++] = 1;
        if (t == changed && what == SHAPE) tensor.dims[tensor.rank - 1]--;
        assert_int_equal(safetensors_writer_add(writer, &tensor), BRAID_OK);
    }
    const safetensors_tensor more = {.name = "more", .data = image};
    if (what == ONE_MORE) assert_int_equal(safetensors_writer_add(writer, &more), BRAID_OK);
    assert_int_equal(safetensors_writer_write(writer, SAFE), BRAID_OK);
    safetensors_writer_destroy(writer);
}

static void bad_safetensors(void **state) {
    (void)state;
    for (int t = 0; t < 8; t++) {
        write_changed(t, NAME);
        assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, expected[t].name);
        write_changed(t, DTYPE);
        assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "expected F32, got I32");
        write_changed(t, RANK);
        assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "expected the shape ");
        write_changed(t, SHAPE);
        assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "expected the shape ");
        write_changed(t, LEFT_OUT);
        assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "the 8 tensors of lenet86, got 7");
    }
    write_changed(4, SHAPE);
    assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "\"fc1.weight\": expected the shape 32x1296, got 32x1295");
    write_changed(0, ONE_MORE);
    assert_refused(SAFE, BIN, BRAID_ERROR_MODEL, "the 8 tensors of lenet86, got 9");
    assert_int_not_equal(access(BIN, F_OK), 0);
    write_changed(0, NO_CHANGE);
    assert_int_equal(braid_convert(SAFE, BIN), BRAID_OK);
}

/* ---- What a file holds -------------------------------------------------------------------- */

typedef struct told {
    int texts, tensors;
    size_t bytes;
} told;

static void note_text(void *user, const char *key, const char *value) {
    assert_true(*key && *value);
    ((told *)user)->texts++;
}

static void note_tensor(void *user, const braid_file_tensor *tensor) {
    told *t = user;
    t->tensors++;
    t->bytes += tensor->bytes;
    if (strcmp(tensor->name, "fc1.weight") == 0) {
        assert_int_equal(tensor->rank, 2);
        assert_int_equal(tensor->dims[1], 1296);
        assert_int_equal(tensor->bytes, 4 * 41472);
    }
}

static void description(void **state) {
    char *data;
    size_t bytes;
    told t = {0};
    int verified = -1;
    (void)state;
    write_image(BIN_BYTES);
    assert_int_equal(braid_convert(BIN, SAFE), BRAID_OK);
    assert_int_equal(braid_file_describe(SAFE, note_text, note_tensor, &t, &verified), BRAID_OK);
    assert_int_equal(verified, 1);
    assert_int_equal(t.texts, 3);
    assert_int_equal(t.tensors, 8);
    assert_int_equal(t.bytes, BIN_BYTES - 11 * 4);
    assert_int_equal(braid_file_describe(SAFE, NULL, NULL, NULL, NULL), BRAID_OK);
    assert_int_equal(braid_file_describe(BIN, note_text, note_tensor, &t, &verified), BRAID_ERROR_MODEL);
    assert_int_equal(verified, 0);
    assert_int_equal(files_read(SAFE, 1 << 20, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    data[bytes - 1]++;
    assert_int_equal(files_replace(SAFE, data, bytes), BRAID_OK);
    memory_free(data);
    assert_int_equal(braid_file_describe(SAFE, note_text, note_tensor, &t, &verified), BRAID_ERROR_MODEL);
    assert_non_null(strstr(braid_message(), "fc2.weight: expected the checksum"));
    assert_int_equal(verified, 0);
}

static void every_allocation_fails(void **state) {
    (void)state;
    write_image(BIN_BYTES);
    fail_alloc_install();
    for (int back = 0; back < 2; back++) {
        int64_t nth = 0, failures;
        do {
            fail_alloc_arm(++nth, FAIL_ONCE);
            braid_status status = back ? braid_convert(SAFE, "back.bin") : braid_convert(BIN, SAFE);
            failures = fail_alloc_disarm();
            assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
            assert_int_equal(memory_live(), 0);
        } while (failures > 0);
        assert_true(nth > 8);
    }
    fail_alloc_remove();
    assert_int_equal(system("cmp " BIN " back.bin"), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(there_and_back),         IN_FOLDER(bad_bin), IN_FOLDER(bad_safetensors), IN_FOLDER(description),
        IN_FOLDER(every_allocation_fails),
    };
    if (!getcwd(start_folder, sizeof start_folder)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
