/*
 * The case tests of normalize: see tests/support/cases.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cases.h"
#include "tests/support/known.h"
#include "tests/support/stream_properties.h"

static const property properties[] = {
    {"streams permute", streams_permute},
    {"streams together equal streams alone", streams_stand_alone},
    {"NaN in one stream reaches no other", streams_do_not_leak},
    {"samples permute", samples_permute},
    {"1, 2, 3 and 7 threads give the same bits", threads_leave_no_trace},
    {NULL, NULL},
};

#define COUNT(values) ((int)(sizeof(values) / sizeof(values)[0]))

/* A deviation of 1 / 255 and a mean of 0 give back the bytes; 255 * (1 / 255) is 1 to the last bit here. */
static void bytes_come_back(known *k) {
    static const double x[] = {0, 1, 2, 127, 128, 254, 255}, mean[] = {0}, std[] = {1.0 / 255};
    known_set(k, NORMALIZE_X, x, COUNT(x));
    known_set(k, NORMALIZE_MEAN, mean, 1);
    known_set(k, NORMALIZE_STD, std, 1);
    if (known_run(k)) known_expect(k, NORMALIZE_Y, x, COUNT(x), 1e-4);
}

/* Black, white and a middle grey with the means and deviations of ImageNet, worked out by hand. */
static void imagenet(known *k) {
    static const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
    static const double x[] = {0, 0, 0, 255, 255, 255, 51, 102, 153};
    static const double y[] = {-2.1179039301, -2.0357142857, -1.8044444444, 2.2489082969, 2.4285714286,
                               2.64,          -1.2445414847, -0.25,         0.8622222222};
    known_set(k, NORMALIZE_X, x, COUNT(x));
    known_set(k, NORMALIZE_MEAN, mean, 3);
    known_set(k, NORMALIZE_STD, std, 3);
    if (known_run(k)) known_expect(k, NORMALIZE_Y, y, COUNT(y), 1e-6);
}

static void scenarios(suite *s) {
    known_each(s, "normalize:f32:b1:hw1x7:c1", bytes_come_back);
    known_each(s, "normalize:f32:b1:hw7x1:c1:cp4", bytes_come_back);
    known_each(s, "normalize:f32:b1:hw1x3:c3", imagenet);
    known_each(s, "normalize:f32:b3:hw1x1:c3:cp4", imagenet);
    known_each(s, "normalize:f64:b1:hw3x1:c3:cp5", imagenet);
    known_refused(s, "normalize:n9:hw2x2:c1", "from 1 to 8");
    known_refused(s, "normalize:hw2x2:c3:cp2", "at least its 3 channels");
    known_refused(s, "normalize:hw2x2:c3:mask1", "has no field mask");
}

int main(int argc, char **argv) {
    return cases_main(argc, argv,
                      &(op_tests){.op = BRAID_OP_NORMALIZE, .properties = properties, .scenarios = scenarios});
}
