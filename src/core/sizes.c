/*
 * Checked size arithmetic, on the compiler's overflow builtins. Dims of zero count as one in the
 * overflow check, so that the strides of an accepted tensor fit even when it holds no element.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"

#include "core/dtype.h"

#define MAX_ELEMENTS (INT64_MAX / 16)

bool size_add(size_t a, size_t b, size_t *out) {
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

bool size_mul(size_t a, size_t b, size_t *out) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool size_align(size_t value, size_t alignment, size_t *out) {
    size_t raised;
    if (!size_add(value, alignment - 1, &raised)) return false;
    *out = raised & ~(alignment - 1);
    return true;
}

braid_status size_array(size_t count, size_t element_bytes, const char *what, size_t *bytes) {
    if (size_mul(count, element_bytes, bytes)) return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY,
                "%s: expected a size that fits in 64 bits, got %zu elements of %zu bytes; use a smaller problem", what,
                count, element_bytes);
}

/* *span *= max(factor, 1), within MAX_ELEMENTS; *zero is set by a factor of 0. */
static braid_status multiply_dim(int64_t factor, const char *what, int64_t *span, bool *zero) {
    if (factor < 0)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected dimensions of 0 or more, got %lld", what, (long long)factor);
    if (factor == 0) {
        *zero = true;
        return BRAID_OK;
    }
    if (*span > MAX_ELEMENTS / factor)
        return fail(BRAID_ERROR_MEMORY,
                    "%s: expected at most %lld elements, got a product of dimensions above it (%lld times %lld); "
                    "use a smaller problem",
                    what, (long long)MAX_ELEMENTS, (long long)*span, (long long)factor);
    *span *= factor;
    return BRAID_OK;
}

braid_status size_elements(const int64_t *dims, int rank, const char *what, int64_t *elements) {
    int64_t span = 1;
    bool zero = false;
    if (rank < 0) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a rank of 0 or more, got %d", what, rank);
    for (int axis = 0; axis < rank; axis++) TRY(multiply_dim(dims[axis], what, &span, &zero));
    *elements = zero ? 0 : span;
    return BRAID_OK;
}

braid_status size_tensor(const int64_t *dims, int rank, int64_t pitch, braid_dtype dtype, const char *what,
                         size_t *bytes) {
    int64_t span = 1;
    bool zero = false;
    size_t element_bytes = dtype_bytes(dtype);
    if (element_bytes == 0)
        return fail(BRAID_ERROR_ARGUMENT, "%s: expected a dtype, got the value %d", what, (int)dtype);
    if (rank < 1) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a rank of 1 or more, got %d", what, rank);
    for (int axis = 0; axis < rank; axis++) {
        bool last = axis == rank - 1;
        if (last && pitch < dims[axis])
            return fail(BRAID_ERROR_ARGUMENT,
                        "%s: expected a pitch of at least %lld elements (the last dimension), got %lld", what,
                        (long long)dims[axis], (long long)pitch);
        if (dims[axis] < 0) return multiply_dim(dims[axis], what, &span, &zero);
        TRY(multiply_dim(last ? pitch : dims[axis], what, &span, &zero));
    }
    return size_array(zero ? 0 : (size_t)span, element_bytes, what, bytes);
}
