/*
 * Shapes and limits of linear layers for cuBLASLt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/linear_cublaslt.h"

const char *linear_cublaslt_refuses(const braid_problem *p, const device *d, const cublaslt_way *way) {
    const char *reason = cuda_vendor_refuses(d, CUDA_CUBLASLT);
    if (!reason && p->mask) reason = "cuBLASLt has no masks";
    if (!reason && p->pass == BRAID_PASS_FWD && !vendor_is_dense(p->out_channels, p->out_pitch, p->streams))
        reason = "cuBLASLt does not write the lanes between channels and pitch of y";
    if (!reason && p->pass == BRAID_PASS_BWD_DATA && !vendor_is_dense(p->in_channels, p->in_pitch, p->streams))
        reason = "cuBLASLt does not write the lanes between channels and pitch of dx";
    return reason ? reason : cublaslt_layer_refuses(p, d, way);
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
