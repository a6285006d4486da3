/*
 * Tests of train/modality: the table of the schedule, and masks: at most one stream a sample, the right share, each
 * stream alike, the same bits whatever way a batch is cut, no bits behind the batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "train/modality.h"

#define MOST_WORDS 4096

static uint32_t words[BRAID_MAX_STREAMS][MOST_WORDS];
static uint32_t *const masks[BRAID_MAX_STREAMS] = {words[0], words[1], words[2], words[3],
                                                   words[4], words[5], words[6], words[7]};

static bool bit(int stream, int64_t sample) { return words[stream][sample / 32] >> (sample % 32) & 1; }

/* The stream that a sample lost, -1: none. */
static int lost(int streams, int64_t sample) {
    int found = -1;
    for (int i = 0; i < streams; i++) {
        if (!bit(i, sample)) continue;
        assert_int_equal(found, -1);
        found = i;
    }
    return found;
}

static void assert_share(const modality_options *o, int64_t epoch, double expected) {
    assert_true(fabs(modality_share(o, epoch) - expected) < 1e-12);
}

static void schedule_table(void **unused) {
    (void)unused;
    const modality_options up = {MODALITY_RAMP_UP, 0, 10, 0.2}, down = {MODALITY_RAMP_DOWN, 0, 10, 0.2};
    for (int epoch = 0; epoch < 10; epoch++) {
        assert_share(&up, epoch, 0.02 * (epoch + 1));
        assert_share(&down, epoch, 1 - 0.08 * (epoch + 1));
    }
    assert_share(&up, 10, 0.2);
    assert_share(&up, 1000, 0.2);
    assert_share(&down, 10, 0.2);
    const modality_options late_up = {MODALITY_RAMP_UP, 5, 4, 0.4}, late_down = {MODALITY_RAMP_DOWN, 5, 4, 0.4};
    assert_share(&late_up, 4, 0);
    assert_share(&late_up, 5, 0.1);
    assert_share(&late_up, 8, 0.4);
    assert_share(&late_up, 9, 0.4);
    assert_share(&late_down, 4, 1);
    assert_share(&late_down, 5, 0.85);
    assert_share(&late_down, 8, 0.4);
    const modality_options at_once = {MODALITY_RAMP_DOWN, 3, 0, 0.3}, negative = {MODALITY_RAMP_UP, 0, -4, 0.3};
    assert_share(&at_once, 2, 1);
    assert_share(&at_once, 3, 0.3);
    assert_share(&negative, 0, 0.3);
}

static void at_most_one_stream(void **unused) {
    (void)unused;
    for (int streams = 2; streams <= BRAID_MAX_STREAMS; streams++) {
        for (int64_t batch = 1; batch <= 100; batch += 11) {
            int64_t blanked[BRAID_MAX_STREAMS], counted[BRAID_MAX_STREAMS] = {0}, total = 0;
            const modality_batch b = {.seed = 9, .step = batch, .batch = batch, .streams = streams};
            memset(words, 0xff, sizeof words);
            int64_t drawn = modality_draw(&b, 0.6, masks, blanked);
            for (int64_t sample = 0; sample < batch; sample++) {
                int stream = lost(streams, sample);
                if (stream < 0) continue;
                counted[stream]++;
                total++;
            }
            assert_int_equal(drawn, total);
            assert_memory_equal(counted, blanked, (size_t)streams * sizeof *blanked);
            for (int i = 0; i < streams; i++) {
                for (int64_t sample = batch; sample < (batch + 31) / 32 * 32; sample++) assert_false(bit(i, sample));
                assert_int_equal(words[i][(batch + 31) / 32], UINT32_MAX); /* and no word behind */
            }
        }
    }
}

/* Counts within five standard deviations. */
static void shares(void **unused) {
    (void)unused;
    const int64_t batch = 100000;
    static const double wanted[] = {0.02, 0.2, 0.92};
    for (int w = 0; w < 3; w++) {
        int64_t blanked[3];
        const modality_batch b = {.seed = 77, .step = 5, .batch = batch, .streams = 3};
        double p = wanted[w], n = (double)batch;
        int64_t total = modality_draw(&b, p, masks, blanked);
        assert_true(fabs((double)total - n * p) < 5 * sqrt(n * p * (1 - p)));
        for (int i = 0; i < 3; i++)
            assert_true(fabs((double)blanked[i] - n * p / 3) < 5 * sqrt(n * p / 3 * (1 - p / 3)));
    }
}

static void all_and_none(void **unused) {
    (void)unused;
    int64_t blanked[2];
    const modality_batch b = {.seed = 1, .step = 0, .batch = 1000, .streams = 2};
    assert_int_equal(modality_draw(&b, 0, masks, blanked), 0);
    for (int64_t sample = 0; sample < 1000; sample++) assert_int_equal(lost(2, sample), -1);
    assert_int_equal(modality_draw(&b, 1, masks, blanked), 1000);
    assert_int_equal(blanked[0] + blanked[1], 1000);
    const modality_batch empty = {.seed = 1, .streams = 2};
    assert_int_equal(modality_draw(&empty, 1, masks, blanked), 0);
}

/* In a batch of two or more every stream keeps two: the first ones that it lost are given back, and no others. */
static void two_samples_stay(void **unused) {
    (void)unused;
    int64_t given = 0;
    for (int64_t step = 0; step < 400; step++) {
        for (int64_t batch = 1; batch <= 40; batch += batch < 6 ? 1 : 34) {
            int64_t blanked[2], plain = 0;
            const modality_batch b = {.seed = 4, .step = step, .batch = batch, .streams = 2};
            int drawn[40];
            for (int64_t sample = 0; sample < batch; sample++) { /* one at a time nothing is given back */
                const modality_batch one = {.seed = 4, .step = step, .first = sample, .batch = 1, .streams = 2};
                modality_draw(&one, 0.9, masks, blanked);
                drawn[sample] = lost(2, 0);
                plain += drawn[sample] >= 0;
            }
            int64_t total = modality_draw(&b, 0.9, masks, blanked), active[2] = {0};
            given += plain - total;
            assert_int_equal(total, blanked[0] + blanked[1]);
            for (int64_t sample = 0; sample < batch; sample++) {
                int now = lost(2, sample);
                for (int i = 0; i < 2; i++) active[i] += now != i;
                if (now == drawn[sample]) continue;
                assert_int_equal(now, -1);
                assert_true(active[drawn[sample]] <= 2);
            }
            for (int i = 0; i < 2; i++) {
                assert_int_equal(active[i], batch - blanked[i]);
                assert_true(batch < 2 || active[i] >= 2);
            }
            if (batch == 1) assert_int_equal(total, plain);
        }
    }
    assert_true(given > 100);
}

/* A batch in parts (accumulation, several processes) draws what the whole draws. */
static void parts_make_the_whole(void **unused) {
    (void)unused;
    int64_t blanked[4];
    int whole[96];
    modality_batch b = {.seed = 3, .step = 12, .batch = 96, .streams = 4};
    modality_draw(&b, 0.5, masks, blanked);
    for (int sample = 0; sample < 96; sample++) whole[sample] = lost(4, sample);
    static const int64_t cuts[] = {0, 1, 17, 40, 41, 96};
    for (int part = 0; part < 5; part++) {
        b.first = cuts[part];
        b.batch = cuts[part + 1] - cuts[part];
        modality_draw(&b, 0.5, masks, blanked);
        for (int64_t sample = 0; sample < b.batch; sample++) assert_int_equal(lost(4, sample), whole[b.first + sample]);
    }
}

static void seeds_and_steps_differ(void **unused) {
    (void)unused;
    static uint32_t seen[4][32];
    int64_t blanked[2];
    const modality_batch batches[4] = {{.seed = 1, .step = 1, .batch = 1024, .streams = 2},
                                       {.seed = 2, .step = 1, .batch = 1024, .streams = 2},
                                       {.seed = 1, .step = 2, .batch = 1024, .streams = 2},
                                       {.seed = 1 + (UINT64_C(1) << 32), .step = 1, .batch = 1024, .streams = 2}};
    for (int i = 0; i < 4; i++) {
        modality_draw(&batches[i], 0.5, masks, blanked);
        memcpy(seen[i], words[0], sizeof seen[i]);
        for (int j = 0; j < i; j++) assert_memory_not_equal(seen[i], seen[j], sizeof seen[i]);
    }
}

/* Frozen: a resumed run of a later build must draw the same masks. */
static void known_masks(void **unused) {
    (void)unused;
    int64_t blanked[3];
    const modality_batch b = {.seed = 42, .step = 7, .batch = 40, .streams = 3};
    assert_int_equal(modality_draw(&b, 0.5, masks, blanked), 17);
    static const uint32_t known[3][2] = {{0x48400020, 0x0000000e}, {0x01008100, 0x00000001}, {0x80084212, 0x00000000}};
    for (int i = 0; i < 3; i++) assert_memory_equal(words[i], known[i], sizeof known[i]);
}

static void refusals(void **unused) {
    (void)unused;
    modality_ramp ramp;
    assert_int_equal(modality_ramp_read("ramp_down", &ramp), BRAID_OK);
    assert_int_equal(ramp, MODALITY_RAMP_DOWN);
    assert_int_equal(modality_ramp_read("ramp_up", &ramp), BRAID_OK);
    assert_int_equal(ramp, MODALITY_RAMP_UP);
    assert_string_equal(modality_ramp_name(MODALITY_RAMP_DOWN), "ramp_down");
    assert_int_equal(modality_ramp_read("up", &ramp), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "\"up\""));
    assert_int_equal(modality_check(&(modality_options){.rate = 0.2}), BRAID_OK);
    assert_int_equal(modality_check(&(modality_options){.rate = 1.2}), BRAID_ERROR_ARGUMENT);
    assert_int_equal(modality_check(&(modality_options){.rate = NAN}), BRAID_ERROR_ARGUMENT);
    assert_int_equal(modality_check(&(modality_options){.rate = 0.2, .start = -1}), BRAID_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_table),
        cmocka_unit_test(at_most_one_stream),
        cmocka_unit_test(shares),
        cmocka_unit_test(all_and_none),
        cmocka_unit_test(two_samples_stay),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(seeds_and_steps_differ),
        cmocka_unit_test(known_masks),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
