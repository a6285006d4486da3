/*
 * cast, one element: rounded here, so that nothing is left to tolerate.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/dtype.h"
#include "kernels/ref/ref.h"

ref_value REF(cast)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *x = b->plane[CAST_X][i];
    plane_shape s;
    double rounded;
    op_of(p)->shape(p, slot, i, &s);
    dtype_store(&rounded, p->to, 0, (double)x[ref_offset(&s, index)]);
    return (ref_value){dtype_load(&rounded, p->to, 0), 0};
}
