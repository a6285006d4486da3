/*
 * The tolerance table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "race/tolerance.h"

#include <math.h>

#include "core/dtype.h"
#include "ops/shapes.h"

#define CHAIN_ROUNDINGS 4     /* of temporary results, on the way to an output */
#define TF32_ROUNDOFF 0x1p-11 /* 11 significant bits */

/* Exceptions, each with its reason. */
static const struct {
    braid_op_id op;
    int slot;
    double factor;
    double growth; /* in place of 2 sqrt(L) where it is not 0 */
    const char *reason;
} rows[] = {
    {BRAID_OP_BN_FINALIZE, BN_FINALIZE_SHIFT, 2, 0, "scale carries three roundings of its own into center * scale"},
    {BRAID_OP_BN_STATS_FINALIZE, BN_STATS_FINALIZE_SHIFT, 2, 0,
     "scale carries three roundings of its own into center * scale"},
    {BRAID_OP_INTEGRATE_BN_STATS, INTEGRATE_BN_STATS_SHIFT, 2, 0, "as in bn_stats_finalize"},
    {BRAID_OP_CONV2D_BN_STATS, CONV2D_BN_STATS_SHIFT, 2, 0, "as in bn_stats_finalize"},
    {BRAID_OP_SOFTMAX_XENT, CLASS_LOSS, 1, 4, "sums are made in double: the error is that of the exponentials"},
    {BRAID_OP_SOFTMAX_XENT, CLASS_DX, 1, 4, "sums are made in double: the error is that of the exponentials"},
    {BRAID_OP_FOCAL, CLASS_LOSS, 1, 4, "sums are made in double: the error is that of the exponentials"},
    {BRAID_OP_FOCAL, CLASS_DX, 1, 4, "sums are made in double: the error is that of the exponentials"},
    {BRAID_OP_MSE, MSE_LOSS, 1, 2, "the sum is made in double"},
    {BRAID_OP_BALANCE, BALANCE_NORMS, 1, 2, "the sum is made in double"},
    {BRAID_OP_BALANCE, BALANCE_LOSS, 1, 2, "all of it is made in double"},
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

/* The row of Winograd's kernels: a sum over channels, or over tiles of four pixels, and 2 + 4 + 4 roundings of the
 * transforms in place of the convolution's terms; what a fused op adds up behind it or before it counts as ever. */
static double winograd_terms(const braid_problem *p) {
    const double direct = (double)conv2d_terms(p), behind = (double)op_of(p)->terms(p) - direct;
    return direct / (p->pass == BRAID_PASS_BWD_WEIGHT ? 4 : 9) + 10 + behind;
}

/* What grows with the length of the sums behind an output, in units of the accumulator's roundoff. */
static double growth_of(const braid_problem *p, const kernel *k, int slot) {
    const op_info *o = op_of(p);
    double terms = (double)o->terms(p);
    if (op_is_derived(o, slot)) { /* statistics over the pixels of what is stored */
        plane_shape s;
        o->shape(p, o->stored, 0, &s);
        return 2 * sqrt(fmax(1, (double)s.dims[0] * (double)s.dims[1] * (double)s.dims[2]));
    }
    if (k->flags & KERNEL_WINOGRAD && ref_is_tiled(p, slot)) terms = winograd_terms(p);
    double block = p->dtype == BRAID_DTYPE_F32 ? 8 : 16; /* terms that a tensor core adds at once */
    return 2 * sqrt(terms) + (k->flags & KERNEL_TENSOR_CORE ? terms / block : 0);
}

double tolerance_bound(const braid_problem *p, const kernel *k, int slot, ref_value truth, double mixed) {
    plane_shape shape;
    double growth = growth_of(p, k, slot), factor = 1;
    double accumulator = p->dtype == BRAID_DTYPE_F64 ? ldexp(1, -53) : ldexp(1, -24);
    op_of(p)->shape(p, slot, 0, &shape);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].op != p->op || rows[i].slot != slot) continue;
        factor = rows[i].factor;
        if (rows[i].growth > 0) growth = rows[i].growth;
    }
    /* A fused kernel may round what its chain would store; the chain rounds every one of its temporary results. With
     * TF32 that is where a later product reads them: the inputs of a check are numbers of TF32 already. */
    int is_chain = k->backend == KERNEL_CHAIN;
    double roundings = !op_of(p)->chain || op_of(p)->stored ? 0 : is_chain ? CHAIN_ROUNDINGS : 1;
    int to_tf32 = p->tf32 && (is_chain || (k->flags & KERNEL_TF32));
    double stored = roundings * (to_tf32 ? TF32_ROUNDOFF : dtype_unit_roundoff(p->dtype)) * truth.magnitude;
    return stored + dtype_unit_roundoff(shape.dtype) * fabs(truth.value) + growth * accumulator * mixed * factor +
           smallest(shape.dtype);
}
