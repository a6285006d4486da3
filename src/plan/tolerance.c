/*
 * The tolerance table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/tolerance.h"

#include <math.h>

#include "core/dtype.h"

/* Exceptions, each with its reason. */
static const struct {
    braid_op_id op;
    int slot;
    double factor;
    const char *reason;
} rows[] = {
    {BRAID_OP_BN_FINALIZE, BN_FINALIZE_SHIFT, 2, "scale carries three roundings of its own into center * scale"},
};

/* The smallest positive number that a stored format keeps: rounding to it or to zero is not an error. */
static double smallest(braid_dtype dtype) {
    switch (dtype) {
        case BRAID_DTYPE_F16: return ldexp(1, -24);
        case BRAID_DTYPE_BF16: return ldexp(1, -126);
        case BRAID_DTYPE_F32: return ldexp(1, -149);
        default: return 0;
    }
}

double tolerance_bound(const braid_problem *p, const kernel *k, int slot, ref_value truth) {
    plane_shape shape;
    double terms = (double)op_of(p)->terms(p), factor = 1;
    double accumulator = p->dtype == BRAID_DTYPE_F64 ? ldexp(1, -53) : ldexp(1, -24);
    if (k->flags & KERNEL_WINOGRAD) terms = terms / 9 + 10; /* channels, and 2 + 4 + 4 roundings of the transforms */
    double growth = 2 * sqrt(terms) + (k->flags & KERNEL_TENSOR_CORE ? terms / 16 : 0);
    op_of(p)->shape(p, slot, 0, &shape);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].op == p->op && rows[i].slot == slot) factor = rows[i].factor;
    }
    return dtype_unit_roundoff(shape.dtype) * fabs(truth.value) + growth * accumulator * truth.magnitude * factor +
           smallest(shape.dtype);
}
