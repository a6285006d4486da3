/*
 * integrate_bn_bwd_apply, one element: the gradient that comes back through the normalisation (kernels/ref/bn_fused.h,
 * whose slots it has) and the one of the learned mix (kernels/ref/integrate_bwd_data.c). The equations are in
 * src/ops/integrate_bn_bwd_apply.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/ref/bn_act.h"

ref_value REF(integrate_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

static ref_value gradient(const braid_problem *p, const buffers *b, int i, int64_t pixel, int64_t c) {
    if (p->activation != BRAID_ACTIVATION_NONE) return bn_act_gradient(p, b, i, pixel, c);
    real dy = ((const real *)b->plane[INTEGRATE_BN_BWD_APPLY_DY][i])[pixel * p->in_pitch[i] + c];
    return (ref_value){dy, fabs(dy)};
}

ref_value REF(integrate_bn_bwd_apply)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    braid_problem mix = integrate_bn_bwd_apply_mix(p), norm = *p;
    buffers bound = {0};
    for (int axis = 0; axis < 2; axis++) norm.size[axis] = integrate_out_size(p, axis);
    bound.plane[INTEGRATE_V][i] = b->plane[INTEGRATE_BN_BWD_APPLY_V][i];
    bound.plane[INTEGRATE_W][0] = b->plane[INTEGRATE_BN_BWD_APPLY_W][0];
    bound.plane[INTEGRATE_MASK][i] = b->plane[INTEGRATE_BN_BWD_APPLY_MASK][i];
    bound.plane[INTEGRATE_Y][0] = b->plane[INTEGRATE_BN_BWD_APPLY_DMIX][0];
    bound.plane[INTEGRATE_AZ][0] = b->plane[INTEGRATE_BN_BWD_APPLY_AZ][0];
    if (slot == INTEGRATE_BN_BWD_APPLY_DZ) return REF(integrate_bwd_data)(&mix, &bound, INTEGRATE_Z, 0, index);
    ref_value of_mix = REF(integrate_bwd_data)(&mix, &bound, INTEGRATE_R, i, index);
    ref_value of_norm = bn_fused_dx(&norm, b, i, index, gradient);
    return (ref_value){(real)(of_norm.value + of_mix.value), of_norm.magnitude + of_mix.magnitude};
}
