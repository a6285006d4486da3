/*
 * The launch of weight_sum.cu. How the parts of a call are cut into slices depends on the call alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

#define SLICE_LEAST 8         /* parts that are worth a slice of their own, ... */
#define SLICES 16             /* ... most slices, ... */
#define THREADS_ENOUGH 262144 /* ... and threads that need no more company */

/* Four elements at a time: no bias stands between them, and they begin where an access of four may. */
static int goes_by_four(const struct weight_sum_plane *plane) {
    const struct weight_sum_rows *rows = &plane->as.rows;
    return !rows->bias && (rows->step | rows->elements) % 4 == 0 &&
           ((uintptr_t)plane->w | (uintptr_t)plane->from) % 16 == 0;
}

void weight_sum_cut_rows(struct weight_sum_plane *planes, int count) {
    int64_t elements = 0;
    for (int i = 0; i < count; i++) elements += planes[i].as.rows.elements;
    for (int i = 0; i < count; i++) {
        struct weight_sum_rows *rows = &planes[i].as.rows;
        int32_t slices = 1;
        while (slices < SLICES && rows->parts >= 2 * slices * SLICE_LEAST && elements * slices < THREADS_ENOUGH)
            slices *= 2;
        rows->width = goes_by_four(&planes[i]) ? 4 : 1;
        planes[i].slices = slices;
        int64_t blocks = launch_tiles(rows->elements, BLOCK_THREADS / slices * rows->width);
        planes[i].blocks = (int32_t)(blocks < CUDA_MAX_BLOCKS ? blocks : CUDA_MAX_BLOCKS);
    }
}

/* Fills the table; false where there are too many blocks for one launch. */
static int take_planes(struct weight_sum_args *args, const struct weight_sum_plane *planes, int count) {
    for (int i = 0; i < count; i++) {
        if (planes[i].blocks >= CUDA_MAX_BLOCKS - args->first_block[i]) return 0;
        args->plane[i] = planes[i];
        args->first_block[i + 1] = args->first_block[i] + planes[i].blocks;
    }
    args->planes = count;
    return 1;
}

braid_status weight_sum_launch(const struct weight_sum_plane *planes, int count, device *d) {
    struct weight_sum_args args;
    memset(&args, 0, sizeof args);
    if (count > WEIGHT_SUM_PLANES || !take_planes(&args, planes, count))
        return fail(BRAID_ERROR_ARGUMENT, "weight_sum: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "weight_sum",
                                       .function = "weight_sum",
                                       .blocks = args.first_block[count],
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

static braid_status add(device *d, const kernel_call *calls, int count) {
    struct weight_sum_plane planes[WEIGHT_SUM_PLANES + BRAID_MAX_PLANES];
    int filled = 0;
    for (int j = 0; j < count && filled <= WEIGHT_SUM_PLANES; j++) {
        const kernel_call *c = &calls[j];
        filled += c->functions->sums(c->problem, c->state, c->buffers, planes + filled);
    }
    return filled ? weight_sum_launch(planes, filled, d) : BRAID_OK;
}

const kernel_adder weight_sum_adder = {.name = "weight_sum", .most = WEIGHT_SUM_PLANES, .add = add};

static int64_t columns(const braid_problem *p, int i) {
    return p->filter[0] * p->filter[1] * (p->in_channels[i] / p->groups) + p->bias;
}

const char *weight_sum_refuses(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        double elements = (double)p->out_channels[i] * (double)columns(p, i);
        if (elements / BLOCK_THREADS * p->streams * SLICES >= CUDA_MAX_BLOCKS / 2.0) return launch_too_large;
    }
    return NULL;
}

static int64_t part_elements(const braid_problem *p) {
    int64_t elements = 0;
    for (int i = 0; i < p->streams; i++) elements += p->out_channels[i] * columns(p, i);
    return elements;
}

braid_status weight_sum_bytes(const braid_problem *p, int64_t parts, size_t *bytes) {
    size_t elements = 0;
    TRY(size_array((size_t)part_elements(p), (size_t)parts, "partial weight gradients", &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", bytes);
}

int weight_sum_conv2d_planes(const braid_problem *p, int32_t parts, const buffers *b, struct weight_sum_plane *planes) {
    const float *from = b->workspace;
    const int64_t step = part_elements(p);
    for (int i = 0; i < p->streams; i++) {
        struct weight_sum_rows rows = {.bias = b->plane[CONV2D_BIAS][i],
                                       .step = step,
                                       .elements = p->out_channels[i] * columns(p, i),
                                       .columns = columns(p, i),
                                       .parts = parts};
        planes[i] = (struct weight_sum_plane){
            .from = from, .w = b->plane[CONV2D_W][i], .dtype = (int32_t)p->dtype, .as.rows = rows};
        from += rows.elements;
    }
    weight_sum_cut_rows(planes, p->streams);
    return p->streams;
}

braid_status weight_sum_conv2d(const braid_problem *p, int32_t parts, device *d, const buffers *b) {
    struct weight_sum_plane planes[BRAID_MAX_PLANES];
    return weight_sum_launch(planes, weight_sum_conv2d_planes(p, parts, b, planes), d);
}

_Static_assert(WEIGHT_SUM_PLANES >= BRAID_MAX_PLANES, "there is a plane for every one of a call");
