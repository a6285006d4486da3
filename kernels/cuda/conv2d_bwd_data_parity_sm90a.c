/*
 * conv2d data gradient on the matrix units of sm_90a, 3x3 at stride 2, by conv2d_bwd_data_parity_sm90a.cu, where dy is
 * loaded once for all classes of pixels. The launcher here is that of few channels to sum over.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "kernels/cuda/conv2d_halo_launch.h"
#include "kernels/cuda/conv2d_im2col_launch.h"

#define STEM "conv2d_bwd_data_parity_sm90a"
#define COLUMNS 72 /* pixels of dy in a row of a strip */
#define H200_PROCESSORS 132

static const char *refuses_options(const braid_problem *p) {
    for (int axis = 0; axis < 2; axis++) {
        if (p->filter[axis] != 3 || p->dilation[axis] != 1) return "only filters of 3x3 without dilation";
        if (p->stride[axis] != 2) return "only stride 2";
        if (p->padding[axis] != 1 || p->extra_padding[axis] != 0) return "only padding 1 on all sides";
    }
    if (p->add) return "adds to nothing";
    if (p->size[1] < 2) return "the image has one column";
    for (int i = 0; i < p->streams; i++) {
        if (p->out_channels[i] > HALO_PARITY_BLOCKS * HALO_BLOCK)
            return "a stream has more than 128 channels to sum over";
    }
    return NULL;
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = refuses_options(p);
    return reason ? reason : conv2d_im2col_refuses(p, d);
}

/* Everything but pointers and maps. Blocks share the rows of each group of 64 channels. */
static int fill(struct conv2d_halo_args *args, const braid_problem *p, int processors) {
    int64_t tiles[BRAID_MAX_PLANES] = {0}, groups = 0;
    memset(args, 0, sizeof *args);
    args->planes = p->streams;
    args->samples = (int32_t)p->batch;
    for (int axis = 0; axis < 2; axis++) args->size[axis] = (int32_t)conv2d_out_size(p, axis);
    args->strips = (int32_t)launch_tiles(args->size[1], COLUMNS);
    args->width = COLUMNS;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_halo_plane *plane = &args->plane[i];
        plane->channels = (int32_t)p->in_channels[i];
        plane->pitch = (int32_t)p->in_pitch[i];
        plane->blocks = (int32_t)launch_tiles(p->out_channels[i], HALO_BLOCK);
        plane->groups = (int32_t)launch_tiles(p->in_pitch[i], HALO_BLOCK);
        groups += plane->groups;
    }
    int64_t units = p->batch * args->strips * args->size[0], shares = processors / groups;
    if (shares < 1) shares = 1;
    args->strip_tiles = (int32_t)(shares < units ? shares : units);
    for (int i = 0; i < p->streams; i++) tiles[i] = (int64_t)args->plane[i].groups * args->strip_tiles;
    return launch_schedule(args->first_tile, tiles, p->streams);
}

/* What a multiprocessor of an H200 was seen to do: rows of dy, each of which it multiplies and stores. */
static double cost_once(const braid_problem *p) {
    const double flops_per_s = 5.6e12, store_s = 0.75e-6, launch_s = 5e-6;
    struct conv2d_halo_args args;
    double row_s = 0, blocks;
    if (!fill(&args, p, H200_PROCESSORS)) return 1;
    blocks = args.first_tile[BRAID_MAX_PLANES];
    for (int i = 0; i < p->streams; i++)
        row_s = fmax(row_s, 2.0 * COLUMNS * HALO_BLOCK * HALO_BLOCK * HALO_TAPS * args.plane[i].blocks / flops_per_s);
    double rows =
        (double)launch_tiles(p->batch * args.strips * args.size[0], args.strip_tiles > 0 ? args.strip_tiles : 1);
    return launch_s + (double)launch_tiles((int64_t)blocks, H200_PROCESSORS) * rows * (row_s + store_s);
}

static double cost(const braid_problem *p) {
    double seconds = 0;
    for (int j = 0; j < launch_parts(p, HALO_MOST_STREAMS); j++) {
        launch_part part;
        launch_take_part(&part, p, NULL, HALO_MOST_STREAMS, j);
        seconds += cost_once(&part.problem);
    }
    return seconds;
}

/* The pixels of dx in every other column, from `first` on. */
static braid_status make_columns_map(cuda_tensor_map *to, device *d, const braid_problem *p, void *dx, int i,
                                     int64_t first) {
    int64_t pixel = p->in_pitch[i] * 2, row = pixel * p->size[1];
    const cuda_tensor columns = {.memory = (char *)dx + first * pixel,
                                 .dtype = p->dtype,
                                 .rank = 4,
                                 .size = {p->in_pitch[i], (p->size[1] - first + 1) / 2, p->size[0], p->batch},
                                 .pitch = {2 * pixel, row, row * p->size[0]},
                                 .box = {HALO_BLOCK, COLUMNS, 1, 1},
                                 .swizzle = 128};
    return cuda_tensor_map_make(to, d, &columns);
}

static braid_status make_maps(struct conv2d_halo_plane *plane, device *d, const braid_problem *p, const buffers *b,
                              int i, const struct conv2d_halo_args *args) {
    int64_t pixel = p->out_pitch[i] * 2, row = pixel * args->size[1];
    const cuda_tensor dy = {.memory = b->plane[CONV2D_Y][i],
                            .dtype = p->dtype,
                            .rank = 4,
                            .size = {p->out_channels[i], args->size[1], args->size[0], p->batch},
                            .pitch = {pixel, row, row * args->size[0]},
                            .box = {HALO_BLOCK, COLUMNS + 1, 1, 1},
                            .swizzle = 128};
    TRY(cuda_tensor_map_make(&plane->input, d, &dy));
    TRY(conv2d_halo_map_weights(&plane->weight, d, p, b, i));
    TRY(make_columns_map(&plane->row, d, p, b->plane[CONV2D_X][i], i, 0));
    return make_columns_map(&plane->added, d, p, b->plane[CONV2D_X][i], i, 1);
}

static braid_status launch_once(const braid_problem *p, device *d, const buffers *b) {
    static const launch_names names = {NULL, "conv2d_bwd_data_parity_rows72_f16", "conv2d_bwd_data_parity_rows72_bf16"};
    struct conv2d_halo_args args;
    if (!fill(&args, p, cuda_processors(d))) return fail(BRAID_ERROR_ARGUMENT, "conv2d: %s", launch_too_large);
    for (int i = 0; i < p->streams; i++) {
        args.plane[i].mask = b->plane[CONV2D_MASK][i];
        TRY(make_maps(&args.plane[i], d, p, b, i, &args));
    }
    return cuda_launch(d, &(cuda_call){.stem = STEM,
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = args.first_tile[BRAID_MAX_PLANES],
                                       .threads = HALO_THREADS,
                                       .shared_bytes = HALO_PARITY_BYTES(COLUMNS),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    int parts = p->batch > 0 ? launch_parts(p, HALO_MOST_STREAMS) : 0;
    (void)state;
    for (int j = 0; j < parts; j++) {
        launch_part part;
        launch_take_part(&part, p, b, HALO_MOST_STREAMS, j);
        TRY(launch_once(&part.problem, d, &part.memory));
    }
    return BRAID_OK;
}

const kernel_functions conv2d_bwd_data__cuda_parity_rows72 = {.supports = supports, .cost = cost, .launch = launch};

static const halo_kernel of_128 = {
    {64, 128, 1, 1}, STEM, {NULL, "conv2d_bwd_data_parity_128_f16", "conv2d_bwd_data_parity_128_bf16"}};
HALO_FUNCTIONS(of_128)
const kernel_functions conv2d_bwd_data__cuda_parity_128 = HALO_KERNEL(of_128);

static const halo_kernel of_160 = {
    {64, 160, 1, 1}, STEM, {NULL, "conv2d_bwd_data_parity_160_f16", "conv2d_bwd_data_parity_160_bf16"}};
HALO_FUNCTIONS(of_160)
const kernel_functions conv2d_bwd_data__cuda_parity_160 = HALO_KERNEL(of_160);
