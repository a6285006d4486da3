/*
 * Statistics of numbers with a large mean, with little variance and with none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/large_mean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "tests/emu/once.h"

/* The filters see the pixel below their middle, and of it the first channel. */
static void fill(const braid_problem *p, const image *m, char *block) {
    const int64_t pixels = p->batch * p->size[0] * p->size[1], taps = p->filter[0] * p->filter[1];
    const int64_t filter = taps * p->in_channels[0];
    char *x = block + m->offset[CONV2D_X][0], *w = block + m->offset[CONV2D_W][0];
    rng r = {.seed = 1};
    image_fill(p, m, IMAGE_REAL, 1, block);
    for (int64_t j = 0; j < pixels; j++) dtype_store(x, p->dtype, j * p->in_pitch[0], 1000 + rng_normal(&r));
    for (int64_t j = 0; j < p->out_channels[0] * filter; j++)
        dtype_store(w, p->dtype, j, j % filter == taps / 2 * p->in_channels[0]);
}

/* All pixels are the same, and so is what the filters make of them where there is no padding: a number between those of
 * the format. */
static void fill_alike(const braid_problem *p, const image *m, char *block) {
    const int64_t count = p->batch * p->size[0] * p->size[1] * p->in_pitch[0];
    image_fill(p, m, IMAGE_REAL, 1, block);
    for (int64_t j = 0; j < count; j++)
        if (j % p->in_pitch[0] < p->in_channels[0]) dtype_store(block + m->offset[CONV2D_X][0], p->dtype, j, 2000);
}

/* Of channel `c` of y, as it was stored. */
static void find_statistics(const braid_problem *p, const char *y, int64_t c, double *mean, double *var) {
    const int64_t pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    *mean = *var = 0;
    for (int64_t j = 0; j < pixels; j++) *mean += dtype_load(y, p->dtype, j * p->out_pitch[0] + c) / (double)pixels;
    for (int64_t j = 0; j < pixels; j++) {
        double distance = dtype_load(y, p->dtype, j * p->out_pitch[0] + c) - *mean;
        *var += distance * distance / (double)pixels;
    }
}

static void compare(const braid_problem *p, const image *m, const char *block, char *failure, size_t size) {
    for (int64_t c = 0; c < p->out_channels[0]; c++) {
        double mean, var;
        find_statistics(p, block + m->offset[CONV2D_Y][0], c, &mean, &var);
        double center = dtype_load(block + m->offset[CONV2D_PREPARE_CENTER][0], BRAID_DTYPE_F32, c),
               rstd = dtype_load(block + m->offset[CONV2D_PREPARE_RSTD][0], BRAID_DTYPE_F32, c);
        double found = 1 / (rstd * rstd) - p->eps;
        if (!(fabs(center - mean) < 2e-7 * fabs(mean) && fabs(found - var) < 1e-5 * (var + p->eps)))
            snprintf(failure, size,
                     "with a large mean channel %lld has mean %.9g instead of %.9g, variance %.9g of %.9g",
                     (long long)c, center, mean, found, var);
    }
}

braid_status large_mean_loses(const kernel *k, device *d, const braid_problem *p, char *failure, size_t size) {
    image m;
    void *block = NULL;
    braid_status status = image_lay(p, &m);
    if (!status) status = memory_alloc(m.bytes, 1, "numbers", &block);
    if (!status) {
        if (p->padding[0] == 0) {
            fill_alike(p, &m, block);
        } else {
            fill(p, &m, block);
        }
        status = run_once(k, d, p, &m, block);
    }
    if (!status) compare(p, &m, block, failure, size);
    memory_free(block);
    return status;
}
