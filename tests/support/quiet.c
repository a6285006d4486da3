/*
 * Tests run beside each other, and what they race must be chosen by its times and remembered all the same: every test,
 * and every program that it starts, ignores other work, unless it says otherwise itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

__attribute__((constructor)) static void ignore_other_work(void) { (void)setenv("BRAID_BUSY", "ignore", 0); }
