/*
 * The stopwatch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/blocks.h"
#include "core/memory.h"
#include "core/sizes.h"

#define MAX_SETS 512       /* copies of the operands */
#define BATCH_SECONDS 2e-3 /* a timed batch is at least as long */
#define MAX_ITERATIONS 10000
#define DROP_FACTOR 2.5 /* after DROP_ROUNDS, a kernel this much slower than the best is timed no further */
#define DROP_ROUNDS 3
#define FORGET 1 /* the first round warms up and is forgotten */

double measure_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

interval measure_interval(const double *samples, int count) {
    double sorted[MEASURE_MAX_ROUNDS];
    if (count < 1) return (interval){0, 0, 0};
    if (count > MEASURE_MAX_ROUNDS) count = MEASURE_MAX_ROUNDS;
    memcpy(sorted, samples, (size_t)count * sizeof *samples);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    double reach = 0.98 * sqrt((double)count);
    int low = (int)floor((double)count / 2 - reach), high = (int)ceil((double)count / 2 + reach);
    if (low < 0) low = 0;
    if (high > count - 1) high = count - 1;
    double median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    return (interval){median, sorted[low], sorted[high]};
}

/* ---- Copies of the operands ---------------------------------------------------------------- */

typedef struct sets {
    image layout;
    size_t stride;
    int count;
    void *memory;
    void *workspace;
} sets;

/* As many copies as exceed twice the last cache level, within half of the free memory. */
static int sets_wanted(const device *d, size_t stride) {
    size_t cache = d->backend->cache_bytes(d), room = d->backend->free_bytes(d) / 2;
    size_t wanted = 2 * cache / stride + 2;
    if (wanted > MAX_SETS) wanted = MAX_SETS;
    if (wanted * stride > room) wanted = room / stride;
    return wanted < 1 ? 1 : (int)wanted;
}

/* One plane of all copies: its drawn numbers come from the host, the rest is copied on the device. */
static braid_status sets_give(device *d, const sets *s, int slot, int plane, const void *values, size_t drawn) {
    size_t bytes = s->layout.plane_bytes[slot][plane];
    char *first = (char *)s->memory + s->layout.offset[slot][plane];
    TRY(d->backend->upload(d, first, values, drawn));
    for (size_t done = drawn; done && done < bytes; done *= 2)
        TRY(d->backend->copy(d, first + done, first, done < bytes - done ? done : bytes - done));
    for (int j = 1; j < s->count; j++) TRY(d->backend->copy(d, first + (size_t)j * s->stride, first, bytes));
    return BRAID_OK;
}

static braid_status sets_fill_plane(const braid_problem *p, device *d, const sets *s, int slot, int plane,
                                    uint64_t seed) {
    void *values = NULL;
    size_t drawn = 0;
    TRY(image_draw(p, &s->layout, slot, plane, seed, &values, &drawn));
    braid_status status = sets_give(d, s, slot, plane, values, drawn);
    memory_free(values);
    return status;
}

/* Gives the inputs numbers; what the outputs hold before a launch changes no time. */
static braid_status sets_fill(const braid_problem *p, device *d, const sets *s, uint64_t seed) {
    const op_info *o = op_of(p);
    for (int slot = 0; slot < op_operand_count(o); slot++) {
        for (int i = 0; op_is_input(op_role(p, slot)) && i < o->planes(p, slot); i++)
            TRY(sets_fill_plane(p, d, s, slot, i, seed));
    }
    return BRAID_OK;
}

static void sets_destroy(device *d, sets *s) {
    if (s->memory) d->backend->free(d, s->memory);
    if (s->workspace) d->backend->free(d, s->workspace);
}

static braid_status sets_create(const braid_problem *p, device *d, size_t workspace_bytes, uint64_t seed, sets *s) {
    size_t bytes;
    TRY(image_lay(p, &s->layout));
    if (!size_align(s->layout.bytes, MEMORY_DEVICE_ALIGNMENT, &s->stride)) {
        return fail(BRAID_ERROR_MEMORY, "operands: expected a size that fits in 64 bits");
    }
    s->count = sets_wanted(d, s->stride);
    TRY(size_array((size_t)s->count, s->stride, "operands of a race", &bytes));
    TRY(d->backend->alloc(d, bytes, &s->memory));
    if (!d->backend->has_own_memory) block_set(s->memory, 0, bytes); /* no page is new when a launch is timed */
    if (workspace_bytes) TRY(d->backend->alloc(d, workspace_bytes, &s->workspace));
    return sets_fill(p, d, s, seed);
}

/* ---- Rounds ------------------------------------------------------------------------------- */

typedef struct launch_context {
    const braid_problem *p;
    device *d;
    const runner *r;
    const sets *s;
    int first; /* the set to begin with */
} launch_context;

static braid_status launch_one(void *context, int i) {
    const launch_context *c = context;
    buffers b;
    int set = (c->first + i) % c->s->count;
    image_buffers(c->p, &c->s->layout, (char *)c->s->memory + (size_t)set * c->s->stride, &b);
    b.workspace = c->s->workspace;
    return kernel_launch(c->r->kernel->functions, c->p, c->d, c->r->state, &b);
}

/* One timed batch; a failing kernel is out. */
static void time_batch(launch_context *c, runner *r, double *per_launch) {
    double seconds = 0;
    const fail_kept kept = fail_keep();
    c->r = r;
    braid_status status = c->d->backend->time_launches(c->d, launch_one, c, r->iterations, &seconds);
    if (status != BRAID_OK) {
        snprintf(r->failure, sizeof r->failure, "failed when timed: %.200s", braid_message());
        r->lacks_memory = status == BRAID_ERROR_MEMORY;
        fail_put_back(&kept);
        return;
    }
    c->first = (c->first + r->iterations) % c->s->count;
    *per_launch = seconds / r->iterations;
}

/* Grows the batch until it is long enough to time. */
static void calibrate(launch_context *c, runner *r) {
    double per_launch = 0;
    for (r->iterations = 1; !r->failure[0];) {
        time_batch(c, r, &per_launch);
        double batch = per_launch * r->iterations;
        if (batch >= BATCH_SECONDS / 2 || r->iterations >= MAX_ITERATIONS) break;
        double wanted = batch > 0 ? BATCH_SECONDS / per_launch : 2.0 * r->iterations;
        if (wanted > 8.0 * r->iterations) wanted = 8.0 * r->iterations;
        r->iterations = wanted > MAX_ITERATIONS ? MAX_ITERATIONS : (int)wanted + 1;
    }
}

static void drop_slow(runner *runners, int count) {
    double best = INFINITY;
    for (int j = 0; j < count; j++) {
        if (runners[j].failure[0] || runners[j].rounds < DROP_ROUNDS) continue;
        best = fmin(best, measure_interval(runners[j].seconds, runners[j].rounds).median);
    }
    for (int j = 0; j < count; j++) {
        runner *r = &runners[j];
        if (r->rounds >= DROP_ROUNDS && measure_interval(r->seconds, r->rounds).low > DROP_FACTOR * best)
            r->dropped = 1;
    }
}

static void run_rounds(launch_context *c, runner *runners, int count, const measure_options *options) {
    double start = measure_now();
    for (int round = -FORGET; round < MEASURE_MAX_ROUNDS; round++) {
        if (round >= options->min_rounds && measure_now() - start > options->seconds) break;
        for (int j = 0; j < count; j++) {
            runner *r = &runners[(j + round + FORGET) % count]; /* no kernel always follows the same one */
            double per_launch = 0;
            if (r->failure[0] || r->dropped) continue;
            time_batch(c, r, &per_launch);
            if (!r->failure[0] && round >= 0) r->seconds[r->rounds++] = per_launch;
        }
        if (round >= DROP_ROUNDS - 1) drop_slow(runners, count);
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

static size_t ready_runners(const braid_problem *p, device *d, runner *runners, int count) {
    size_t workspace = 0;
    const fail_kept kept = fail_keep();
    for (int j = 0; j < count; j++) {
        runner *r = &runners[j];
        const kernel_functions *f = r->kernel->functions;
        braid_status status = f->create ? f->create(p, d, &r->state, &r->workspace_bytes) : BRAID_OK;
        if (status != BRAID_OK) {
            snprintf(r->failure, sizeof r->failure, "could not be readied: %.200s", braid_message());
            r->lacks_memory = status == BRAID_ERROR_MEMORY;
            fail_put_back(&kept);
        }
        if (!r->failure[0] && r->workspace_bytes > workspace) workspace = r->workspace_bytes;
    }
    return workspace;
}

braid_status measure_runners(const braid_problem *p, device *d, runner *runners, int count,
                             const measure_options *options) {
    sets s = {0};
    if (count == 0) return BRAID_OK;
    size_t workspace = ready_runners(p, d, runners, count);
    braid_status status = sets_create(p, d, workspace, options->seed, &s);
    if (status == BRAID_OK) {
        launch_context c = {.p = p, .d = d, .s = &s};
        for (int j = 0; j < count; j++) calibrate(&c, &runners[j]);
        run_rounds(&c, runners, count, options);
    }
    sets_destroy(d, &s);
    for (int j = 0; j < count; j++) {
        const kernel_functions *f = runners[j].kernel->functions;
        if (f->destroy && runners[j].state) f->destroy(d, runners[j].state);
        runners[j].state = NULL;
    }
    return status;
}
