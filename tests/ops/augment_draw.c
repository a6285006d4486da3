/*
 * What augment draws (src/ops/augment.h): how often, how much, from what, and what it does not depend on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "ops/augment.h"

#include <math.h>
#include <string.h>

#define SAMPLES 20000

static const int64_t usual_key[2] = {42, 7};

static braid_problem given_images(void) {
    braid_problem p = {.op = BRAID_OP_AUGMENT,
                       .streams = 3,
                       .batch = 2,
                       .size = {256, 320},
                       .in_channels = {3, 1, 1},
                       .out_size = {224, 224}};
    assert_int_equal(braid_problem_check(&p), BRAID_OK);
    return p;
}

static augment_draws draw_usual(const braid_problem *p, int i, int64_t id) {
    double row[AUGMENT_SETTINGS];
    augment_draws d;
    augment_usual(row, i == 0, i);
    augment_draw(p, i, usual_key, id, row, &d);
    return d;
}

/* Within four deviations of a count of that share. */
static void assert_share(int64_t count, double share) {
    double deviation = sqrt(share * (1 - share) * SAMPLES);
    if (fabs((double)count - share * SAMPLES) > 4 * deviation)
        fail_msg("expected a share of %g, got %g", share, (double)count / SAMPLES);
}

static void assert_within(double value, double low, double high) {
    if (!(value >= low && value <= high)) fail_msg("expected from %g to %g, got %g", low, high, value);
}

static void shares_of_application(void **state) {
    (void)state;
    braid_problem p = given_images();
    int64_t flip = 0, adjust[2] = {0}, blur = 0, grey = 0, erase[2] = {0}, taps[3] = {0};
    for (int64_t id = 0; id < SAMPLES; id++) {
        augment_draws rgb = draw_usual(&p, 0, id), depth = draw_usual(&p, 1, id);
        flip += rgb.flip;
        adjust[0] += rgb.adjust;
        adjust[1] += depth.adjust;
        blur += rgb.blur_taps > 0;
        grey += rgb.grey;
        erase[0] += rgb.erased.height > 0;
        erase[1] += depth.erased.height > 0;
        for (int j = 0; j < 3; j++) taps[j] += rgb.blur_taps == 3 + 2 * j;
        assert_int_equal(depth.blur_taps, 0);
        assert_int_equal(depth.grey, 0);
    }
    assert_share(flip, 0.5);
    assert_share(adjust[0], 0.43);
    assert_share(adjust[1], 0.5);
    assert_share(blur, 0.25);
    for (int j = 0; j < 3; j++) assert_share(taps[j], 0.25 / 3);
    assert_share(grey, 0.17);
    assert_share(erase[0], 0.17);
    assert_share(erase[1], 0.10);
}

/* Every value inside its range, the ends nearly reached, the middle in the middle. */
typedef struct spread {
    double low, high, least, most, sum;
    int64_t count;
} spread;

static void spread_add(spread *s, double value) {
    assert_within(value, s->low, s->high);
    if (s->count == 0 || value < s->least) s->least = value;
    if (s->count == 0 || value > s->most) s->most = value;
    s->sum += value;
    s->count++;
}

static void assert_spread(const spread *s) {
    double width = s->high - s->low;
    assert_within(s->least, s->low, s->low + 0.01 * width);
    assert_within(s->most, s->high - 0.01 * width, s->high);
    assert_within(s->sum / (double)s->count, s->low + 0.48 * width, s->low + 0.52 * width);
}

static void ranges_of_factors(void **state) {
    (void)state;
    braid_problem p = given_images();
    spread rgb[3] = {{.low = 0.63, .high = 1.37}, {.low = 0.63, .high = 1.37}, {.low = 0.63, .high = 1.37}};
    spread hue = {.low = -0.11, .high = 0.11}, plain[2] = {{.low = 0.75, .high = 1.25}, {.low = 0.75, .high = 1.25}};
    int orders[256] = {0}, distinct = 0;
    for (int64_t id = 0; id < SAMPLES; id++) {
        augment_draws d = draw_usual(&p, 0, id), depth = draw_usual(&p, 2, id);
        spread_add(&rgb[0], d.brightness);
        spread_add(&rgb[1], d.contrast);
        spread_add(&rgb[2], d.saturation);
        spread_add(&hue, d.hue);
        spread_add(&plain[0], depth.brightness);
        spread_add(&plain[1], depth.contrast);
        assert_true(depth.noise == 0.06);
        unsigned order = 0, seen = 0;
        for (int j = 0; j < AUGMENT_STEPS; j++) {
            order = order << 2 | d.order[j];
            seen |= 1u << d.order[j];
        }
        assert_int_equal(seen, 15);
        orders[order]++;
    }
    for (int j = 0; j < 3; j++) assert_spread(&rgb[j]);
    for (int j = 0; j < 2; j++) assert_spread(&plain[j]);
    assert_spread(&hue);
    for (int j = 0; j < 256; j++) {
        distinct += orders[j] > 0;
        if (orders[j]) assert_share(orders[j], 1.0 / 24);
    }
    assert_int_equal(distinct, 24);
}

static void assert_inside(const augment_rectangle *a, const int64_t size[2]) {
    assert_true(a->top >= 0 && a->left >= 0 && a->height >= 0 && a->width >= 0);
    assert_true(a->height <= size[0] - a->top && a->width <= size[1] - a->left);
}

/* A side is rounded to whole pixels: that moves areas and ratios a little. */
static void ranges_of_rectangles(void **state) {
    (void)state;
    braid_problem p = given_images();
    spread top = {.low = 0, .high = 32}, left = {.low = 0, .high = 96};
    spread area = {.low = 0.0195, .high = 0.1014};
    double taller = 0;
    int64_t erased = 0;
    for (int64_t id = 0; id < SAMPLES; id++) {
        augment_draws d = draw_usual(&p, 0, id);
        assert_inside(&d.source, p.size);
        assert_inside(&d.erased, p.out_size);
        assert_int_equal(d.source.height, 224);
        assert_int_equal(d.source.width, 224);
        spread_add(&top, (double)d.source.top);
        spread_add(&left, (double)d.source.left);
        if (d.erased.height == 0) continue;
        spread_add(&area, (double)(d.erased.height * d.erased.width) / (224 * 224));
        assert_within((double)d.erased.height / (double)d.erased.width, 0.48, 2.1);
        taller += d.erased.height > d.erased.width;
        erased++;
    }
    assert_spread(&top);
    assert_spread(&left);
    assert_spread(&area);
    assert_within(taller / (double)erased, 0.45, 0.55); /* the logarithm of the ratio is uniform */
}

static void ranges_of_resampled_rectangles(void **state) {
    (void)state;
    braid_problem p = given_images();
    double row[AUGMENT_SETTINGS];
    int64_t whole = 0;
    augment_usual(row, 1, 0);
    row[AUGMENT_RESAMPLE] = 1;
    row[AUGMENT_SCALE_LOW] = 0.5;
    row[AUGMENT_SCALE_HIGH] = 0.7;
    for (int64_t id = 0; id < SAMPLES; id++) {
        augment_draws d;
        augment_draw(&p, 0, usual_key, id, row, &d);
        assert_int_equal(d.resample, 1);
        assert_inside(&d.source, p.size);
        int all = d.source.height == p.size[0] && d.source.width == p.size[1];
        whole += all;
        if (all) continue;
        assert_within((double)(d.source.height * d.source.width) / (256 * 320), 0.49, 0.71);
        assert_within((double)d.source.width / (double)d.source.height, 0.94, 1.06);
    }
    assert_share(whole, 0.5);
}

/* No square fits 90 % of a wide image: after ten tries the largest one in the middle. */
static void a_rectangle_that_never_fits(void **state) {
    (void)state;
    braid_problem p = {.op = BRAID_OP_AUGMENT, .streams = 1, .size = {10, 40}, .in_channels = {3}, .out_size = {8, 8}};
    double row[AUGMENT_SETTINGS];
    augment_draws d;
    assert_int_equal(braid_problem_check(&p), BRAID_OK);
    augment_usual(row, 1, 0);
    row[AUGMENT_RESAMPLE] = row[AUGMENT_RECTANGLE_P] = row[AUGMENT_RATIO_LOW] = row[AUGMENT_RATIO_HIGH] = 1;
    augment_draw(&p, 0, usual_key, 1, row, &d);
    assert_memory_equal(&d.source, &((augment_rectangle){0, 15, 10, 10}), sizeof d.source);
}

static void streams_share_flip_and_crop_alone(void **state) {
    (void)state;
    braid_problem p = given_images();
    int64_t both = 0, depth_only = 0, orth_only = 0, same_contrast = 0;
    for (int64_t id = 0; id < SAMPLES; id++) {
        augment_draws rgb = draw_usual(&p, 0, id), depth = draw_usual(&p, 1, id), orth = draw_usual(&p, 2, id);
        assert_int_equal(rgb.flip, depth.flip);
        assert_int_equal(rgb.flip, orth.flip);
        assert_memory_equal(&rgb.source, &depth.source, sizeof rgb.source);
        assert_memory_equal(&rgb.source, &orth.source, sizeof rgb.source);
        both += depth.adjust && orth.adjust;
        depth_only += depth.adjust && !orth.adjust;
        orth_only += !depth.adjust && orth.adjust;
        same_contrast += depth.contrast == orth.contrast;
    }
    assert_share(both, 0.25);
    assert_share(depth_only, 0.25);
    assert_share(orth_only, 0.25);
    assert_true(same_contrast < 3);
}

/* Not the batch, not the other streams, not the other transforms. */
static void draws_depend_on_nothing_else(void **state) {
    (void)state;
    braid_problem p = given_images(), other = p;
    double row[AUGMENT_SETTINGS];
    other.batch = 5;
    other.streams = 1;
    other.in_channels[1] = other.in_channels[2] = other.in_pitch[1] = other.in_pitch[2] = 0;
    for (int64_t id = -50; id < 50; id++) {
        augment_draws one = draw_usual(&p, 0, id), again = draw_usual(&other, 0, id), less;
        assert_memory_equal(&one.erased, &again.erased, sizeof one.erased);
        assert_true(one.hue == again.hue && one.adjust == again.adjust && one.grey == again.grey);
        augment_usual(row, 1, 0);
        row[AUGMENT_FLIP_P] = row[AUGMENT_ADJUST_P] = row[AUGMENT_BLUR_P] = row[AUGMENT_GREY_P] = 0;
        augment_draw(&p, 0, usual_key, id, row, &less);
        assert_memory_equal(&one.erased, &less.erased, sizeof one.erased);
        assert_memory_equal(&one.source, &less.source, sizeof one.source);
        assert_true(!less.flip && !less.adjust && !less.grey && less.blur_taps == 0);
    }
}

/* Seed, step and id all count, and so does the number of the stream. */
static void draws_depend_on_all_of_the_key(void **state) {
    (void)state;
    braid_problem p = given_images();
    double row[AUGMENT_SETTINGS];
    const int64_t keys[5][3] = {{1, 2, 3}, {9, 2, 3}, {1, 9, 3}, {1, 2, 9}, {1 + (INT64_C(1) << 40), 2, 3}};
    augment_draws d[6];
    augment_usual(row, 1, 0);
    for (int j = 0; j < 5; j++) augment_draw(&p, 0, keys[j], keys[j][2], row, &d[j]);
    row[AUGMENT_NUMBER] = 1;
    augment_draw(&p, 0, keys[0], keys[0][2], row, &d[5]);
    for (int j = 1; j < 6; j++) {
        assert_true(d[j].contrast != d[0].contrast);
        if (j < 5) assert_true(memcmp(&d[j].source, &d[0].source, sizeof d[0].source) != 0);
    }
    assert_memory_equal(&d[5].source, &d[0].source, sizeof d[0].source);
}

/* A run that is repeated years later must draw the same. */
static void draws_stay_what_they_are(void **state) {
    (void)state;
    braid_problem p = given_images();
    augment_draws d = draw_usual(&p, 0, 12345);
    assert_true(d.flip && d.adjust && !d.grey && d.blur_taps == 0);
    assert_memory_equal(&d.source, &((augment_rectangle){16, 38, 224, 224}), sizeof d.source);
    assert_true(d.brightness == 1.0753199759451673 && d.hue == 0.014027276434935634);
    assert_true(augment_noise(&d, 3) == 1.3437855427817933);
}

static void sick_settings_stay_inside(void **state) {
    (void)state;
    static const double sick[] = {NAN, INFINITY, -INFINITY, -1, 1e30, -1e30, 0};
    braid_problem p = given_images();
    for (int64_t id = 0; id < 200; id++) {
        for (int train = 0; train < 2; train++) {
            rng r = {.seed = (uint64_t)id};
            double row[AUGMENT_SETTINGS];
            augment_draws d;
            p.phase = train ? BRAID_PHASE_TRAIN : BRAID_PHASE_EVAL;
            for (int j = 0; j < AUGMENT_SETTINGS; j++) row[j] = sick[rng_between(&r, 0, 6)];
            augment_draw(&p, 0, usual_key, id, row, &d);
            assert_inside(&d.source, p.size);
            assert_inside(&d.erased, p.out_size);
            assert_true(d.source.height > 0 && d.source.width > 0);
            assert_within(d.blur_taps, 0, AUGMENT_MOST_TAPS);
            assert_within(d.hue, -0.5, 0.5);
            if (train) assert_within(d.contrast, 0, 9);
        }
    }
}

static void evaluation_draws_nothing(void **state) {
    (void)state;
    braid_problem p = given_images();
    p.phase = BRAID_PHASE_EVAL;
    for (int64_t id = 0; id < 100; id++) {
        augment_draws d = draw_usual(&p, (int)(id % 3), id);
        assert_memory_equal(&d.source, &((augment_rectangle){16, 48, 224, 224}), sizeof d.source);
        assert_true(!d.flip && !d.adjust && !d.grey && d.blur_taps == 0 && d.erased.height == 0);
    }
}

static void weights_of_a_blur(void **state) {
    (void)state;
    braid_problem p = given_images();
    for (int64_t id = 0; id < 1000; id++) {
        augment_draws d = draw_usual(&p, 0, id);
        double sum = 0;
        for (int j = 0; j < d.blur_taps; j++) {
            sum += d.blur_weights[j];
            assert_true(d.blur_weights[j] == d.blur_weights[d.blur_taps - 1 - j]);
        }
        if (d.blur_taps) assert_within(sum, 1 - 1e-12, 1 + 1e-12);
    }
}

static void noise_is_normal(void **state) {
    (void)state;
    braid_problem p = given_images();
    augment_draws d = draw_usual(&p, 1, 5);
    double sums[4] = {0};
    for (int64_t j = 0; j < SAMPLES; j++) {
        double value = augment_noise(&d, j), power = value;
        for (int k = 0; k < 4; k++) {
            sums[k] += power / SAMPLES;
            power *= value;
        }
    }
    assert_within(sums[0], -0.03, 0.03);
    assert_within(sums[1], 0.96, 1.04);
    assert_within(sums[2], -0.1, 0.1);
    assert_within(sums[3], 2.7, 3.3);
}

static void places(void **state) {
    (void)state;
    static const int64_t reflected[] = {3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};
    for (int64_t at = -3; at < 8; at++) assert_int_equal(augment_reflect(at, 4), reflected[at + 3]);
    assert_int_equal(augment_reflect(-5, 1), 0);
    for (int64_t from = 1; from < 40; from++) {
        for (int64_t to = 1; to < 40; to++) {
            for (int64_t out = 0; out < to; out++) {
                int64_t first, count;
                augment_taps(from, to, out, &first, &count);
                assert_true(first >= 0 && count > 0 && first + count <= from);
                assert_true(count <= augment_most_taps(from, to));
                double sum = 0;
                for (int64_t t = first; t < first + count; t++) sum += augment_tap_weight(from, to, out, t);
                assert_true(sum > 0.4);
                if (first > 0) assert_true(augment_tap_weight(from, to, out, first - 1) < 1e-9);
                if (first + count < from) assert_true(augment_tap_weight(from, to, out, first + count) < 1e-9);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_application),
        cmocka_unit_test(ranges_of_factors),
        cmocka_unit_test(ranges_of_rectangles),
        cmocka_unit_test(ranges_of_resampled_rectangles),
        cmocka_unit_test(a_rectangle_that_never_fits),
        cmocka_unit_test(streams_share_flip_and_crop_alone),
        cmocka_unit_test(draws_depend_on_nothing_else),
        cmocka_unit_test(draws_depend_on_all_of_the_key),
        cmocka_unit_test(draws_stay_what_they_are),
        cmocka_unit_test(sick_settings_stay_inside),
        cmocka_unit_test(evaluation_draws_nothing),
        cmocka_unit_test(weights_of_a_blur),
        cmocka_unit_test(noise_is_normal),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
