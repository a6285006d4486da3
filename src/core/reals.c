/*
 * Real numbers as text. The locale is changed for this thread alone, and only while a number is read or written. The C
 * locale is a constant of the C library: asking for all of it takes no memory and cannot fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/reals.h"

#include <stdio.h>
#include <stdlib.h>

locale_t real_enter_c(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

void real_leave_c(locale_t before) { uselocale(before); }

double real_read(const char *text, char **end) {
    const locale_t before = real_enter_c();
    double value = strtod(text, end);
    real_leave_c(before);
    return value;
}

void real_print(char *text, size_t size, double value) {
    const locale_t before = real_enter_c();
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    real_leave_c(before);
}

int real_format_list(char *text, size_t size, const char *format, va_list arguments) {
    const locale_t before = real_enter_c();
    int length = vsnprintf(text, size, format, arguments);
    real_leave_c(before);
    return length;
}

int real_format(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = real_format_list(text, size, format, arguments);
    va_end(arguments);
    return length;
}
