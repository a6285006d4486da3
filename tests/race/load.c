/*
 * Tests of the load and of the floor of noise: what counters say of a busy machine, that one which is busy now is seen,
 * and the floors of made-up measurements, on paper and in their file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "race/load.h"
#include "race/measure.h"
#include "race/noise.h"
#include "tests/support/given.h"

/* The CPU, which has no load of its own. */
static device *host(void) {
    static device d;
    d.backend = &backend_cpu;
    return &d;
}

/* ---- Load ----------------------------------------------------------------------------------- */

static load loaded(double busy, double own, double stolen, int cpus) {
    const load_mark from = {.at = 100, .own = 5, .busy = 50, .stolen = 3, .cpus = cpus};
    const load_mark to = {110, 5 + own, 50 + busy, 3 + stolen, cpus};
    return load_between(&from, &to);
}

static void counters_tell_who_was_busy(void **state) {
    const load l = loaded(17, 8, 1, 2), none = loaded(17, 8, 1, 0), slept = loaded(1, 2, 0, 2);
    (void)state;
    assert_true(fabs(l.others - 0.9) < 1e-12 && fabs(l.stolen - 0.05) < 1e-12 && l.cpus == 2 && l.seconds == 10);
    assert_true(none.cpus == 0 && none.others == 0 && !load_is_heavy(&none, 2));
    assert_true(slept.others == 0);
}

static void only_work_without_a_cpu_disturbs(void **state) {
    const load one = loaded(9, 0, 0, 2), little = loaded(1, 0, 0, 2), many = loaded(300, 0, 0, 64),
               taken = loaded(0, 0, 2, 2);
    char text[LOAD_TEXT];
    (void)state;
    assert_true(load_is_heavy(&one, 2));
    assert_false(load_is_heavy(&one, 1)); /* it has the other CPU */
    assert_false(load_is_heavy(&little, 2));
    assert_false(load_is_heavy(&many, 32));
    assert_true(load_is_heavy(&many, 64));
    assert_true(load_is_heavy(&taken, 1));
    load_print(&one, text);
    assert_string_equal(text, "other processes kept 0.9 of 2 CPUs busy");
    load clocked = taken;
    clocked.mhz = 2600;
    load_print(&clocked, text);
    assert_string_equal(text, "other processes kept 0.0 of 2 CPUs busy, the host took 10 % of their time, at 2600 MHz");
}

static void others_on_the_gpu_disturb(void **state) {
    load l = loaded(0, 0, 0, 2);
    char text[LOAD_TEXT];
    (void)state;
    l.device = (device_load){.others = 0.04, .mhz = 1980};
    assert_false(load_is_heavy(&l, 1));
    load_print(&l, text);
    assert_string_equal(text, "other processes kept 0.0 of 2 CPUs busy, the GPU at 1980 MHz");
    l.device.others = 0.4;
    assert_true(load_is_heavy(&l, 1));
    load_print(&l, text);
    assert_string_equal(text,
                        "other processes kept 0.0 of 2 CPUs busy, other processes took 40 % of the GPU, the GPU at "
                        "1980 MHz");
}

static void spin(double seconds) {
    for (const double end = measure_now() + seconds; measure_now() < end;) continue;
}

/* The work of this process is not other work; that of a child is, while it runs. */
static void another_process_is_seen(void **state) {
    (void)state;
    if (load_now().cpus < 1) {
        print_message("skip: /proc/stat cannot be read\n");
        skip();
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        spin(10);
        _exit(0);
    }
    const load_mark mark = load_now();
    spin(0.5);
    const load l = load_since(&mark, host());
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(l.others > 0.2);
    assert_true(load_is_heavy(&l, l.cpus));
}

/* A wait ends, however busy the machine stays. */
static void a_wait_is_bounded(void **state) {
    (void)state;
    const double start = measure_now();
    assert_false(load_wait(1 << 20, host(), 0.2) && load_now().cpus > 0);
    const double waited = measure_now() - start;
    assert_true(waited > 0.05 && waited < 5);
}

/* ---- The floor of noise --------------------------------------------------------------------- */

static void floors_of_known_races(void **state) {
    const double logs[8] = {0.01, -0.02, 0.005, 0.001, 0, -0.004, 0.003, 0.002};
    const double steady[8] = {1, 1, 1, 1, 1, 1, 1, 1}, one_off[8] = {1, 1, 1, 1, 1, 1, 1, 1.1};
    (void)state;
    const noise n = noise_of(logs, one_off, 8), least = noise_of((const double[8]){0}, steady, 8);
    assert_true(fabs(n.within - expm1(0.02)) < 1e-12 && n.is_measured);
    assert_true(fabs(n.between - 0.1) < 1e-12); /* 7 of 28 pairs differ, more than 1 of 20 */
    assert_true(least.within == 0.003 && least.between == 0.01);
}

static void the_file_comes_back(void **state) {
    static const char *const forged[] = {"", "{}", "{\"key\":\"k\",\"within\":0.5}",
                                         "{\"key\":\"k\",\"within\":0,\"between\":0.1}",
                                         "{\"key\":\"k\",\"within\":0.1,\"between\":1}"};
    const noise written = {0.0123, 0.0456, 1};
    noise back = {0};
    char *text = NULL;
    size_t bytes = 0;
    (void)state;
    assert_int_equal(noise_write("k", &written, &text, &bytes), BRAID_OK);
    assert_int_equal(noise_read(text, bytes, "other", &back), BRAID_ERROR_DATA);
    assert_true(back.within == 0);
    assert_int_equal(noise_read(text, bytes, "k", &back), BRAID_OK);
    assert_true(back.within == written.within && back.between == written.between && back.is_measured);
    memory_free(text);
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++)
        assert_int_equal(noise_read(forged[i], strlen(forged[i]), "k", &back), BRAID_ERROR_DATA);
}

/* Where there is no time to measure, the usual floors hold, and they are large. */
static void without_time_the_usual_floors(void **state) {
    braid_context *context = NULL;
    const braid_context_options options = {.device = "cpu", .threads = 1, .cache_dir = ""};
    (void)state;
    assert_int_equal(braid_context_create(&options, &context), BRAID_OK);
    const noise usual = noise_floor(context, 0.1);
    assert_true(usual.within == 0.01 && usual.between == 0.05 && !usual.is_measured);
    braid_context_destroy(context);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_tell_who_was_busy), cmocka_unit_test(only_work_without_a_cpu_disturbs),
        cmocka_unit_test(others_on_the_gpu_disturb),  cmocka_unit_test(another_process_is_seen),
        cmocka_unit_test(a_wait_is_bounded),          cmocka_unit_test(floors_of_known_races),
        cmocka_unit_test(the_file_comes_back),        cmocka_unit_test(without_time_the_usual_floors),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
