/*
 * What reading may cost: a file that takes too long, a wish to stop, too many pixels, and one memory for all threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"
#include "data/data.h"
#include "data/image.h"
#include "data/limits.h"
#include "data/wav.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/scratch.h"

#define SIDE 300 /* large enough for several looks at the clock */
#define MIB ((size_t)1 << 20)

/* ---- A file of every format ----------------------------------------------------------------- */

typedef struct any_file {
    const char *name;
    void *data;
    size_t bytes;
} any_file;

static any_file files[5];
enum { FILES = 5, WAV = 4 };

static uint8_t pixels[SIDE * SIDE * 3];

static void *copy_of(const void *data, size_t bytes) {
    void *copy = malloc(bytes);
    assert_non_null(copy);
    return memcpy(copy, data, bytes);
}

static void make_png(any_file *f) {
    const image from = {.height = SIDE, .width = SIDE, .channels = 3, .bits = 8, .pixels = pixels};
    void *data;
    assert_int_equal(png_encode(&from, &data, &f->bytes), BRAID_OK);
    f->data = copy_of(data, f->bytes);
    memory_free(data);
}

static void make_npy(any_file *f) {
    static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (300, 300, 3), }\n";
    f->bytes = 10 + sizeof header - 1 + sizeof pixels;
    f->data = calloc(f->bytes, 1);
    assert_non_null(f->data);
    memcpy(f->data, "\x93NUMPY\1\0", 8);
    ((uint8_t *)f->data)[8] = sizeof header - 1;
    memcpy((uint8_t *)f->data + 10, header, sizeof header - 1);
}

static void make_wav(any_file *f) {
    static float samples[100000];
    void *data;
    assert_int_equal(wav_write(samples, 100000, 16000, &data, &f->bytes), BRAID_OK);
    f->data = copy_of(data, f->bytes);
    memory_free(data);
}

static int make_files(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof pixels; k++) pixels[k] = (uint8_t)(k * 2654435761u >> 24);
    make_png(&files[0]);
    files[1].data = jpeg_file_make(pixels, SIDE, SIDE, 3, 0, &files[1].bytes);
    files[2].data = jpeg_file_make(pixels, SIDE, SIDE, 3, 1, &files[2].bytes);
    make_npy(&files[3]);
    make_wav(&files[WAV]);
    for (int k = 0; k < FILES; k++) files[k].name = ((const char *[]){"PNG", "JPEG", "scans", "npy", "WAV"})[k];
    return 0;
}

static int free_files(void **state) {
    (void)state;
    for (int k = 0; k < FILES; k++) free(files[k].data);
    return memory_live() != 0;
}

/* Reads it, and resizes what is an image. */
static braid_status read_any(int k) {
    static uint8_t small[8 * 8 * 3];
    wav_info info;
    float *samples;
    image i;
    if (k == WAV) {
        braid_status status = wav_read(files[k].data, files[k].bytes, &info, &samples);
        memory_free(samples);
        return status;
    }
    braid_status status = image_decode(files[k].data, files[k].bytes, &i);
    if (!status) status = image_to_bytes(&i, 8, 8, 3, small);
    image_free(&i);
    return status;
}

/* ---- Time and the wish to stop ---------------------------------------------------------------- */

static int asked, stop_at;

static int stop_then(void *user) {
    (void)user;
    return ++asked >= stop_at;
}

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first time it is asked, which is after the clock of a file has begun, it uses up what a file may take. */
static int waste_time(void *user) {
    double began = cpu_s();
    if (++*(int *)user > 1) return 0;
    while (cpu_s() < began + 1.5) {
    }
    return 0;
}

static void every_format_is_read(void **state) {
    (void)state;
    for (int k = 0; k < FILES; k++)
        if (read_any(k)) fail_msg("%s: %s", files[k].name, fail_message());
    assert_int_equal(memory_live(), 0);
}

static void every_decoder_can_be_stopped(void **state) {
    const braid_data_limits limits = {.stop = stop_then};
    (void)state;
    for (int k = 0; k < FILES; k++)
        for (stop_at = 1; stop_at <= 2; stop_at++) { /* at once, and while it works */
            asked = 0;
            limits_begin(&limits);
            braid_status status = read_any(k);
            limits_end();
            if (status != BRAID_ERROR_CHECK) fail_msg("%s: expected a stop, got %d", files[k].name, status);
            assert_non_null(strstr(fail_message(), "stopped"));
            assert_int_equal(memory_live(), 0);
        }
}

static void every_decoder_has_a_deadline(void **state) {
    (void)state;
    for (int k = 0; k < FILES; k++) {
        int calls = 0;
        const braid_data_limits limits = {.stop = waste_time, .user = &calls};
        limits_begin(&limits);
        braid_status status = read_any(k);
        limits_end();
        if (status != BRAID_ERROR_DATA) fail_msg("%s: expected a deadline, got %d", files[k].name, status);
        if (!strstr(fail_message(), "took longer than 1.")) fail_msg("%s: %s", files[k].name, fail_message());
        assert_int_equal(memory_live(), 0);
    }
}

/* ---- Pixels --------------------------------------------------------------------------------- */

static void pixels_are_refused_by_the_header(void **state) {
    (void)state;
    for (int k = 0; k < WAV; k++)
        for (int more = 0; more < 2; more++) {
            const braid_data_limits limits = {.max_pixels = SIDE * SIDE - 1 + more};
            limits_begin(&limits);
            braid_status status = read_any(k);
            limits_end();
            assert_int_equal(status, more ? BRAID_OK : BRAID_ERROR_DATA);
            if (!more) assert_non_null(strstr(fail_message(), "expected at most 89999 pixels, got 300x300"));
            if (!more) assert_non_null(strstr(fail_message(), "--max-pixels 90000"));
        }
    assert_int_equal(limits_max_pixels(), 16777216);
    assert_int_equal(limits_check(&(braid_data_limits){.max_pixels = -1}), BRAID_ERROR_ARGUMENT);
    assert_int_equal(limits_check(&(braid_data_limits){.max_pixels = INT64_MAX}), BRAID_ERROR_ARGUMENT);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static atomic_int has_memory;

static void *take_memory(void *bytes) {
    braid_status *status = malloc(sizeof *status);
    const braid_data_limits limits = {.stop = stop_then};
    limits_begin(&limits);
    *status = limits_take(*(size_t *)bytes);
    atomic_store(&has_memory, 1);
    if (!*status) limits_give(*(size_t *)bytes);
    return status;
}

/* What another thread gets while this one has `mine`; *waited: it had to wait until this one gave it back. */
static braid_status take_beside(size_t mine, size_t other, int gives, int *waited) {
    pthread_t thread;
    void *result;
    atomic_store(&has_memory, 0);
    assert_int_equal(limits_take(mine), BRAID_OK);
    assert_int_equal(pthread_create(&thread, NULL, take_memory, &other), 0);
    for (int k = 0; k < 40 && !atomic_load(&has_memory); k++) usleep(10000);
    *waited = !atomic_load(&has_memory);
    if (gives) limits_give(mine);
    assert_int_equal(pthread_join(thread, &result), 0);
    if (!gives) limits_give(mine);
    braid_status status = *(braid_status *)result;
    free(result);
    return status;
}

static void threads_share_one_memory(void **state) {
    int waited;
    (void)state;
    asked = 0;
    stop_at = 1000000;
    assert_int_equal(take_beside(100 * MIB, 100 * MIB, 1, &waited), BRAID_OK);
    assert_int_equal(waited, 0);
    assert_int_equal(take_beside(200 * MIB, 100 * MIB, 1, &waited), BRAID_OK);
    assert_int_equal(waited, 1);
    assert_int_equal(take_beside(1 * MIB, 1000 * MIB, 1, &waited), BRAID_OK); /* larger than all: when it is alone */
    assert_int_equal(waited, 1);
    stop_at = asked + 20;
    assert_int_equal(take_beside(200 * MIB, 100 * MIB, 0, &waited), BRAID_ERROR_CHECK);
    assert_int_equal(waited, 1);
    assert_int_equal(limits_take(200 * MIB), BRAID_OK); /* a thread does not wait for itself */
    assert_int_equal(limits_take(200 * MIB), BRAID_OK);
    limits_give(400 * MIB);
}

/* ---- Sets ----------------------------------------------------------------------------------- */

static void a_loader_is_stopped(void **state) {
    const braid_data_make_options small = {.size = {16, 16}, .count = 8};
    braid_data_options options = {.limits.stop = stop_then};
    braid_data_check_result result;
    braid_data *data;
    braid_loader *loader;
    braid_batch batch;
    scratch folder;
    (void)state;
    scratch_begin(&folder);
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &small), BRAID_OK);
    asked = 0;
    stop_at = 1;
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), &options, &data), BRAID_ERROR_CHECK);
    assert_int_equal(braid_data_check(scratch_path(&folder, "rooms"), &options.limits, NULL, NULL, &result),
                     BRAID_ERROR_CHECK);
    stop_at = 1000000;
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), &options, &data), BRAID_OK);
    assert_int_equal(braid_loader_create(data, NULL, &loader), BRAID_OK);
    stop_at = 0;
    assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_ERROR_CHECK);
    assert_non_null(strstr(braid_lab_message(), "stopped"));
    braid_loader_destroy(loader);
    braid_data_destroy(data);
    scratch_end(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_read),         cmocka_unit_test(every_decoder_can_be_stopped),
        cmocka_unit_test(every_decoder_has_a_deadline), cmocka_unit_test(pixels_are_refused_by_the_header),
        cmocka_unit_test(threads_share_one_memory),     cmocka_unit_test(a_loader_is_stopped),
    };
    return cmocka_run_group_tests(tests, make_files, free_files);
}
