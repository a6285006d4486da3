/*
 * A run that is killed, kill -9, while it saves after every update: BRAID_KILLS times at random moments (200 where it
 * is not set, 1000 in make test-full), and once before every file call of a save. This program runs itself as the
 * process that trains. Afterwards every checkpoint of the folder is whole, the run goes on at the update that was last
 * promised or the one after it, nothing of the dead is left, and in the end the run has the bits of one that was never
 * killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/temporaries.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "train/checkpoint.h"

#define FEW_KILLS 200
#define LONGEST_NS 4000000
#define FEW_STEPS 7 /* at least one end of an epoch is among them */
#define LAST "run/last.safetensors"

static const char *const checkpoints[] = {LAST, "run/last.previous.safetensors", "run/best.safetensors",
                                          "run/best.previous.safetensors"};

static braid_train_options options_in(const char *folder) {
    braid_train_options o = small_run_options();
    o.folder = folder;
    o.monitor = "val_loss"; /* which falls: most epochs are the best so far */
    return o;
}

/* ---- The process that is killed -------------------------------------------------------------- */

static int tell_fd;

/* The update before this one was saved before this one began. */
static int tell(void *user, const braid_train_event *e) {
    int64_t saved = e->step - 1;
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) _exit(3);
    if (e->kind == BRAID_TRAIN_EVENT_STEP && write(tell_fd, &saved, sizeof saved) != sizeof saved) _exit(2);
    return 0;
}

/* Trains and saves; with a number dies in front of that file call, or ends after a few updates. */
static int train(int fd, int64_t nth) {
    small_run r;
    braid_train_options o = options_in("run");
    tell_fd = fd;
    o.save_steps = 1;
    o.resume = access(LAST, F_OK) == 0;
    o.event = tell;
    if (small_run_open(&r, &o) != BRAID_OK) return 4;
    int64_t first = small_run_step(&r);
    small_run_close(&r);
    o.steps = nth ? first + FEW_STEPS : 0;
    if (small_run_open(&r, &o) != BRAID_OK) return 5;
    if (nth) {
        fail_files_install();
        fail_files_arm(FAIL_ANY_FILE_CALL, nth, FAIL_ONCE, FAIL_KILL);
    }
    braid_status status = braid_trainer_run(r.trainer);
    small_run_close(&r);
    return (int)status;
}

static pid_t start(int64_t nth, int *from) {
    char fd[16], number[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
    snprintf(fd, sizeof fd, "%d", ends[1]);
    snprintf(number, sizeof number, "%lld", (long long)nth);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "kills", "train", fd, number, (char *)NULL);
        _exit(9);
    }
    close(ends[1]);
    *from = ends[0];
    return child;
}

/* ---- What is left ------------------------------------------------------------------------------ */

static int count_temporaries(void) { return folder_begin_with("run", ".braid."); }

static int note(void *user, const braid_train_event *e) {
    (void)user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) fail_msg("went back: %s", e->text);
    return 0;
}

/* A new start: where it goes on. Fails the test where anything is damaged, older than promised, or left over. */
static int64_t look(int64_t promised) {
    small_run r;
    braid_train_options o = options_in("run");
    for (int i = 0; i < 4; i++)
        if (access(checkpoints[i], F_OK) == 0 && checkpoint_check(checkpoints[i], NULL) != BRAID_OK)
            fail_msg("%s", braid_message());
    o.resume = access(LAST, F_OK) == 0;
    o.event = note;
    assert_true(o.resume || promised == 0);
    if (small_run_open(&r, &o) != BRAID_OK) fail_msg("%s", braid_message());
    int64_t step = small_run_step(&r);
    small_run_close(&r);
    assert_in_range(step, promised, promised + 1);
    assert_int_equal(count_temporaries(), 0);
    assert_int_equal(memory_live(), 0);
    return step;
}

/* The last update that the process promised, or `before`. */
static int64_t last_promise(int from, int64_t before) {
    int64_t step = before;
    while (read(from, &step, sizeof step) == sizeof step) continue;
    close(from);
    return step;
}

static void same_file(const char *name) {
    char paths[2][64], *data[2];
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", i ? "whole" : "run", name);
        assert_int_equal(files_read(paths[i], 1 << 24, BRAID_ERROR_DATA, &data[i], &bytes[i]), BRAID_OK);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(data[0], data[1], bytes[0]);
    for (int i = 0; i < 2; i++) memory_free(data[i]);
}

/* Ends the run, and compares it with one that was never stopped. */
static void compare_with_whole(int64_t step) {
    for (int i = 0; i < 2; i++) {
        small_run r;
        braid_train_options o = options_in(i ? "whole" : "run");
        o.steps = step + FEW_STEPS;
        o.resume = !i;
        assert_int_equal(small_run_open(&r, &o), BRAID_OK);
        assert_int_equal(braid_trainer_run(r.trainer), BRAID_OK);
        small_run_close(&r);
    }
    same_file("last.safetensors");
    same_file("best.safetensors");
    same_file("metrics.jsonl");
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void killed_at_any_moment(void **state) {
    rng r = {.seed = 7};
    const char *wanted = getenv("BRAID_KILLS");
    const int kills = wanted ? (int)strtol(wanted, NULL, 10) : FEW_KILLS;
    int64_t step = 0, torn = 0;
    (void)state;
    for (int i = 0; i < kills; i++) {
        int from, how;
        int64_t promised = step;
        pid_t child = start(0, &from);
        assert_int_equal(read(from, &promised, sizeof promised), sizeof promised); /* it is at work */
        struct timespec pause = {.tv_nsec = (long)rng_between(&r, 0, LONGEST_NS)};
        nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        torn += count_temporaries() > 0;
        step = look(last_promise(from, promised));
    }
    print_message("%d kills, %lld of them in the middle of a file; %lld updates saved, 0 lost\n", kills,
                  (long long)torn, (long long)step);
    assert_true(torn > 0 && step > kills / 10); /* the slower the machine, the fewer updates between two kills */
    compare_with_whole(step);
}

static void killed_in_front_of_every_call(void **state) {
    int64_t step = 0, nth = 0;
    int how = 0;
    (void)state;
    do {
        int from;
        pid_t child = start(++nth, &from);
        int64_t promised = last_promise(from, step);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) ? WTERMSIG(how) == SIGKILL : WEXITSTATUS(how) == 0);
        step = look(promised);
    } while (WIFSIGNALED(how));
    print_message("%lld calls, 0 updates lost\n", (long long)nth - 1);
    assert_true(nth > 30);
    compare_with_whole(step);
}

/* What a process that is gone left in the folder goes when the next begins; a process that lives keeps its own. */
static void only_the_dead_are_swept(void **state) {
    char name[TEMPORARY_NAME_BYTES], ours[TEMPORARY_NAME_BYTES + 8];
    (void)state;
    for (int64_t nth = 1; nth < 40 && count_temporaries() == 0; nth++) {
        int how, from;
        pid_t child = start(nth, &from);
        last_promise(from, 0);
        assert_int_equal(waitpid(child, &how, 0), child);
    }
    assert_in_range(count_temporaries(), 1, 2);
    temporary_name(name);
    snprintf(ours, sizeof ours, "run/%s", name);
    assert_int_equal(files_write(ours, "x", 1), BRAID_OK);
    assert_int_equal(files_write("run/mine.tmp", "x", 1), BRAID_OK);
    small_run r;
    braid_train_options o = options_in("run");
    o.resume = access(LAST, F_OK) == 0;
    assert_int_equal(small_run_open(&r, &o), BRAID_OK);
    small_run_close(&r);
    assert_int_equal(count_temporaries(), 1);
    assert_int_equal(access(ours, F_OK), 0);
    assert_int_equal(access("run/mine.tmp", F_OK), 0);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(killed_at_any_moment),
        IN_FOLDER(killed_in_front_of_every_call),
        IN_FOLDER(only_the_dead_are_swept),
    };
    if (count == 4 && !strcmp(arguments[1], "train"))
        return train((int)strtol(arguments[2], NULL, 10), strtoll(arguments[3], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
