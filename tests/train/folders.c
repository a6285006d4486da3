/*
 * Tests of the folder of a run where others make, lock, move and remove it, too: a run works in the folder that it
 * locked, and in no other that has got its name. The others act within the calls of the file table, so that each test
 * has its moment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "train/trainer.h"

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static void says(const char *words) {
    if (!strstr(braid_message(), words)) fail_msg("expected \"%s\" in: %s", words, braid_message());
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* ---- Others within calls ------------------------------------------------------------------ */

static int others_fd = -1;
static int removals; /* of the folder in front of a lock, that are still to come */

static int plain_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }

/* The folder is made, and locked by another before its maker comes to it. */
static int mkdir_for_another(const char *path, unsigned mode) {
    int result = mkdir(path, (mode_t)mode);
    others_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(others_fd, LOCK_EX | LOCK_NB), 0);
    return result;
}

static int plain_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

static int flock_of_a_removed_one(int fd, int operation) {
    if (removals > 0) {
        removals--;
        assert_int_equal(rmdir("run"), 0);
    }
    return flock(fd, operation);
}

static void set_calls(int (*make)(const char *, unsigned), int (*lock)(int, int)) {
    static files_table table;
    table = (files_table){plain_open, pread, pwrite, fsync, close, rename, unlink, make, link, lock, statvfs};
    files_set_table(&table);
}

static braid_train_options options(void) {
    braid_train_options o = small_run_options();
    o.folder = "run";
    return o;
}

/* ---- Several that start at once ----------------------------------------------------------- */

/* Who made the folder, and came late to its lock, leaves it to the run that has it. */
static void one_that_is_refused_removes_nothing(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = options();
    set_calls(mkdir_for_another, flock);
    assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
    says("run: expected a folder that no run is at work in");
    small_run_close(&r);
    files_set_table(NULL);
    assert_true(is_there("run"));
    close(others_fd);
    ok(small_run_open(&r, &o));
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

/* A folder that goes between making and locking is made again, and its run is the one that others are refused by. */
static void one_that_was_removed_is_made_again(void **state) {
    small_run r, other;
    (void)state;
    braid_train_options o = options();
    o.steps = 1;
    removals = 3;
    set_calls(plain_mkdir, flock_of_a_removed_one);
    ok(small_run_open(&r, &o));
    assert_int_equal(removals, 0);
    assert_true(is_there("run"));
    assert_int_equal(small_run_open(&other, &o), BRAID_ERROR_ARGUMENT);
    small_run_close(&other);
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_true(is_there("run/last.safetensors"));
    assert_int_equal(system("rm -r run"), 0);
    removals = 1000;
    assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_DISK);
    says("run: expected a folder that stays");
    small_run_close(&r);
    files_set_table(NULL);
    assert_int_equal(memory_live(), 0);
}

/* ---- Folders that go while a run is at work ------------------------------------------------ */

typedef struct mover {
    const char *command;
    int64_t step;
} mover;

static int move_at(void *user, const braid_train_event *e) {
    const mover *m = user;
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->step == m->step) assert_int_equal(system(m->command), 0);
    return 0;
}

/* A run whose folder goes at an update: it ends with its next save, and the folder that has its name then is as it was
 * made. */
static void ends_with_its_folder(const char *command, int64_t step, int64_t save_steps, const char *words) {
    small_run r;
    mover m = {command, step};
    braid_train_options o = options();
    o.event = move_at;
    o.user = &m;
    o.save_steps = save_steps;
    o.steps = 60;
    assert_int_equal(system("rm -rf run other"), 0);
    ok(small_run_open(&r, &o));
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DISK);
    says(words);
    assert_true(small_run_step(&r) <= step + 6);
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

#define ANOTHER "run: expected the folder that the run began in, got another: it was moved or removed"
#define NONE "run: expected the folder that the run began in, got none: it was moved or removed"

static void a_folder_that_goes_ends_the_run(void **state) {
    (void)state;
    for (int64_t save_steps = 0; save_steps < 3; save_steps++)
        for (int64_t step = 1; step < 14; step += 4) {
            ends_with_its_folder("mv run other && mkdir run", step, save_steps, ANOTHER);
            assert_int_equal(folder_entries("run"), 0);
            ends_with_its_folder("rm -r run && mkdir run", step, save_steps, ANOTHER);
            assert_int_equal(folder_entries("run"), 0);
            ends_with_its_folder("mv run other", step, save_steps, NONE);
            assert_false(is_there("run"));
        }
}

/* Another run begins in the place of the first, and is as it would be alone. */
static void a_second_run_is_left_alone(void **state) {
    small_run first, second;
    (void)state;
    braid_train_options o = options();
    o.steps = 8;
    ok(small_run_open(&first, &o));
    assert_int_equal(system("mv run other"), 0);
    ok(small_run_open(&second, &o));
    ok(braid_trainer_run(second.trainer));
    small_run_close(&second);
    assert_int_equal(system("cp -r run old"), 0);
    assert_int_equal(braid_trainer_run(first.trainer), BRAID_ERROR_DISK);
    says(ANOTHER);
    assert_int_equal(braid_trainer_save(first.trainer), BRAID_ERROR_DISK);
    small_run_close(&first);
    assert_int_equal(system("diff -r run old"), 0);
    assert_int_equal(memory_live(), 0);
}

static int count_notes(void *user, const braid_train_event *e) {
    int *notes = user;
    *notes += e->kind == BRAID_TRAIN_EVENT_NOTE;
    return 0;
}

/* ---- What is left of runs ------------------------------------------------------------------ */

/* A new run is refused where one was, as long as anything of it is there that the new one would write over. */
static void what_is_left_of_a_run_is_not_written_over(void **state) {
    static const char *const left[] = {"best.safetensors", "best.previous.safetensors", "metrics.jsonl"};
    small_run r;
    char command[256];
    (void)state;
    braid_train_options o = options();
    o.monitor = "val_loss"; /* which falls: the last epoch is the best */
    o.steps = 14;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("rm run/last* && cp -r run old"), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
        small_run_close(&r);
        snprintf(command, sizeof command, "run: expected a folder without a run, got one with %s and no", left[i]);
        says(command);
        says(i < 2 ? "resume it, take another folder, or type: rm -f run/best*.safetensors run/metrics.jsonl"
                   : "take another folder, or type: rm -f run/metrics.jsonl");
        assert_int_equal(system("diff -r run old"), 0);
        snprintf(command, sizeof command, "rm run/%s old/%s", left[i], left[i]);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(system("touch run/metrics.jsonl"), 0); /* nothing to lose */
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

/* A run that was killed in the save of its first epoch, before `best`: a new one begins over, as if that had never
 * been. What is not of such a run stays. */
static void a_first_epoch_that_was_not_saved_is_begun_over(void **state) {
    static const char *const not_ours[] = {"a\n", "{\"kind\":\"epoch\",\"epoch\":2,\"step\":12}\n",
                                           "{\"kind\":\"epoch\",\"epoch\":1,\"step\":6}\nb\n"};
    small_run r;
    char command[256];
    (void)state;
    braid_train_options o = options();
    o.steps = 6;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("cp -r run whole && rm run/*.safetensors"), 0);
    for (int cut = 0; cut < 3; cut++) { /* a whole row, one without its end, and a piece of one */
        if (cut) assert_int_equal(system("rm -f run/*.safetensors && cp whole/metrics.jsonl run"), 0);
        if (cut) assert_int_equal(truncate("run/metrics.jsonl", cut == 1 ? 40 : 5), 0);
        ok(small_run_open(&r, &o));
        ok(braid_trainer_run(r.trainer));
        small_run_close(&r);
        assert_int_equal(system("for f in metrics.jsonl last.safetensors best.safetensors; do "
                                "cmp run/$f whole/$f || exit 1; done"),
                         0);
    }
    assert_int_equal(system("rm run/*.safetensors"), 0);
    for (int j = 0; j < 3; j++) {
        snprintf(command, sizeof command, "printf '%s' > run/metrics.jsonl && cp run/metrics.jsonl old", not_ours[j]);
        assert_int_equal(system(command), 0);
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_ARGUMENT);
        small_run_close(&r);
        assert_int_equal(system("cmp run/metrics.jsonl old"), 0);
    }
    assert_int_equal(memory_live(), 0);
}

/* The same, killed behind `best`: that has all that a run needs to go on, to the same bits. */
static void a_run_goes_on_from_its_best_epoch_alone(void **state) {
    small_run r;
    int notes = 0;
    (void)state;
    braid_train_options o = options();
    o.steps = 14;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("mv run whole"), 0);
    o.steps = 6;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("rm run/last*"), 0);
    o.steps = 14;
    o.resume = 1;
    o.event = count_notes;
    o.user = &notes;
    ok(small_run_open(&r, &o));
    assert_int_equal(notes, 1);
    assert_int_equal(small_run_step(&r), 6);
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(
        system("cmp run/last.safetensors whole/last.safetensors && cmp run/metrics.jsonl whole/metrics.jsonl"), 0);
    assert_int_equal(memory_live(), 0);
}

/* A checkpoint that the system does not let us read, for now, is not a damaged one: the run ends, and no older file is
 * taken in its place. */
static void unreadable_is_not_damaged(void **state) {
    static const int errors[] = {EACCES, EIO, EMFILE, ENOMEM};
    static const unsigned calls[] = {FAIL_OPEN, FAIL_PREAD};
    small_run r;
    int notes = 0;
    (void)state;
    braid_train_options o = options();
    o.monitor = "val_loss";
    o.steps = 14;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(system("cp -r run old"), 0);
    o.resume = 1;
    o.event = count_notes;
    o.user = &notes;
    fail_files_install();
    for (int kind = 0; kind < 8; kind++) {
        int64_t failures = 1, refused = 0;
        for (int64_t nth = 1; failures; nth++) {
            fail_files_arm(calls[kind / 4], nth, FAIL_ONCE, errors[kind % 4]);
            braid_status status = small_run_open(&r, &o);
            failures = fail_files_disarm();
            bool is_metrics = status == BRAID_ERROR_DATA && strstr(braid_message(), "metrics.jsonl");
            if (status && status != BRAID_ERROR_DISK && !is_metrics) fail_msg("%d: %s", status, braid_message());
            if (!status) assert_int_equal(small_run_step(&r), 14);
            refused += status == BRAID_ERROR_DISK;
            small_run_close(&r);
            assert_int_equal(notes, 0);
            assert_int_equal(system("diff -r run old"), 0);
        }
        assert_true(refused >= 4); /* last and best, looked at and loaded */
    }
    fail_files_remove();
    assert_int_equal(memory_live(), 0);
}

/* In front of the first save: a momentum that no checkpoint takes, while the loss is still finite. */
static int spoil_momentum(void *user, const braid_train_event *e) {
    const small_run *r = user;
    const float infinite = INFINITY;
    device *d = r->context->device;
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->step == 6)
        ok(d->backend->upload(d, r->model->m, &infinite, sizeof infinite));
    return 0;
}

/* A run that is refused at its first save leaves nothing of what it made, and all that was there before. */
static void nothing_is_left_of_a_run_that_saved_nothing(void **state) {
    small_run r;
    (void)state;
    braid_train_options o = options();
    o.event = spoil_momentum;
    o.user = &r;
    for (int there = 0; there < 3; there++) {
        if (there) assert_int_equal(system("mkdir -p run old && touch run/notes old/notes"), 0);
        if (there == 2) assert_int_equal(system("touch run/metrics.jsonl old/metrics.jsonl"), 0);
        ok(small_run_open(&r, &o));
        assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DIVERGED);
        assert_true(is_there("run"));
        small_run_close(&r);
        says("there is no checkpoint yet");
        assert_int_equal(system(there ? "diff -r run old" : "test ! -e run"), 0);
    }
    o.event = NULL;
    o.steps = 7;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_int_equal(folder_entries("run"), 6); /* notes, metrics, events, best and two generations of last */
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_that_is_refused_removes_nothing),
        IN_FOLDER(one_that_was_removed_is_made_again),
        IN_FOLDER(a_folder_that_goes_ends_the_run),
        IN_FOLDER(a_second_run_is_left_alone),
        IN_FOLDER(what_is_left_of_a_run_is_not_written_over),
        IN_FOLDER(a_first_epoch_that_was_not_saved_is_begun_over),
        IN_FOLDER(a_run_goes_on_from_its_best_epoch_alone),
        IN_FOLDER(unreadable_is_not_damaged),
        IN_FOLDER(nothing_is_left_of_a_run_that_saved_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
