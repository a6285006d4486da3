/*
 * A host program may have set any locale. Where BRAID_TEST_LOCALE names one, every test program runs in it; a locale
 * that cannot be had ends the program, so that such a test never passes in the C locale. tests/locales asks for them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void take_locale(void) {
    const char *name = getenv("BRAID_TEST_LOCALE");
    if (!name || !*name) return;
    if (setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ",") == 0) return;
    fprintf(stderr, "BRAID_TEST_LOCALE: expected a locale with a decimal comma, got %s\n", name);
    exit(2);
}
