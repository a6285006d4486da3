/*
 * Tests of train/generations. A file here is a number, a filling that follows from it, and a checksum. A child that
 * saves one number after the other is killed at random moments, 200 times; every file call and every allocation of a
 * save fails in every way: no generation that was promised is ever lost, and nothing is left over after the next start.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
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
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"
#include "train/generations.h"

#define NEWEST "last.safetensors"
#define PREVIOUS "last.previous.safetensors"
#define WORDS 8192 /* 64 KiB */

static uint64_t words[WORDS];

static uint64_t sum_of(const uint64_t *data) {
    uint64_t sum = 14695981039346656037u;
    for (int i = 0; i < WORDS - 1; i++) sum = (sum ^ data[i]) * 1099511628211u;
    return sum;
}

static void fill(uint64_t number) {
    words[0] = number;
    for (int i = 1; i < WORDS - 1; i++) words[i] = words[i - 1] * 6364136223846793005u + number;
    words[WORDS - 1] = sum_of(words);
}

/* The number in a whole file, -1 for any other. */
static int64_t number_in(const char *path) {
    char *data;
    size_t bytes;
    int64_t number = -1;
    if (files_read(path, sizeof words, BRAID_ERROR_MODEL, &data, &bytes) != BRAID_OK) return -1;
    if (bytes == sizeof words) {
        memcpy(words, data, bytes);
        if (sum_of(words) == words[WORDS - 1]) number = (int64_t)words[0];
    }
    memory_free(data);
    return number;
}

static braid_status check(const char *path, void *user) {
    const braid_status *answer = user;
    if (answer && *answer != BRAID_OK) return fail(*answer, "cannot tell");
    if (number_in(path) >= 0) return BRAID_OK;
    return fail(BRAID_ERROR_MODEL, "%s: expected a whole file, got a damaged one", path);
}

static braid_status write_words(const char *path, void *user) {
    fill(*(const uint64_t *)user);
    return files_replace(path, words, sizeof words);
}

static braid_status refuse(const char *path, void *user) {
    (void)user;
    return fail(BRAID_ERROR_DISK, "%s: refused", path);
}

static braid_status save(generations *g, uint64_t number) { return generations_save(g, write_words, &number); }

static void open_here(generations *g) { assert_int_equal(generations_open(g, ".", NEWEST, check, NULL), BRAID_OK); }

static void save_all(generations *g, uint64_t first, uint64_t last) {
    for (uint64_t number = first; number <= last; number++) assert_int_equal(save(g, number), BRAID_OK);
}

/* What a new start finds: the number, and whether it had to go back. */
static void assert_found(int64_t number, bool fell_back) {
    generations g;
    const char *path;
    bool went_back;
    open_here(&g);
    assert_int_equal(generations_find(&g, &path, &went_back), BRAID_OK);
    if (number < 0) assert_null(path);
    if (number >= 0) assert_int_equal(number_in(path), number);
    assert_int_equal(went_back, fell_back);
    generations_close(&g);
}

static void damage(const char *path) {
    char *data;
    size_t bytes;
    assert_int_equal(files_read(path, sizeof words, BRAID_ERROR_DATA, &data, &bytes), BRAID_OK);
    data[bytes / 2] ^= 1;
    assert_int_equal(files_replace(path, data, bytes), BRAID_OK);
    memory_free(data);
}

/* ---- Plain ---------------------------------------------------------------------------------- */

static void two_generations(void **state) {
    generations g;
    (void)state;
    assert_found(-1, false);
    open_here(&g);
    save_all(&g, 1, 1);
    assert_int_equal(folder_entries("."), 1);
    assert_found(1, false);
    save_all(&g, 2, 5);
    assert_int_equal(number_in(NEWEST), 5);
    assert_int_equal(number_in(PREVIOUS), 4);
    assert_int_equal(folder_entries("."), 2);
    generations_close(&g);
    assert_int_equal(memory_live(), 0);
}

static void names(void **state) {
    generations g;
    (void)state;
    assert_int_equal(generations_open(&g, "run.d", "best", check, NULL), BRAID_OK);
    assert_string_equal(g.newest, "run.d/best");
    assert_string_equal(g.previous, "run.d/best.previous");
    generations_close(&g);
    assert_int_equal(generations_open(&g, "/", "a.b.c", check, NULL), BRAID_OK);
    assert_string_equal(g.previous, "/a.b.previous.c");
    generations_close(&g);
    assert_int_equal(generations_open(&g, "", "a", check, NULL), BRAID_ERROR_ARGUMENT);
}

static void a_damaged_newest(void **state) {
    generations g;
    (void)state;
    open_here(&g);
    save_all(&g, 1, 3);
    generations_close(&g);
    damage(NEWEST);
    assert_found(2, true);
    assert_non_null(strstr(braid_message(), NEWEST));
    assert_non_null(strstr(braid_message(), PREVIOUS));
    open_here(&g); /* a save without a look must not make the damaged file the older generation */
    save_all(&g, 4, 4);
    assert_int_equal(number_in(NEWEST), 4);
    assert_int_equal(number_in(PREVIOUS), 2);
    save_all(&g, 5, 5);
    assert_int_equal(number_in(PREVIOUS), 4);
    generations_close(&g);
}

static void a_missing_newest(void **state) {
    generations g;
    (void)state;
    open_here(&g);
    save_all(&g, 1, 3);
    assert_int_equal(unlink(NEWEST), 0);
    assert_found(2, true);
    save_all(&g, 4, 4); /* g still thinks that 3 is there */
    assert_int_equal(number_in(NEWEST), 4);
    assert_int_equal(number_in(PREVIOUS), 2);
    generations_close(&g);
}

static void a_new_start_keeps_what_is_there(void **state) {
    generations g;
    (void)state;
    for (uint64_t number = 1; number < 5; number++) {
        open_here(&g);
        save_all(&g, number, number);
        generations_close(&g);
        assert_int_equal(number_in(NEWEST), number);
        assert_int_equal(number_in(PREVIOUS), number > 1 ? (int64_t)number - 1 : -1);
    }
}

static void nothing_whole(void **state) {
    generations g;
    const char *path;
    bool fell_back;
    (void)state;
    open_here(&g);
    save_all(&g, 1, 2);
    damage(NEWEST);
    damage(PREVIOUS);
    assert_int_equal(generations_find(&g, &path, &fell_back), BRAID_ERROR_MODEL);
    assert_null(path);
    assert_non_null(strstr(braid_message(), PREVIOUS));
    save_all(&g, 3, 3);
    assert_int_equal(unlink(PREVIOUS), 0);
    damage(NEWEST);
    assert_int_equal(generations_find(&g, &path, &fell_back), BRAID_ERROR_MODEL);
    generations_close(&g);
}

/* "No memory to check" is not "damaged": nothing is passed over or overwritten. */
static void what_cannot_be_told(void **state) {
    generations g;
    const char *path;
    bool fell_back;
    braid_status answer = BRAID_OK;
    (void)state;
    assert_int_equal(generations_open(&g, ".", NEWEST, check, &answer), BRAID_OK);
    save_all(&g, 1, 2);
    generations_close(&g);
    assert_int_equal(generations_open(&g, ".", NEWEST, check, &answer), BRAID_OK);
    answer = BRAID_ERROR_MEMORY;
    assert_int_equal(generations_find(&g, &path, &fell_back), BRAID_ERROR_MEMORY);
    assert_int_equal(save(&g, 3), BRAID_ERROR_MEMORY);
    assert_int_equal(number_in(NEWEST), 2);
    assert_int_equal(number_in(PREVIOUS), 1);
    generations_close(&g);
}

static void a_refused_write(void **state) {
    generations g;
    (void)state;
    open_here(&g);
    save_all(&g, 1, 2);
    assert_int_equal(generations_save(&g, refuse, NULL), BRAID_ERROR_DISK);
    assert_non_null(strstr(braid_message(), "refused"));
    assert_int_equal(number_in(NEWEST), 2);
    assert_int_equal(number_in(PREVIOUS), 1);
    assert_int_equal(folder_entries("."), 2);
    generations_close(&g);
}

/* Both names are one file: a rename of one to the other does nothing and must leave nothing. */
static void two_names_of_one_file(void **state) {
    generations g;
    (void)state;
    open_here(&g);
    save_all(&g, 1, 1);
    assert_int_equal(link(NEWEST, PREVIOUS), 0);
    save_all(&g, 2, 2);
    assert_int_equal(number_in(NEWEST), 2);
    assert_int_equal(number_in(PREVIOUS), 1);
    assert_int_equal(folder_entries("."), 2);
    generations_close(&g);
}

/* ---- Without hard links ----------------------------------------------------------------------- */

static void no_hard_links(void **state) {
    static const int errors[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK};
    generations g;
    (void)state;
    fail_files_install();
    open_here(&g);
    for (int i = 0; i < 4; i++) {
        fail_files_arm(FAIL_LINK, 1, FAIL_PERSISTENT, errors[i]);
        save_all(&g, 1, 3);
        assert_int_equal(number_in(NEWEST), 3);
        assert_int_equal(number_in(PREVIOUS), 2);
        assert_int_equal(generations_save(&g, refuse, NULL), BRAID_ERROR_DISK);
        assert_non_null(strstr(braid_message(), "refused"));
        assert_int_equal(number_in(NEWEST), 3); /* it was put back */
        assert_int_equal(folder_entries("."), 1);
    }
    fail_files_disarm();
    generations_close(&g);
}

/* ---- Faults ----------------------------------------------------------------------------------- */

/* One save of 3 over 2 and 1 under a fault. Returns how many calls failed. */
static int64_t save_under_fault(unsigned calls, int64_t nth, fail_mode mode, int error) {
    generations g;
    assert_int_equal(system("rm -f .braid.*.tmp *.safetensors"), 0);
    open_here(&g);
    save_all(&g, 1, 2);
    fail_files_arm(calls, nth, mode, error);
    braid_status status = save(&g, 3);
    int64_t failures = fail_files_disarm();
    int64_t newest = number_in(NEWEST), previous = number_in(PREVIOUS);
    assert_true(newest == 3 || newest == 2);
    assert_true(previous == newest - 1 || previous == 1);
    if (status == BRAID_OK) {
        assert_int_equal(newest, 3);
    } else {
        assert_int_equal(status, BRAID_ERROR_DISK);
        assert_true(failures > 0);
        if (newest == 3) assert_non_null(strstr(braid_message(), "in place"));
    }
    if (mode == FAIL_ONCE && !(calls & FAIL_UNLINK)) assert_int_equal(folder_entries("."), 2);
    assert_int_equal(save(&g, 4), BRAID_OK); /* and the run goes on */
    assert_int_equal(number_in(NEWEST), 4);
    assert_int_equal(number_in(PREVIOUS), newest);
    generations_close(&g);
    assert_int_equal(memory_live(), 0);
    return failures;
}

static void every_call_fails(void **state) {
    static const int errors[] = {ENOSPC, EIO, EINTR, FAIL_SHORT};
    static const unsigned sets[] = {FAIL_OPEN,   FAIL_WRITE,  FAIL_FSYNC, FAIL_CLOSE,
                                    FAIL_RENAME, FAIL_UNLINK, FAIL_LINK,  FAIL_ANY_FILE_CALL};
    (void)state;
    fail_files_install();
    for (int e = 0; e < 4; e++)
        for (int s = 0; s < 8; s++)
            for (int mode = FAIL_ONCE; mode <= FAIL_PERSISTENT; mode++)
                for (int64_t nth = 1; save_under_fault(sets[s], nth, (fail_mode)mode, errors[e]) > 0; nth++) continue;
}

/* Neither second names nor renames: nothing changes. */
static void no_links_and_no_renames(void **state) {
    generations g;
    (void)state;
    fail_files_install();
    open_here(&g);
    save_all(&g, 1, 2);
    fail_files_arm(FAIL_LINK | FAIL_RENAME, 1, FAIL_PERSISTENT, EPERM);
    assert_int_equal(save(&g, 3), BRAID_ERROR_DISK);
    fail_files_disarm();
    assert_found(2, false);
    assert_int_equal(number_in(PREVIOUS), 1);
    assert_int_equal(folder_entries("."), 2);
    generations_close(&g);
}

static void every_allocation_fails(void **state) {
    int64_t failures = 1;
    (void)state;
    fail_alloc_install();
    for (int64_t nth = 1; failures > 0; nth++) {
        generations g;
        assert_int_equal(system("rm -f *.safetensors"), 0);
        open_here(&g);
        save_all(&g, 1, 2);
        fail_alloc_arm(nth, FAIL_ONCE);
        braid_status status = save(&g, 3);
        failures = fail_alloc_disarm();
        assert_int_equal(status, failures ? BRAID_ERROR_MEMORY : BRAID_OK);
        int64_t newest = number_in(NEWEST);
        assert_true(newest == 3 || (newest == 2 && failures));
        assert_int_equal(folder_entries("."), 2);
        generations_close(&g);
        assert_int_equal(memory_live(), 0);
        fail_alloc_arm(nth, FAIL_ONCE);
        status = generations_open(&g, ".", NEWEST, check, NULL);
        failures += fail_alloc_disarm();
        if (status == BRAID_OK) generations_close(&g);
        assert_int_equal(memory_live(), 0);
    }
    fail_alloc_remove();
}

/* ---- kill -9 ---------------------------------------------------------------------------------- */

/* Saves one number after the other and tells each that was saved, until it is killed. */
static void save_until_killed(uint64_t first, bool links, int tell) {
    generations g;
    if (!links) {
        fail_files_install();
        fail_files_arm(FAIL_LINK, 1, FAIL_PERSISTENT, EPERM);
    }
    if (generations_open(&g, ".", NEWEST, check, NULL) != BRAID_OK) _exit(1);
    for (uint64_t number = first;; number++) {
        if (save(&g, number) != BRAID_OK) _exit(2);
        if (write(tell, &number, sizeof number) != sizeof number) _exit(3);
    }
}

/* The last number that the child told, or `before`. */
static uint64_t last_told(int from, uint64_t before) {
    uint64_t number = before;
    while (read(from, &number, sizeof number) == sizeof number) continue;
    return number;
}

/* After a kill: nothing older than what was told, nothing newer than what was begun. Returns the number found. */
static int64_t find_after_kill(uint64_t told, bool may_fall_back) {
    generations g;
    const char *path;
    bool fell_back;
    open_here(&g);
    assert_in_range(folder_entries("."), 0, 2); /* what the dead left is swept */
    assert_int_equal(generations_find(&g, &path, &fell_back), BRAID_OK);
    assert_true(may_fall_back || !fell_back);
    int64_t number = path ? number_in(path) : 0;
    assert_in_range(number, told, told + 1);
    if (access(PREVIOUS, F_OK) == 0)
        assert_in_range(number_in(PREVIOUS), 1, fell_back ? number : number - 1); /* whole */
    generations_close(&g);
    return number;
}

static void kill_many(int kills, bool links) {
    rng r = {.seed = 11};
    int64_t number = 0;
    for (int i = 0; i < kills; i++) {
        int ends[2], how;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) save_until_killed((uint64_t)number + 1, links, ends[1]);
        close(ends[1]);
        struct timespec pause = {.tv_nsec = (long)rng_between(&r, 0, 6000000)};
        nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
        number = find_after_kill(last_told(ends[0], (uint64_t)number), !links);
        close(ends[0]);
    }
    print_message("%d kills, %lld saves, 0 lost\n", kills, (long long)number);
    assert_true(number > kills / 10); /* the children did save */
}

static void killed_at_any_moment(void **state) {
    (void)state;
    kill_many(200, true);
}

static void killed_without_hard_links(void **state) {
    (void)state;
    kill_many(100, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(two_generations),
        IN_FOLDER(names),
        IN_FOLDER(a_damaged_newest),
        IN_FOLDER(a_missing_newest),
        IN_FOLDER(a_new_start_keeps_what_is_there),
        IN_FOLDER(nothing_whole),
        IN_FOLDER(what_cannot_be_told),
        IN_FOLDER(a_refused_write),
        IN_FOLDER(two_names_of_one_file),
        IN_FOLDER(no_hard_links),
        IN_FOLDER(every_call_fails),
        IN_FOLDER(no_links_and_no_renames),
        IN_FOLDER(every_allocation_fails),
        IN_FOLDER(killed_at_any_moment),
        IN_FOLDER(killed_without_hard_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
