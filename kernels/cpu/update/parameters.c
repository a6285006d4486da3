/*
 * The chunks of an arena and the walk over their segments. The copy in a half format is made of a chunk that has
 * just been written, while it is in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/update/parameters.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define CHUNK_ELEMENTS 8192 /* elements */

typedef struct parameters {
    const updates *updates;
    int64_t elements, chunks;
} parameters;

static braid_status create(const braid_problem *p, const updates *u, int64_t values, size_t value_bytes, void **state,
                           size_t *workspace_bytes) {
    parameters *a = NULL;
    TRY(size_array((size_t)values, value_bytes, "workspace of a pass over parameters", workspace_bytes));
    TRY(memory_calloc(1, sizeof *a, "state of a pass over parameters", (void **)&a));
    *a = (parameters){u, p->in_channels[0], ceil_div(p->in_channels[0], CHUNK_ELEMENTS)};
    *state = a;
    return BRAID_OK;
}

braid_status parameters_create(const braid_problem *p, const updates *u, void **state, size_t *workspace_bytes) {
    return create(p, u, p->groups, sizeof(update_rule), state, workspace_bytes);
}

braid_status parameters_create_sums(const braid_problem *p, const updates *u, void **state, size_t *workspace_bytes) {
    return create(p, u, ceil_div(p->in_channels[0], CHUNK_ELEMENTS), sizeof(double), state, workspace_bytes);
}

void parameters_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

double parameters_cost(const braid_problem *p, const machine *on, const updates *u) {
    return cost_seconds(p, on, u->loops->flops, 1, 2e-6);
}

/* ---- Updates ------------------------------------------------------------------------------- */

typedef struct update_work {
    const parameters *all;
    const buffers *b;
    const update_rule *rules; /* one for each group */
    const int64_t *segments;  /* [segment_count][2] */
    int64_t segment_count;
    update_kind kind;
    void (*narrow)(uint16_t *to, const float *from, int64_t count); /* NULL: no copy is wanted */
} update_work;

/* The last segment that begins at `at` or before it. */
static int64_t find_segment(const update_work *u, int64_t at) {
    int64_t low = 0, high = u->segment_count;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (u->segments[2 * middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static float *at_element(const update_work *u, int slot, int64_t at) {
    float *plane = u->b->plane[slot][0];
    return plane ? plane + at : NULL;
}

static void update_chunk(void *context, int64_t chunk) {
    const update_work *u = context;
    int64_t begin = chunk * CHUNK_ELEMENTS, end = at_most(begin + CHUNK_ELEMENTS, u->all->elements), at = begin;
    for (int64_t j = find_segment(u, begin); at < end; j++) {
        int64_t segment_end = j + 1 < u->segment_count ? at_most(u->segments[2 * j + 2], end) : end;
        const update_rule *rule = &u->rules[u->segments[2 * j + 1]];
        if (segment_end <= at) continue;
        if (rule->live) {
            update_span span = {at_element(u, UPDATE_W, at), at_element(u, UPDATE_G, at), at_element(u, UPDATE_M, at),
                                at_element(u, UPDATE_V, at), segment_end - at};
            u->all->updates->run[u->kind](rule, &span);
        }
        at = segment_end;
    }
    if (u->narrow) {
        uint16_t *half = (uint16_t *)u->b->plane[UPDATE_HALF][0] + begin;
        u->narrow(half, at_element(u, UPDATE_W, begin), end - begin);
    }
}

static void make_rules(const braid_problem *p, const buffers *b, update_rule_function make, update_rule *rules) {
    const float *hyper = b->plane[UPDATE_HYPER][0], scale = *(const float *)b->plane[UPDATE_SCALE][0];
    const int64_t step = *(const int64_t *)b->plane[UPDATE_STEP][0];
    for (int64_t j = 0; j < p->groups; j++, hyper += 3) {
        update_group group = {(double)hyper[0], (double)hyper[1], step < 1 ? 1 : step};
        rules[j] = (update_rule){.scale = scale, .live = hyper[2] != 0 && isfinite(scale)};
        make(p, &group, &rules[j]);
    }
}

void parameters_update(const braid_problem *p, const void *state, const buffers *b, update_kind kind,
                       update_rule_function make) {
    const parameters *a = state;
    const channel_loops *l = a->updates->loops;
    update_work u = {a, b, b->workspace, b->plane[UPDATE_SEGMENTS][0], p->segments, kind, NULL};
    if (p->dtype == BRAID_DTYPE_BF16) u.narrow = l->bf16.narrow;
    if (p->dtype == BRAID_DTYPE_F16) u.narrow = l->f16.narrow;
    make_rules(p, b, make, b->workspace);
    threads_for(a->chunks, update_chunk, &u);
}

/* ---- Squares ------------------------------------------------------------------------------- */

typedef struct square_work {
    const updates *updates;
    const float *g;
    int64_t count;
    double *sums; /* one for each chunk */
} square_work;

static void sum_chunk(void *context, int64_t chunk) {
    const square_work *s = context;
    int64_t begin = chunk * CHUNK_ELEMENTS, end = at_most(begin + CHUNK_ELEMENTS, s->count);
    s->sums[chunk] = s->updates->squares(s->g + begin, end - begin);
}

double parameters_squares(const void *state, const buffers *b, const float *g, int64_t count) {
    const parameters *a = state;
    square_work s = {a->updates, g, count, b->workspace};
    const int64_t chunks = ceil_div(count, CHUNK_ELEMENTS);
    double sum = 0;
    threads_for(chunks, sum_chunk, &s);
    for (int64_t chunk = 0; chunk < chunks; chunk++) sum += s.sums[chunk];
    return sum;
}

/* ---- Casts --------------------------------------------------------------------------------- */

typedef struct cast_work {
    void (*widen)(float *to, const uint16_t *from, int64_t count); /* NULL: f32 already */
    float *to;
    const void *from;
    int64_t count;
} cast_work;

static void cast_chunk(void *context, int64_t chunk) {
    const cast_work *c = context;
    int64_t begin = chunk * CHUNK_ELEMENTS, count = at_most(CHUNK_ELEMENTS, c->count - begin);
    if (c->widen)
        c->widen(c->to + begin, (const uint16_t *)c->from + begin, count);
    else
        memcpy(c->to + begin, (const float *)c->from + begin, (size_t)count * sizeof(float));
}

void parameters_cast(const void *state, braid_dtype dtype, float *to, const void *from, int64_t count) {
    const channel_loops *l = ((const parameters *)state)->updates->loops;
    cast_work c = {NULL, to, from, count};
    if (dtype == BRAID_DTYPE_BF16) c.widen = l->bf16.widen;
    if (dtype == BRAID_DTYPE_F16) c.widen = l->f16.widen;
    threads_for(ceil_div(count, CHUNK_ELEMENTS), cast_chunk, &c);
}
