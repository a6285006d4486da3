/*
 * From a convolution problem to the argument of its kernel. How the work is cut depends on the
 * problem alone, so the same problem gives the same bits on every GPU of one kind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/conv/conv2d_epilogue.h"
#include "kernels/cuda/conv/conv2d_launch.h"
#include "kernels/cuda/tile/shape.h"

#define WEIGHT_BLOCKS 512 /* blocks of a weight gradient that are worth a further cut of the pixels */

/* Places beyond the edge that can read one pixel, and its own: see padding_place. */
static int64_t padding_slots(const braid_problem *p, int axis) {
    switch (p->padding_mode) {
        case BRAID_PADDING_REFLECT:
        case BRAID_PADDING_CIRCULAR: return 3;
        case BRAID_PADDING_REPLICATE: return 1 + 2 * p->padding[axis] + p->extra_padding[axis];
        default: return 1;
    }
}

/* The blocks of one plane, all groups; for bwd_weight of one part. */
static int64_t plane_blocks(const braid_problem *p, int i) {
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
    int64_t in_pixels = p->batch * p->size[0] * p->size[1];
    int64_t out_pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    int64_t in_lanes = channels + p->in_pitch[i] - p->in_channels[i],
            out_lanes = filters + p->out_pitch[i] - p->out_channels[i];
    switch (p->pass) {
        case BRAID_PASS_FWD: return p->groups * launch_tiles(out_pixels, TILE_M) * launch_tiles(out_lanes, TILE_N);
        case BRAID_PASS_BWD_DATA: return p->groups * launch_tiles(in_pixels, TILE_M) * launch_tiles(in_lanes, TILE_N);
        default:
            return p->groups * launch_tiles(filters, TILE_M) *
                   launch_tiles(p->filter[0] * p->filter[1] * channels + p->bias, TILE_N);
    }
}

/* False where the blocks are too many for one launch. */
static int fill_schedule(struct conv2d_args *args, const braid_problem *p) {
    int64_t blocks[BRAID_MAX_PLANES] = {0}, total = 0;
    int64_t pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    for (int i = 0; i < p->streams; i++) {
        blocks[i] = plane_blocks(p, i);
        total += blocks[i] < CUDA_MAX_BLOCKS ? blocks[i] : CUDA_MAX_BLOCKS;
    }
    int64_t parts = 1;
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        int64_t most = launch_tiles(pixels, 4 * TILE_K);
        if (total > 0) parts = WEIGHT_BLOCKS / total;
        if (parts > most) parts = most;
        if (parts < 1) parts = 1;
        for (int i = 0; i < p->streams; i++) blocks[i] *= parts;
    }
    args->parts = (int32_t)parts;
    args->part_pixels = launch_tiles(launch_tiles(pixels, parts), TILE_K) * TILE_K;
    return launch_schedule(args->first_block, blocks, p->streams);
}

static const char *refuses_length(const braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        int64_t padded = p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis];
        if (padded >= LAUNCH_MAX_LENGTH || p->stride[axis] >= LAUNCH_MAX_LENGTH)
            return "the padded image has 2^30 rows or columns or more";
    }
    double places = 1;
    for (int axis = 0; axis < 2; axis++) {
        places *= (double)p->filter[axis];
        if (p->pass == BRAID_PASS_BWD_DATA) places *= (double)padding_slots(p, axis);
    }
    for (int i = 0; i < p->streams; i++) {
        int64_t widest = p->in_channels[i] > p->out_channels[i] ? p->in_channels[i] : p->out_channels[i];
        if (places * (double)(widest / p->groups) >= (double)LAUNCH_MAX_LENGTH)
            return "one output is a sum of 2^30 terms or more";
    }
    return NULL;
}

const char *conv2d_refuses(const braid_problem *p, const device *d) {
    struct conv2d_args args;
    (void)d;
    const char *reason = conv2d_epilogue_refuses(p);
    if (!reason) reason = launch_refuses_channels(p);
    if (!reason) reason = refuses_length(p);
    if (!reason && !fill_schedule(&args, p)) reason = launch_too_large;
    return reason;
}

static void fill_planes(struct conv2d_args *args, const braid_problem *p, const buffers *b) {
    int64_t partial = 0;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_plane *plane = &args->plane[i];
        plane->in_channels = (int32_t)p->in_channels[i];
        plane->out_channels = (int32_t)p->out_channels[i];
        plane->in_pitch = p->in_pitch[i];
        plane->out_pitch = p->out_pitch[i];
        plane->partial = partial;
        partial += p->out_channels[i] * (p->filter[0] * p->filter[1] * (p->in_channels[i] / p->groups) + p->bias);
        if (!b) continue;
        plane->x = b->plane[CONV2D_X][i];
        plane->w = b->plane[CONV2D_W][i];
        if (p->pass != BRAID_PASS_BWD_WEIGHT) plane->epilogue = conv2d_epilogue(p, b, i);
        plane->y = b->plane[CONV2D_Y][i];
        plane->mask = b->plane[CONV2D_MASK][i];
    }
    args->part_elements = partial;
}

void conv2d_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b) {
    memset(args, 0, sizeof *args);
    args->planes = p->streams;
    args->groups = (int32_t)p->groups;
    args->mode = (int32_t)p->padding_mode;
    args->batch = p->batch;
    args->bias = p->bias;
    for (int axis = 0; axis < 2; axis++) {
        args->size[axis] = (int32_t)p->size[axis];
        args->out_size[axis] = (int32_t)conv2d_out_size(p, axis);
        args->filter[axis] = (int32_t)p->filter[axis];
        args->stride[axis] = (int32_t)p->stride[axis];
        args->padding[axis] = (int32_t)p->padding[axis];
        args->after[axis] = (int32_t)(p->padding[axis] + p->extra_padding[axis]);
        args->dilation[axis] = (int32_t)p->dilation[axis];
        args->slots[axis] = (int32_t)padding_slots(p, axis);
    }
    fill_planes(args, p, b);
    (void)fill_schedule(args, p);
    if (b) args->workspace = b->workspace;
}

braid_status conv2d_launch(const struct conv2d_args *args, device *d, braid_dtype dtype, const char *stem,
                           const launch_names *names) {
    return cuda_launch(d, &(cuda_call){.stem = stem,
                                       .function = launch_name(names, dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = BLOCK_THREADS,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}
