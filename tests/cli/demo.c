/*
 * The tour, small: every stop is there, the folder is new each time, and what it leaves can be used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/unit.h"

#include "tests/support/shell.h"

#define SMALL "$B demo --count 60 --epochs 12 --seconds 0.02 --device cpu --cache-dir '' -q "

static const command commands[] = {
    {"echo mine > braid-demo; " SMALL
     "> log && cat log braid-demo && $B predict braid-demo-2/run braid-demo-2/rooms/test "
     "--top 1 -q && ls",
     0,
     "1. This machine|$ braid data make sunrgbd|$ braid train linet18|done|--what streams|contribution|"
     "$ braid predict braid-demo-2/run rgb=|probability|labels.txt says: class |$ braid bench|chosen|Where it lies|"
     "Try next|seconds; remove braid-demo-2|mine\n|rooms/test/rgb/00011.png|!braid-demo-3|!--cache-dir",
     ""},
    {"$B demo --out /proc/nowhere -q", 7, "", "/proc/nowhere: cannot make the folder"},
    {"$B demo --epochs 1", 2, NULL, "--epochs: expected 2 or more, got 1"},
    {"$B demo --out d --device toaster -q", 2, "", "toaster"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static int begin(void **state) {
    (void)state;
    return shell_begin(BRAID_PROGRAM);
}

int main(void) {
    static struct CMUnitTest tests[COMMANDS];
    shell_tests(tests, commands, COMMANDS);
    return cmocka_run_group_tests(tests, begin, shell_end);
}
