/*
 * Shapes, tables and random problems of the optimisers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/update.h"

#include "core/dtype.h"

#define HYPER_VALUES 3
#define LONG_ARENA 65536 /* what is raced rather than drawn: all of it is live, so that its time means something */
#define SHRUNK_ARENA 20480
#define SHRUNK_SEGMENTS 1000

int update_planes(const braid_problem *p, int slot, int has_m, int has_v) {
    switch (slot) {
        case UPDATE_M: return has_m;
        case UPDATE_V: return has_v;
        case UPDATE_HALF: return p->dtype == BRAID_DTYPE_F16 || p->dtype == BRAID_DTYPE_BF16;
        default: return 1;
    }
}

void update_shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    (void)i;
    switch (slot) {
        case UPDATE_SEGMENTS: *out = (plane_shape){BRAID_DTYPE_I64, 2, {p->segments, 2}, 2}; break;
        case UPDATE_HYPER:
            *out = (plane_shape){dtype_statistics(p->dtype), 2, {p->groups, HYPER_VALUES}, HYPER_VALUES};
            break;
        case UPDATE_STEP: shape_counter(out); break;
        case UPDATE_SCALE: shape_statistics(p, 1, out); break;
        case UPDATE_HALF: shape_vector(p, p->in_channels[0], out); break;
        default: shape_statistics(p, p->in_channels[0], out); break;
    }
}

/* Roundings in a row behind one new weight. */
int64_t update_terms(const braid_problem *p) {
    (void)p;
    return 16;
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* Some segments are empty, and the last of them may begin at the end of the arena. */
static void fill_segments(const braid_problem *p, rng *r, int64_t *table) {
    int64_t first = 0;
    for (int64_t j = 0; j < p->segments; j++) {
        table[2 * j] = first;
        table[2 * j + 1] = rng_between(r, 0, p->groups - 1);
        int64_t left = p->in_channels[0] - first, longest = 2 * left / (p->segments - j) + 1;
        if (!draw_chance(r, 20)) first += rng_between(r, 0, longest < left ? longest : left);
    }
}

static void fill_hyper(const braid_problem *p, rng *r, void *table) {
    static const double rates[] = {0, 1e-4, 1e-3, 0.01, 0.1, 0.5}, decays[] = {0, 1e-4, 0.01, 0.1};
    braid_dtype dtype = dtype_statistics(p->dtype);
    for (int64_t j = 0; j < p->groups; j++) {
        int frozen = p->in_channels[0] < LONG_ARENA && j > 0 && draw_chance(r, 25);
        dtype_store(table, dtype, j * HYPER_VALUES, rates[rng_between(r, 0, 5)]);
        dtype_store(table, dtype, j * HYPER_VALUES + 1, decays[rng_between(r, 0, 3)]);
        dtype_store(table, dtype, j * HYPER_VALUES + 2, !frozen);
    }
}

void update_fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    static const int64_t steps[] = {0, 1, 1, 2, 3, 10, 1000, 100000, INT64_C(1) << 40};
    static const double scales[] = {1, 0.25, 0.37, 1.0 / 1024};
    (void)i;
    switch (slot) {
        case UPDATE_SEGMENTS: fill_segments(p, r, data); break;
        case UPDATE_HYPER: fill_hyper(p, r, data); break;
        case UPDATE_STEP: *(int64_t *)data = steps[rng_between(r, 0, 8)]; break;
        default: dtype_store(data, dtype_statistics(p->dtype), 0, scales[rng_between(r, 0, 3)]); break;
    }
}

braid_status update_check_table(const braid_problem *p, int slot, int i, const void *data) {
    const int64_t *table = data;
    (void)i;
    if (slot != UPDATE_SEGMENTS) return BRAID_OK;
    for (int64_t j = 0; j < p->segments; j++) {
        int64_t first = table[2 * j], group = table[2 * j + 1], low = j ? table[2 * j - 2] : 0;
        int64_t high = j ? p->in_channels[0] : 0;
        if (first < low || first > high) {
            return fail(BRAID_ERROR_ARGUMENT, "%s: expected segment %lld to begin from %lld to %lld, got %lld",
                        op_of(p)->name, (long long)j, (long long)low, (long long)high, (long long)first);
        }
        if (group < 0 || group >= p->groups) {
            return fail(BRAID_ERROR_ARGUMENT, "%s: expected the group of segment %lld from 0 to %lld, got %lld",
                        op_of(p)->name, (long long)j, (long long)p->groups - 1, (long long)group);
        }
    }
    return BRAID_OK;
}

/* ---- Random problems ---------------------------------------------------------------------- */

void parameters_draw(rng *r, braid_problem *p) {
    int64_t percent = rng_between(r, 1, 100);
    p->streams = 1;
    p->batch = 0;
    for (int i = 1; i < BRAID_MAX_PLANES; i++) p->in_channels[i] = 0;
    p->in_channels[0] = percent <= 55   ? draw_size(r, 257)
                        : percent <= 97 ? rng_between(r, 1, 1000)
                                        : rng_between(r, 1000, DRAW_ELEMENTS);
}

void parameters_shrink(braid_problem *p) { p->in_channels[0] = shrink_size(p->in_channels[0], SHRUNK_ARENA); }

void update_draw(rng *r, braid_problem *p) {
    int64_t percent = rng_between(r, 1, 100);
    parameters_draw(r, p);
    p->groups = draw_chance(r, 40) ? 1 : rng_between(r, 2, 6);
    p->segments = percent <= 30   ? 1
                  : percent <= 70 ? rng_between(r, 2, 9)
                                  : rng_between(r, 1, p->in_channels[0] > 500 ? 1000 : 2 * p->in_channels[0]);
}

double update_draw_share(rng *r, double usual) {
    return draw_chance(r, 50) ? usual : 0.01 * (double)rng_between(r, 1, 99);
}

double update_draw_eps(rng *r) {
    static const double values[] = {1e-8, 1e-8, 1e-6, 1e-3};
    return values[rng_between(r, 0, 3)];
}

void update_shrink(braid_problem *p) {
    parameters_shrink(p);
    p->segments = shrink_size(p->segments, SHRUNK_SEGMENTS);
}
