/*
 * The three products of a linear layer or of a 1x1 convolution by OpenBLAS. The library knows no
 * bias, so that the output is filled with it before the product is added, and its gradient is summed here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/vendor/openblas_layer.h"

#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"

enum { X = LINEAR_X, W = LINEAR_W, BIAS = LINEAR_BIAS, Y = LINEAR_Y };
_Static_assert((int)CONV2D_X == (int)LINEAR_X && (int)CONV2D_W == (int)LINEAR_W &&
                   (int)CONV2D_BIAS == (int)LINEAR_BIAS && (int)CONV2D_Y == (int)LINEAR_Y,
               "conv2d and linear number their operands alike");

static int64_t rows(const braid_problem *p) {
    return p->op == BRAID_OP_CONV2D ? p->batch * p->size[0] * p->size[1] : p->batch;
}

static int pointwise(const braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] != 1 || p->stride[axis] != 1 || p->padding[axis] != 0 || p->extra_padding[axis] != 0)
            return 0;
    }
    return p->groups == 1;
}

static gemm_shape fwd_shape(const braid_problem *p, int i) {
    return (gemm_shape){.m = rows(p),
                        .n = p->out_channels[i],
                        .k = p->in_channels[i],
                        .transpose_b = 1,
                        .lda = p->in_pitch[i],
                        .ldb = p->in_channels[i],
                        .ldc = p->out_pitch[i],
                        .accumulate = p->bias};
}

/* The lanes between the channels and the pitch of an output must become zero, and a product does not touch them. */
static int writes_dense(const braid_problem *p, int i) {
    if (p->pass == BRAID_PASS_FWD) return p->out_pitch[i] == p->out_channels[i];
    return p->pass != BRAID_PASS_BWD_DATA || p->in_pitch[i] == p->in_channels[i];
}

const char *openblas_supports(const braid_problem *p, const device *d) {
    (void)d;
    const vendor_library *library = openblas_library();
    if (library->reason) return library->reason;
    if (p->op == BRAID_OP_CONV2D && !pointwise(p))
        return "only a 1x1 convolution of stride 1 without padding and groups is one product";
    if (conv2d_refuses_add(p)) return conv2d_refuses_add(p);
    if (p->mask) return "OpenBLAS has no masks";
    if (p->batch == 0) return "OpenBLAS is not called for an empty batch";
    for (int i = 0; i < p->streams; i++) {
        const gemm_shape s = fwd_shape(p, i);
        if (s.n == 0 || s.k == 0) return "OpenBLAS is not called for a stream without channels";
        if (!writes_dense(p, i))
            return "OpenBLAS does not clear the lanes between the channels and the pitch of its output";
        if (!openblas_fits(&s)) return "a size is beyond the 32-bit integers of OpenBLAS";
    }
    return NULL;
}

double openblas_cost(const braid_problem *p, const machine *on) {
    return cost_seconds(p, on, COST_VENDOR_FLOPS, p->streams, COST_VENDOR_CALL);
}

/* Rows of y that one part fills with the bias. */
#define FILL_ROWS 256

typedef struct bias_task {
    float *y;
    const float *bias;
    int64_t rows, columns, pitch;
} bias_task;

static void fill_rows(void *context, int64_t part) {
    const bias_task *t = context;
    const int64_t first = part * FILL_ROWS, end = first + FILL_ROWS < t->rows ? first + FILL_ROWS : t->rows;
    for (int64_t row = first; row < end; row++) {
        for (int64_t k = 0; k < t->columns; k++) t->y[row * t->pitch + k] = t->bias[k];
    }
}

braid_status openblas_launch_fwd(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d, (void)state;
    for (int i = 0; i < p->streams; i++) {
        const gemm_shape s = fwd_shape(p, i);
        bias_task task = {b->plane[Y][i], b->plane[BIAS][i], s.m, s.n, s.ldc};
        if (p->bias) threads_for((s.m + FILL_ROWS - 1) / FILL_ROWS, fill_rows, &task);
        openblas_sgemm(&s, b->plane[X][i], b->plane[W][i], b->plane[Y][i], threads_get());
    }
    return BRAID_OK;
}

braid_status openblas_launch_bwd_data(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d, (void)state;
    for (int i = 0; i < p->streams; i++) {
        const gemm_shape s = {.m = rows(p),
                              .n = p->in_channels[i],
                              .k = p->out_channels[i],
                              .lda = p->out_pitch[i],
                              .ldb = p->in_channels[i],
                              .ldc = p->in_pitch[i]};
        openblas_sgemm(&s, b->plane[Y][i], b->plane[W][i], b->plane[X][i], threads_get());
    }
    return BRAID_OK;
}

/* Columns of dy that one part sums. */
#define SUM_COLUMNS 64

typedef struct sum_task {
    const float *dy;
    float *dbias;
    int64_t rows, columns, pitch;
} sum_task;

static void sum_columns(void *context, int64_t part) {
    const sum_task *t = context;
    const int64_t first = part * SUM_COLUMNS, left = t->columns - first,
                  count = left < SUM_COLUMNS ? left : SUM_COLUMNS;
    double sum[SUM_COLUMNS] = {0};
    for (int64_t row = 0; row < t->rows; row++) {
        const float *values = t->dy + row * t->pitch + first;
        for (int64_t k = 0; k < count; k++) sum[k] += (double)values[k];
    }
    for (int64_t k = 0; k < count; k++) t->dbias[first + k] = (float)sum[k];
}

braid_status openblas_launch_bwd_weight(const braid_problem *p, device *d, void *state, const buffers *b) {
    (void)d, (void)state;
    for (int i = 0; i < p->streams; i++) {
        const gemm_shape s = {.m = p->out_channels[i],
                              .n = p->in_channels[i],
                              .k = rows(p),
                              .transpose_a = 1,
                              .lda = p->out_pitch[i],
                              .ldb = p->in_pitch[i],
                              .ldc = p->in_channels[i]};
        sum_task task = {b->plane[Y][i], b->plane[BIAS][i], s.k, s.m, s.lda};
        openblas_sgemm(&s, b->plane[Y][i], b->plane[X][i], b->plane[W][i], threads_get());
        if (p->bias) threads_for((s.m + SUM_COLUMNS - 1) / SUM_COLUMNS, sum_columns, &task);
    }
    return BRAID_OK;
}
