/*
 * Tests of core/threads: every part once, and the same bits at any number of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rng.h"
#include "core/threads.h"

enum { PARTS = 1000, ITEMS = 100003 };

static atomic_int runs[PARTS];

static void count_run(void *context, int64_t i) {
    (void)context;
    atomic_fetch_add(&runs[i], 1);
}

static void every_part_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        memset(runs, 0, sizeof runs);
        threads_set(threads);
        threads_for(PARTS, count_run, NULL);
        for (int i = 0; i < PARTS; i++) assert_int_equal(atomic_load(&runs[i]), 1);
    }
    threads_for(0, count_run, NULL);
    threads_for(-5, count_run, NULL);
    threads_for(1, count_run, NULL);
    assert_int_equal(atomic_load(&runs[0]), 2);
    threads_set(0);
}

static void run_inner_parts(void *context, int64_t i) {
    (void)i;
    threads_for(PARTS, count_run, context);
}

static void nested(void **state) {
    (void)state;
    memset(runs, 0, sizeof runs);
    threads_set(3);
    threads_for(10, run_inner_parts, NULL);
    for (int i = 0; i < PARTS; i++) assert_int_equal(atomic_load(&runs[i]), 10);
    threads_set(0);
}

typedef struct reduction {
    float items[ITEMS];
    float partial[17];
} reduction;

static void sum_part(void *context, int64_t i) {
    reduction *r = context;
    int64_t begin, end;
    threads_range(ITEMS, 17, i, &begin, &end);
    r->partial[i] = 0;
    for (int64_t k = begin; k < end; k++) r->partial[i] += r->items[k];
}

static void same_bits_at_any_thread_count(void **state) {
    static const int counts[] = {1, 2, 3, 7};
    static reduction r;
    float first[17];
    rng random = {.seed = 9};
    (void)state;
    for (int i = 0; i < ITEMS; i++) r.items[i] = (float)rng_normal(&random);
    for (int c = 0; c < 4; c++) {
        threads_set(counts[c]);
        threads_for(17, sum_part, &r);
        if (c == 0) memcpy(first, r.partial, sizeof first);
        assert_memory_equal(first, r.partial, sizeof first);
    }
    threads_set(0);
}

static void ranges(void **state) {
    static const int64_t totals[] = {0, 1, 2, 7, 16, 1000003, INT64_MAX};
    int64_t begin, end;
    (void)state;
    for (int t = 0; t < 7; t++) {
        for (int64_t parts = 1; parts <= 20; parts++) {
            int64_t expected_begin = 0, shortest = INT64_MAX, longest = 0;
            for (int64_t i = 0; i < parts; i++) {
                threads_range(totals[t], parts, i, &begin, &end);
                assert_true(begin == expected_begin && end >= begin);
                if (end - begin < shortest) shortest = end - begin;
                if (end - begin > longest) longest = end - begin;
                expected_begin = end;
            }
            assert_true(expected_begin == totals[t]);
            assert_true(longest - shortest <= 1);
        }
    }
    threads_range(10, 0, 0, &begin, &end);
    assert_true(begin == 0 && end == 0);
    threads_range(-10, 3, 1, &begin, &end);
    assert_true(begin == 0 && end == 0);
}

static void *get_in_another_thread(void *argument) {
    *(int *)argument = threads_get();
    return NULL;
}

static void setting_belongs_to_thread(void **state) {
    pthread_t thread;
    int elsewhere = 0;
    (void)state;
    threads_set(97);
    assert_int_equal(threads_get(), 97);
    assert_int_equal(pthread_create(&thread, NULL, get_in_another_thread, &elsewhere), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(elsewhere, threads_available());
    threads_set(0);
    assert_int_equal(threads_get(), threads_available());
    threads_set(-3);
    assert_int_equal(threads_get(), threads_available());
}

static void available(void **state) {
    (void)state;
    unsetenv("OMP_NUM_THREADS");
    int cores = threads_available();
    assert_in_range(cores, 1, 100000);
    static const struct {
        const char *text;
        int expected; /* 0: the cores */
    } rows[] = {{"3", 3},
                {"5,2", 5},
                {" 4 ", 4},
                {"", 0},
                {"junk", 0},
                {"3x", 0},
                {"0", 0},
                {"-2", 0},
                {"1024", 1024},
                {"1025", 1024},
                {"100000", 1024},
                {"99999999999", 1024},
                {"99999999999999999999", 1024}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("OMP_NUM_THREADS", rows[i].text, 1);
        assert_int_equal(threads_available(), rows[i].expected ? rows[i].expected : cores);
    }
    unsetenv("OMP_NUM_THREADS");
}

static void runtime_and_apply(void **state) {
    (void)state;
    assert_true(strcmp(threads_runtime(), "libgomp") == 0 || strcmp(threads_runtime(), "libomp") == 0);
    int before = threads_apply(3);
    assert_int_equal(threads_apply(5), 3);
    threads_restore(before);
    assert_int_equal(threads_apply(100000), before);
    assert_int_equal(threads_apply(before), THREADS_MOST);
}

static void *get_count(void *argument) {
    *(int *)argument = threads_available() + 100 * threads_get() + 10000 * threads_most();
    return NULL;
}

/* A child has one thread, whatever was set before or is set in it, and so have its children and its threads. */
static int check_child(int generation) {
    pthread_t thread;
    int elsewhere = 0, status = 0;
    alarm(30); /* a hang ends with a signal */
    setenv("OMP_NUM_THREADS", "8", 1);
    if (threads_most() != 1 || threads_available() != 1 || threads_get() != 1) return 1;
    threads_set(4);
    threads_apply(4);
    if (threads_get() != 1 || threads_apply(4) != 1) return 2;
    memset(runs, 0, sizeof runs);
    threads_for(PARTS, count_run, NULL);
    for (int i = 0; i < PARTS; i++)
        if (atomic_load(&runs[i]) != 1) return 3;
    if (pthread_create(&thread, NULL, get_count, &elsewhere) || pthread_join(thread, NULL)) return 4;
    if (elsewhere != 10101) return 5;
    if (generation == 2) return 0;
    pid_t child = fork();
    if (child == 0) _exit(check_child(generation + 1));
    return waitpid(child, &status, 0) != child || status != 0 ? 6 : 0;
}

static void one_thread_after_a_fork(void **state) {
    (void)state;
    SKIP_THREADS_AFTER_FORK();
    for (int threads = 1; threads <= 16; threads++) {
        int status = 0;
        threads_set(threads);
        threads_for(PARTS, count_run, NULL); /* libgomp has its threads now */
        pid_t child = fork();
        if (child == 0) _exit(check_child(1));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(threads_get(), threads); /* the parent's are its own */
        assert_int_equal(threads_most(), THREADS_MOST);
    }
    threads_set(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_once),
        cmocka_unit_test(nested),
        cmocka_unit_test(same_bits_at_any_thread_count),
        cmocka_unit_test(ranges),
        cmocka_unit_test(setting_belongs_to_thread),
        cmocka_unit_test(available),
        cmocka_unit_test(runtime_and_apply),
        cmocka_unit_test(one_thread_after_a_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
