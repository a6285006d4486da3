/*
 * Plane shapes and the sizes of random problems.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/shapes.h"

#include "core/dtype.h"

void shape_pixels(const braid_problem *p, const int64_t hw[2], int64_t channels, int64_t pitch, plane_shape *out) {
    *out = (plane_shape){p->dtype, 4, {p->batch, hw[0], hw[1], channels}, pitch};
}

void shape_statistics(const braid_problem *p, int64_t count, plane_shape *out) {
    *out = (plane_shape){dtype_statistics(p->dtype), 1, {count}, count};
}

void shape_vector(const braid_problem *p, int64_t count, plane_shape *out) {
    *out = (plane_shape){p->dtype, 1, {count}, count};
}

void shape_mask(const braid_problem *p, plane_shape *out) {
    int64_t words = mask_words(p->batch);
    *out = (plane_shape){BRAID_DTYPE_I32, 1, {words}, words};
}

void shape_counter(plane_shape *out) { *out = (plane_shape){BRAID_DTYPE_I64, 1, {1}, 1}; }

int64_t draw_size(rng *r, int64_t most) {
    static const int64_t sizes[] = {1,  1,  2,  2,  3,  3,  4,   5,   6,   7,   8,   9,  11, 12,
                                    13, 15, 16, 17, 19, 23, 24,  29,  31,  32,  33,  37, 41, 47,
                                    48, 53, 63, 64, 65, 96, 127, 128, 129, 191, 256, 257};
    int count = 0;
    while (count < (int)(sizeof sizes / sizeof sizes[0]) && sizes[count] <= most) count++;
    return count ? sizes[rng_between(r, 0, count - 1)] : 1;
}

int draw_chance(rng *r, int percent) { return rng_between(r, 1, 100) <= percent; }

int64_t shrink_size(int64_t size, int64_t most) {
    if (size <= most) return size;
    int64_t small = size % 64;
    while (small + 64 <= most) small += 64;
    while (small > most) small -= 16;
    return small < 1 ? most : small;
}

double shape_total(const braid_problem *p) {
    double total = 0;
    for (int i = 0; i < p->streams; i++) total += (double)p->in_channels[i];
    return total * (double)p->batch * (double)p->size[0] * (double)p->size[1];
}
