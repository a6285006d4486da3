/*
 * The data gradient of conv2d under paddings that repeat the image. The gradient of the padded image is that of a
 * convolution without padding (tile/indirect_gemm.h); then every padded pixel is added to the pixel that it repeats,
 * and what x gets from elsewhere to all of them. Halves are made floats before and rounded once, after the last
 * addition.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "core/threads.h"
#include "kernels/cpu/tile/fused.h"
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

typedef struct padded {
    braid_problem inner;  /* without padding, in floats */
    const halves *halves; /* NULL: the numbers are floats */
    void *product;
    size_t dx[BRAID_MAX_PLANES], w[BRAID_MAX_PLANES], dy[BRAID_MAX_PLANES], rest; /* places in the workspace */
} padded;

typedef struct job {
    const braid_problem *p;
    braid_problem step; /* p with a stride and a dilation of 1: its outputs are the places of the padded image */
    const padded *f;
    const buffers *outer;
    buffers inner;
} job;

static braid_problem without_padding(const braid_problem *p) {
    braid_problem inner = *p;
    inner.dtype = BRAID_DTYPE_F32;
    inner.padding_mode = BRAID_PADDING_ZEROS;
    inner.add = 0;
    for (int axis = 0; axis < 2; axis++) {
        inner.size[axis] = p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis];
        inner.padding[axis] = inner.extra_padding[axis] = 0;
    }
    memcpy(inner.in_pitch, p->in_channels, sizeof inner.in_pitch);
    if (p->dtype != BRAID_DTYPE_F32) memcpy(inner.out_pitch, p->out_channels, sizeof inner.out_pitch);
    return inner;
}

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem inner = without_padding(p);
    if (p->padding_mode == BRAID_PADDING_ZEROS)
        return "adds up a padding that repeats the image; zeros have no gradient";
    return indirect_gemm_backward_supports(&inner, d);
}

static double cost(const braid_problem *p, const machine *on, const gemm_tile *tile) {
    const braid_problem inner = without_padding(p);
    return indirect_gemm_cost(&inner, on, tile) + cost_copy_seconds(2 * op_bytes(&inner));
}

static void destroy(device *d, void *state) {
    padded *f = state;
    indirect_gemm_destroy(d, f->product);
    memory_free(f);
}

static braid_status ready(padded *f, const braid_problem *p, const gemm_tile *tile, size_t *workspace_bytes) {
    size_t product_bytes = 0;
    f->inner = without_padding(p);
    f->halves = gemm_halves(tile, p->dtype);
    TRY(indirect_gemm_create_backward(&f->inner, tile, &f->product, &product_bytes));
    TRY(fused_reserve_planes(&f->inner, CONV2D_X, workspace_bytes, f->dx));
    if (f->halves) {
        TRY(fused_reserve_planes(&f->inner, CONV2D_W, workspace_bytes, f->w));
        TRY(fused_reserve_planes(&f->inner, CONV2D_Y, workspace_bytes, f->dy));
    }
    return fused_reserve(workspace_bytes, product_bytes, &f->rest);
}

static braid_status create(const braid_problem *p, const gemm_tile *tile, void **state, size_t *workspace_bytes) {
    padded *f = NULL;
    *workspace_bytes = 0;
    TRY(memory_calloc(1, sizeof *f, "state of conv2d", (void **)&f));
    braid_status status = ready(f, p, tile, workspace_bytes);
    if (status)
        destroy(NULL, f);
    else
        *state = f;
    return status;
}

/* ---- Halves made floats -------------------------------------------------------------------- */

static int64_t filter_numbers(const braid_problem *p, int i) {
    return p->filter[0] * p->filter[1] * (p->in_channels[i] / p->groups);
}

/* One filter of w. */
static void widen_filter(void *context, int64_t index) {
    const job *j = context;
    int i = 0;
    while (index >= j->p->out_channels[i]) index -= j->p->out_channels[i++];
    const int64_t numbers = filter_numbers(j->p, i);
    j->f->halves->widen((float *)j->inner.plane[CONV2D_W][i] + index * numbers,
                        (const uint16_t *)j->outer->plane[CONV2D_W][i] + index * numbers, numbers);
}

/* One row of dy. */
static void widen_row(void *context, int64_t index) {
    const job *j = context;
    const int64_t rows = j->p->batch * conv2d_out_size(j->p, 0), width = conv2d_out_size(j->p, 1), row = index % rows;
    const int i = (int)(index / rows);
    float *to = j->inner.plane[CONV2D_Y][i];
    const uint16_t *from = j->outer->plane[CONV2D_Y][i];
    for (int64_t at = row * width; at < (row + 1) * width; at++) {
        j->f->halves->widen(to + at * j->p->out_channels[i], from + at * j->p->out_pitch[i], j->p->out_channels[i]);
    }
}

static void widen(job *j) {
    int64_t filters = 0;
    for (int i = 0; i < j->p->streams; i++) filters += j->p->out_channels[i];
    threads_for(filters, widen_filter, j);
    threads_for(j->p->streams * j->p->batch * conv2d_out_size(j->p, 0), widen_row, j);
}

/* ---- Folding ------------------------------------------------------------------------------- */

/* The row (axis 0) or column that a row or column of the padded image repeats. */
static int64_t repeated(const job *j, int axis, int64_t at) { return conv2d_in_index(&j->step, axis, at, 0); }

/* Adds a padded row to the pixels that it repeats, which lie in row `to` of the padded image. */
static void add_row(const job *j, int i, float *to, const float *from) {
    const int64_t channels = j->p->in_channels[i], left = j->p->padding[1];
    for (int64_t at = 0; at < j->f->inner.size[1]; at++) {
        const int64_t column = repeated(j, 1, at) + left;
        if (to == from && column == at) continue;
        for (int64_t c = 0; c < channels; c++) to[column * channels + c] += from[at * channels + c];
    }
}

/* The pixel gains what it is added to. */
static void add_pixel(const job *j, int i, int64_t pixel, float *to) {
    const int64_t channels = j->p->in_channels[i], first = pixel * j->p->in_pitch[i];
    const void *added = j->outer->plane[CONV2D_A][i];
    for (int64_t c = 0; c < channels; c++) {
        float one = 0;
        if (j->f->halves) j->f->halves->widen(&one, (const uint16_t *)added + first + c, 1);
        to[c] += j->f->halves ? one : ((const float *)added)[first + c];
    }
}

static void store_pixel(const job *j, int i, int64_t pixel, float *from) {
    const int64_t channels = j->p->in_channels[i], pitch = j->p->in_pitch[i];
    if (j->p->add) add_pixel(j, i, pixel, from);
    if (j->f->halves) {
        uint16_t *to = (uint16_t *)j->outer->plane[CONV2D_X][i] + pixel * pitch;
        j->f->halves->narrow(to, from, channels);
        memset(to + channels, 0, (size_t)(pitch - channels) * sizeof *to);
    } else {
        float *to = (float *)j->outer->plane[CONV2D_X][i] + pixel * pitch;
        memcpy(to, from, (size_t)channels * sizeof *to);
        memset(to + channels, 0, (size_t)(pitch - channels) * sizeof *to);
    }
}

/* One row of dx: no other part touches the padded rows that repeat it. */
static void make_row(void *context, int64_t index) {
    const job *j = context;
    const braid_problem *p = j->p, *inner = &j->f->inner;
    const int64_t rows = p->batch * p->size[0], row = index % rows, sample = row / p->size[0], h = row % p->size[0];
    const int i = (int)(index / rows);
    const int64_t line = inner->size[1] * p->in_channels[i];
    float *image = (float *)j->inner.plane[CONV2D_X][i] + sample * inner->size[0] * line;
    float *to = image + (h + p->padding[0]) * line;
    add_row(j, i, to, to);
    for (int64_t at = 0; at < inner->size[0]; at++) {
        if (at != h + p->padding[0] && repeated(j, 0, at) == h) add_row(j, i, to, image + at * line);
    }
    for (int64_t w = 0; w < p->size[1]; w++)
        store_pixel(j, i, row * p->size[1] + w, to + (w + p->padding[1]) * p->in_channels[i]);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    job j = {.p = p, .step = *p, .f = state, .outer = b, .inner = *b};
    for (int axis = 0; axis < 2; axis++) j.step.stride[axis] = j.step.dilation[axis] = 1;
    j.inner.workspace = (unsigned char *)b->workspace + j.f->rest;
    fused_planes(b->workspace, j.f->dx, p->streams, j.inner.plane[CONV2D_X]);
    if (j.f->halves) {
        fused_planes(b->workspace, j.f->w, p->streams, j.inner.plane[CONV2D_W]);
        fused_planes(b->workspace, j.f->dy, p->streams, j.inner.plane[CONV2D_Y]);
        widen(&j);
    }
    TRY(indirect_gemm_pack(&j.f->inner, d, j.f->product, &j.inner));
    TRY(indirect_gemm_run(&j.f->inner, d, j.f->product, &j.inner));
    threads_for(p->streams * p->batch * p->size[0], make_row, &j);
    return BRAID_OK;
}

TILE_KERNELS(AVX512, conv2d_bwd_data, cpu_explicit_padding, gemm, supports, cost, create, launch, destroy)
