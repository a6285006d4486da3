/*
 * Shapes and costs of vendor libraries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/vendor/vendor.h"

const char vendor_other_products[] = "this library's other kernels are for such products (f32 or TF32)";

int vendor_same_shape(const braid_problem *p, int i) {
    int j = 0;
    while (p->in_channels[j] != p->in_channels[i] || p->out_channels[j] != p->out_channels[i] ||
           p->in_pitch[j] != p->in_pitch[i] || p->out_pitch[j] != p->out_pitch[i])
        j++;
    return j;
}

int vendor_is_dense(const int64_t *channels, const int64_t *pitch, int streams) {
    for (int i = 0; i < streams; i++) {
        if (pitch[i] != channels[i]) return 0;
    }
    return 1;
}

double vendor_cost(const braid_problem *p) {
    return vendor_cost_at(p, p->tf32 ? 1.5e14 : p->dtype == BRAID_DTYPE_F32 ? 3e13 : 3e14);
}

double vendor_cost_at(const braid_problem *p, double flops_per_s) {
    const double bytes_per_s = 2.5e12, call_s = 5e-6;
    double arithmetic = op_of(p)->flops(p) / flops_per_s, memory = op_bytes(p) / bytes_per_s;
    return call_s * p->streams + (arithmetic > memory ? arithmetic : memory);
}
