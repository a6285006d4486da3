/*
 * The draws of augment.h for the CPU; augment_draw.h makes them.
 *
 * SPDX-License-Identifier: MIT
 */
#define DRAW_CODE static inline
#include "core/rng.h"

static inline uint32_t numbers_u32(rng *r) { return rng_u32(r); }
static inline int64_t numbers_between(rng *r, int64_t low, int64_t high) { return rng_between(r, low, high); }
static inline void numbers_mix(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    philox4x32(out, counter, key);
}

#include "ops/augment_draw.h"

void augment_usual(double row[AUGMENT_SETTINGS], int colour, int number) {
    memcpy(row,
           (const double[AUGMENT_SETTINGS]){
               [AUGMENT_KIND] = colour,
               [AUGMENT_NUMBER] = number,
               [AUGMENT_FLIP_P] = 0.5,
               [AUGMENT_RECTANGLE_P] = 0.5,
               [AUGMENT_SCALE_LOW] = 0.9,
               [AUGMENT_SCALE_HIGH] = 1,
               [AUGMENT_RATIO_LOW] = 0.95,
               [AUGMENT_RATIO_HIGH] = 1.05,
               [AUGMENT_ADJUST_P] = colour ? 0.43 : 0.5,
               [AUGMENT_BRIGHTNESS] = colour ? 0.37 : 0.25,
               [AUGMENT_CONTRAST] = colour ? 0.37 : 0.25,
               [AUGMENT_SATURATION] = 0.37,
               [AUGMENT_HUE] = 0.11,
               [AUGMENT_NOISE] = 0.06,
               [AUGMENT_BLUR_P] = 0.25,
               [AUGMENT_BLUR_TAPS] = 7,
               [AUGMENT_SIGMA_LOW] = 0.1,
               [AUGMENT_SIGMA_HIGH] = 1.7,
               [AUGMENT_GREY_P] = 0.17,
               [AUGMENT_ERASE_P] = colour ? 0.17 : 0.10,
               [AUGMENT_AREA_LOW] = 0.02,
               [AUGMENT_AREA_HIGH] = 0.10,
               [AUGMENT_SHAPE_LOW] = 0.5,
               [AUGMENT_SHAPE_HIGH] = 2,
           },
           sizeof(double[AUGMENT_SETTINGS]));
}

void augment_draw(const braid_problem *p, int i, const int64_t key[2], int64_t id,
                  const double settings[AUGMENT_SETTINGS], augment_draws *out) {
    const draw_frame f = {.size = {p->size[0], p->size[1]},
                          .out_size = {p->out_size[0], p->out_size[1]},
                          .is_train = p->phase == BRAID_PHASE_TRAIN,
                          .has_colours = p->in_channels[i] == 3};
    draw_sample(&f, key, id, settings, out);
}

double augment_noise(const augment_draws *d, int64_t element) {
    rng numbers = d->noise_numbers;
    numbers.index = 2 * (uint64_t)element;
    return rng_normal(&numbers);
}

int64_t augment_reflect(int64_t at, int64_t size) { return draw_reflect(at, size); }

void augment_taps(int64_t from, int64_t to, int64_t out, int64_t *first, int64_t *count) {
    draw_taps(from, to, out, first, count);
}

double augment_tap_weight(int64_t from, int64_t to, int64_t out, int64_t tap) {
    return draw_tap_weight(from, to, out, tap);
}

int64_t augment_most_taps(int64_t from, int64_t to) { return 2 * (from / to + 1) + 1; }
