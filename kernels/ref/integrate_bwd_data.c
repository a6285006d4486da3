/*
 * integrate data gradients, one element: dr_i[b][p][q][c] = sum over o of v_i[o][c] * dy[b][p][q][o];
 * with add1 a_i[b][p][q][c] more, of a blanked sample that alone;
 * dz[b][h][w][a] = sum over o of w[o][a] * dy at the output that read it, 0 where the stride skipped it;
 * with add2 az[b][h][w][a] more.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/ref/ref.h"

static ref_value column_dot(const real *dy, const real *matrix, int64_t column, int64_t columns, int64_t rows) {
    real sum = 0, magnitude = 0;
    for (int64_t o = 0; o < rows; o++) {
        sum += matrix[o * columns + column] * dy[o];
        magnitude += (real)fabs(matrix[o * columns + column] * dy[o]);
    }
    return (ref_value){sum, magnitude};
}

static ref_value added(ref_value sum, real more) {
    return (ref_value){sum.value + more, sum.magnitude + (real)fabs(more)};
}

ref_value REF(integrate_bwd_data)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index) {
    const real *dy = b->plane[INTEGRATE_Y][0];
    int64_t width = integrate_out_size(p, 1), height = integrate_out_size(p, 0);
    if (slot == INTEGRATE_R) {
        int64_t c = index % p->in_channels[i], pixel = index / p->in_channels[i];
        const real *a = b->plane[INTEGRATE_A][i];
        ref_value sum = {0, 0};
        if (!mask_blanks(b->plane[INTEGRATE_MASK][i], pixel / (height * width)))
            sum = column_dot(dy + pixel * p->integrated_out, b->plane[INTEGRATE_V][i], c, p->in_channels[i],
                             p->integrated_out);
        return a ? added(sum, a[pixel * p->in_pitch[i] + c]) : sum;
    }
    int64_t a = index % p->integrated_in, pixel = index / p->integrated_in;
    int64_t column = pixel % p->size[1], row = pixel / p->size[1] % p->size[0],
            sample = pixel / p->size[1] / p->size[0];
    ref_value sum = {0, 0};
    if (row % p->stride[0] == 0 && column % p->stride[1] == 0) {
        int64_t out = (sample * height + row / p->stride[0]) * width + column / p->stride[1];
        sum =
            column_dot(dy + out * p->integrated_out, b->plane[INTEGRATE_W][0], a, p->integrated_in, p->integrated_out);
    }
    const real *az = b->plane[INTEGRATE_AZ][0];
    return az ? added(sum, az[index]) : sum;
}
