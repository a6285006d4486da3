/*
 * The stopwatch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/blocks.h"
#include "core/memory.h"
#include "core/sizes.h"

#define MAX_SETS 512       /* copies of the operands */
#define BATCH_SECONDS 2e-3 /* a timed batch is at least as long */
#define MAX_ITERATIONS 10000
#define DROP_FACTOR 2.5   /* after DROP_ROUNDS, a kernel this much slower than the best is timed no further */
#define DROP_ROUNDS 6     /* enough for an interval that shows such a difference */
#define FORGET 1          /* the first round warms up and is forgotten */
#define WARM_SECONDS 0.02 /* a launch as long is warm when its batch was found */
#define PLANT_TURN 100    /* launches after which a share of whole percents comes out even */
#define PLANT_SLACK 1e-9
#define BLOCK 2 /* rounds: one forward, one back */

double measure_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

static braid_status sets_create(const braid_problem *p, device *d, size_t workspace_bytes,
                                const measure_options *options, sets *s) {
    size_t bytes;
    TRY(image_lay(p, &s->layout));
    if (!size_align(s->layout.bytes, MEMORY_DEVICE_ALIGNMENT, &s->stride)) {
        return fail(BRAID_ERROR_MEMORY, "operands: expected a size that fits in 64 bits");
    }
    s->count = options->warm ? 1 : sets_wanted(d, s->stride);
    TRY(size_array((size_t)s->count, s->stride, "operands of a race", &bytes));
    TRY(d->backend->alloc(d, bytes, &s->memory));
    if (!d->backend->has_own_memory) block_set(s->memory, 0, bytes); /* no page is new when a launch is timed */
    if (workspace_bytes) TRY(d->backend->alloc(d, workspace_bytes, &s->workspace));
    return sets_fill(p, d, s, options->seed);
}

/* ---- Rounds ------------------------------------------------------------------------------- */

typedef struct launch_context {
    const braid_problem *p;
    device *d;
    const runner *r;
    const sets *s;
    int first; /* the set to begin with */
} launch_context;

static braid_status launch_once(const launch_context *c, int i) {
    buffers b;
    int set = (c->first + i) % c->s->count;
    image_buffers(c->p, &c->s->layout, (char *)c->s->memory + (size_t)set * c->s->stride, &b);
    b.workspace = c->s->workspace;
    return kernel_launch(c->r->kernel->functions, c->p, c->d, c->r->state, &b);
}

/* A launch that takes a share longer. Where launches are done when they return, the host lets that share of this very
 * launch pass; where they are queued, every so-many-th runs twice. */
static braid_status launch_one(void *context, int i) {
    const launch_context *c = context;
    const double plant = c->r->plant;
    if (plant <= 0) return launch_once(c, i);
    if (c->d->backend->has_own_memory) {
        TRY(launch_once(c, i));
        return floor((i + 1) * plant + PLANT_SLACK) > floor(i * plant + PLANT_SLACK) ? launch_once(c, i) : BRAID_OK;
    }
    const double start = measure_now();
    TRY(launch_once(c, i));
    for (const double end = start + (1 + plant) * (measure_now() - start); measure_now() < end;) continue;
    return BRAID_OK;
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
    if (*per_launch > 0 && (r->fastest <= 0 || *per_launch < r->fastest)) r->fastest = *per_launch;
}

/* Grows the batch until it is long enough to time. */
static void calibrate(launch_context *c, runner *r) {
    const double plant = r->plant;
    double per_launch = 0;
    r->plant = 0;
    for (r->iterations = 1; !r->failure[0];) {
        time_batch(c, r, &per_launch);
        double batch = per_launch * r->iterations;
        if (batch >= BATCH_SECONDS / 2 || r->iterations >= MAX_ITERATIONS) break;
        double wanted = batch > 0 ? BATCH_SECONDS / per_launch : 2.0 * r->iterations;
        if (wanted > 8.0 * r->iterations) wanted = 8.0 * r->iterations;
        r->iterations = wanted > MAX_ITERATIONS ? MAX_ITERATIONS : (int)wanted + 1;
    }
    r->plant = plant;
}

/* The fastest launch of a kernel, whichever of its runners made it. */
static double fastest_of(const runner *runners, int count, const kernel *k) {
    double fastest = 0;
    for (int j = 0; j < count; j++)
        if (runners[j].kernel == k && runners[j].fastest > 0 && (fastest <= 0 || runners[j].fastest < fastest))
            fastest = runners[j].fastest;
    return fastest;
}

/* Makes all batches as long, by the fastest launches: a batch that was found while something disturbed would stay
 * shorter than the others, and be disturbed less often. Where every so-many-th launch runs twice, all batches hold
 * whole turns of that. */
static void even_out(const device *d, runner *runners, int count) {
    int is_planted = 0;
    for (int j = 0; j < count; j++) is_planted |= runners[j].plant > 0;
    for (int j = 0; j < count; j++) {
        runner *r = &runners[j];
        const double wanted = ceil(BATCH_SECONDS / fastest_of(runners, count, r->kernel));
        if (isfinite(wanted)) r->iterations = wanted > MAX_ITERATIONS ? MAX_ITERATIONS : (int)wanted;
        if (is_planted && d->backend->has_own_memory)
            r->iterations = (r->iterations + PLANT_TURN - 1) / PLANT_TURN * PLANT_TURN;
    }
}

static void drop_slow(runner *runners, int count) {
    double best = INFINITY;
    for (int j = 0; j < count; j++) {
        if (runners[j].failure[0] || runners[j].rounds < DROP_ROUNDS) continue;
        best = fmin(best, interval_of(runners[j].seconds, runners[j].rounds).median);
    }
    for (int j = 0; j < count; j++) {
        runner *r = &runners[j];
        if (r->rounds >= DROP_ROUNDS && interval_of(r->seconds, r->rounds).low > DROP_FACTOR * best) r->dropped = 1;
    }
}

/* Of a round the index-th to run: a round runs back what the one before it ran forward, and each block begins with
 * another, so that no kernel always follows the same one. */
static int turn_of(int round, int index, int count) {
    const int counted = round + FORGET + 1, forward = counted % BLOCK == 0;
    return ((forward ? index : count - 1 - index) + counted / BLOCK) % count;
}

static void run_round(launch_context *c, runner *runners, int count, int round) {
    for (int j = 0; j < count; j++) {
        runner *r = &runners[turn_of(round, j, count)];
        double per_launch = 0;
        if (r->failure[0] || r->dropped || (round < 0 && r->fastest >= WARM_SECONDS)) continue;
        time_batch(c, r, &per_launch);
        if (!r->failure[0] && round >= 0) r->seconds[r->rounds++] = per_launch;
    }
}

static void run_rounds(launch_context *c, runner *runners, int count, const measure_options *options) {
    double start = measure_now();
    for (int round = -FORGET; round < RATIO_MAX_ROUNDS; round++) {
        const int is_block = round >= 0 && round % BLOCK == 0; /* the ones before it are whole */
        if (is_block && round >= options->min_rounds && measure_now() - start > options->seconds) break;
        if (is_block && round >= DROP_ROUNDS) drop_slow(runners, count);
        run_round(c, runners, count, round);
        if (round < 0) even_out(c->d, runners, count);
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
    braid_status status = sets_create(p, d, workspace, options, &s);
    if (status == BRAID_OK) {
        launch_context c = {.p = p, .d = d, .s = &s};
        for (int j = 0; j < count; j++) calibrate(&c, &runners[j]);
        even_out(d, runners, count);
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
