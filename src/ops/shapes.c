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

void shape_bytes(const braid_problem *p, int i, plane_shape *out) {
    *out = (plane_shape){BRAID_DTYPE_U8, 4, {p->batch, p->size[0], p->size[1], p->in_channels[i]}, p->in_channels[i]};
}

void fill_bytes(const braid_problem *p, int i, rng *r, uint8_t *data) {
    uint32_t step = draw_chance(r, 50) ? 1 : 51;
    int64_t bytes = p->batch * p->size[0] * p->size[1] * p->in_channels[i];
    for (int64_t j = 0; j < bytes; j++) data[j] = (uint8_t)((rng_u32(r) >> 24) / step * step);
}

void shape_statistics(const braid_problem *p, int64_t count, plane_shape *out) {
    *out = (plane_shape){dtype_statistics(p->dtype), 1, {count}, count};
}

void shape_vector(const braid_problem *p, int64_t count, plane_shape *out) {
    *out = (plane_shape){p->dtype, 1, {count}, count};
}

void shape_matrix(const braid_problem *p, int64_t rows, int64_t columns, plane_shape *out) {
    *out = (plane_shape){p->dtype, 2, {rows, columns}, columns};
}

void shape_rows(const braid_problem *p, plane_shape *out) {
    *out = (plane_shape){p->dtype, 2, {p->batch, p->in_channels[0]}, p->in_pitch[0]};
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

void draw_pixels(rng *r, braid_problem *p) {
    p->batch = draw_chance(r, 25) ? draw_size(r, 40) : p->batch;
    p->size[0] = draw_size(r, 33);
    p->size[1] = draw_size(r, 33);
    while (shape_total(p) > DRAW_ELEMENTS && p->batch > 1) p->batch = (p->batch + 1) / 2;
    while (shape_total(p) > DRAW_ELEMENTS && (p->size[0] > 1 || p->size[1] > 1)) {
        int axis = p->size[0] > p->size[1] ? 0 : 1;
        p->size[axis] = (p->size[axis] + 1) / 2;
    }
}

void shrink_pixels(braid_problem *p) {
    if (p->batch > 3) p->batch = 3;
    p->size[0] = shrink_size(p->size[0], 24);
    p->size[1] = shrink_size(p->size[1], 24);
    for (int i = 0; i < p->streams; i++) {
        int dense = p->in_pitch[i] == p->in_channels[i];
        p->in_channels[i] = shrink_size(p->in_channels[i], 80);
        if (dense) p->in_pitch[i] = p->in_channels[i];
    }
}

double product_flops(const braid_problem *p) {
    double products = 0;
    for (int i = 0; i < p->streams; i++) products += (double)p->out_channels[i] * (double)p->in_channels[i];
    return 2 * (double)p->batch * products;
}

void draw_product(rng *r, braid_problem *p) {
    p->batch = draw_size(r, 129);
    for (int i = 0; i < p->streams; i++) {
        p->in_channels[i] = draw_size(r, 129);
        p->out_channels[i] = draw_size(r, 129);
    }
    while (product_flops(p) > DRAW_FLOPS && p->batch > 1) p->batch = (p->batch + 1) / 2;
}

void shrink_rows(braid_problem *p) {
    p->batch = shrink_size(p->batch, 80);
    for (int i = 0; i < p->streams; i++) {
        int dense_in = p->in_pitch[i] == p->in_channels[i], dense_out = p->out_pitch[i] == p->out_channels[i];
        p->in_channels[i] = shrink_size(p->in_channels[i], 160);
        p->out_channels[i] = shrink_size(p->out_channels[i], 160);
        if (dense_in) p->in_pitch[i] = p->in_channels[i];
        if (dense_out) p->out_pitch[i] = p->out_channels[i];
    }
}

int draw_chance(rng *r, int percent) { return rng_between(r, 1, 100) <= percent; }

braid_activation draw_activation(rng *r, int relu_percent, int or_none) {
    if (draw_chance(r, relu_percent)) return BRAID_ACTIVATION_RELU;
    return (braid_activation)rng_between(r, BRAID_ACTIVATION_RELU + 1, BRAID_ACTIVATION_NONE - !or_none);
}

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
