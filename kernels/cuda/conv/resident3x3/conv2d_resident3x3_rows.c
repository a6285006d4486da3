/*
 * 3x3 convolutions at stride 1 on the matrix units of sm_90a, row by row with all weights resident (resident_rows.cuh):
 * conv2d forward and data gradient, conv2d_scale_bias_act and bn_act_conv2d, whose warps beside normalise and activate
 * each row in shared memory before it is multiplied (resident_norm.cuh). Here is also what the kernels share that leave
 * sums: conv2d_bn_stats and conv2d_dgrad_bn_reduce.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"
#include "kernels/cuda/tile/row_parts.h"

/* ---- What is asked of a kernel --------------------------------------------------------------------- */

int resident_fill_rows(struct resident_head *head, struct resident_plane *planes, const braid_problem *p,
                       int processors) {
    if (!resident_divides(p->size, RESIDENT_ROW_PIXELS + 2)) return 0;
    resident_fill_strips(head, p, p->size, RESIDENT_ROW_PIXELS, RESIDENT_ROW_PIXELS + 2);
    resident_fill_planes(planes, p, RESIDENT_BLOCK);
    return resident_share_rows(head, planes, p, processors);
}

/* Of bn_act_conv2d: a thread has eight channels of 64, and clears those between the channels and the pitch. */
static const char *refuses_norm(const braid_problem *p) {
    if (p->activation != BRAID_ACTIVATION_RELU) return "only ReLU";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_pitch[i] > RESIDENT_BLOCK) return "a stream has a pitch of more than 64";
    }
    return NULL;
}

static int fits(const braid_problem *p, const void *tile) {
    struct resident_rows_args args;
    (void)tile;
    return resident_fill_rows(&args.head, args.plane, p, LAUNCH_PROCESSORS);
}

const char *resident_rows_refuses(const braid_problem *p, const device *d) {
    const char *reason = resident_refuses(p, d, 1);
    if (!reason && p->op == BRAID_OP_BN_ACT_CONV2D) reason = refuses_norm(p);
    for (int i = 0; i < p->streams && !reason; i++) {
        if (resident_inputs(p, i) > RESIDENT_BLOCK) reason = "a stream has more than 64 channels to sum over";
    }
    return reason ? reason : resident_refuses_parts(p, NULL, fits);
}

/* Rows of 64 output channels, shared by the blocks. */
double resident_rows_seconds(const braid_problem *p) {
    const double block_s = 2e-6;
    struct resident_rows_args args;
    if (!resident_fill_rows(&args.head, args.plane, p, LAUNCH_PROCESSORS)) return 1;
    const int64_t blocks = args.head.first_tile[BRAID_MAX_PLANES];
    if (blocks == 0) return RESIDENT_LAUNCH_S;
    const double units = (double)p->batch * args.head.strips * (double)p->size[0];
    const double flops = 2.0 * RESIDENT_BLOCK * RESIDENT_ROW_PIXELS * RESIDENT_TAPS * RESIDENT_BLOCK;
    const double turns = (double)launch_tiles(blocks, LAUNCH_PROCESSORS);
    return RESIDENT_LAUNCH_S + turns * (block_s + units / args.head.strip_tiles * flops / RESIDENT_FLOPS_PER_S);
}

static double seconds(const braid_problem *p, const void *tile) {
    (void)tile;
    return resident_rows_seconds(p);
}

static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double share = p->op == BRAID_OP_BN_ACT_CONV2D ? 1.08 : 1; /* of what is done to a row not all hides */
    return share * resident_cost(p, NULL, seconds);
}

/* ---- Pointers and maps ----------------------------------------------------------------------------- */

/* A row of a strip: of outputs with the lanes between channels and pitch, of what is added without. */
static braid_status map_row(cuda_tensor_map *map, const void **made_for, device *d, const braid_problem *p,
                            const void *memory, int64_t lanes, int64_t pitch) {
    int64_t pixel = pitch * 2;
    const cuda_tensor row = {.memory = memory,
                             .dtype = p->dtype,
                             .rank = 4,
                             .size = {lanes, p->size[1], p->size[0], p->batch},
                             .pitch = {pixel, pixel * p->size[1], pixel * p->size[1] * p->size[0]},
                             .box = {RESIDENT_BLOCK, RESIDENT_ROW_PIXELS, 1, 1},
                             .swizzle = 128};
    return launch_map(map, made_for, d, &row);
}

braid_status resident_map_row(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                              const void *from, int i) {
    return map_row(map, memory, d, p, from, resident_outputs(p, i), resident_output_pitch(p, i));
}

braid_status resident_bind_rows(struct resident_plane *plane, struct resident_row_maps *map, resident_memory *memory,
                                device *d, const braid_problem *p, const buffers *b, int i, const void *read) {
    resident_bind(plane, p, b, i);
    TRY(resident_map_input(&map->input, &memory->input, d, p, b, i, p->size, RESIDENT_ROW_PIXELS + 2, 1));
    TRY(resident_map_weight(&map->weight, &memory->weight, d, p, b, i));
    if (!read) read = plane->epilogue.added;
    if (read) TRY(resident_map_row(&map->added, &memory->added, d, p, read, i));
    return map_row(&map->output, &memory->output, d, p, plane->output, plane->pitch, plane->pitch);
}

int32_t resident_parts_of(const struct resident_head *head) { return 2 * head->strip_tiles; }

/* Groups of channels of all streams, in their order, have the parts of their blocks. Behind them is a counter for those
 * that add the parts up. */
braid_status resident_bind_parts(struct resident_parts *parts, const struct resident_head *head,
                                 const struct resident_plane *planes, device *d, void *workspace, size_t bytes) {
    const int64_t groups = head->first_tile[BRAID_MAX_PLANES] / head->strip_tiles;
    parts->counters = cuda_counters(d, groups * ROW_PARTS_COUNTERS(resident_parts_of(head)) + 1);
    if (!parts->counters) return fail(BRAID_ERROR_ARGUMENT, "conv2d: %s", launch_too_large);
    parts->pitch = 0;
    for (int i = 0; i < head->planes; i++) {
        parts->of[i] = (char *)workspace + (size_t)parts->pitch * bytes;
        parts->pitch += planes[i].channels;
    }
    return BRAID_OK;
}

/* ---- conv2d ---------------------------------------------------------------------------------------- */

/* One launch: a part of the streams. bn_act_conv2d has more of it. */
typedef struct state {
    union {
        struct resident_rows_args rows;
        struct resident_norm_args norm;
    };
    resident_memory memory[RESIDENT_MOST_STREAMS];
} state;

static void ready(void *made, const braid_problem *p, device *d, const void *tile) {
    state *s = made;
    (void)tile;
    (void)resident_fill_rows(&s->rows.head, s->rows.plane, p, cuda_processors(d)); /* supports has asked */
}

static braid_status create(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) {
    *workspace_bytes = 0;
    return resident_create(p, d, NULL, sizeof(state), made, ready);
}

static braid_status launch_conv(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    const int is_forward = p->pass == BRAID_PASS_FWD;
    for (int i = 0; i < p->streams; i++)
        TRY(resident_bind_rows(&s->rows.plane[i], &s->rows.map[i], &s->memory[i], d, p, b, i, NULL));
    return resident_launch_rows(
        d, is_forward ? "conv2d_fwd_resident3x3_sm90a" : "conv2d_bwd_data_resident3x3_sm90a",
        launch_function(is_forward ? "conv2d_fwd_resident3x3_rows136" : "conv2d_bwd_data_resident3x3_rows136",
                        p->dtype),
        &s->rows.head, sizeof s->rows, (size_t)RESIDENT_ROWS_BYTES);
}

static braid_status launch_norm(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    for (int i = 0; i < p->streams; i++) {
        TRY(resident_bind_rows(&s->norm.plane[i], &s->norm.map[i], &s->memory[i], d, p, b, i, NULL));
        s->norm.norm[i] = (struct resident_norm){.scale = b->plane[BN_ACT_CONV2D_SCALE][i],
                                                 .shift = b->plane[BN_ACT_CONV2D_SHIFT][i],
                                                 .activated = b->plane[BN_ACT_CONV2D_A][i],
                                                 .channels = (int32_t)p->in_channels[i],
                                                 .pitch = (int32_t)p->in_pitch[i]};
    }
    return resident_launch_rows(d, "conv2d_fwd_resident3x3_sm90a",
                                launch_function("bn_act_conv2d_resident3x3_rows136", p->dtype), &s->norm.head,
                                sizeof s->norm, (size_t)RESIDENT_ROWS_BYTES);
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    return resident_launch(p, d, made, sizeof(state), b, p->op == BRAID_OP_BN_ACT_CONV2D ? launch_norm : launch_conv);
}

#define ROWS_KERNEL \
    { .supports = resident_rows_refuses, .cost = cost, .create = create, .launch = launch, .destroy = resident_destroy }

const kernel_functions conv2d_fwd__cuda_resident3x3_rows136 = ROWS_KERNEL;
const kernel_functions conv2d_bwd_data__cuda_resident3x3_rows136 = ROWS_KERNEL;
const kernel_functions conv2d_scale_bias_act__cuda_resident3x3_rows136 = ROWS_KERNEL;
const kernel_functions bn_act_conv2d__cuda_resident3x3_rows136 = ROWS_KERNEL;
