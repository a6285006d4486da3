/*
 * rownorm forward: y = x / max(|x|, eps). A norm that is not a number stays one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/rownorm.h"

ref_value REF(rownorm_fwd)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    (void)slot;
    int64_t channels = p->in_channels[i], c = index % channels;
    const real *x = (const real *)b->plane[ROWNORM_X][i] + index / channels * p->in_pitch[i];
    double norm = rownorm_norm(x, channels), y = (double)x[c] / (norm < p->eps ? p->eps : norm);
    return (ref_value){y, fabs(y)};
}
