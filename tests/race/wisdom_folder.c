/*
 * Tests of the wisdom folder: planning goes on whatever the folder is, eight processes share one, and a
 * process that is killed while it writes leaves the old entry or the new one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "race/wisdom.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/rng.h"
#include "tests/support/fake_race.h"
#include "tests/support/given.h"

#define PROCESSES 8
#define ROUNDS 400 /* puts and gets of each process */
#define BATCHES 4
#define KILLS 200
#define PROBLEM "linear_fwd:f16:b2:c3:k4" /* only the reference does it: a race of milliseconds */
#define NOBODY 65534

static char folder[256];

static int set_up(void **state) {
    (void)state;
    umask(022);
    snprintf(folder, sizeof folder, "%s", given_folder());
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    files_set_table(NULL);
    given_folder_remove(folder);
    assert_int_equal(memory_live(), 0);
    return 0;
}

static const char *inside(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- Folders of every kind ------------------------------------------------------------------ */

/* Plans twice with this folder; the plan must succeed. Returns whether the second found what the first had stored. */
static int plan_twice(const char *cache_dir) {
    int known = -1;
    for (int round = 0; round < 2; round++) {
        braid_context *context = given_context(cache_dir, NULL);
        braid_op *op = given_op(context, PROBLEM);
        if (braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}) != BRAID_OK)
            fail_msg("%s: %s", cache_dir, braid_message());
        known = braid_op_explain(op)->from_wisdom;
        assert_true(braid_op_explain(op)->winner >= 0);
        braid_op_destroy(op);
        braid_context_destroy(context);
    }
    return known;
}

static unsigned mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void a_missing_folder_is_made(void **state) {
    (void)state;
    assert_true(plan_twice(inside("a/b/c")));
    assert_int_equal(mode_of(inside("a/b/c")), 0700);
    assert_int_equal(given_entries(inside("a/b/c"), ".wisdom"), 1);
    assert_int_equal(given_entries(inside("a/b/c"), ""), 1);
    assert_true(plan_twice(inside("d/"))); /* a slash at the end is fine */
}

static void a_file_in_the_place_of_the_folder(void **state) {
    (void)state;
    assert_int_equal(files_replace(inside("file"), "x", 1), BRAID_OK);
    assert_false(plan_twice(inside("file")));
    assert_false(plan_twice(inside("file/below")));
    assert_false(plan_twice("/dev/null"));
    assert_false(plan_twice("/proc/self"));
}

static void a_link_in_the_place_of_the_folder(void **state) {
    char target[512];
    (void)state;
    snprintf(target, sizeof target, "%s", inside("target"));
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink(target, inside("link")), 0);
    assert_false(plan_twice(inside("link")));
    assert_int_equal(given_entries(target, ""), 0);
    assert_int_equal(symlink("nowhere", inside("dangling")), 0);
    assert_false(plan_twice(inside("dangling")));
    assert_int_equal(symlink("loop", inside("loop")), 0);
    assert_false(plan_twice(inside("loop")));
}

static void a_folder_that_others_may_write_to(void **state) {
    (void)state;
    assert_int_equal(mkdir(inside("open"), 0700), 0);
    assert_int_equal(chmod(inside("open"), 0777), 0);
    assert_false(plan_twice(inside("open")));
    assert_int_equal(given_entries(inside("open"), ""), 0);
    assert_int_equal(chmod(inside("open"), 0770), 0);
    assert_false(plan_twice(inside("open")));
}

/* Plans once. Returns whether the answer was remembered. */
static int plan_once(const char *cache_dir) {
    braid_context *context = given_context(cache_dir, NULL);
    braid_op *op = given_op(context, PROBLEM);
    if (braid_op_plan(op, &(braid_plan_options){.seconds = 1e-3}) != BRAID_OK)
        fail_msg("%s: %s", cache_dir, braid_message());
    int known = braid_op_explain(op)->from_wisdom;
    braid_op_destroy(op);
    braid_context_destroy(context);
    return known;
}

/* What lies in a folder of somebody else, or in one that others may write to, is not read either. */
static void others_are_not_believed(void **state) {
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s", inside("given"));
    assert_true(plan_twice(path));
    assert_int_equal(chmod(path, 0777), 0);
    assert_false(plan_once(path));
    assert_int_equal(chmod(path, 0720), 0);
    assert_false(plan_once(path));
    assert_int_equal(chmod(path, 0700), 0);
    assert_true(plan_once(path));
    if (geteuid() != 0) return;
    assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    assert_false(plan_once(path));
}

/* Times that no processor reaches come from no race: the entry is not used, though its checksum is right. */
static void impossible_times_are_not_believed(void **state) {
    const braid_problem p = given_problem("linear_fwd:f32:b4096:c1024:k1024");
    const double operations = 2.0 * 4096 * 1024 * 1024;
    race r;
    (void)state;
    for (int j = 0; j < 2; j++) {
        braid_context *context = given_context(folder, NULL);
        fake_race(context, &p, operations / (j ? 1e21 : 1e11), 1, &r);
        wisdom_store(context, &p, &r);
        race_list(context, &p, &r);
        assert_int_equal(wisdom_recall(context, &p, &r), !j);
        braid_context_destroy(context);
    }
}

/* Runs a check in a child as a user without rights (root could write anywhere). Returns its exit status. */
static int as_nobody(int (*check)(void)) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int status = 9;
        if (geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)) status = check();
        _exit(status);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int plan_in_shut(void) { return plan_twice(inside("shut")); }

static void a_folder_of_somebody_else(void **state) {
    (void)state;
    if (geteuid() != 0) { /* the root folder is somebody else's */
        assert_false(plan_twice("/"));
        return;
    }
    assert_int_equal(mkdir(inside("theirs"), 0700), 0);
    assert_int_equal(chown(inside("theirs"), NOBODY, NOBODY), 0);
    assert_false(plan_twice(inside("theirs")));
    assert_int_equal(given_entries(inside("theirs"), ""), 0);
}

static void a_folder_that_is_read_only(void **state) {
    (void)state;
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(mkdir(inside("shut"), 0700), 0);
    if (geteuid() == 0) assert_int_equal(chown(inside("shut"), NOBODY, NOBODY), 0);
    assert_int_equal(chmod(inside("shut"), 0500), 0);
    assert_int_equal(as_nobody(plan_in_shut), 0);
    assert_int_equal(chmod(inside("shut"), 0700), 0);
    assert_int_equal(given_entries(inside("shut"), ""), 0);
    assert_int_equal(as_nobody(plan_in_shut), 1); /* what is stored there can be read when it is read-only again */
    assert_int_equal(chmod(inside("shut"), 0500), 0);
    assert_int_equal(as_nobody(plan_in_shut), 1);
    assert_int_equal(chmod(inside("shut"), 0), 0);
    assert_int_equal(as_nobody(plan_in_shut), 0);
    assert_int_equal(chmod(inside("shut"), 0700), 0);
}

/* Puts something strange in the place of the entry. */
static void an_entry_that_is_no_file(void **state) {
    char command[1200], name[256] = "";
    (void)state;
    assert_true(plan_twice(folder));
    snprintf(command, sizeof command, "ls '%s'", folder);
    FILE *names = popen(command, "r");
    assert_non_null(names);
    assert_non_null(fgets(name, sizeof name, names));
    pclose(names);
    name[strcspn(name, "\n")] = 0;
    static const char *const deeds[][2] = {
        {"rm", "mkdir"},          {"rmdir", "mkfifo"},     {"rm", "ln -s /dev/zero"}, {"rm", "ln -s /proc/self/mem"},
        {"rm", "truncate -s 1G"}, {"rm", "truncate -s 0"},
    };
    for (size_t j = 0; j < sizeof deeds / sizeof deeds[0]; j++) {
        const char *path = inside(name);
        snprintf(command, sizeof command, "%s '%s' && %s '%s'", deeds[j][0], path, deeds[j][1], path);
        assert_int_equal(system(command), 0);
        braid_context *context = given_context(folder, NULL);
        const braid_problem p = given_problem(PROBLEM);
        race r;
        race_list(context, &p, &r);
        int known = wisdom_recall(context, &p, &r) || wisdom_recall_nearest(context, &p, &r);
        braid_context_destroy(context);
        assert_false(known);
    }
    assert_true(plan_twice(folder)); /* and it is mended */
}

static void a_folder_with_a_very_long_name(void **state) {
    static char name[9000];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    memcpy(name, folder, strlen(folder));
    name[strlen(folder)] = '/';
    assert_false(plan_twice(name));
}

/* ---- Many processes ------------------------------------------------------------------------- */

static int no_sync(int fd) { return (void)fd, 0; }
static int plain_open(const char *path, int flags, unsigned mode) { return open(path, flags, (mode_t)mode); }
static int plain_mkdir(const char *path, unsigned mode) { return mkdir(path, (mode_t)mode); }

/* A disk that is never waited for: a power cut is not what these tests are about. */
static const files_table quick_disk = {plain_open, pread,       pwrite, no_sync, close,  rename,
                                       unlink,     plain_mkdir, link,   flock,   statvfs};

static braid_problem problem_of(int64_t batch) {
    braid_problem p = given_problem("linear_fwd:b1:c3:k4");
    p.batch = batch;
    return p;
}

/* The times that writer `mark` gives to a batch. */
static double seconds_of(int64_t batch, int64_t mark) { return 1e-6 * (double)batch * (1 + (double)(mark % 97)); }

/* Whether a recalled race is one that some writer wrote, whole. */
static int is_whole(const braid_context *context, const braid_problem *p, const race *read) {
    race expected;
    int64_t mark = 0;
    for (int j = 0; j < read->count && !mark; j++) mark = read->racers[j].compared;
    fake_race(context, p, seconds_of(p->batch, mark), mark, &expected);
    return mark > 0 && fake_race_equal(read, &expected);
}

/* Puts and gets; 0: all was well. */
static int share_the_folder(int process) {
    rng r = {.seed = 5, .stream = (uint64_t)process};
    braid_context *context = given_context(folder, NULL);
    int bad = 0;
    for (int round = 0; round < ROUNDS && !bad; round++) {
        race put, got;
        braid_problem p = problem_of(rng_between(&r, 1, BATCHES));
        int64_t mark = 1 + process * ROUNDS + round;
        fake_race(context, &p, seconds_of(p.batch, mark), mark, &put);
        wisdom_store(context, &p, &put);
        race_list(context, &p, &got);
        if (!wisdom_recall(context, &p, &got) || !is_whole(context, &p, &got)) bad = 1;
        p.batch = rng_between(&r, 1, BATCHES);
        race_list(context, &p, &got);
        if (wisdom_recall(context, &p, &got) && !is_whole(context, &p, &got)) bad = 2;
    }
    braid_context_destroy(context);
    return bad ? bad : memory_live() != 0 ? 3 : 0;
}

static void eight_processes_share_a_folder(void **state) {
    pid_t children[PROCESSES];
    int bad = 0;
    (void)state;
    files_set_table(&quick_disk);
    fflush(NULL);
    for (int j = 0; j < PROCESSES; j++) {
        children[j] = fork();
        assert_true(children[j] >= 0);
        if (children[j] == 0) _exit(share_the_folder(j));
    }
    for (int j = 0; j < PROCESSES; j++) {
        int status = 0;
        assert_int_equal(waitpid(children[j], &status, 0), children[j]);
        if (status != 0) bad = 1, print_error("process %d ended with wait status %d\n", j, status);
    }
    assert_false(bad);
    assert_int_equal(given_entries(folder, ".wisdom"), BATCHES);
    assert_int_equal(given_entries(folder, ""), BATCHES);
}

/* ---- Killed ------------------------------------------------------------------------------- */

static void store_for_ever(int64_t mark) {
    braid_context *context = given_context(folder, NULL);
    const braid_problem p = problem_of(1);
    for (;; mark++) {
        race put;
        fake_race(context, &p, seconds_of(1, mark), mark, &put);
        wisdom_store(context, &p, &put);
    }
}

static void killed_while_writing(void **state) {
    braid_context *context = given_context(folder, NULL);
    const braid_problem p = problem_of(1);
    rng r = {.seed = 9};
    race entry;
    (void)state;
    fake_race(context, &p, seconds_of(1, 1), 1, &entry);
    wisdom_store(context, &p, &entry);
    fflush(NULL);
    for (int j = 0; j < KILLS; j++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) store_for_ever(2 + j);
        const struct timespec nap = {0, rng_between(&r, 0, 6000000)};
        nanosleep(&nap, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        race_list(context, &p, &entry);
        assert_true(wisdom_recall(context, &p, &entry));
        assert_true(is_whole(context, &p, &entry));
        race_list(context, &p, &entry);
        assert_true(
            wisdom_recall_nearest(context, &p, &entry)); /* what a killed process left is not taken for an entry */
    }
    assert_int_equal(given_entries(folder, ".wisdom"), 1);
    braid_context_destroy(context);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* The tests that fork come first: a child must not inherit a pool of threads. */
int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(eight_processes_share_a_folder),    CASE(killed_while_writing),
        CASE(a_folder_that_is_read_only),        CASE(a_missing_folder_is_made),
        CASE(a_file_in_the_place_of_the_folder), CASE(a_link_in_the_place_of_the_folder),
        CASE(a_folder_that_others_may_write_to), CASE(a_folder_of_somebody_else),
        CASE(others_are_not_believed),           CASE(impossible_times_are_not_believed),
        CASE(an_entry_that_is_no_file),          CASE(a_folder_with_a_very_long_name),
    };
    return cmocka_run_group_tests_name("wisdom_folder", tests, NULL, NULL);
}
