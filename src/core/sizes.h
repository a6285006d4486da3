/*
 * All arithmetic on sizes of memory: element counts, bytes, alignment, in 64 bits and checked.
 * Nothing else in braid multiplies sizes that came from outside (tools/check_sizes looks for it),
 * so that an overflow has one place to be wrong in.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_CORE_SIZES_H
#define BRAID_CORE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* False on overflow, and then *out is not written. */
bool size_add(size_t a, size_t b, size_t *out);
bool size_mul(size_t a, size_t b, size_t *out);
bool size_align(size_t value, size_t alignment, size_t *out); /* rounds up; alignment is a power of two */

/* Bytes of `count` elements; BRAID_ERROR_MEMORY names `what` when they do not fit. */
braid_status size_array(size_t count, size_t element_bytes, const char *what, size_t *bytes);

/* Elements of a tensor; refuses negative dims and products over INT64_MAX / 16, so that byte offsets fit too. */
braid_status size_elements(const int64_t *dims, int rank, const char *what, int64_t *elements);

/* Bytes of a tensor whose last axis lies `pitch` elements apart (pitch >= dims[rank-1]). */
braid_status size_tensor(const int64_t *dims, int rank, int64_t pitch, braid_dtype dtype, const char *what,
                         size_t *bytes);

#endif
