/*
 * What a synthetic room gives away. A linear function of the pixels of one stream, fitted by least squares, must not
 * read the class. How the slopes of a picture are directed tells its texture: from one stream that must not get beyond
 * that stream's share, from all of them together it must, or there would be nothing to learn.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "braid_lab.h"
#include "tests/support/scratch.h"

enum { HEIGHT = 48, WIDTH = 64, CELL = 4, PIXELS = HEIGHT * WIDTH, CLASSES = 15, STREAMS = 3, TRAIN = 600, VAL = 120 };
enum { CELLS = (HEIGHT / CELL) * (WIDTH / CELL), HARMONICS = 3, MOST = 3 * CELLS + 1 };

static uint8_t images[2][TRAIN][STREAMS][PIXELS * 3];
static int32_t labels[2][TRAIN];
static double features[2][TRAIN][MOST];

static void read_set(void) {
    scratch folder;
    braid_data *data;
    const braid_data_make_options options = {.size = {HEIGHT, WIDTH}, .count = TRAIN, .seed = 1};
    scratch_begin(&folder);
    assert_int_equal(braid_data_make(BRAID_DATA_SUNRGBD, scratch_path(&folder, "rooms"), &options), BRAID_OK);
    assert_int_equal(braid_data_open(scratch_path(&folder, "rooms"), NULL, &data), BRAID_OK);
    for (int s = 0; s < 2; s++)
        for (int64_t k = 0; k < (s ? VAL : TRAIN); k++) {
            void *const places[] = {images[s][k][0], images[s][k][1], images[s][k][2]};
            assert_int_equal(braid_data_read(data, (braid_split)s, k, places), BRAID_OK);
            labels[s][k] = braid_data_labels(data, (braid_split)s)[k];
        }
    braid_data_destroy(data);
    scratch_end(&folder);
}

/* ---- Least squares ------------------------------------------------------------------------ */

/* Solves a x = b for a positive matrix of n rows and CLASSES right-hand sides, in place, by Cholesky. */
static void solve(double *a, double *b, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
        for (int c = 0; c < CLASSES; c++) {
            double sum = b[i * CLASSES + c];
            for (int k = 0; k < i; k++) sum -= a[i * n + k] * b[k * CLASSES + c];
            b[i * CLASSES + c] = sum / a[i * n + i];
        }
    }
    for (int i = n - 1; i >= 0; i--)
        for (int c = 0; c < CLASSES; c++) {
            double sum = b[i * CLASSES + c];
            for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * b[k * CLASSES + c];
            b[i * CLASSES + c] = sum / a[i * n + i];
        }
}

/* Every feature with mean 0 and deviation 1 over the training samples; the last is 1. */
static void standardise(int n) {
    for (int f = 0; f < n - 1; f++) {
        double sum = 0, square = 0;
        for (int k = 0; k < TRAIN; k++) {
            sum += features[0][k][f];
            square += features[0][k][f] * features[0][k][f];
        }
        double mean = sum / TRAIN, deviation = sqrt(square / TRAIN - mean * mean) + 1e-9;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < TRAIN; k++) features[s][k][f] = (features[s][k][f] - mean) / deviation;
    }
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < TRAIN; k++) features[s][k][n - 1] = 1;
}

static int best_class(const double *feature, const double *weights, int n) {
    int best = 0;
    double most = -INFINITY;
    for (int c = 0; c < CLASSES; c++) {
        double sum = 0;
        for (int f = 0; f < n; f++) sum += feature[f] * weights[f * CLASSES + c];
        if (sum > most) {
            most = sum;
            best = c;
        }
    }
    return best;
}

/* The share of validation samples that a ridge regression on n features (the last is 1) names rightly. */
static double probe(int n) {
    double *a = calloc((size_t)n * (size_t)n, sizeof *a), *b = calloc((size_t)n * CLASSES, sizeof *b);
    int right = 0;
    assert_true(a && b);
    standardise(n);
    for (int k = 0; k < TRAIN; k++)
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) a[i * n + j] += features[0][k][i] * features[0][k][j];
            b[i * CLASSES + labels[0][k]] += features[0][k][i];
        }
    for (int i = 0; i < n; i++) a[i * n + i] += 0.1 * TRAIN; /* the ridge */
    solve(a, b, n);
    for (int k = 0; k < VAL; k++) right += best_class(features[1][k], b, n) == labels[1][k];
    free(a);
    free(b);
    return (double)right / VAL;
}

/* ---- Features ----------------------------------------------------------------------------- */

/* Means of 4x4 pixels, of each channel. Returns how many. */
static int linear_features(const uint8_t *pixels, int channels, double *out) {
    for (int cell = 0; cell < CELLS; cell++)
        for (int c = 0; c < channels; c++) {
            int y = cell / (WIDTH / CELL) * CELL, x = cell % (WIDTH / CELL) * CELL, sum = 0;
            for (int p = 0; p < CELL * CELL; p++) sum += pixels[((y + p / CELL) * WIDTH + x + p % CELL) * channels + c];
            *out++ = sum;
        }
    return CELLS * channels;
}

/* How much the directions of the slopes agree when a turn is cut into 2, 4 or 6: stripes in all three, checks in 4,
 * spots in 6, rings in none. Blind to phase and direction. And how steep they are: a plain wall is not. */
static int direction_features(const uint8_t *pixels, int channels, double *out) {
    double sums[HARMONICS][2] = {{0}}, all = 0;
    for (int y = 2; y + 2 < HEIGHT; y++)
        for (int x = 2; x + 2 < WIDTH; x++) {
            const uint8_t *at = pixels + (y * WIDTH + x) * channels;
            double dx = at[2 * channels] - at[-2 * channels];
            double dy = at[2 * WIDTH * channels] - at[-2 * WIDTH * channels];
            double weight = dx * dx + dy * dy, c = dx * dx - dy * dy, s = 2 * dx * dy; /* the angle doubled */
            double re = 1, im = 0;
            if (weight == 0) continue;
            for (int h = 0; h < HARMONICS; h++) {
                double next = (re * c - im * s) / weight;
                im = (re * s + im * c) / weight;
                re = next;
                sums[h][0] += weight * re;
                sums[h][1] += weight * im;
            }
            all += weight;
        }
    for (int h = 0; h < HARMONICS; h++) out[h] = sqrt(sums[h][0] * sums[h][0] + sums[h][1] * sums[h][1]) / all;
    out[HARMONICS] = log(all);
    return HARMONICS + 1;
}

typedef int feature_function(const uint8_t *pixels, int channels, double *out);

static double probe_streams(feature_function *make, int first, int count) {
    int used = 0;
    memset(features, 0, sizeof features);
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < (s ? VAL : TRAIN); k++) {
            used = 0;
            for (int i = first; i < first + count; i++) used += make(images[s][k][i], i ? 1 : 3, features[s][k] + used);
        }
    return probe(used + 1);
}

static void no_stream_is_linear(void **state) {
    (void)state;
    for (int i = 0; i < STREAMS; i++) {
        double right = probe_streams(linear_features, i, 1);
        print_message("linear probe, stream %d: %.3f\n", i, right);
        assert_true(right < 0.15); /* 1 of 15 by chance; 3 deviations of 120 draws are 0.07 */
    }
}

static void all_streams_tell_more_than_one(void **state) {
    (void)state;
    double all = probe_streams(direction_features, 0, 3);
    print_message("probe of directions, all streams: %.3f\n", all);
    assert_true(all > 0.6);
    for (int i = 0; i < STREAMS; i++) {
        double one = probe_streams(direction_features, i, 1);
        print_message("probe of directions, stream %d: %.3f\n", i, one);
        assert_true(one < 0.4 && one < all - 0.2);
    }
}

static int set_up(void **state) {
    (void)state;
    read_set();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_stream_is_linear),
                                       cmocka_unit_test(all_streams_tell_more_than_one)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
