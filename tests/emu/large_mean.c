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

/* A plane of numbers [pixels][pitch] whose statistics a kernel takes, and where it writes them. */
typedef struct numbers {
    char *at;
    int64_t pixels, pitch, channels;
    int64_t blanked; /* so many at first, which do not count */
    const char *center, *rstd;
} numbers;

/* What the op is given, and what it makes of it. Behind it the weights: `taps` of every channel of the first. */
typedef struct planes {
    numbers in, out;
    char *w;
    int64_t filters, taps;
    int takes_both; /* 1: the op takes statistics of what it is given, too */
} planes;

static planes find_planes(const braid_problem *p, const image *m, char *block) {
    const int64_t pixels = p->batch * p->size[0] * p->size[1];
    planes all = {.in = {.pixels = pixels, .pitch = p->in_pitch[0], .channels = p->in_channels[0]}};
    if (p->op == BRAID_OP_CONV2D_BN_STATS) {
        all.in.blanked = p->mask ? p->size[0] * p->size[1] : 0;
        all.in.at = block + m->offset[CONV2D_X][0];
        all.w = block + m->offset[CONV2D_W][0];
        all.filters = p->out_channels[0];
        all.taps = p->filter[0] * p->filter[1];
        all.out = (numbers){.at = block + m->offset[CONV2D_Y][0],
                            .pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1),
                            .pitch = p->out_pitch[0],
                            .channels = p->out_channels[0],
                            .blanked = p->mask ? conv2d_out_size(p, 0) * conv2d_out_size(p, 1) : 0,
                            .center = block + m->offset[CONV2D_BN_STATS_CENTER][0],
                            .rstd = block + m->offset[CONV2D_BN_STATS_RSTD][0]};
        return all;
    }
    all.w = block + m->offset[INTEGRATE_V][0];
    all.filters = p->integrated_out;
    all.taps = 1;
    all.takes_both = 1;
    all.in.at = block + m->offset[INTEGRATE_R][0];
    all.in.center = block + m->offset[INTEGRATE_BN_STATS_CENTER][0];
    all.in.rstd = block + m->offset[INTEGRATE_BN_STATS_RSTD][0];
    all.out = (numbers){.at = block + m->offset[INTEGRATE_Y][0],
                        .pixels = pixels,
                        .pitch = p->integrated_out,
                        .channels = p->integrated_out,
                        .center = block + m->offset[INTEGRATE_BN_STATS_CENTER][1],
                        .rstd = block + m->offset[INTEGRATE_BN_STATS_RSTD][1]};
    return all;
}

/* The filters see the pixel below their middle, and of it the first channel. What is blanked lies far off. */
static void fill(const braid_problem *p, const planes *all) {
    const int64_t filter = all->taps * all->in.channels;
    rng r = {.seed = 1};
    for (int64_t j = 0; j < all->in.pixels; j++)
        dtype_store(all->in.at, p->dtype, j * all->in.pitch, j < all->in.blanked ? -60000 : 1000 + rng_normal(&r));
    for (int64_t j = 0; j < all->filters * filter; j++)
        dtype_store(all->w, p->dtype, j, j % filter == all->taps / 2 * all->in.channels);
}

/* All pixels are the same, and so is what the filters make of them where there is no padding: a number between those of
 * the format. */
static void fill_alike(const braid_problem *p, const planes *all) {
    for (int64_t j = 0; j < all->in.pixels * all->in.pitch; j++)
        if (j % all->in.pitch < all->in.channels) dtype_store(all->in.at, p->dtype, j, 2000);
}

/* Of channel `c`, as it was stored. */
static void find_statistics(const braid_problem *p, const numbers *of, int64_t c, double *mean, double *var) {
    const double count = (double)(of->pixels - of->blanked);
    *mean = *var = 0;
    for (int64_t j = of->blanked; j < of->pixels; j++) *mean += dtype_load(of->at, p->dtype, j * of->pitch + c) / count;
    for (int64_t j = of->blanked; j < of->pixels; j++) {
        double distance = dtype_load(of->at, p->dtype, j * of->pitch + c) - *mean;
        *var += distance * distance / count;
    }
}

static void compare(const braid_problem *p, const numbers *of, char *failure, size_t size) {
    for (int64_t c = 0; c < of->channels; c++) {
        double mean, var;
        find_statistics(p, of, c, &mean, &var);
        double center = dtype_load(of->center, BRAID_DTYPE_F32, c), rstd = dtype_load(of->rstd, BRAID_DTYPE_F32, c);
        double found = 1 / (rstd * rstd) - p->eps;
        if (!(fabs(center - mean) < 2e-7 * sqrt(mean * mean + var) && fabs(found - var) < 1e-5 * (var + p->eps)))
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
        const planes all = find_planes(p, &m, block);
        const uint32_t first = 1;
        image_fill(p, &m, IMAGE_REAL, 1, block);
        if (all.in.blanked) memcpy((char *)block + m.offset[CONV2D_MASK][0], &first, sizeof first);
        if (p->dtype == BRAID_DTYPE_BF16) {
            fill_alike(p, &all);
        } else {
            fill(p, &all);
        }
        status = run_once(k, d, p, &m, block);
        if (!status && all.takes_both) compare(p, &all.in, failure, size);
        if (!status) compare(p, &all.out, failure, size);
    }
    memory_free(block);
    return status;
}
