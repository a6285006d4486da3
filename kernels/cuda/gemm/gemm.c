/*
 * From a linear layer to the launch of its matrix product on sm_90a. The tile is the one with the shorter predicted
 * time; it and all that is the same at every launch are found once and kept in the state.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/gemm/gemm.h"

#include <math.h>

#include "core/memory.h"
#include "kernels/cuda/launch/launch.h"

_Static_assert((int)LINEAR_ACT_X == (int)LINEAR_X && (int)LINEAR_ACT_W == (int)LINEAR_W &&
                   (int)LINEAR_ACT_BIAS == (int)LINEAR_BIAS && (int)LINEAR_ACT_MASK == (int)LINEAR_MASK &&
                   (int)LINEAR_ACT_Y == (int)LINEAR_Y,
               "the slots of linear are the first ones of linear_act");

/* ---- Tiles ----------------------------------------------------------------------------------------- */

typedef struct gemm_tile {
    int columns, stages;
    const char *entry[3]; /* by pass */
} gemm_tile;

#define TILE(name, columns, stages) \
    {columns, stages, {"gemm_fwd_" #name, "gemm_bwd_data_" #name, "gemm_bwd_weight_" #name}},
static const gemm_tile tiles[] = {GEMM_TILES(TILE)};

/* One operand or the result: rows of `columns` numbers, `pitch` from one to the next. */
typedef struct matrix {
    int64_t rows, columns, pitch;
} matrix;

/* The product of a stream. */
typedef struct product {
    int64_t rows, columns, terms;
    matrix left, right, out; /* as they lie */
    int left_slot, right_slot, out_slot;
} product;

static product product_of(const braid_problem *p, int i) {
    const int64_t b = p->batch, c = p->in_channels[i], k = p->out_channels[i];
    const matrix x = {b, c, p->in_pitch[i]}, w = {k, c, c}, y = {b, k, p->out_pitch[i]};
    const matrix dx = {b, p->in_pitch[i], p->in_pitch[i]}, all_y = {b, p->out_pitch[i], p->out_pitch[i]};
    switch (p->pass) {
        case BRAID_PASS_FWD: return (product){b, y.pitch, c, x, w, all_y, LINEAR_X, LINEAR_W, LINEAR_Y};
        case BRAID_PASS_BWD_DATA: return (product){b, x.pitch, k, y, w, dx, LINEAR_Y, LINEAR_W, LINEAR_X};
        default: return (product){k, c, b, y, x, w, LINEAR_Y, LINEAR_X, LINEAR_W};
    }
}

static int64_t tiles_of(const product *m, const gemm_tile *tile) {
    return launch_tiles(m->rows, GEMM_ROWS) * launch_tiles(m->columns, tile->columns);
}

/* Tiles in turns of the multiprocessors, each at the speed of its matrix units. */
static double seconds(const braid_problem *p, const gemm_tile *tile) {
    const double launch_s = 3e-6, tile_s = 1.5e-6;
    const double flops_per_s = tile->columns == 256 ? 5.6e12 : tile->columns == 128 ? 4.8e12 : 3.9e12;
    double all = 0, work = 0;
    for (int i = 0; i < p->streams; i++) {
        const product m = product_of(p, i);
        const double count = (double)tiles_of(&m, tile);
        const double terms = (double)(launch_tiles(m.terms, GEMM_TERMS) * GEMM_TERMS);
        all += count;
        work += count * (tile_s + 2.0 * GEMM_ROWS * tile->columns * terms / flops_per_s);
    }
    return all > 0 ? launch_s + work / all * ceil(all / LAUNCH_PROCESSORS) : launch_s;
}

static const gemm_tile *best_tile(const braid_problem *p) {
    const gemm_tile *best = &tiles[0];
    for (size_t i = 1; i < sizeof tiles / sizeof *tiles; i++) {
        if (seconds(p, &tiles[i]) < seconds(p, best)) best = &tiles[i];
    }
    return best;
}

static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double bytes_per_s = 3e12;
    return fmax(seconds(p, best_tile(p)), op_bytes(p) / bytes_per_s);
}

/* ---- The argument ---------------------------------------------------------------------------------- */

static int fill_shape(struct gemm_args *args, const braid_problem *p, const gemm_tile *tile) {
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    const int has_floor = p->op == BRAID_OP_LINEAR_ACT;
    *args = (struct gemm_args){.planes = p->streams, .floor = has_floor ? 0 : NAN};
    for (int i = 0; i < p->streams; i++) {
        struct gemm_plane *plane = &args->plane[i];
        const product m = product_of(p, i);
        plane->rows = (int32_t)m.rows;
        plane->row_tiles = (int32_t)launch_tiles(m.rows, GEMM_ROWS);
        plane->column_tiles = (int32_t)launch_tiles(m.columns, tile->columns);
        plane->stages = (int32_t)launch_tiles(m.terms, GEMM_TERMS);
        plane->biases = (int32_t)p->out_channels[i];
        blocks[i] = tiles_of(&m, tile);
    }
    return launch_schedule(args->first_block, blocks, p->streams);
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = launch_refuses_channels(p);
    if (!reason && p->op == BRAID_OP_LINEAR_ACT && p->activation != BRAID_ACTIVATION_RELU) reason = "only ReLU";
    if (!reason && p->pass == BRAID_PASS_BWD_WEIGHT && p->mask) reason = "adds up no samples that may be blanked";
    if (!reason && p->batch >= LAUNCH_MAX_LENGTH) reason = "a batch has 2^30 samples or more";
    if (!reason && p->batch < 1) reason = "there are no samples";
    if (!reason && p->streams > GEMM_MOST_STREAMS) reason = "more streams than one launch takes";
    for (int i = 0; i < p->streams && !reason; i++) {
        if (p->in_channels[i] < 1 || p->out_channels[i] < 1) reason = "a stream has no channels";
        if (p->in_channels[i] % 8 || p->in_pitch[i] % 8 || p->out_pitch[i] % 8)
            reason = "input channels or a pitch are no multiple of 8";
    }
    if (reason) return reason;
    struct gemm_args args;
    return fill_shape(&args, p, best_tile(p)) ? cuda_refuses_tensor_maps(d) : launch_too_large;
}

/* ---- Launching ------------------------------------------------------------------------------------- */

typedef struct state {
    struct gemm_args args;
    const gemm_tile *tile;
    const void *memory[GEMM_MOST_STREAMS][3]; /* that the maps are of */
} state;

static braid_status create(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) {
    state *s = NULL;
    (void)d;
    *workspace_bytes = 0;
    TRY(memory_alloc(1, sizeof *s, "state of a matrix product", (void **)&s));
    *s = (state){.tile = best_tile(p)};
    (void)fill_shape(&s->args, p, s->tile); /* supports has asked */
    *made = s;
    return BRAID_OK;
}

static void destroy(device *d, void *made) {
    (void)d;
    memory_free(made);
}

/* Boxes of 64 columns, `rows` rows at once. */
static braid_status make_map(cuda_tensor_map *map, const void **memory, device *d, const braid_problem *p,
                             const matrix *m, const void *data, int rows) {
    const cuda_tensor of = {.memory = data,
                            .dtype = p->dtype,
                            .rank = 2,
                            .size = {m->columns, m->rows},
                            .pitch = {m->pitch * 2},
                            .box = {64, rows},
                            .swizzle = 128};
    return launch_map(map, memory, d, &of);
}

static braid_status bind(state *s, const braid_problem *p, device *d, const buffers *b, int i) {
    struct gemm_plane *plane = &s->args.plane[i];
    const product m = product_of(p, i);
    const int left_down = p->pass == BRAID_PASS_BWD_WEIGHT, right_down = p->pass != BRAID_PASS_FWD;
    const int rows = left_down ? GEMM_TERMS : GEMM_ROWS, columns = right_down ? GEMM_TERMS : s->tile->columns;
    plane->bias = p->bias && p->pass != BRAID_PASS_BWD_DATA ? b->plane[LINEAR_BIAS][i] : NULL;
    plane->mask = b->plane[LINEAR_MASK][i];
    TRY(make_map(&plane->left, &s->memory[i][0], d, p, &m.left, b->plane[m.left_slot][i], rows));
    TRY(make_map(&plane->right, &s->memory[i][1], d, p, &m.right, b->plane[m.right_slot][i], columns));
    return make_map(&plane->out, &s->memory[i][2], d, p, &m.out, b->plane[m.out_slot][i], 64);
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    const int32_t all = s->args.first_block[BRAID_MAX_PLANES], most = (int32_t)cuda_processors(d);
    for (int i = 0; i < p->streams; i++) TRY(bind(s, p, d, b, i));
    return cuda_launch(d, &(cuda_call){.stem = "gemm_sm90a",
                                       .function = launch_function(s->tile->entry[p->pass], p->dtype),
                                       .blocks = all < most ? all : most,
                                       .threads = GEMM_THREADS,
                                       .shared_bytes = (size_t)GEMM_BYTES(s->tile->columns, s->tile->stages),
                                       .args = &s->args,
                                       .args_bytes = sizeof s->args});
}

#define GEMM_KERNEL \
    { .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = destroy }

const kernel_functions linear_fwd__cuda_gemm = GEMM_KERNEL;
const kernel_functions linear_act_fwd__cuda_gemm = GEMM_KERNEL;
const kernel_functions linear_bwd_data__cuda_gemm = GEMM_KERNEL;
const kernel_functions linear_bwd_weight__cuda_gemm = GEMM_KERNEL;
