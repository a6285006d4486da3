/*
 * Tests of the stopwatch, on a made-up device whose clock goes forward only when a made-up kernel runs:
 * the order of rounds, kernels that fail or are too slow, time that is planted, and the memory that they
 * are given.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "race/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/given.h"

/* ---- A made-up device ----------------------------------------------------------------------- */

#define RUNNERS 3
#define MOST_BATCHES 1000
#define PROBLEM "linear_fwd:b2:c3:k4"

typedef struct fake {
    double seconds; /* of one launch */
    size_t workspace_bytes;
    int created, destroyed, launched;
    int fail_create, fail_launch_after; /* 0: never */
} fake;

static fake fakes[RUNNERS];
static double fake_clock;
static int batches[MOST_BATCHES], batch_count; /* which kernel ran in each timed batch */
static int launches_in_batch, last_runner;
static int queued;                       /* 1: the device has a memory and a queue of its own */
static int disturbed_until;              /* so many launches of a kernel take 100 times as long */
static const char *lowest_x, *highest_x; /* the places of x that launches saw */
static const char *wanted_x;             /* what they must find there; NULL: anything */
static size_t wanted_bytes;
static int launches_on_others; /* that found something else */
static size_t allocated_bytes;

static braid_status fake_alloc(device *d, size_t bytes, void **out) {
    (void)d;
    if (bytes > allocated_bytes) allocated_bytes = bytes;
    return memory_alloc_device(bytes, "fake", out);
}

static void fake_free(device *d, void *memory) { (void)d, memory_free(memory); }

static braid_status fake_copy(device *d, void *to, const void *from, size_t bytes) {
    (void)d;
    memcpy(to, from, bytes);
    return BRAID_OK;
}

static braid_status fake_time(device *d, braid_status (*launch)(void *context, int i), void *context, int iterations,
                              double *seconds) {
    (void)d;
    const double start = fake_clock;
    launches_in_batch = 0;
    for (int i = 0; i < iterations; i++) TRY(launch(context, i));
    assert_true(launches_in_batch >= iterations);
    if (!queued) assert_int_equal(launches_in_batch, iterations);
    if (batch_count < MOST_BATCHES) batches[batch_count++] = last_runner;
    *seconds = fake_clock - start;
    return BRAID_OK;
}

static size_t fake_cache_bytes(const device *d) { return (void)d, (size_t)1 << 20; }
static size_t fake_free_bytes(const device *d) { return (void)d, (size_t)1 << 30; }

static const backend fake_backend = {.name = "cpu",
                                     .alloc = fake_alloc,
                                     .free = fake_free,
                                     .upload = fake_copy,
                                     .download = fake_copy,
                                     .copy = fake_copy,
                                     .time = fake_time,
                                     .time_launches = fake_time,
                                     .cache_bytes = fake_cache_bytes,
                                     .free_bytes = fake_free_bytes};

/* ---- Made-up kernels ------------------------------------------------------------------------ */

static braid_status create_fake(int index, void **state, size_t *workspace_bytes) {
    fake *f = &fakes[index];
    if (f->fail_create) return fail(BRAID_ERROR_DEVICE, "fake %d: no", index);
    f->created++;
    *state = f;
    *workspace_bytes = f->workspace_bytes;
    return BRAID_OK;
}

/* Writes its whole workspace, so that too small a one is noticed. */
static braid_status launch_fake(const braid_problem *p, device *d, void *state, const buffers *b) {
    fake *f = state;
    const char *x = b->plane[LINEAR_X][0];
    (void)p;
    (void)d;
    last_runner = (int)(f - fakes);
    launches_in_batch++;
    if (f->fail_launch_after && f->launched >= f->fail_launch_after) return fail(BRAID_ERROR_DEVICE, "fake: lost");
    f->launched++;
    if (f->workspace_bytes) memset(b->workspace, 1, f->workspace_bytes);
    launches_on_others += wanted_x && memcmp(x, wanted_x, wanted_bytes) != 0;
    if (!lowest_x || x < lowest_x) lowest_x = x;
    if (!highest_x || x > highest_x) highest_x = x;
    fake_clock += f->seconds * (f->launched <= disturbed_until ? 100 : 1);
    return BRAID_OK;
}

static void destroy_fake(device *d, void *state) {
    (void)d;
    ((fake *)state)->destroyed++;
}

static braid_status create_0(const braid_problem *p, device *d, void **s, size_t *w) {
    return (void)p, (void)d, create_fake(0, s, w);
}
static braid_status create_1(const braid_problem *p, device *d, void **s, size_t *w) {
    return (void)p, (void)d, create_fake(1, s, w);
}
static braid_status create_2(const braid_problem *p, device *d, void **s, size_t *w) {
    return (void)p, (void)d, create_fake(2, s, w);
}
static const kernel_functions functions[RUNNERS] = {
    {.create = create_0, .launch = launch_fake, .destroy = destroy_fake},
    {.create = create_1, .launch = launch_fake, .destroy = destroy_fake},
    {.create = create_2, .launch = launch_fake, .destroy = destroy_fake}};
static kernel kernels[RUNNERS];
static runner runners[RUNNERS];

static int set_up(void **state) {
    (void)state;
    memset(fakes, 0, sizeof fakes);
    memset(runners, 0, sizeof runners);
    fake_clock = 0;
    batch_count = 0;
    lowest_x = highest_x = NULL;
    allocated_bytes = 0;
    for (int j = 0; j < RUNNERS; j++) {
        fakes[j].seconds = 1e-3;
        kernels[j] = (kernel){.name = "fake", .functions = &functions[j]};
        runners[j].kernel = &kernels[j];
    }
    return 0;
}

/* Every state that was made is gone again, and so is all memory. */
static int tear_down(void **state) {
    (void)state;
    for (int j = 0; j < RUNNERS; j++) {
        assert_int_equal(fakes[j].created, fakes[j].destroyed);
        assert_null(runners[j].state);
    }
    assert_int_equal(memory_live(), 0);
    return 0;
}

/* A budget of nothing gives the fewest rounds, an endless one the most. */
static void measure(double seconds) {
    backend kind = fake_backend;
    device d = {.backend = &kind};
    const braid_problem p = given_problem(PROBLEM);
    kind.has_own_memory = queued;
    const measure_options options = {.seconds = seconds, .min_rounds = 8, .seed = 1};
    if (measure_runners(&p, &d, runners, RUNNERS, &options) != BRAID_OK) fail_msg("%s", braid_message());
}

/* ---- Rounds ------------------------------------------------------------------------------- */

static void the_clock_of_the_device_is_believed(void **state) {
    (void)state;
    fakes[1].seconds = 2e-3;
    fakes[2].seconds = 1.5e-3;
    measure(0);
    for (int j = 0; j < RUNNERS; j++) {
        assert_int_equal(runners[j].rounds, 8);
        for (int round = 0; round < 8; round++) {
            assert_true(fabs(runners[j].seconds[round] - fakes[j].seconds) <
                        1e-9 * fakes[j].seconds * runners[j].iterations);
        }
    }
}

static void budgets_bound_the_rounds(void **state) {
    (void)state;
    measure(1e9);
    for (int j = 0; j < RUNNERS; j++) assert_int_equal(runners[j].rounds, RATIO_MAX_ROUNDS);
}

/* Every round has each kernel once, a round forward is followed by the same one back, and each block begins with
 * another kernel. */
static void rounds_take_turns_forward_and_back(void **state) {
    int firsts[RUNNERS] = {0};
    (void)state;
    measure(0);
    const int rounds = 8, first = batch_count - rounds * RUNNERS; /* before it they are calibrated and warmed up */
    assert_true(first >= 2 * RUNNERS);
    for (int round = 0; round < rounds; round += 2) {
        const int *forward = batches + first + round * RUNNERS, *back = forward + RUNNERS;
        int seen[RUNNERS] = {0};
        for (int j = 0; j < RUNNERS; j++) {
            seen[forward[j]]++;
            assert_int_equal(forward[j], back[RUNNERS - 1 - j]);
        }
        for (int j = 0; j < RUNNERS; j++) assert_int_equal(seen[j], 1);
        firsts[forward[0]]++;
    }
    for (int j = 0; j < RUNNERS; j++) assert_true(firsts[j] >= 1);
}

/* A block is whole, whenever the time is over. */
static void blocks_are_whole(void **state) {
    (void)state;
    for (int tenths = 0; tenths < 20; tenths++) {
        set_up(NULL);
        measure(tenths * 1e-4);
        for (int j = 0; j < RUNNERS; j++) assert_int_equal(runners[j].rounds % 2, 0);
    }
}

/* A kernel that was disturbed while its batch was found gets as many launches as its copy. */
static void batches_are_as_long(void **state) {
    (void)state;
    for (int j = 0; j < RUNNERS; j++) runners[j].kernel = &kernels[0];
    disturbed_until = 5;
    fakes[0].seconds = 1e-4;
    measure(0);
    disturbed_until = 0;
    for (int j = 0; j < RUNNERS; j++) assert_int_equal(runners[j].iterations, 20);
}

/* What a race costs: one launch to find the batch, none to warm up and 8 rounds of a long one; 6 of one too slow. */
static void long_launches_are_few(void **state) {
    (void)state;
    fakes[0].seconds = 0.02;
    fakes[1].seconds = 0.03;
    fakes[2].seconds = 0.2;
    measure(0);
    assert_int_equal(fakes[0].launched, 9);
    assert_int_equal(fakes[1].launched, 9);
    assert_int_equal(fakes[2].launched, 7);
}

/* On a device whose launches are queued, every 50th runs twice: 2 % more by its clock, and 5 % with every 20th. */
static void planted_time_is_there(void **state) {
    (void)state;
    queued = 1;
    runners[1].plant = 0.02;
    runners[2].plant = 0.05;
    measure(0);
    queued = 0;
    for (int j = 0; j < RUNNERS; j++) {
        assert_int_equal(runners[j].iterations % 100, 0);
        for (int round = 0; round < 8; round++) {
            const double expected = 1e-3 * (1 + (j == 0 ? 0 : j == 1 ? 0.02 : 0.05));
            assert_true(fabs(runners[j].seconds[round] - expected) < 1e-8);
        }
    }
}

static void short_launches_are_timed_in_batches(void **state) {
    (void)state;
    fakes[0].seconds = 1e-6;
    fakes[1].seconds = 0; /* a clock too coarse to see it */
    fakes[2].seconds = 1;
    measure(0);
    assert_in_range(runners[0].iterations, 1000, 4000); /* a batch of about two milliseconds */
    assert_in_range(runners[1].iterations, 1001, 10000);
    assert_int_equal(runners[2].iterations, 1);
}

static void a_slow_kernel_is_dropped(void **state) {
    (void)state;
    fakes[1].seconds = 2.4e-3; /* within the factor */
    fakes[2].seconds = 2.6e-3;
    measure(1e9);
    assert_int_equal(runners[0].rounds, RATIO_MAX_ROUNDS);
    assert_int_equal(runners[1].rounds, RATIO_MAX_ROUNDS);
    assert_int_equal(runners[1].dropped, 0);
    assert_int_equal(runners[2].dropped, 1);
    assert_int_equal(runners[2].rounds, 6); /* and its times stay */
    assert_true(interval_of(runners[2].seconds, 6).median > 2.5e-3);
}

/* ---- Failures ----------------------------------------------------------------------------- */

static void a_kernel_that_cannot_be_readied(void **state) {
    (void)state;
    fakes[1].fail_create = 1;
    measure(0);
    assert_string_equal(runners[1].failure, "could not be readied: fake 1: no");
    assert_int_equal(runners[1].rounds, 0);
    assert_int_equal(fakes[1].launched, 0);
    assert_int_equal(runners[0].rounds, 8);
    assert_int_equal(runners[2].rounds, 8);
}

static void a_kernel_that_fails_half_way(void **state) {
    (void)state;
    fakes[0].fail_launch_after = 5;
    measure(0);
    assert_string_equal(runners[0].failure, "failed when timed: fake: lost");
    assert_int_equal(fakes[0].launched, 5);
    assert_int_equal(runners[1].rounds, 8);
    assert_int_equal(runners[2].rounds, 8);
}

static void everybody_fails(void **state) {
    (void)state;
    for (int j = 0; j < RUNNERS; j++) fakes[j].fail_create = 1;
    measure(1e9);
    for (int j = 0; j < RUNNERS; j++) assert_int_equal(runners[j].rounds, 0);
}

static void nobody_races(void **state) {
    device d = {.backend = &fake_backend};
    const braid_problem p = given_problem(PROBLEM);
    (void)state;
    assert_int_equal(measure_runners(&p, &d, NULL, 0, &(measure_options){.min_rounds = 8}), BRAID_OK);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void operands_rotate_beyond_the_cache(void **state) {
    (void)state;
    measure(1e9);
    assert_true((size_t)(highest_x - lowest_x) > fake_cache_bytes(NULL));
}

/* Every copy has the numbers that a check of the same seed fills in, also where they come again. */
static void operands_are_filled_as_in_a_check(void **state) {
    device d = {.backend = &fake_backend};
    const braid_problem p = given_problem("linear_fwd:b2500:c3:k4");
    image layout;
    void *block = NULL;
    (void)state;
    assert_int_equal(image_lay(&p, &layout), BRAID_OK);
    assert_int_equal(memory_alloc_device(layout.bytes, "block", &block), BRAID_OK);
    image_fill(&p, &layout, IMAGE_REAL, 5, block);
    wanted_x = (const char *)block + layout.offset[LINEAR_X][0];
    wanted_bytes = layout.plane_bytes[LINEAR_X][0];
    assert_int_equal(measure_runners(&p, &d, runners, RUNNERS, &(measure_options){.min_rounds = 30, .seed = 5}),
                     BRAID_OK);
    wanted_x = NULL;
    memory_free(block);
    assert_true((size_t)(highest_x - lowest_x) > fake_cache_bytes(NULL));
    assert_int_equal(launches_on_others, 0);
}

static void the_largest_workspace_serves_all(void **state) {
    (void)state;
    fakes[0].workspace_bytes = 100;
    fakes[1].workspace_bytes = (size_t)64 << 20;
    measure(0);
    assert_int_equal(allocated_bytes, (size_t)64 << 20);
    for (int j = 0; j < RUNNERS; j++) assert_int_equal(runners[j].workspace_bytes, fakes[j].workspace_bytes);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_clock_of_the_device_is_believed),
        CASE(budgets_bound_the_rounds),
        CASE(rounds_take_turns_forward_and_back),
        CASE(blocks_are_whole),
        CASE(planted_time_is_there),
        CASE(batches_are_as_long),
        CASE(long_launches_are_few),
        CASE(short_launches_are_timed_in_batches),
        CASE(a_slow_kernel_is_dropped),
        CASE(a_kernel_that_cannot_be_readied),
        CASE(a_kernel_that_fails_half_way),
        CASE(everybody_fails),
        CASE(nobody_races),
        CASE(operands_rotate_beyond_the_cache),
        CASE(operands_are_filled_as_in_a_check),
        CASE(the_largest_workspace_serves_all),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
