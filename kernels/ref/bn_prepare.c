/*
 * bn_prepare, one channel of one output. All but scale and shift are outputs of batchnorm too, in the same slots;
 * those two follow from them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn.h"

ref_value REF(batchnorm_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

ref_value REF(bn_prepare)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    if (slot != BN_PREPARE_SCALE && slot != BN_PREPARE_SHIFT) return REF(batchnorm_fwd)(p, b, slot, i, index);
    const real *gamma = b->plane[BN_PREPARE_GAMMA][i], *beta = b->plane[BN_PREPARE_BETA][i];
    ref_value center = REF(batchnorm_fwd)(p, b, BATCHNORM_CENTER, i, index),
              rstd = REF(batchnorm_fwd)(p, b, BATCHNORM_RSTD, i, index);
    real scale = gamma[index] * (real)rstd.value;
    double reach = fabs(gamma[index]) * rstd.magnitude;
    if (slot == BN_PREPARE_SCALE) return (ref_value){scale, reach};
    return (ref_value){beta[index] - (real)center.value * scale,
                       fabs(beta[index]) + (fabs(center.value) + center.magnitude) * reach};
}
