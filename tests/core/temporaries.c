/*
 * Tests of core/temporaries: names differ, and a sweep takes what dead processes left and nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files.h"
#include "core/memory.h"
#include "core/temporaries.h"
#include "tests/support/fail_nth.h"
#include "tests/support/folder.h"

static void make(const char *name) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fclose(file);
}

static int exists(const char *name) { return access(name, F_OK) == 0; }

static void sweep(int expected) {
    int removed;
    assert_int_equal(temporaries_sweep(".", &removed), BRAID_OK);
    assert_int_equal(removed, expected);
    assert_int_equal(memory_live(), 0);
}

/* The name that a child process makes a file under; the child is gone when this returns. */
static void name_of_the_dead(char name[TEMPORARY_NAME_BYTES]) {
    int ends[2], how;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        temporary_name(name);
        _exit(write(ends[1], name, TEMPORARY_NAME_BYTES) == TEMPORARY_NAME_BYTES ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(read(ends[0], name, TEMPORARY_NAME_BYTES), TEMPORARY_NAME_BYTES);
    close(ends[0]);
    close(ends[1]);
}

static void names_differ(void **state) {
    char a[TEMPORARY_NAME_BYTES], b[TEMPORARY_NAME_BYTES], c[TEMPORARY_NAME_BYTES], start[64];
    (void)state;
    temporary_name(a);
    temporary_name(b);
    name_of_the_dead(c);
    assert_string_not_equal(a, b);
    assert_string_not_equal(b, c);
    snprintf(start, sizeof start, ".braid.%ld.", (long)getpid());
    assert_int_equal(strncmp(a, start, strlen(start)), 0);
}

/* Becomes another user, whom /proc shows no process of ours (hidepid). False: this system does not let us. */
static int hide_from_nobody(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 0;
    return mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 && setgid(65534) == 0 && setuid(65534) == 0 &&
           access("/proc/1/stat", F_OK) != 0;
}

/* Where /proc hides the processes of others, their temporaries are live as long as the process is there. */
static void hidden_processes_are_alive(void **state) {
    char ours[TEMPORARY_NAME_BYTES], dead[TEMPORARY_NAME_BYTES];
    int how = 0, removed = 0;
    (void)state;
    temporary_name(ours);
    name_of_the_dead(dead);
    make(ours);
    make(dead);
    assert_int_equal(chmod(".", 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!hide_from_nobody()) _exit(77);
        _exit(temporaries_sweep(".", &removed) != BRAID_OK || removed != 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 77) {
        puts("skip: no right to mount /proc with hidepid");
        skip();
    }
    assert_int_equal(how, 0);
    assert_true(exists(ours) && !exists(dead));
}

/* A folder of thousands of files is swept, and then not again with every file that is written in it. */
static void large_folders_are_swept_seldom(void **state) {
    char dead[TEMPORARY_NAME_BYTES], name[32];
    (void)state;
    name_of_the_dead(dead);
    make(dead);
    for (int i = 0; i < 2100; i++) {
        snprintf(name, sizeof name, "%d.wisdom", i);
        make(name);
    }
    sweep(1);
    make(dead);
    sweep(0);
    assert_int_equal(mkdir("other", 0700), 0);
    assert_int_equal(chdir("other"), 0);
    make(dead);
    sweep(1); /* another folder is not meant */
    assert_int_equal(chdir(".."), 0);
}

static void only_the_dead_are_swept(void **state) {
    char ours[TEMPORARY_NAME_BYTES], dead[TEMPORARY_NAME_BYTES], other[TEMPORARY_NAME_BYTES + 1];
    (void)state;
    temporary_name(ours);
    name_of_the_dead(dead);
    snprintf(other, sizeof other, "%s~", dead);
    make(ours);
    make(dead);
    make(other);
    make("last.safetensors");
    make(".braid.tmp");
    sweep(1);
    assert_true(exists(ours) && !exists(dead));
    assert_int_equal(folder_entries("."), 4);
}

/* Whoever writes a file in the folder sweeps it, too. */
static void a_new_file_sweeps_its_folder(void **state) {
    char ours[TEMPORARY_NAME_BYTES], dead[TEMPORARY_NAME_BYTES];
    (void)state;
    temporary_name(ours);
    name_of_the_dead(dead);
    make(ours);
    make(dead);
    assert_int_equal(files_replace("new", "x", 1), BRAID_OK);
    assert_true(exists(ours) && !exists(dead) && exists("new"));
    assert_int_equal(folder_entries("."), 2);
}

/* The number of a living process, with another start: the process that made it is gone. */
static void numbers_come_again(void **state) {
    char ours[TEMPORARY_NAME_BYTES], name[TEMPORARY_NAME_BYTES + 32];
    unsigned long long start;
    unsigned host, count;
    long pid;
    (void)state;
    temporary_name(ours);
    assert_int_equal(sscanf(ours, ".braid.%ld.%llu.%x.%u.tmp", &pid, &start, &host, &count), 4);
    assert_true(start > 0 && host > 0);
    snprintf(name, sizeof name, ".braid.%ld.%llu.%08x.%u.tmp", pid, start - 1, host, count);
    make(name);
    sweep(1);
    assert_false(exists(name));
}

/* Of another machine or an earlier boot, or in a form that we do not know: young ones stay. (An old one cannot be made
 * here: the change time of a file is always now.) */
static void strangers_stay_while_young(void **state) {
    char ours[TEMPORARY_NAME_BYTES], name[TEMPORARY_NAME_BYTES + 32];
    unsigned long long start;
    unsigned host;
    long pid;
    (void)state;
    temporary_name(ours);
    assert_int_equal(sscanf(ours, ".braid.%ld.%llu.%x.", &pid, &start, &host), 3);
    snprintf(name, sizeof name, ".braid.%ld.%llu.%08x.7.tmp", pid, start - 1, host ^ 1);
    make(name);
    make(".braid.123.4.tmp");
    make(".braid.x.tmp");
    sweep(0);
    assert_int_equal(folder_entries("."), 3);
}

static void no_folder_and_faults(void **state) {
    char dead[TEMPORARY_NAME_BYTES];
    int removed = 5;
    (void)state;
    assert_int_equal(temporaries_sweep("missing", &removed), BRAID_OK);
    assert_int_equal(removed, 0);
    name_of_the_dead(dead);
    make(dead);
    fail_files_install();
    fail_files_arm(FAIL_UNLINK, 1, FAIL_ONCE, EIO);
    assert_int_equal(temporaries_sweep(".", &removed), BRAID_ERROR_DISK);
    assert_int_equal(removed, 0);
    fail_files_disarm();
    fail_alloc_install();
    fail_alloc_arm(1, FAIL_ONCE);
    assert_int_equal(temporaries_sweep(".", &removed), BRAID_ERROR_MEMORY);
    fail_alloc_disarm();
    fail_alloc_remove();
    assert_true(exists(dead));
    sweep(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(names_differ),
        IN_FOLDER(only_the_dead_are_swept),
        IN_FOLDER(hidden_processes_are_alive),
        IN_FOLDER(large_folders_are_swept_seldom),
        IN_FOLDER(a_new_file_sweeps_its_folder),
        IN_FOLDER(numbers_come_again),
        IN_FOLDER(strangers_stay_while_young),
        IN_FOLDER(no_folder_and_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
