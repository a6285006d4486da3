/*
 * Tests of train/events: every byte of a small file, what fails and is repeated, and TensorBoard's own reader where
 * python3 (or $BRAID_TEST_PYTHON) has it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/memory.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "train/events.h"

static char sources[4096]; /* the working folder of the test program: the sources */

static size_t contents(const char *path, unsigned char *data, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t bytes = fread(data, 1, room, file);
    fclose(file);
    return bytes;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Made with the tensorboard package: RecordWriter over Event protos of the same values. */
static const unsigned char known_file[] = {
    0x1b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1a, 0x0d, 0x9e, 0x13, 0x09, 0x00, 0x00, 0x10, 0x40, 0xfc, 0x54,
    0xd9, 0x41, 0x10, 0xac, 0x02, 0x1a, 0x0d, 0x62, 0x72, 0x61, 0x69, 0x6e, 0x2e, 0x45, 0x76, 0x65, 0x6e, 0x74, 0x3a,
    0x32, 0x14, 0x8d, 0x66, 0xa7, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x95, 0xfb, 0xfe, 0x18, 0x09, 0x00,
    0x00, 0x10, 0x40, 0xfc, 0x54, 0xd9, 0x41, 0x10, 0xac, 0x02, 0x3a, 0x02, 0x08, 0x01, 0x6b, 0x3b, 0x88, 0xf1, 0x2b,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x86, 0x1b, 0xc3, 0x4b, 0x09, 0x00, 0x00, 0x60, 0x40, 0xfc, 0x54, 0xd9,
    0x41, 0x10, 0xac, 0x02, 0x2a, 0x1d, 0x0a, 0x11, 0x0a, 0x0a, 0x6c, 0x6f, 0x73, 0x73, 0x2f, 0x74, 0x72, 0x61, 0x69,
    0x6e, 0x15, 0x00, 0x00, 0x20, 0x3f, 0x0a, 0x08, 0x0a, 0x01, 0x78, 0x15, 0x00, 0x00, 0x80, 0xff, 0x23, 0x64, 0x9d,
    0x40, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x78, 0x11, 0x3d, 0xfd, 0x09, 0x00, 0x00, 0x80, 0x40, 0xfc,
    0x54, 0xd9, 0x41, 0x10, 0xc0, 0x84, 0x3d, 0x2a, 0x13, 0x0a, 0x11, 0x0a, 0x0a, 0x6c, 0x6f, 0x73, 0x73, 0x2f, 0x74,
    0x72, 0x61, 0x69, 0x6e, 0x15, 0x00, 0x00, 0x20, 0x3f, 0xf9, 0xd4, 0xda, 0x3a,
};

static void known_bytes(void **state) {
    static unsigned char data[4096];
    const events_scalar scalars[] = {{"loss/train", 0.625}, {"x", -INFINITY}};
    events e;
    (void)state;
    assert_int_equal(events_open(&e, ".", 300, 1700000000.25), BRAID_OK);
    assert_int_equal(events_add(&e, 300, 1700000001.5, scalars, 2), BRAID_OK);
    assert_int_equal(events_add(&e, 1000000, 1700000002, scalars, 1), BRAID_OK);
    size_t bytes = contents(e.path, data, sizeof data);
    assert_int_equal(bytes, sizeof known_file);
    assert_memory_equal(data, known_file, bytes);
    assert_non_null(strstr(e.path, "events.out.tfevents.1700000000."));
    events_close(&e);
    events_close(&e);
    assert_int_equal(memory_live(), 0);
}

static uint64_t varint(const unsigned char **at) {
    uint64_t value = 0;
    int shift = 0;
    do value |= (uint64_t)(**at & 0x7f) << shift, shift += 7;
    while (*(*at)++ & 0x80);
    return value;
}

/* Reads an event with a summary: every length leads exactly to the end of what it measures. Returns its scalars. */
static int count_scalars(const unsigned char *at, const unsigned char *end) {
    int count = 0;
    at += 9; /* wall_time */
    assert_int_equal(*at++, 0x10);
    varint(&at);
    if (*at++ != 0x2a) return 0;
    uint64_t summary = varint(&at);
    assert_int_equal(summary, end - at);
    while (at < end) {
        assert_int_equal(*at++, 0x0a);
        uint64_t value = varint(&at);
        const unsigned char *value_end = at + value;
        assert_int_equal(*at++, 0x0a);
        uint64_t tag = varint(&at);
        at += tag;
        assert_int_equal(*at, 0x15);
        at += 5;
        assert_ptr_equal(at, value_end);
        count++;
    }
    return count;
}

/* Walks the records of a file: lengths and checksums hold to the last byte. Returns how many there are. */
static int count_records(const char *path, int *scalars) {
    static unsigned char data[1 << 20];
    size_t bytes = contents(path, data, sizeof data), at = 0;
    int count = 0;
    *scalars = 0;
    while (at < bytes) {
        uint64_t length = 0;
        for (int i = 7; i >= 0; i--) length = length << 8 | data[at + (size_t)i];
        assert_true(at + 16 + length <= bytes);
        for (int part = 0; part < 2; part++) {
            const unsigned char *from = data + at + (part ? 12 : 0), *sum = from + (part ? length : 8);
            uint32_t stored = sum[0] | (uint32_t)sum[1] << 8 | (uint32_t)sum[2] << 16 | (uint32_t)sum[3] << 24;
            uint32_t crc = stored - 0xa282ead8u;
            assert_int_equal(crc << 15 | crc >> 17, crc32c(from, part ? length : 8));
        }
        *scalars += count_scalars(data + at + 12, data + at + 12 + length);
        at += 16 + length;
        count++;
    }
    return count;
}

static void many_scalars(void **state) {
    events_scalar scalars[100];
    char tags[100][220];
    int found;
    events e;
    (void)state;
    for (int i = 0; i < 100; i++) { /* lengths on both sides of 128, where a length takes a second byte */
        memset(tags[i], 'a' + i % 26, sizeof tags[i]);
        tags[i][1 + 2 * i] = 0;
        scalars[i] = (events_scalar){tags[i], i};
    }
    assert_int_equal(events_open(&e, ".", 0, 0), BRAID_OK);
    for (int i = 1; i <= 100; i++) assert_int_equal(events_add(&e, i, i, scalars, i), BRAID_OK);
    assert_int_equal(events_add(&e, 0, 0, NULL, 0), BRAID_OK);
    assert_int_equal(count_records(e.path, &found), 102);
    assert_int_equal(found, 50 * 101);
    events_close(&e);
}

static void two_files_of_one_second(void **state) {
    const events_scalar scalar = {"loss", 1};
    events a, b;
    (void)state;
    assert_int_equal(events_open(&a, ".", 0, 7), BRAID_OK);
    assert_int_equal(events_open(&b, ".", 0, 7), BRAID_OK);
    assert_string_not_equal(a.path, b.path);
    assert_int_equal(folder_entries("."), 0); /* there is nothing to tell yet */
    assert_int_equal(events_add(&a, 1, 7, &scalar, 1), BRAID_OK);
    assert_int_equal(events_add(&b, 1, 7, &scalar, 1), BRAID_OK);
    events_close(&a);
    events_close(&b);
    assert_int_equal(folder_entries("."), 2);
}

static void refusals(void **state) {
    static char longest[1026];
    int found;
    events e;
    (void)state;
    assert_int_equal(events_open(&e, "missing", 0, 0), BRAID_OK);
    assert_int_equal(events_add(&e, 1, 1, &(events_scalar){"loss", 1}, 1), BRAID_ERROR_DISK);
    events_close(&e);
    assert_int_equal(events_open(&e, "", 0, 0), BRAID_ERROR_ARGUMENT);
    assert_int_equal(events_open(&e, ".", 0, 0), BRAID_OK);
    assert_int_equal(events_add(&e, 1, 1, &(events_scalar){"", 1}, 1), BRAID_ERROR_ARGUMENT);
    memset(longest, 'x', 1025);
    assert_int_equal(events_add(&e, 1, 1, &(events_scalar){longest, 1}, 1), BRAID_ERROR_ARGUMENT);
    longest[1024] = 0;
    assert_int_equal(events_add(&e, 1, 1, &(events_scalar){longest, 1}, 1), BRAID_OK);
    assert_int_equal(count_records(e.path, &found), 2);
    events_close(&e);
    assert_int_equal(memory_live(), 0);
}

/* ---- Faults --------------------------------------------------------------------------------- */

/* A disk that is full for a while, half-way through a record: what comes later is read, nothing is garbled. */
static void a_disk_that_was_full(void **state) {
    static const int errors[] = {ENOSPC, EIO, FAIL_SHORT};
    const events_scalar scalar = {"loss", 1}, longer = {"a tag that is longer than the other one", 2};
    (void)state;
    fail_files_install();
    for (int i = 0; i < 3; i++) {
        int found;
        events e;
        assert_int_equal(events_open(&e, ".", 0, 0), BRAID_OK);
        assert_int_equal(events_add(&e, 1, 1, &scalar, 1), BRAID_OK);
        fail_files_arm(FAIL_WRITE, 1, FAIL_ONCE, errors[i]);
        braid_status status = events_add(&e, 2, 2, &longer, 1);
        fail_files_disarm();
        assert_int_equal(status, errors[i] == FAIL_SHORT ? BRAID_OK : BRAID_ERROR_DISK);
        assert_int_equal(events_add(&e, 3, 3, &longer, 1), BRAID_OK);
        assert_int_equal(count_records(e.path, &found), 4); /* what was refused came with the next */
        events_close(&e);
    }
}

static void every_allocation_fails(void **state) {
    const events_scalar scalar = {"loss", 1};
    int64_t failures = 1;
    (void)state;
    fail_alloc_install();
    for (int64_t nth = 1; failures > 0; nth++) {
        events e;
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = events_open(&e, ".", 5, 0);
        if (status == BRAID_OK) {
            status = events_add(&e, 6, 1, &scalar, 1);
            events_close(&e);
        }
        failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        assert_int_equal(memory_live(), 0);
    }
    fail_alloc_remove();
}

static void every_file_call_fails(void **state) {
    const events_scalar scalar = {"loss", 1};
    int64_t failures = 1;
    int found;
    (void)state;
    fail_files_install();
    for (int64_t nth = 1; failures > 0; nth++) {
        events e;
        fail_files_arm(FAIL_OPEN | FAIL_WRITE, nth, FAIL_ONCE, ENOSPC);
        braid_status status = events_open(&e, ".", 5, 0);
        if (status == BRAID_OK) status = events_add(&e, 6, 1, &scalar, 1);
        failures = fail_files_disarm();
        if (status) {
            assert_int_equal(status, BRAID_ERROR_DISK);
            assert_true(failures > 0);
            assert_int_equal(events_sync(&e), BRAID_OK); /* what was refused waits */
        }
        assert_int_equal(count_records(e.path, &found), 3);
        events_close(&e);
        assert_int_equal(memory_live(), 0);
    }
}

/* ---- TensorBoard's reader --------------------------------------------------------------------- */

/* A run that is interrupted at step 4 and goes on from step 3. */
static void write_two_runs(void) {
    events e;
    assert_int_equal(events_open(&e, "logs", 0, 1700000000), BRAID_OK);
    for (int step = 1; step <= 4; step++) {
        const events_scalar scalars[] = {{"loss/train", 1.0 / step}, {"rate", 0.1f}};
        assert_int_equal(events_add(&e, step, 1700000000 + step, scalars, 2), BRAID_OK);
    }
    events_close(&e);
    assert_int_equal(events_open(&e, "logs", 3, 1700000100), BRAID_OK);
    assert_int_equal(events_add(&e, 3, 1700000101, &(events_scalar){"loss/train", 33}, 1), BRAID_OK);
    assert_int_equal(events_add(&e, 5, 1700000102, &(events_scalar){"loss/train", INFINITY}, 1), BRAID_OK);
    events_close(&e);
}

static void the_real_reader(void **state) {
    static const char expected[] = "file: 5 brain.Event:2\n"
                                   "file: 4 brain.Event:2\n"
                                   "1 loss/train 1\n"
                                   "2 loss/train 0.5\n"
                                   "3 loss/train 33\n"
                                   "5 loss/train inf\n"
                                   "1 rate 0.100000001\n"
                                   "2 rate 0.100000001\n";
    static unsigned char got[4096];
    char command[8192];
    const char *python = getenv("BRAID_TEST_PYTHON");
    (void)state;
    assert_int_equal(mkdir("logs", 0700), 0);
    write_two_runs();
    snprintf(command, sizeof command, "'%s' '%s/tests/train/read_events.py' logs >out 2>err",
             python ? python : "python3", sources);
    int how = system(command), code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    if (code == 77 || code == 127) {
        print_message("skip: no python3 with the tensorboard package (name one in BRAID_TEST_PYTHON)\n");
        skip();
    }
    assert_int_equal(code, 0);
    got[contents("out", got, sizeof got - 1)] = 0;
    assert_string_equal((char *)got, expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(known_bytes),
        IN_FOLDER(many_scalars),
        IN_FOLDER(two_files_of_one_second),
        IN_FOLDER(refusals),
        IN_FOLDER(a_disk_that_was_full),
        IN_FOLDER(every_allocation_fails),
        IN_FOLDER(every_file_call_fails),
        IN_FOLDER(the_real_reader),
    };
    if (!getcwd(sources, sizeof sources)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
