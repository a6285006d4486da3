/*
 * Real numbers as text. The locale is changed for this thread alone, and only while a number is read or written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/reals.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Gives this thread the C locale's numbers. Returns the locale to hand to leave_c; 0: there was no memory for it. */
static locale_t enter_c(locale_t *before) {
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c != (locale_t)0) *before = uselocale(c);
    return c;
}

static void leave_c(locale_t c, locale_t before) {
    if (c == (locale_t)0) return;
    uselocale(before);
    freelocale(c);
}

double real_read(const char *text, char **end) {
    locale_t before = (locale_t)0, c = enter_c(&before);
    double value = strtod(text, end);
    leave_c(c, before);
    return value;
}

void real_print(char *text, size_t size, double value) {
    locale_t before = (locale_t)0, c = enter_c(&before);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    leave_c(c, before);
}
