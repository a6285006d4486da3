/*
 * bn_norm, one element of an output. The equations are those of bn_prepare, and of bn_act or bn_add_act behind it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/ref/act.h"

ref_value REF(bn_prepare)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

/* An output of bn_prepare; with zn2, of the half of the planes from `first` on, which has a count of its own. */
static ref_value prepared(const braid_problem *p, const buffers *b, int slot, int i, int first, int64_t index) {
    braid_problem half = *p;
    buffers part = *b;
    if (p->residual_norm != BN_NORM_OWN_RESIDUALS) return REF(bn_prepare)(p, b, slot, i, index);
    half.streams = p->skip;
    memcpy(half.in_channels, p->in_channels + first, (size_t)p->skip * sizeof p->in_channels[0]);
    memcpy(half.in_pitch, p->in_pitch + first, (size_t)p->skip * sizeof p->in_pitch[0]);
    for (int j = BN_PREPARE_X; j <= BN_PREPARE_SHIFT; j++)
        memcpy(part.plane[j], b->plane[j] + first, (size_t)p->skip * sizeof part.plane[0][0]);
    part.plane[BN_PREPARE_BATCHES][0] = b->plane[BN_PREPARE_BATCHES][first > 0];
    return REF(bn_prepare)(&half, &part, slot, i - first, index);
}

static ref_value affine(real x, ref_value scale, ref_value shift) {
    return (ref_value){x * (real)scale.value + (real)shift.value, fabs(x) * scale.magnitude + shift.magnitude};
}

/* x * scale + shift of a stream. */
static ref_value normalised(const braid_problem *p, const buffers *b, int stream, int first, int64_t pixel, int64_t c) {
    const real *x = b->plane[BN_PREPARE_X][stream];
    return affine(x[pixel * p->in_pitch[stream] + c], prepared(p, b, BN_PREPARE_SCALE, stream, first, c),
                  prepared(p, b, BN_PREPARE_SHIFT, stream, first, c));
}

/* What is added to plane i of y. */
static ref_value residual(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    if (p->residual_norm == BN_NORM_OWN_RESIDUALS) return normalised(p, b, i, 0, pixel, c);
    const real *z = b->plane[BN_NORM_Z][i], *scale = b->plane[BN_NORM_ZSCALE][i], *shift = b->plane[BN_NORM_ZSHIFT][i];
    const real value = z[pixel * p->in_pitch[p->skip + i] + c];
    if (!p->residual_norm) return (ref_value){value, fabs(value)};
    return affine(value, (ref_value){scale[c], fabs(scale[c])}, (ref_value){shift[c], fabs(shift[c])});
}

ref_value REF(bn_norm)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const int stream = bn_norm_first(p, slot) + i;
    if (slot == BN_PREPARE_BATCHES) return prepared(p, b, slot, i ? p->skip : 0, i ? p->skip : 0, index);
    if (slot < BN_NORM_Y) return prepared(p, b, slot, i, i < p->skip ? 0 : p->skip, index);
    const int64_t c = index % p->in_channels[stream], pixel = index / p->in_channels[stream];
    if (mask_blanks(b->plane[BN_PREPARE_MASK][stream], pixel / (p->size[0] * p->size[1]))) return (ref_value){0, 0};
    ref_value u = normalised(p, b, stream, p->skip, pixel, c);
    if (p->add) {
        const ref_value z = residual(p, b, i, pixel, c);
        u = (ref_value){(real)u.value + (real)z.value, u.magnitude + z.magnitude};
    }
    return act_of(p, u);
}
