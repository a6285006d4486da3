/*
 * braid VERB ...: finds the verb and runs it. The exit code of a failure is its braid_status.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

static int run(int argc, char **argv) {
    if (argc < 2)
        return complain(BRAID_ERROR_ARGUMENT,
                        "expected a verb, got nothing; braid help lists them, braid demo is a tour");
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    if (!strcmp(name, "--version")) name = "version";
    if (name[0] == '-')
        return complain(BRAID_ERROR_ARGUMENT, "expected a verb first, got the option %s; options stand behind the verb",
                        name);
    const verb *v = verb_find(name);
    if (!v) return verb_unknown(name);
    complain_as(v->name);
    if (v->shares_cores) share_cores(argv);
    return v->run(v, argc - 2, argv + 2);
}

int main(int argc, char **argv) {
    output_begin();
    return output_end(run(argc, argv));
}
