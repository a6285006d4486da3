/*
 * The loader on a small synthetic set: the same batches at any number of threads, orders that follow from seed and
 * epoch alone, stratified draws, partial batches, failures that name the file or are left out, and an end at any
 * moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "braid_lab.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/data.h"
#include "data/order.h"
#include "tests/support/scratch.h"

#define COUNT 64
#define STREAM_BYTES (16 * 24)

static scratch folder;
static braid_data *set;

static int make_set(void **state) {
    (void)state;
    scratch_begin(&folder);
    const braid_data_make_options options = {.size = {16, 24}, .count = COUNT, .seed = 7};
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &options), BRAID_OK);
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), NULL, &set), BRAID_OK);
    return 0;
}

static int remove_set(void **state) {
    (void)state;
    braid_data_destroy(set);
    scratch_end(&folder);
    return memory_live() != 0;
}

static braid_loader *open_loader(braid_loader_options options) {
    braid_loader *loader = NULL;
    assert_int_equal(braid_loader_create(set, &options, &loader), BRAID_OK);
    return loader;
}

/* A hash of everything an epoch gives, and its samples. */
static uint64_t epoch_hash(braid_loader *loader, int64_t epoch, int64_t first, int64_t *samples) {
    braid_batch batch;
    uint64_t hash = 14695981039346656037u;
    *samples = 0;
    assert_int_equal(braid_loader_start(loader, epoch, first), BRAID_OK);
    do {
        assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
        for (int64_t k = 0; k < batch.count; k++) {
            assert_int_equal(batch.labels[k], braid_data_labels(set, BRAID_SPLIT_TRAIN)[batch.ids[k]]);
            assert_int_equal(batch.files[k], batch.ids[k]);
            hash = (hash ^ (uint64_t)batch.ids[k]) * 1099511628211u;
        }
        for (int i = 0; i < 3 && batch.count; i++) {
            const unsigned char *bytes = batch.streams[i];
            assert_int_equal((uintptr_t)bytes % 256, 0);
            for (int64_t k = 0; k < batch.count * STREAM_BYTES * (i ? 1 : 3); k++)
                hash = (hash ^ bytes[k]) * 1099511628211u;
        }
        *samples += batch.count;
    } while (batch.count);
    return hash;
}

/* A place for each batch that is read ahead, and one for whoever has it. */
static void memory_is_told(void **state) {
    (void)state;
    size_t each = 0;
    for (int prefetch = 1; prefetch <= 3; prefetch++) {
        braid_loader *loader = open_loader((braid_loader_options){.batch = 8, .prefetch = prefetch});
        if (prefetch == 1) each = braid_loader_bytes(loader) / 2;
        assert_in_range(each, 8 * 5 * STREAM_BYTES, 8 * 5 * STREAM_BYTES + 3 * 256);
        assert_int_equal(braid_loader_bytes(loader), (size_t)(prefetch + 1) * each);
        braid_loader_destroy(loader);
    }
    assert_int_equal(braid_loader_bytes(NULL), 0);
}

static void threads_change_nothing(void **state) {
    (void)state;
    uint64_t first = 0;
    for (int threads = 1; threads <= 4; threads++)
        for (int prefetch = 1; prefetch <= 3; prefetch += 2) {
            int64_t samples;
            braid_loader *loader =
                open_loader((braid_loader_options){.batch = 10, .seed = 3, .threads = threads, .prefetch = prefetch});
            assert_int_equal(braid_loader_batches(loader), 7);
            uint64_t hash = epoch_hash(loader, 5, 0, &samples);
            if (!first) first = hash;
            assert_true(hash == first);
            assert_int_equal(samples, COUNT);
            assert_true(epoch_hash(loader, 5, 0, &samples) == first); /* and again */
            assert_true(epoch_hash(loader, 6, 0, &samples) != first);
            braid_loader_destroy(loader);
        }
}

static void batches_hold_what_read_gives(void **state) {
    (void)state;
    uint8_t rgb[3 * STREAM_BYTES], depth[STREAM_BYTES], orth[STREAM_BYTES];
    braid_batch batch;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 9, .seed = 1, .threads = 2});
    assert_int_equal(braid_loader_start(loader, 0, 2), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
    assert_int_equal(batch.index, 2);
    assert_int_equal(batch.count, 9);
    for (int64_t k = 0; k < batch.count; k++) {
        assert_int_equal(braid_data_read(set, BRAID_SPLIT_TRAIN, batch.ids[k], (void *[]){rgb, depth, orth}), BRAID_OK);
        assert_memory_equal((const char *)batch.streams[0] + k * 3 * STREAM_BYTES, rgb, sizeof rgb);
        assert_memory_equal((const char *)batch.streams[1] + k * STREAM_BYTES, depth, sizeof depth);
        assert_memory_equal((const char *)batch.streams[2] + k * STREAM_BYTES, orth, sizeof orth);
    }
    braid_loader_destroy(loader);
}

/* What was given is not written to, however far the threads read ahead. */
static void a_batch_stays_until_the_next(void **state) {
    (void)state;
    static uint8_t kept[8 * STREAM_BYTES];
    int64_t ids[8];
    braid_batch batch;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 8, .seed = 4, .threads = 2, .prefetch = 1});
    assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
    for (int k = 0; k < 8; k++) {
        assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
        memcpy(kept, batch.streams[1], sizeof kept);
        memcpy(ids, batch.ids, sizeof ids);
        usleep(20000);
        assert_memory_equal(kept, batch.streams[1], sizeof kept);
        assert_memory_equal(ids, batch.ids, sizeof ids);
    }
    braid_loader_destroy(loader);
}

static void epochs_begin_in_the_middle(void **state) {
    (void)state;
    int64_t order[2][COUNT], count[2] = {0};
    for (int from = 0; from < 2; from++) {
        braid_batch batch;
        braid_loader *loader = open_loader((braid_loader_options){.batch = 8, .seed = 11, .threads = 2});
        assert_int_equal(braid_loader_start(loader, 2, from ? 5 : 0), BRAID_OK);
        do {
            assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
            for (int64_t k = 0; k < batch.count; k++) order[from][count[from]++] = batch.ids[k];
        } while (batch.count);
        braid_loader_destroy(loader);
    }
    assert_int_equal(count[0], COUNT);
    assert_int_equal(count[1], COUNT - 40);
    assert_memory_equal(order[0] + 40, order[1], (COUNT - 40) * sizeof(int64_t));
}

/* Behind the last batch of an epoch the next one is read, whether it is asked for or not; what is given stays the
 * same. */
static void the_next_epoch_is_read_ahead(void **state) {
    (void)state;
    static const int64_t asked[][2] = {{5, 0}, {6, 0}, {9, 0}, {10, 2}, {10, 0}, {12, 0}, {0, 0}};
    for (int in_order = 0; in_order < 2; in_order++) {
        const braid_loader_options o = {.batch = 10, .seed = 3, .threads = 2, .prefetch = 2, .in_order = in_order};
        braid_loader *loader = open_loader(o);
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            int64_t samples, fresh_samples;
            braid_loader *fresh = open_loader(o);
            uint64_t hash = epoch_hash(loader, asked[j][0], asked[j][1], &samples);
            assert_true(hash == epoch_hash(fresh, asked[j][0], asked[j][1], &fresh_samples));
            assert_int_equal(samples, fresh_samples);
            braid_loader_destroy(fresh);
            braid_loader_times times;
            do {
                usleep(100);
                times = braid_loader_measure(loader);
            } while (times.loaded <= times.samples); /* for ever, where nothing is read ahead */
            braid_batch batch;
            assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK); /* nothing without a start */
            assert_int_equal(batch.count, 0);
        }
        braid_loader_destroy(loader);
    }
}

static void partial_batches(void **state) {
    (void)state;
    int64_t samples;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 10, .drop_partial = 1});
    assert_int_equal(braid_loader_batches(loader), 6);
    epoch_hash(loader, 0, 0, &samples);
    assert_int_equal(samples, 60);
    braid_loader_destroy(loader);
    loader = open_loader((braid_loader_options){.batch = 1000, .in_order = 1});
    assert_int_equal(braid_loader_batches(loader), 1);
    braid_batch batch;
    assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
    assert_int_equal(batch.count, COUNT);
    for (int64_t k = 0; k < COUNT; k++) assert_int_equal(batch.ids[k], k);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
    assert_int_equal(batch.count, 0);
    braid_loader_destroy(loader);
}

/* A batch that is larger than the set takes no more memory than the set. */
static void batches_beyond_the_set(void **state) {
    (void)state;
    int64_t samples;
    braid_loader *loader = open_loader((braid_loader_options){.batch = COUNT});
    uint64_t expected = epoch_hash(loader, 3, 0, &samples);
    braid_loader_destroy(loader);
    loader = open_loader((braid_loader_options){.batch = INT32_MAX, .prefetch = 1000});
    assert_int_equal(braid_loader_batches(loader), 1);
    for (int again = 0; again < 2; again++) {
        assert_true(epoch_hash(loader, 3, 0, &samples) == expected);
        assert_int_equal(samples, COUNT);
    }
    braid_loader_destroy(loader);
    loader = open_loader((braid_loader_options){.batch = COUNT + 1, .drop_partial = 1});
    (void)epoch_hash(loader, 0, 0, &samples);
    assert_int_equal(samples, 0);
    braid_loader_destroy(loader);
}

static void nothing_before_the_start(void **state) {
    (void)state;
    braid_batch batch;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 10, .threads = 3});
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
    assert_int_equal(batch.count, 0);
    assert_int_equal(braid_loader_start(loader, -1, 0), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_loader_start(loader, 0, 8), BRAID_ERROR_ARGUMENT);
    braid_loader_destroy(loader);
    assert_int_equal(braid_loader_create(set, &(braid_loader_options){.batch = -1}, &loader), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_lab_message(), "batch: expected 1 to"));
    assert_int_equal(braid_loader_create(set, &(braid_loader_options){.threads = 1000}, &loader), BRAID_ERROR_ARGUMENT);
    assert_int_equal(braid_loader_create(set, &(braid_loader_options){.split = BRAID_SPLIT_COUNT}, &loader),
                     BRAID_ERROR_ARGUMENT);
}

static void ends_at_any_moment(void **state) {
    (void)state;
    for (int read = 0; read < 6; read++)
        for (int threads = 1; threads <= 3; threads++) {
            braid_batch batch;
            braid_loader *loader =
                open_loader((braid_loader_options){.batch = 7, .threads = threads, .prefetch = 1 + read % 3});
            assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
            for (int k = 0; k < read; k++) assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
            if (read % 2) assert_int_equal(braid_loader_start(loader, 1, 1), BRAID_OK);
            braid_loader_destroy(loader);
        }
    braid_loader_destroy(NULL);
}

static void failures_name_the_file(void **state) {
    (void)state;
    braid_batch batch;
    braid_status status = BRAID_OK;
    scratch_cut(&folder, "rooms/train/depth/00020.png", 100);
    scratch_cut(&folder, "rooms/train/rgb/00023.png", 0);
    for (int threads = 1; threads <= 3; threads++) {
        braid_loader *loader = open_loader((braid_loader_options){.batch = 8, .in_order = 1, .threads = threads});
        assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
        for (int k = 0; k < 8; k++) {
            status = braid_loader_next(loader, &batch);
            assert_int_equal(status, k == 2 ? BRAID_ERROR_DATA : BRAID_OK);
            assert_int_equal(batch.count, k == 2 ? 0 : 8);
            if (k == 2) /* the first of the two */
                assert_non_null(strstr(braid_lab_message(), "train/depth/00020.png: PNG: the file ends too early"));
        }
        braid_loader_destroy(loader);
    }
}

typedef struct told {
    int64_t samples[4];
    int count, most; /* that are left out */
} told;

static int hear(void *user, const braid_bad_sample *bad) {
    told *t = user;
    assert_int_equal(bad->split, BRAID_SPLIT_TRAIN);
    assert_int_equal(bad->samples, COUNT);
    assert_non_null(strstr(bad->why, "rooms/train/"));
    t->samples[t->count++] = bad->sample;
    assert_int_equal(bad->count, t->count);
    return t->count > t->most;
}

/* Of the set that failures_name_the_file has damaged: 20 and 23, which are of one batch here. */
static void bad_samples_are_left_out(void **state) {
    static const int64_t left[] = {16, 17, 18, 19, 21, 22};
    uint8_t depth[STREAM_BYTES], rgb[3 * STREAM_BYTES], orth[STREAM_BYTES];
    braid_batch batch;
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        told t = {.most = 2};
        braid_loader *loader = open_loader(
            (braid_loader_options){.batch = 8, .in_order = 1, .threads = threads, .bad_sample = hear, .user = &t});
        for (int epoch = 0; epoch < 2; epoch++) { /* nobody is told twice */
            assert_int_equal(braid_loader_start(loader, epoch, 0), BRAID_OK);
            for (int k = 0; k < 8; k++) {
                assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
                assert_int_equal(batch.count, k == 2 ? 6 : 8);
                for (int64_t j = 0; j < batch.count && k == 2; j++) {
                    const char *planes[] = {batch.streams[0], batch.streams[1]};
                    assert_int_equal(batch.ids[j], left[j]);
                    assert_int_equal(batch.labels[j], braid_data_labels(set, BRAID_SPLIT_TRAIN)[batch.ids[j]]);
                    void *places[] = {rgb, depth, orth};
                    assert_int_equal(braid_data_read(set, BRAID_SPLIT_TRAIN, left[j], places), BRAID_OK);
                    assert_memory_equal(planes[0] + j * 3 * STREAM_BYTES, rgb, sizeof rgb);
                    assert_memory_equal(planes[1] + j * STREAM_BYTES, depth, sizeof depth);
                }
            }
            assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
            assert_int_equal(batch.count, 0);
        }
        braid_loader_destroy(loader);
        assert_int_equal(t.count, 2);
        assert_int_equal(t.samples[0], 20);
        assert_int_equal(t.samples[1], 23);
    }
}

/* Whoever says that it is enough; a batch of which nothing is left is no failure. */
static void too_many_bad_samples(void **state) {
    told one = {.most = 1}, many = {.most = 4};
    braid_batch batch;
    (void)state;
    braid_loader *loader =
        open_loader((braid_loader_options){.batch = 8, .in_order = 1, .bad_sample = hear, .user = &one});
    assert_int_equal(braid_loader_start(loader, 0, 2), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_ERROR_DATA);
    assert_int_equal(batch.count, 0);
    assert_non_null(strstr(braid_lab_message(), "train/rgb/00023.png"));
    braid_loader_destroy(loader);
    loader = open_loader((braid_loader_options){.batch = 1, .in_order = 1, .bad_sample = hear, .user = &many});
    assert_int_equal(braid_loader_start(loader, 0, 20), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
    assert_int_equal(batch.count, 1);
    assert_int_equal(batch.index, 21);
    braid_loader_destroy(loader);
}

/* Batches of one sample: those of 20 and 23 are not there. */
static void empty_batches_are_passed_over(void **state) {
    told many = {.most = 4};
    braid_batch batch;
    int64_t given = 0;
    (void)state;
    braid_loader *loader =
        open_loader((braid_loader_options){.batch = 1, .in_order = 1, .threads = 2, .bad_sample = hear, .user = &many});
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_int_equal(braid_loader_start(loader, epoch, 0), BRAID_OK);
        do {
            assert_int_equal(braid_loader_next(loader, &batch), BRAID_OK);
            given += batch.count;
            assert_true(batch.count == 0 || (batch.ids[0] == batch.index && batch.index != 20 && batch.index != 23));
        } while (batch.count);
    }
    assert_int_equal(given, 2 * (COUNT - 2));
    assert_int_equal(braid_loader_measure(loader).batches, given);
    braid_loader_destroy(loader);
}

static int refused; /* files that the system does not open */

static int open_refusing(const char *path, int flags, unsigned mode) {
    if (strstr(path, "rgb/00017.png") && refused++ >= 0) {
        errno = EMFILE;
        return -1;
    }
    return open(path, flags, (mode_t)mode);
}

/* A fault of the system makes no sample bad, also beside samples that are. */
static void faults_of_the_system_are_not_left_out(void **state) {
    static const files_table refusing = {.open = open_refusing, .pread = pread, .close = close};
    told many = {.most = 4};
    braid_batch batch;
    (void)state;
    files_set_table(&refusing);
    braid_loader *loader =
        open_loader((braid_loader_options){.batch = 8, .in_order = 1, .bad_sample = hear, .user = &many});
    assert_int_equal(braid_loader_start(loader, 0, 2), BRAID_OK);
    assert_int_equal(braid_loader_next(loader, &batch), BRAID_ERROR_DATA);
    assert_non_null(strstr(braid_lab_message(), "rgb/00017.png: could not open: Too many open files"));
    braid_loader_destroy(loader);
    files_set_table(NULL);
    assert_int_equal(refused, 1);
    assert_int_equal(many.count, 0);
}

static void times_are_counted(void **state) {
    (void)state;
    int64_t samples;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 10, .split = BRAID_SPLIT_VAL, .in_order = 1});
    braid_batch batch;
    assert_int_equal(braid_loader_start(loader, 0, 0), BRAID_OK);
    for (samples = 0; braid_loader_next(loader, &batch) == BRAID_OK && batch.count;) samples += batch.count;
    braid_loader_times times = braid_loader_measure(loader);
    assert_int_equal(samples, 13);
    assert_int_equal(times.samples, 13);
    assert_int_equal(times.batches, 2);
    assert_true(times.loading_s > 0 && times.working_s > 0 && times.waited_s >= 0 && times.loaded >= 13);
    braid_loader_destroy(loader);
}

/* ---- Orders ------------------------------------------------------------------------------- */

static void shuffles_are_permutations(void **state) {
    (void)state;
    enum { MOST = 300 };
    static int64_t order[MOST], seen[MOST], moved[MOST];
    for (int64_t count = 0; count <= MOST; count += 37) {
        memset(seen, 0, sizeof seen);
        order_shuffle(order, count, 5, (uint64_t)count);
        for (int64_t i = 0; i < count; i++) seen[order[i]]++;
        for (int64_t i = 0; i < count; i++) assert_int_equal(seen[i], 1);
    }
    memset(moved, 0, sizeof moved); /* every place gets every sample about equally often */
    for (uint64_t epoch = 0; epoch < 2000; epoch++) {
        order_shuffle(order, 10, 1, epoch);
        for (int k = 0; k < 10; k++) moved[order[k] * 10 + k]++;
    }
    for (int k = 0; k < 100; k++) assert_in_range(moved[k], 140, 260);
}

static void stratified_draws_are_even(void **state) {
    (void)state;
    enum { SAMPLES = 110, DRAWS = 30000 };
    static int32_t labels[SAMPLES];
    static int64_t order[DRAWS], by_class[4], by_sample[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) labels[i] = i < 100 ? 0 : i < 109 ? 1 : 3; /* 100, 9, 0 and 1 */
    memset(by_class, 0, sizeof by_class);
    memset(by_sample, 0, sizeof by_sample);
    assert_int_equal(order_stratified(order, DRAWS, &(order_classes){labels, SAMPLES, 4}, 9, 0), BRAID_OK);
    for (int i = 0; i < DRAWS; i++) {
        by_class[labels[order[i]]]++;
        by_sample[order[i]]++;
    }
    assert_int_equal(by_class[2], 0);
    for (int c = 0; c < 4; c++)
        if (c != 2) assert_in_range(by_class[c], 9600, 10400);
    for (int i = 0; i < 100; i++) assert_in_range(by_sample[i], 55, 145);
    for (int i = 100; i < 109; i++) assert_in_range(by_sample[i], 950, 1280);
}

static void stratified_epochs(void **state) {
    (void)state;
    int64_t samples, again;
    braid_loader *loader = open_loader((braid_loader_options){.batch = 16, .seed = 2, .stratified = 1, .threads = 2});
    uint64_t hash = epoch_hash(loader, 0, 0, &samples);
    assert_int_equal(samples, COUNT);
    assert_true(hash == epoch_hash(loader, 0, 0, &again));
    assert_true(hash != epoch_hash(loader, 1, 0, &again));
    braid_loader_destroy(loader);
}

static void weights_undo_counts(void **state) {
    (void)state;
    int64_t counts[15];
    double weights[15], sum = 0;
    braid_data_class_counts(set, BRAID_SPLIT_TRAIN, counts);
    braid_data_class_weights(set, BRAID_SPLIT_TRAIN, weights);
    for (int c = 0; c < 15; c++) {
        assert_in_range(counts[c], 4, 5); /* 64 samples of 15 classes */
        sum += weights[c] * (double)counts[c];
    }
    assert_true(sum > COUNT - 1e-9 && sum < COUNT + 1e-9);
    assert_true(weights[0] == (double)COUNT / (15 * (double)counts[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_told),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(batches_hold_what_read_gives),
        cmocka_unit_test(a_batch_stays_until_the_next),
        cmocka_unit_test(epochs_begin_in_the_middle),
        cmocka_unit_test(the_next_epoch_is_read_ahead),
        cmocka_unit_test(partial_batches),
        cmocka_unit_test(batches_beyond_the_set),
        cmocka_unit_test(nothing_before_the_start),
        cmocka_unit_test(ends_at_any_moment),
        cmocka_unit_test(times_are_counted),
        cmocka_unit_test(shuffles_are_permutations),
        cmocka_unit_test(stratified_draws_are_even),
        cmocka_unit_test(stratified_epochs),
        cmocka_unit_test(weights_undo_counts),
        cmocka_unit_test(failures_name_the_file), /* damages the set */
        cmocka_unit_test(bad_samples_are_left_out),
        cmocka_unit_test(too_many_bad_samples),
        cmocka_unit_test(empty_batches_are_passed_over),
        cmocka_unit_test(faults_of_the_system_are_not_left_out),
    };
    return cmocka_run_group_tests(tests, make_set, remove_set);
}
