/*
 * Real numbers as text, in the C locale whatever the program has set: a comma must not depend on the country.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_REALS_H
#define BRAID_CORE_REALS_H

#include <stddef.h>

#define REAL_TEXT_BYTES 40 /* room for any */

/* strtod: *end == text where nothing could be read. Accepts inf and nan; check the range. */
double real_read(const char *text, char **end);

/* The shortest digits that read back as the same value. */
void real_print(char *text, size_t size, double value);

#endif
