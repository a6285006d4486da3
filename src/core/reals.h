/*
 * Real numbers as text, in the C locale whatever the program has set: a comma must not depend on the country. All that
 * reads or prints a number with a fraction goes through here; fail() and log_write() do, too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_REALS_H
#define BRAID_CORE_REALS_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

#define REAL_TEXT_BYTES 40 /* room for any */

/* strtod: *end == text where nothing could be read. Accepts inf and nan; check the range. */
double real_read(const char *text, char **end);

/* The shortest digits that read back as the same value. */
void real_print(char *text, size_t size, double value);

/* snprintf and vsnprintf. */
__attribute__((format(printf, 3, 4))) int real_format(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int real_format_list(char *text, size_t size, const char *format,
                                                           va_list arguments);

/* Around a call of another library that reads or writes numbers: the C locale for this thread, and what was before. */
locale_t real_enter_c(void);
void real_leave_c(locale_t before);

#endif
