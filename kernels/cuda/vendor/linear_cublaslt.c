/*
 * Shapes and limits of linear layers for cuBLASLt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/linear_cublaslt.h"

static const char *refuses_problem(const braid_problem *p) {
    if (p->mask) return "cuBLASLt has no masks";
    if (p->pass == BRAID_PASS_FWD && !vendor_is_dense(p->out_channels, p->out_pitch, p->streams))
        return "cuBLASLt does not write the lanes between channels and pitch of y";
    if (p->pass == BRAID_PASS_BWD_DATA && !vendor_is_dense(p->in_channels, p->in_pitch, p->streams))
        return "cuBLASLt does not write the lanes between channels and pitch of dx";
    return NULL;
}

refusal linear_cublaslt_refuses(const braid_problem *p, const device *d, const cublaslt_way *way) {
    refusal refused = cuda_vendor_refuses(d, CUDA_CUBLASLT);
    if (!refused.kind) refused = refusal_unable(refuses_problem(p));
    return refused.kind ? refused : cublaslt_layer_refuses(p, d, way);
}

cublaslt_matrix linear_cublaslt_x(const braid_problem *p, int i) {
    return (cublaslt_matrix){.slot = LINEAR_X, .rows = p->batch, .columns = p->in_channels[i], .pitch = p->in_pitch[i]};
}

cublaslt_matrix linear_cublaslt_w(const braid_problem *p, int i) {
    return (cublaslt_matrix){
        .slot = LINEAR_W, .rows = p->out_channels[i], .columns = p->in_channels[i], .pitch = p->in_channels[i]};
}

cublaslt_matrix linear_cublaslt_y(const braid_problem *p, int i) {
    return (cublaslt_matrix){
        .slot = LINEAR_Y, .rows = p->batch, .columns = p->out_channels[i], .pitch = p->out_pitch[i]};
}

double linear_cublaslt_cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double split_s = 3e-6, few_outputs = 65536, long_sum = 256;
    double outputs = 0;
    for (int i = 0; i < p->streams; i++) {
        double rows = (double)(p->pass == BRAID_PASS_BWD_WEIGHT ? p->out_channels[i] : p->batch);
        outputs += rows * (double)(p->pass == BRAID_PASS_FWD ? p->out_channels[i] : p->in_channels[i]);
    }
    int is_split = p->dtype == BRAID_DTYPE_F32 && outputs < few_outputs && (double)op_of(p)->terms(p) >= long_sum;
    return vendor_cost(p) + (is_split ? split_s : 0);
}
