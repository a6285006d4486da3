/*
 * Tests of contexts in several threads at once, one for each thread: they share nothing, so they give
 * what they give alone. Run under ThreadSanitizer, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/given.h"

#define THREADS 8
#define ROUNDS 6

/* One thread's work, and what it saw. It asserts nothing itself: cmocka belongs to the main thread. */
typedef struct worker {
    int index;
    const char *folder; /* shared by all */
    char failure[256];
    float sum; /* of the bytes of its last problem */
} worker;

static int noted(worker *w, braid_status status) {
    if (status != BRAID_OK && !w->failure[0]) snprintf(w->failure, sizeof w->failure, "%s", braid_message());
    return status != BRAID_OK;
}

static const char *const problems[] = {"linear_fwd:n2:b4:c5,6:k7,8:bias1", "conv2d_fwd:b2:hw6:c3:k4:rs3:pad1",
                                       "bn_stats:f16:b2:hw5:c7", "conv2d_bwd_weight:b2:hw6:c3:k4:rs3"};

/* Every operand filled from a seed, run, and its bytes added up. */
static void run_once(worker *w, braid_context *context, braid_op *op, uint64_t seed) {
    static const size_t most = 4096;
    braid_operand operands[12] = {{0}};
    const int count = braid_op_operand_count(op);
    int bad = 0;
    for (int j = 0; j < count && !bad; j++) {
        braid_operand_info info;
        bad = noted(w, braid_op_operand(op, j, &info));
        operands[j].name = info.name;
        for (int i = 0; i < info.planes && !bad; i++) {
            rng r = {.seed = seed, .stream = (uint64_t)j};
            bad = noted(w, braid_memory_create(context, most, &operands[j].plane[i]));
            for (size_t e = 0; e < most / 2 && !bad; e++)
                ((uint16_t *)operands[j].plane[i])[e] = (uint16_t)(rng_u32(&r) & 0x3fff);
        }
    }
    if (!bad) bad = noted(w, braid_op_run(op, operands, count));
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < BRAID_MAX_PLANES; i++) {
            const unsigned char *bytes = operands[j].plane[i];
            for (size_t e = 0; e < most && bytes; e++) w->sum += (float)bytes[e];
            braid_memory_destroy(context, operands[j].plane[i]);
        }
    }
}

static void work_on(worker *w, braid_context *context, const char *text) {
    braid_problem problem;
    braid_op *op = NULL;
    char again[BRAID_PROBLEM_TEXT];
    if (noted(w, braid_problem_parse(text, &problem)) || noted(w, braid_problem_print(&problem, again, sizeof again)))
        return;
    if (noted(w, braid_op_create(context, &problem, &op))) return;
    const braid_plan_options quick = {.seconds = 1e-4};
    if (!noted(w, braid_op_check(op, 3)) && !noted(w, braid_op_plan(op, &quick))) {
        run_once(w, context, op, 0);
        w->sum = 0; /* who wins a race differs; from here on all take the same kernel */
        noted(w, braid_op_plan(op, &(braid_plan_options){.kernel = braid_op_explain(op)->candidates[0].kernel}));
        for (uint64_t round = 0; round < ROUNDS; round++) run_once(w, context, op, round);
    }
    if (braid_op_run(op, NULL, 0) != BRAID_ERROR_ARGUMENT || !strstr(braid_message(), "expected operand")) {
        snprintf(w->failure, sizeof w->failure, "the message of another thread: %s", braid_message());
    }
    braid_op_destroy(op);
}

static void *work(void *from) {
    worker *w = from;
    braid_context *context = NULL;
    const braid_context_options options = {"cpu", 1 + w->index % 2, BRAID_REPRO_THREADS, w->folder, "onednn,openblas"};
    if (noted(w, braid_context_create(&options, &context))) return NULL;
    for (size_t j = 0; j < sizeof problems / sizeof problems[0]; j++) work_on(w, context, problems[j]);
    braid_context_destroy(context);
    return NULL;
}

static void contexts_in_threads_share_nothing(void **state) {
    pthread_t threads[THREADS];
    worker workers[THREADS];
    char folder[256];
    (void)state;
    snprintf(folder, sizeof folder, "%s", given_folder());
    worker alone = {.folder = folder};
    work(&alone);
    assert_string_equal(alone.failure, "");
    for (int j = 0; j < THREADS; j++) {
        workers[j] = (worker){.index = j, .folder = folder};
        assert_int_equal(pthread_create(&threads[j], NULL, work, &workers[j]), 0);
    }
    for (int j = 0; j < THREADS; j++) assert_int_equal(pthread_join(threads[j], NULL), 0);
    for (int j = 0; j < THREADS; j++) {
        assert_string_equal(workers[j].failure, "");
        assert_true(workers[j].sum == alone.sum);
    }
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
}

/* Vendor libraries are found once for the whole process, by whoever comes first. */
static void *describe_and_race(void *from) {
    worker *w = from;
    braid_context *context = NULL;
    braid_op *op = NULL;
    braid_problem problem;
    if (noted(w, braid_context_create(&(braid_context_options){"cpu", 1, BRAID_REPRO_RUN, "", ""}, &context)))
        return NULL;
    if (!noted(w, braid_problem_parse("linear_fwd:b2:c3:k4", &problem)) &&
        !noted(w, braid_op_create(context, &problem, &op))) {
        noted(w, braid_op_plan(op, &(braid_plan_options){.effort = BRAID_EFFORT_ESTIMATE}));
    }
    braid_op_destroy(op);
    braid_context_destroy(context);
    return NULL;
}

static void vendor_libraries_are_found_once(void **state) {
    pthread_t threads[THREADS];
    worker workers[THREADS] = {{0}};
    (void)state;
    for (int j = 0; j < THREADS; j++)
        assert_int_equal(pthread_create(&threads[j], NULL, describe_and_race, &workers[j]), 0);
    for (int j = 0; j < THREADS; j++) assert_int_equal(pthread_join(threads[j], NULL), 0);
    for (int j = 0; j < THREADS; j++) assert_string_equal(workers[j].failure, "");
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendor_libraries_are_found_once),
        cmocka_unit_test(contexts_in_threads_share_nothing),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
