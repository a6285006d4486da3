/*
 * braid VERB ...: finds the verb and runs it. The exit code of a failure is its braid_status.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"

/* Threads of libgomp that wait for each other turn for some milliseconds before they sleep: on cores with other work
 * that takes most of the time, for whoever is waited for does not run meanwhile. Tens of microseconds are enough for
 * idle cores. The library looks at its environment once, before main, so that the program starts again; where that
 * cannot be it goes on as it is, and whatever a user has set stays. */
static void share_cores(char **argv) {
    static const char name[] = "GOMP_SPINCOUNT", turns[] = "3000";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || !getauxval(AT_BASE)) return; /* without a base it is the loader that was started */
    path[length] = 0;
    if (getenv(name) || getenv("OMP_WAIT_POLICY") || setenv(name, turns, 0) != 0) return;
    execv(path, argv);
}

#define STACK_BYTES (1 << 19) /* more than the deepest kernel takes */

static __attribute__((noinline)) void touch_stack(void) {
    enum { PAGE = 4096 };
    volatile char stack[STACK_BYTES];
    for (int at = STACK_BYTES - 1; at >= 0; at -= PAGE) stack[at] = 0;
    (void)stack[0];
}

/* The stack of the first thread grows when it is used. Where address space is short (ulimit -v) it cannot, and the
 * program ends without a word; so it grows before anything is at stake, if there is room for it. */
static void grow_stack(void) {
    void *room = mmap(NULL, 2 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return;
    munmap(room, 2 * STACK_BYTES);
    touch_stack();
}

static int run(int argc, char **argv) {
    if (argc < 2)
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected a verb, got nothing; braid help lists them, braid demo is a tour");
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    if (!strcmp(name, "--version")) name = "version";
    if (name[0] == '-')
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected a verb first, got the option %s; options follow the verb, as in braid bench --list; "
                        "braid --version and braid --help stand alone",
                        name);
    const verb *v = verb_find(name);
    if (!v) return verb_unknown(name);
    complain_as(v->name);
    if (v->shares_cores) share_cores(argv);
    return v->run(v, argc - 2, argv + 2);
}

int main(int argc, char **argv) {
    grow_stack();
    output_begin();
    return output_end(run(argc, argv));
}
