/*
 * conv2d data gradient on the matrix units of sm_90a, 3x3 at stride 2 and up to 128 channels of dy: rows of dy, each of
 * which is loaded once for all classes of pixels of dx, with all weights resident (resident_parity.cuh).
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"

/* ---- What is asked of it --------------------------------------------------------------------------- */

/* All of the argument but pointers and maps. Blocks share the rows of each group of 64 channels. */
static int fill(struct resident_parity_args *args, const braid_problem *p, int processors) {
    const int64_t size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    resident_fill_strips(&args->head, p, size, RESIDENT_PARITY_ROW_PIXELS, RESIDENT_PARITY_ROW_PIXELS + 1);
    resident_fill_planes(args->plane, p, RESIDENT_BLOCK);
    return resident_share_rows(&args->head, args->plane, p, processors);
}

static int fits(const braid_problem *p, const void *tile) {
    struct resident_parity_args args;
    (void)tile;
    return fill(&args, p, LAUNCH_PROCESSORS);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = resident_refuses(p, d, 2);
    if (!reason && p->add) reason = "adds to nothing";
    if (!reason && p->size[1] < 2) reason = "the image has one column";
    for (int i = 0; i < p->streams && !reason; i++) {
        if (p->out_channels[i] > RESIDENT_PARITY_BLOCKS * RESIDENT_BLOCK)
            reason = "a stream has more than 128 channels to sum over";
    }
    return reason ? reason : resident_refuses_parts(p, NULL, fits);
}

/* What a multiprocessor of an H200 was seen to do: rows of dy, each of which it multiplies and stores. */
static double seconds(const braid_problem *p, const void *tile) {
    const double store_s = 0.75e-6;
    struct resident_parity_args args;
    double row_s = 0;
    (void)tile;
    if (!fill(&args, p, LAUNCH_PROCESSORS)) return 1;
    const struct resident_head *head = &args.head;
    for (int i = 0; i < p->streams; i++)
        row_s = fmax(row_s, 2.0 * RESIDENT_PARITY_ROW_PIXELS * RESIDENT_BLOCK * RESIDENT_BLOCK * RESIDENT_TAPS *
                                args.plane[i].blocks / RESIDENT_FLOPS_PER_S);
    const int64_t rows =
        launch_tiles(p->batch * head->strips * head->size[0], head->strip_tiles > 0 ? head->strip_tiles : 1);
    const double turns = (double)launch_tiles(head->first_tile[BRAID_MAX_PLANES], LAUNCH_PROCESSORS);
    return RESIDENT_LAUNCH_S + turns * (double)rows * (row_s + store_s);
}

static double cost(const braid_problem *p, const machine *on) { return (void)on, resident_cost(p, NULL, seconds); }

/* ---- State and launch ------------------------------------------------------------------------------ */

/* One launch: a part of the streams. */
typedef struct state {
    struct resident_parity_args args;
    resident_memory memory[RESIDENT_MOST_STREAMS];
} state;

static void ready(void *made, const braid_problem *p, device *d, const void *tile) {
    (void)tile;
    (void)fill(&((state *)made)->args, p, cuda_processors(d)); /* supports has asked */
}

static braid_status create(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) {
    *workspace_bytes = 0;
    return resident_create(p, d, NULL, sizeof(state), made, ready);
}

/* The pixels of dx in every other column, from `first` on. */
static braid_status map_columns(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p, void *dx,
                                int i, int64_t first) {
    int64_t pixel = p->in_pitch[i] * 2, row = pixel * p->size[1];
    const cuda_tensor columns = {.memory = (char *)dx + first * pixel,
                                 .dtype = p->dtype,
                                 .rank = 4,
                                 .size = {p->in_pitch[i], (p->size[1] - first + 1) / 2, p->size[0], p->batch},
                                 .pitch = {2 * pixel, row, row * p->size[0]},
                                 .box = {RESIDENT_BLOCK, RESIDENT_PARITY_ROW_PIXELS, 1, 1},
                                 .swizzle = 128};
    return launch_map(map, memory, d, &columns);
}

static braid_status launch_once(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    const int64_t size[2] = {conv2d_out_size(p, 0), conv2d_out_size(p, 1)};
    for (int i = 0; i < p->streams; i++) {
        struct resident_parity_maps *map = &s->args.map[i];
        resident_memory *memory = &s->memory[i];
        resident_bind(&s->args.plane[i], p, b, i);
        TRY(resident_map_input(&map->input, &memory->input, d, p, b, i, size, RESIDENT_PARITY_ROW_PIXELS + 1, 1));
        TRY(resident_map_weight(&map->weight, &memory->weight, d, p, b, i));
        TRY(map_columns(&map->columns[0], &memory->output, d, p, b->plane[CONV2D_X][i], i, 0));
        TRY(map_columns(&map->columns[1], &memory->added, d, p, b->plane[CONV2D_X][i], i, 1));
    }
    return resident_launch_rows(d, "conv2d_bwd_data_parity_sm90a",
                                launch_function("conv2d_bwd_data_parity_rows72", p->dtype), &s->args.head,
                                sizeof s->args, (size_t)RESIDENT_PARITY_BYTES);
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    return resident_launch(p, d, made, sizeof(state), b, launch_once);
}

const kernel_functions conv2d_bwd_data__cuda_parity_rows72 = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = resident_destroy};
