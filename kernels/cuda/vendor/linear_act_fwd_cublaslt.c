/*
 * linear_act forward by cuBLASLt, bias and activation in the epilogue. Its GELU is the one by tanh, and
 * writes u beside y where training needs it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/linear_cublaslt.h"

_Static_assert((int)LINEAR_ACT_X == (int)LINEAR_X && (int)LINEAR_ACT_W == (int)LINEAR_W &&
                   (int)LINEAR_ACT_BIAS == (int)LINEAR_BIAS && (int)LINEAR_ACT_Y == (int)LINEAR_Y,
               "the slots of linear are the first ones of linear_act");

static void describe(const braid_problem *p, int i, cublaslt_call *call) {
    const int relu = p->activation == BRAID_ACTIVATION_RELU, keeps = !relu && p->phase == BRAID_PHASE_TRAIN;
    call->left = linear_cublaslt_x(p, i);
    call->right = linear_cublaslt_w(p, i);
    call->right.transposed = 1;
    call->out = linear_cublaslt_y(p, i);
    call->bias_slot = LINEAR_ACT_BIAS;
    call->aux_slot = LINEAR_ACT_U;
    call->epilogue =
        (relu ? LT_EPILOGUE_RELU : LT_EPILOGUE_GELU) | (p->bias ? LT_EPILOGUE_BIAS : 0) | (keeps ? LT_EPILOGUE_AUX : 0);
}

static const cublaslt_way way = {describe, 0, 0}, tf32_way = {describe, 0, 1};

static refusal refuses_by(const braid_problem *p, const device *d, const cublaslt_way *by) {
    if (p->activation != BRAID_ACTIVATION_RELU && p->activation != BRAID_ACTIVATION_GELU_TANH)
        return refusal_unable("cuBLASLt has ReLU and the GELU by tanh alone");
    return linear_cublaslt_refuses(p, d, by);
}

static refusal refuses(const braid_problem *p, const device *d) { return refuses_by(p, d, &way); }
static refusal refuses_tf32(const braid_problem *p, const device *d) { return refuses_by(p, d, &tf32_way); }

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    return cublaslt_layer_create(p, d, &way, state, workspace_bytes);
}

static braid_status create_tf32(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    return cublaslt_layer_create(p, d, &tf32_way, state, workspace_bytes);
}

const kernel_functions linear_act_fwd__cuda_cublaslt_1 = {.refuses = refuses,
                                                          .cost = linear_cublaslt_cost,
                                                          .create = create,
                                                          .launch = cublaslt_layer_launch,
                                                          .destroy = cublaslt_layer_destroy};
const kernel_functions linear_act_fwd_f32__cuda_cublaslt_1 = {.refuses = refuses,
                                                              .cost = linear_cublaslt_cost,
                                                              .create = create,
                                                              .launch = cublaslt_layer_launch,
                                                              .destroy = cublaslt_layer_destroy};
const kernel_functions linear_act_fwd_tf32__cuda_cublaslt_1 = {.refuses = refuses_tf32,
                                                               .cost = linear_cublaslt_cost,
                                                               .create = create_tf32,
                                                               .launch = cublaslt_layer_launch,
                                                               .destroy = cublaslt_layer_destroy};
