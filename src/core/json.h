/*
 * JSON by way of jansson: strict reading of text that may be hostile (duplicate keys refused, length
 * and depth limited), and writing. Callers use jansson's own json_t for what they read and build.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_JSON_H
#define BRAID_CORE_JSON_H

#include <jansson.h>

#include "core/status.h"

#define JSON_MAX_DEPTH 16
#define JSON_MAX_BYTES ((size_t)16 << 20)
#define JSON_MAX_VALUES (1 << 20)          /* that need 250 MB at most */
#define JSON_MOST_COUNT (INT64_C(1) << 40) /* of what is counted on: sums and products of a few fit in 64 bits */

/* Reads exactly one value. `what` names the text in messages; `code` is the status of a failure. Returns a
 * reference. */
braid_status json_read(const char *text, size_t bytes, const char *what, braid_status code, json_t **out);

/* Fields of an object, with a message that names the field when it is missing or of another kind. The strings are
 * borrowed. */
braid_status json_get_text(const json_t *object, const char *field, const char **out);
braid_status json_get_number(const json_t *object, const char *field, double *out); /* finite */
braid_status json_get_integer(const json_t *object, const char *field, int64_t *out);
braid_status json_get_array(const json_t *object, const char *field, json_t **out); /* borrowed */

/* Bytes of the text that json_write makes of a value; 0: it will make none. */
size_t json_length(const json_t *value);

/* Compact text with sorted keys, so that equal values give equal bytes. Returns memory for memory_free. */
braid_status json_write(const json_t *value, char **text, size_t *bytes);

#endif
