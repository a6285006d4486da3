/*
 * A trainer whose saves fail: every allocation, write, sync, rename and any other file call of one, in every way. What
 * was saved before loads, the failure is told in words, a refusal in the middle of a run does not end it, and after the
 * next start nothing is left over. Interrupted calls and short writes are no failures.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "train/checkpoint.h"

#define BEFORE 3 /* updates of the checkpoint that is there */
#define EPOCH 6

typedef struct notes {
    int count;
    char last[512];
} notes;

static int listen(void *user, const braid_train_event *e) {
    notes *n = user;
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) {
        n->count++;
        snprintf(n->last, sizeof n->last, "%s", e->text);
    }
    return 0;
}

static braid_train_options options_until(int64_t steps, int resume) {
    braid_train_options o = small_run_options();
    o.folder = "run";
    o.steps = steps;
    o.resume = resume;
    o.monitor = "val_loss"; /* which falls: the last epoch is the best */
    return o;
}

static void ok(braid_status status) {
    if (status) fail_msg("%d: %s", (int)status, braid_message());
}

static void remove_run(void) { assert_int_equal(system("rm -rf run"), 0); }

/* Leaves a checkpoint of BEFORE updates. */
static void make_checkpoint(void) {
    small_run r;
    braid_train_options o = options_until(BEFORE, 0);
    remove_run();
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
}

/* No temporary is left, and every file of the folder is one that a run has. */
static void nothing_stray(void) {
    DIR *folder = opendir("run");
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *name = entry->d_name;
        if (name[0] == '.' && strspn(name, ".") < strlen(name)) fail_msg("%s is left", name);
    }
    closedir(folder);
}

/* A new start: where it goes on, after it has looked at every checksum. */
static int64_t start_again(void) {
    small_run r;
    notes heard = {0};
    braid_train_options o = options_until(0, 1);
    o.event = listen;
    o.user = &heard;
    ok(checkpoint_check("run/last.safetensors", NULL));
    ok(small_run_open(&r, &o));
    int64_t step = small_run_step(&r);
    ok(braid_trainer_save(r.trainer)); /* and it can save */
    small_run_close(&r);
    assert_int_equal(heard.count, 0);
    nothing_stray();
    return step;
}

/* ---- One save ---------------------------------------------------------------------------------- */

typedef struct fault {
    unsigned calls; /* 0: allocations */
    int64_t nth;
    fail_mode mode;
    int error;
} fault;

/* Begins to fail behind the update, so that what fails is the save. */
static int arm(void *user, const braid_train_event *e) {
    const fault *f = user;
    if (e->kind != BRAID_TRAIN_EVENT_STEP) return 0;
    if (f->calls) fail_files_arm(f->calls, f->nth, f->mode, f->error);
    if (!f->calls) fail_alloc_arm(f->nth, f->mode);
    return 0;
}

/* One update more and its save, which fails. */
static braid_status save_one_more(fault *f, int64_t *failures) {
    small_run r;
    make_checkpoint();
    braid_train_options o = options_until(BEFORE + 1, 1);
    o.event = arm;
    o.user = f;
    ok(small_run_open(&r, &o));
    braid_status status = braid_trainer_run(r.trainer);
    *failures = f->calls ? fail_files_disarm() : fail_alloc_disarm();
    small_run_close(&r);
    return status;
}

/* The same by a process of its own, which tells how many calls failed. */
static int save_and_exit(fault *f, int tell) {
    int64_t failures;
    braid_status status = save_one_more(f, &failures);
    if (memory_live() != 0 || write(tell, &failures, sizeof failures) != sizeof failures) return 100;
    if (status == BRAID_ERROR_DISK && !strstr(braid_message(), "run")) return 101;
    return (int)status;
}

/* ... and a new start. What was promised is there, else what was there before. Returns how many calls failed. */
static int64_t save_under_fault(fault f) {
    int64_t failures = -1;
    int ends[2], how;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(save_and_exit(&f, ends[1]));
    assert_int_equal(waitpid(child, &how, 0), child);
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    bool must_succeed = f.mode == FAIL_ONCE || f.error == FAIL_SHORT;
    if (status != BRAID_OK && (status != BRAID_ERROR_DISK || must_succeed))
        fail_msg("calls %x, number %lld, mode %d, error %d: exit %d", f.calls, (long long)f.nth, (int)f.mode, f.error,
                 status);
    assert_int_equal(read(ends[0], &failures, sizeof failures), sizeof failures);
    assert_true(failures > 0 || status == BRAID_OK);
    close(ends[0]);
    close(ends[1]);
    assert_in_range(start_again(), status == BRAID_OK ? BEFORE + 1 : BEFORE, BEFORE + 1);
    return failures;
}

/* A fault that goes away is retried, whatever it was; one that stays is told, and the checkpoint is as it was. */
static void every_call_fails(void **state) {
    static const int errors[] = {ENOSPC, EIO, EINTR, FAIL_SHORT};
    int64_t tried = 0;
    (void)state;
    fail_files_install();
    for (int e = 0; e < 4; e++)
        for (int mode = FAIL_ONCE; mode <= FAIL_PERSISTENT; mode++)
            for (int64_t nth = 1; save_under_fault((fault){FAIL_ANY_FILE_CALL, nth, (fail_mode)mode, errors[e]}) > 0;
                 nth++)
                tried++;
    print_message("%lld faults\n", (long long)tried);
    assert_true(tried > 100);
}

/* One kind of call that never works again, beginning with any of its calls. */
static void one_kind_of_call_fails(void **state) {
    static const unsigned kinds[] = {FAIL_OPEN,  FAIL_WRITE,  FAIL_FSYNC, FAIL_RENAME,
                                     FAIL_CLOSE, FAIL_UNLINK, FAIL_LINK};
    (void)state;
    fail_files_install();
    for (int kind = 0; kind < 7; kind++)
        for (int64_t nth = 1; save_under_fault((fault){kinds[kind], nth, FAIL_PERSISTENT, ENOSPC}) > 0; nth++) continue;
}

static void every_allocation_fails(void **state) {
    int64_t failures = 1, nth, refused = 0; /* a save can do without wisdom, which is looked into */
    (void)state;
    fail_alloc_install();
    for (nth = 1; failures > 0; nth++) {
        fault f = {.nth = nth, .mode = nth % 2 ? FAIL_ONCE : FAIL_PERSISTENT};
        braid_status status = save_one_more(&f, &failures);
        assert_int_equal(memory_live(), 0);
        assert_true(status == BRAID_OK || (failures && status == BRAID_ERROR_MEMORY));
        if (status) assert_non_null(strstr(braid_message(), "no memory"));
        refused += status == BRAID_ERROR_MEMORY;
        assert_in_range(start_again(), status ? BEFORE : BEFORE + 1, BEFORE + 1);
    }
    print_message("%lld allocations, %lld of them needed\n", (long long)nth - 1, (long long)refused);
    assert_true(refused > 10);
    remove_run();
    fail_alloc_remove();
}

/* ---- In the middle of a run -------------------------------------------------------------------- */

/* Trains three epochs from BEFORE on with a disk that is full from the nth write on, for good or until the end of an
 * epoch. */
static braid_status train_with_full_disk(int64_t nth, fail_mode mode, notes *heard) {
    small_run r;
    make_checkpoint();
    braid_train_options o = options_until(3 * EPOCH, 1);
    o.event = listen;
    o.user = heard;
    o.save_steps = 1;
    ok(small_run_open(&r, &o));
    fail_files_arm(FAIL_WRITE | FAIL_FSYNC, nth, mode, ENOSPC);
    braid_status status = braid_trainer_run(r.trainer);
    fail_files_disarm();
    assert_int_equal(small_run_step(&r), 3 * EPOCH);
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
    return status;
}

static void a_full_disk_does_not_end_a_run(void **state) {
    notes heard = {0};
    (void)state;
    fail_files_install();
    assert_int_equal(train_with_full_disk(1, FAIL_PERSISTENT, &heard), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "No space left on device"));
    assert_true(heard.count > 3 * EPOCH - BEFORE);
    assert_non_null(strstr(heard.last, "not saved: "));
    assert_non_null(strstr(heard.last, "the run goes on"));
    assert_int_equal(start_again(), BEFORE);
    for (int64_t nth = 1; nth < 200; nth += 7) { /* once: another try does it, and nobody hears of it */
        heard.count = 0;
        ok(train_with_full_disk(nth, FAIL_ONCE, &heard));
        assert_int_equal(heard.count, 0);
        assert_int_equal(start_again(), 3 * EPOCH);
    }
}

static int fill_and_listen(void *user, const braid_train_event *e) {
    if (e->kind == BRAID_TRAIN_EVENT_STEP) fail_files_fill(1);
    return listen(user, e);
}

/* A disk without room for a checkpoint: a run does not begin, and one that has begun goes on without a save. Nothing of
 * it is begun on the disk. */
static void room_is_looked_for(void **state) {
    small_run r;
    notes heard = {0};
    (void)state;
    make_checkpoint();
    fail_files_install();
    fail_files_fill(1);
    braid_train_options o = options_until(EPOCH, 1);
    assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "MiB free for the checkpoints of a run, got 0.0 MiB"));
    small_run_close(&r);
    fail_files_fill(150); /* a run that goes on replaces what it has; one that begins has five to come */
    ok(small_run_open(&r, &o));
    small_run_close(&r);
    braid_train_options begins = o;
    begins.resume = 0;
    begins.folder = "other";
    assert_int_equal(small_run_open(&r, &begins), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "other: expected 0.6 MiB free for the checkpoints of a run, got 0.6 MiB"));
    small_run_close(&r);
    fail_files_fill(0);
    o.event = fill_and_listen;
    o.user = &heard;
    o.save_steps = 1;
    ok(small_run_open(&r, &o));
    fail_files_arm(FAIL_RENAME | FAIL_LINK, 0, FAIL_ONCE, EIO); /* counts */
    assert_int_equal(braid_trainer_run(r.trainer), BRAID_ERROR_DISK);
    assert_int_equal(fail_files_calls(), 0);
    assert_true(heard.count >= EPOCH - BEFORE);
    assert_non_null(strstr(heard.last, "not saved: run: expected 0.1 MiB free for a checkpoint"));
    small_run_close(&r);
    fail_files_remove();
    assert_int_equal(start_again(), BEFORE);
}

/* The disk is full for some saves of a run and then no more: no row of the metrics is missing. */
typedef struct watcher {
    notes heard;
    int64_t full_from, full_until;
} watcher;

static int fill_disk(void *user, const braid_train_event *e) {
    watcher *w = user;
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->step == w->full_from)
        fail_files_arm(FAIL_WRITE, 1, FAIL_PERSISTENT, ENOSPC);
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->step == w->full_until) fail_files_disarm();
    return listen(&w->heard, e);
}

static void the_metrics_are_whole_afterwards(void **state) {
    char *whole, *text;
    size_t bytes;
    (void)state;
    fail_files_install();
    for (int times = 0; times < 2; times++) {
        small_run r;
        watcher w = {.full_from = times ? EPOCH : -1, .full_until = times ? 2 * EPOCH + 3 : -1};
        braid_train_options o = options_until(4 * EPOCH, 0);
        o.event = fill_disk;
        o.user = &w;
        remove_run();
        ok(small_run_open(&r, &o));
        ok(braid_trainer_run(r.trainer));
        small_run_close(&r);
        ok(files_read("run/metrics.jsonl", 1 << 20, BRAID_ERROR_DATA, times ? &text : &whole, &bytes));
        assert_int_equal(w.heard.count > 0, times);
        assert_int_equal(start_again(), 4 * EPOCH);
    }
    assert_string_equal(whole, text);
    memory_free(whole);
    memory_free(text);
}

/* The disk is full until it was told that the best epoch is not saved. */
static int refuse_best(void *user, const braid_train_event *e) {
    if (e->kind == BRAID_TRAIN_EVENT_STEP && e->step == EPOCH) fail_files_arm(FAIL_WRITE, 1, FAIL_PERSISTENT, ENOSPC);
    if (e->kind == BRAID_TRAIN_EVENT_NOTE) fail_files_disarm();
    return listen(user, e);
}

static braid_status run_until(int64_t steps, int resume, braid_train_event_function *event) {
    small_run r;
    notes heard = {0};
    braid_train_options o = options_until(steps, resume);
    o.event = event;
    o.user = &heard;
    ok(small_run_open(&r, &o));
    braid_status status = braid_trainer_run(r.trainer);
    small_run_close(&r);
    return status;
}

/* A best epoch that no file holds is told by every run that goes on, until there is a better one. */
static void a_refused_best_epoch_is_not_forgotten(void **state) {
    (void)state;
    fail_files_install();
    remove_run();
    assert_int_equal(run_until(EPOCH, 0, refuse_best), BRAID_ERROR_DISK);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(access("run/best.safetensors", F_OK), -1);
        assert_int_equal(run_until(EPOCH + times, 1, listen), BRAID_ERROR_DISK);
        assert_non_null(strstr(braid_message(), "run/best.safetensors: the disk refused the best epoch"));
    }
    ok(run_until(2 * EPOCH, 1, listen));
    assert_int_equal(access("run/best.safetensors", F_OK), 0);
    ok(run_until(2 * EPOCH, 1, listen));
    fail_files_remove();
    assert_int_equal(memory_live(), 0);
}

/* A folder that cannot be written to is found out before the first step of a run: a new one leaves nothing there, one
 * that goes on leaves all as it was. */
static void a_folder_is_tried_first(void **state) {
    small_run r;
    (void)state;
    fail_files_install();
    for (int resume = 0; resume < 2; resume++) {
        braid_train_options o = options_until(BEFORE + 1, resume);
        resume ? make_checkpoint() : remove_run();
        fail_files_arm(FAIL_WRITE, 1, FAIL_PERSISTENT, EROFS);
        assert_int_equal(small_run_open(&r, &o), BRAID_ERROR_DISK);
        assert_non_null(strstr(braid_message(), "Read-only file system"));
        assert_true(fail_files_disarm() > 0);
        small_run_close(&r);
        if (resume) assert_int_equal(start_again(), BEFORE);
        if (!resume) assert_int_equal(access("run", F_OK), -1);
    }
    fail_files_remove();
    assert_int_equal(memory_live(), 0);
}

/* ---- Two at once ------------------------------------------------------------------------------- */

/* A folder is for one trainer at a time, until that is destroyed; without locks a run goes on all the same. */
static void one_trainer_in_a_folder(void **state) {
    small_run first, second;
    (void)state;
    make_checkpoint();
    braid_train_options o = options_until(2 * BEFORE, 1);
    ok(small_run_open(&first, &o));
    for (o.resume = 0; o.resume < 2; o.resume++) {
        assert_int_equal(small_run_open(&second, &o), BRAID_ERROR_ARGUMENT);
        assert_non_null(strstr(braid_message(), "run: expected a folder that no run is at work in"));
        small_run_close(&second);
    }
    ok(braid_trainer_run(first.trainer));
    small_run_close(&first);
    assert_int_equal(start_again(), 2 * BEFORE);
    fail_files_install();
    fail_files_arm(FAIL_FLOCK, 1, FAIL_PERSISTENT, ENOLCK);
    assert_int_equal(start_again(), 2 * BEFORE);
    assert_true(fail_files_disarm() > 0);
    fail_files_remove();
    assert_int_equal(memory_live(), 0);
}

/* ---- Messages ---------------------------------------------------------------------------------- */

/* What a successful call tried and could do without leaves no message: that of the last failure stays. */
static void success_leaves_the_message(void **state) {
    small_run r;
    (void)state;
    remove_run();
    assert_int_equal(fail(BRAID_ERROR_DATA, "the last failure"), BRAID_ERROR_DATA);
    for (int resume = 0; resume < 2; resume++) {
        braid_train_options o = options_until(resume ? 2 * EPOCH : EPOCH, resume);
        ok(small_run_open(&r, &o));
        assert_string_equal(braid_message(), "the last failure");
        ok(braid_trainer_run(r.trainer));
        ok(braid_trainer_save(r.trainer));
        small_run_close(&r);
        assert_string_equal(braid_message(), "the last failure");
    }
    assert_int_equal(truncate("run/last.safetensors", 100), 0); /* the older generation is taken, and told */
    braid_train_options o = options_until(3 * EPOCH, 1);
    notes heard = {0};
    o.event = listen;
    o.user = &heard;
    ok(small_run_open(&r, &o));
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.last, "went back to"));
    ok(braid_trainer_run(r.trainer));
    small_run_close(&r);
    assert_string_equal(braid_message(), "the last failure");
    assert_int_equal(memory_live(), 0);
}

/* Where nothing can be saved nobody is told that it was; a run of its own has nothing to save. */
static void a_save_needs_a_folder(void **state) {
    small_run r;
    braid_train_options o = options_until(EPOCH, 0);
    (void)state;
    o.folder = NULL;
    ok(small_run_open(&r, &o));
    ok(braid_trainer_run(r.trainer));
    assert_int_equal(braid_trainer_save(r.trainer), BRAID_ERROR_ARGUMENT);
    assert_non_null(strstr(braid_message(), "expected a trainer with a folder"));
    small_run_close(&r);
    assert_int_equal(memory_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_call_fails),
        IN_FOLDER(one_kind_of_call_fails),
        IN_FOLDER(every_allocation_fails),
        IN_FOLDER(room_is_looked_for),
        IN_FOLDER(a_full_disk_does_not_end_a_run),
        IN_FOLDER(the_metrics_are_whole_afterwards),
        IN_FOLDER(a_refused_best_epoch_is_not_forgotten),
        IN_FOLDER(a_folder_is_tried_first),
        IN_FOLDER(one_trainer_in_a_folder),
        IN_FOLDER(success_leaves_the_message),
        IN_FOLDER(a_save_needs_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
