/*
 * Weight gradients by tiles: from a problem and the shape of a unit to the argument of the kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/conv/wgrad/weight_tiles_launch.h"

#define SHARED_BYTES 232448 /* that a block of sm_90 may use */
#define BARRIER_BYTES 16    /* of a stage */
#define BESIDE_CTAS 96      /* the same where they leave room: passes over memory need the rest, or less */
#define MOST_COUNTERS (LAUNCH_PROCESSORS * WEIGHT_MAX_GROUPS)
#define FEWEST_STEPS 24         /* of a CTA: less work is not worth a partial tile */
#define SLICED_PARTS 8          /* from so many partial tiles on, four threads share a sum */
#define COPY_BYTES_PER_CYCLE 36 /* of the copy engine, measured */
#define UNIT_CYCLES 100         /* what a unit costs beside its steps */

const char *weight_tiles_refuses(const braid_problem *p, const device *d) {
    if (p->groups != 1) return "groups are left to other kernels";
    if (p->bias) return "the gradient of a bias is left to other kernels";
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "the copy engine pads with zeros only";
    if (p->batch < 1) return "there are no samples";
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 1 || p->out_channels[i] < 1) return "a stream has no channels";
        if (p->in_pitch[i] % 8 || p->out_pitch[i] % 8)
            return "the copy engine needs pixels at multiples of 16 bytes: pitches that are multiples of 8";
    }
    const char *reason = launch_refuses_channels(p);
    for (int axis = 0; axis < 2 && !reason; axis++) {
        if (p->size[axis] + 2 * p->padding[axis] + p->extra_padding[axis] >= LAUNCH_MAX_LENGTH ||
            p->stride[axis] >= LAUNCH_MAX_LENGTH || p->batch >= LAUNCH_MAX_LENGTH)
            reason = "the padded image has 2^30 rows or columns or more";
    }
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

static int64_t stage_bytes(const weight_piece *piece) {
    return piece->dy_boxes * piece->dy_bytes + piece->x_boxes * piece->x_bytes;
}

int weight_tiles_stages(const weight_piece *piece) {
    int64_t stages = (SHARED_BYTES - WEIGHT_MEETING_BYTES) / (stage_bytes(piece) + BARRIER_BYTES);
    return (int)(stages < WEIGHT_MAX_STAGES ? stages : WEIGHT_MAX_STAGES);
}

static int32_t steps_of(const weight_piece *piece, int64_t rows) {
    return (int32_t)launch_tiles(rows * piece->pitch, WEIGHT_STEP);
}

static int64_t last_rows(const weight_piece *piece, const braid_problem *p) {
    int64_t height = conv2d_out_size(p, 0);
    return height - (launch_tiles(height, piece->rows) - 1) * piece->rows;
}

double weight_tiles_cycles(const weight_piece *piece, const braid_problem *p, double step_cycles) {
    double rows = (double)launch_tiles(conv2d_out_size(p, 0), piece->rows);
    double columns = (double)launch_tiles(conv2d_out_size(p, 1), piece->columns);
    double box_pixels = (double)piece->dy_boxes * piece->dy_box[0] * piece->dy_box[1] +
                        (double)piece->x_boxes * piece->x_box[0] * piece->x_box[1];
    double copies = columns * rows * box_pixels * WEIGHT_PIXEL_BYTES / COPY_BYTES_PER_CYCLE;
    double steps = columns * ((rows - 1) * steps_of(piece, piece->rows) + steps_of(piece, last_rows(piece, p)));
    double cycles = steps * step_cycles > copies ? steps * step_cycles : copies;
    double stalls =
        weight_tiles_stages(piece) < 3 ? 0.3 : 0; /* copies that wait for the matrix units, and they for them */
    return (1 + stalls) * cycles + UNIT_CYCLES * rows * columns;
}

/* The tiles of all planes; 0 where they are too many to count. */
static int64_t fill_tiles(struct weight_tiles_args *args, const braid_problem *p) {
    int64_t tiles = 0;
    for (int i = 0; i < p->streams; i++) {
        int64_t blocks = p->filter[0] * p->filter[1] * launch_tiles(p->in_channels[i], WEIGHT_BLOCK);
        int64_t columns = launch_tiles(blocks, args->tile_blocks);
        if ((double)columns * (double)p->out_channels[i] >= (double)LAUNCH_MAX_LENGTH) return 0;
        args->plane[i].channels = (int32_t)p->in_channels[i];
        args->plane[i].filters = (int32_t)p->out_channels[i];
        args->plane[i].first_tile = (int32_t)tiles;
        args->plane[i].column_tiles = (int32_t)columns;
        tiles += launch_tiles(p->out_channels[i], args->tile_rows) * columns;
        if (tiles >= LAUNCH_MAX_LENGTH) return 0;
    }
    return tiles;
}

/* Equal runs of units, each with work for a while, for up to `limit` CTAs. Of all numbers of CTAs with the same longest
 * run the smallest, since each costs a partial tile. */
static void share_units(struct weight_tiles_args *args, int64_t limit) {
    int64_t most = args->units * args->steps / FEWEST_STEPS;
    if (most > limit) most = limit;
    args->ctas = (int32_t)launch_tiles(args->units, launch_tiles(args->units, most > 0 ? most : 1));
    args->has_tree = args->ctas <= 2 * args->tiles; /* no tile has more than three parts */
}

int weight_tiles_plan(weight_plan *plan, const braid_problem *p) {
    struct weight_tiles_args *args = &plan->args;
    const weight_piece *piece = &plan->piece;
    int64_t rows = launch_tiles(conv2d_out_size(p, 0), piece->rows);
    int64_t columns = launch_tiles(conv2d_out_size(p, 1), piece->columns);
    int64_t tiles = fill_tiles(args, p);
    double units = (double)p->batch * (double)rows * (double)columns * (double)tiles;
    if (tiles == 0 || units >= (double)LAUNCH_MAX_LENGTH) return 0;
    args->planes = p->streams;
    args->tiles = (int32_t)tiles;
    args->units = p->batch * rows * columns * tiles;
    args->batch = (int32_t)p->batch;
    args->piece_rows = (int32_t)rows;
    args->piece_columns = (int32_t)columns;
    args->rows = piece->rows;
    args->columns = piece->columns;
    args->steps = steps_of(piece, piece->rows);
    args->last_steps = steps_of(piece, last_rows(piece, p));
    args->stages = weight_tiles_stages(piece);
    args->dy_bytes = (int32_t)piece->dy_bytes;
    args->x_bytes = (int32_t)piece->x_bytes;
    args->dy_box_bytes = piece->dy_box[0] * piece->dy_box[1] * WEIGHT_PIXEL_BYTES;
    args->x_box_bytes = piece->x_box[0] * piece->x_box[1] * WEIGHT_PIXEL_BYTES;
    args->x_pitch = piece->x_box[1];
    for (int axis = 0; axis < 2; axis++) {
        args->filter[axis] = (int32_t)p->filter[axis];
        args->stride[axis] = (int32_t)p->stride[axis];
        args->padding[axis] = (int32_t)p->padding[axis];
        args->dilation[axis] = (int32_t)p->dilation[axis];
    }
    share_units(args, LAUNCH_PROCESSORS);
    int64_t elements = (int64_t)args->tile_rows * args->tile_blocks * WEIGHT_BLOCK;
    return args->has_tree || tiles * (elements / BLOCK_THREADS) < CUDA_MAX_BLOCKS;
}

double weight_tiles_cost(const weight_plan *plan, const braid_problem *p) {
    const double cycles_per_s = 1.4e9, bytes_per_s = 3e12, launches_s = 8e-6;
    double cycles = plan->cycles * (double)p->batch * plan->args.tiles / plan->args.ctas;
    double arithmetic = cycles / cycles_per_s, memory = op_bytes(p) / bytes_per_s;
    return launches_s + (arithmetic > memory ? arithmetic : memory);
}

static braid_status count_workspace(const struct weight_tiles_args *args, size_t *bytes) {
    size_t elements = 0;
    TRY(size_array((size_t)args->ctas + (size_t)(args->has_tree ? args->ctas : args->tiles),
                   (size_t)args->tile_rows * (size_t)args->tile_blocks * WEIGHT_BLOCK, "partial weight gradients",
                   &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", bytes);
}

braid_status weight_tiles_create(const weight_plan *plan, void **state, size_t *workspace_bytes) {
    *state = NULL;
    TRY(count_workspace(&plan->args, workspace_bytes));
    TRY(memory_alloc(1, sizeof *plan, "plan of a weight gradient", state));
    memcpy(*state, plan, sizeof *plan);
    return BRAID_OK;
}

braid_status weight_tiles_narrow(const braid_problem *p, void *state, size_t *workspace_bytes) {
    struct weight_tiles_args *args = &((weight_plan *)state)->args;
    (void)p;
    share_units(args, BESIDE_CTAS);
    return count_workspace(args, workspace_bytes);
}

void weight_tiles_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

/* A plane of pixels as the copy engine sees it; step is the stride between the pixels that a copy takes. */
static braid_status make_map(cuda_tensor_map *to, const braid_problem *p, device *d, const plane_shape *shape,
                             const void *memory, const int box[2], const int64_t step[2]) {
    cuda_tensor tensor = {.memory = memory, .dtype = p->dtype, .rank = 4, .swizzle = 128};
    int64_t pitch = shape->pitch * 2;
    for (int i = 0; i < 4; i++) {
        tensor.size[i] = shape->dims[3 - i];
        tensor.box[i] = i == 0 ? WEIGHT_BLOCK : i < 3 ? box[2 - i] : 1;
        tensor.step[i] = i == 1 || i == 2 ? (int)step[2 - i] : 1;
        if (i < 3) tensor.pitch[i] = pitch;
        pitch *= i < 2 ? shape->dims[2 - i] : 1;
    }
    return cuda_tensor_map_make(to, d, &tensor);
}

static braid_status bind(struct weight_tiles_args *args, const weight_piece *piece, const braid_problem *p, device *d,
                         const buffers *b) {
    static const int64_t dense[2] = {1, 1};
    args->workspace = b->workspace;
    args->counters = cuda_counters(d, MOST_COUNTERS);
    for (int i = 0; i < p->streams; i++) {
        plane_shape x, dy;
        op_of(p)->shape(p, CONV2D_X, i, &x);
        op_of(p)->shape(p, CONV2D_Y, i, &dy);
        args->plane[i].mask = b->plane[CONV2D_MASK][i];
        args->plane[i].dw = b->plane[CONV2D_W][i];
        TRY(make_map(&args->plane[i].x, p, d, &x, b->plane[CONV2D_X][i], piece->x_box, p->stride));
        TRY(make_map(&args->plane[i].dy, p, d, &dy, b->plane[CONV2D_Y][i], piece->dy_box, dense));
    }
    return BRAID_OK;
}

braid_status weight_tiles_launch(const weight_plan *plan, const braid_problem *p, device *d, const buffers *b,
                                 const cuda_call *named) {
    struct weight_tiles_args args = plan->args;
    cuda_call call = *named;
    TRY(bind(&args, &plan->piece, p, d, b));
    call.blocks = args.ctas;
    call.shared_bytes = (size_t)(args.stages * (stage_bytes(&plan->piece) + BARRIER_BYTES)) + WEIGHT_MEETING_BYTES;
    call.args = &args;
    call.args_bytes = sizeof args;
    return cuda_launch(d, &call);
}

/* What the second stage must know of a plane. */
static struct weight_sum_plane sum_of(const struct weight_tiles_args *args, int i, braid_dtype dtype,
                                      const buffers *b) {
    const struct weight_tiles_plane *plane = &args->plane[i];
    const int32_t tiles = (i + 1 < args->planes ? plane[1].first_tile : args->tiles) - plane->first_tile;
    const int32_t slices = args->ctas / args->tiles >= SLICED_PARTS ? 4 : 1;
    const int32_t fours = slices == 1 ? WEIGHT_BLOCK_FOURS : BLOCK_THREADS / slices;
    return (struct weight_sum_plane){.from = b->workspace,
                                     .w = b->plane[CONV2D_W][i],
                                     .dtype = (int32_t)dtype,
                                     .slices = slices,
                                     .is_tiled = 1,
                                     .blocks =
                                         tiles * (args->tile_rows * args->tile_blocks * (WEIGHT_BLOCK / 4) / fours),
                                     .as.tiles = {.units = (int32_t)args->units,
                                                  .tile_units = args->batch * args->piece_rows * args->piece_columns,
                                                  .ctas = args->ctas,
                                                  .first_tile = plane->first_tile,
                                                  .column_tiles = plane->column_tiles,
                                                  .channels = plane->channels,
                                                  .filters = plane->filters,
                                                  .taps = args->filter[0] * args->filter[1],
                                                  .tile_rows = args->tile_rows,
                                                  .tile_blocks = args->tile_blocks,
                                                  .warpgroup_blocks = args->warpgroup_blocks,
                                                  .stacked = args->stacked,
                                                  .fours = fours}};
}

int weight_tiles_sums(const braid_problem *p, const void *state, const buffers *b, void *to) {
    const struct weight_tiles_args *args = &((const weight_plan *)state)->args;
    if (args->has_tree) return 0;
    for (int i = 0; i < p->streams && to; i++) ((struct weight_sum_plane *)to)[i] = sum_of(args, i, p->dtype, b);
    return p->streams;
}

_Static_assert(MOST_COUNTERS <= CUDA_MOST_COUNTERS, "there is a counter for every warpgroup");
_Static_assert(WEIGHT_MAX_GROUPS * 4 <= WEIGHT_MEETING_BYTES, "there is a word for every warpgroup");
