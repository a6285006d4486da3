/*
 * 3x3 convolutions on the matrix units of sm_90a by tiles of pixels whose weights are streamed (resident3x3.cuh):
 * conv2d forward and data gradient at stride 1, conv2d_scale_bias_act, and the data gradient at stride 2 (parity).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"

#define SHARED_MOST 232448 /* bytes of shared memory that one block of sm_90 may have */
#define STAGES_MOST 16     /* of weights in all rings */
#define STAGES_LEAST 4
#define BOX_MOST 256 /* pixels or rows of one copy */

/* ---- Tiles ----------------------------------------------------------------------------------------- */

/* A tile, and by pass where its function is. At stride 2 pixels are those of dy. */
typedef struct tile {
    int channels, pixels, stride;
    const char *stem[2], *entry[2];
} tile;

#define TILE_AT(name, channels, pixels) TILE_##name,
#define PARITY_TILE_AT(name, channels, pixels) TILE_PARITY_##name,
enum { RESIDENT_TILES(TILE_AT) RESIDENT_PARITY_TILES(PARITY_TILE_AT) };

#define TILE(name, channels, pixels)                                        \
    {channels,                                                              \
     pixels,                                                                \
     1,                                                                     \
     {"conv2d_fwd_resident3x3_sm90a", "conv2d_bwd_data_resident3x3_sm90a"}, \
     {"conv2d_fwd_resident3x3_" #name, "conv2d_bwd_data_resident3x3_" #name}},
#define PARITY_TILE(name, channels, pixels) \
    {channels, pixels, 2, {NULL, "conv2d_bwd_data_parity_sm90a"}, {NULL, "conv2d_bwd_data_parity_" #name}},
static const tile tiles[] = {RESIDENT_TILES(TILE) RESIDENT_PARITY_TILES(PARITY_TILE)};

/* ---- Tiling ---------------------------------------------------------------------------------------- */

/* What the tiles see: at stride 2 a convolution of dy that keeps its size. */
static void seen_size(const braid_problem *p, const tile *t, int64_t size[2]) {
    for (int axis = 0; axis < 2; axis++) size[axis] = t->stride == 2 ? conv2d_out_size(p, axis) : p->size[axis];
}

/* Rows of input that the widest reaching tile of a strip reads. */
static int64_t rows_of_tiles(int64_t strip_pixels, int64_t pitch, int64_t count, int64_t pixels) {
    int64_t most = 0;
    for (int64_t j = 0; j < count; j++) {
        int64_t first = j * pixels, end = first + pixels < strip_pixels ? first + pixels : strip_pixels;
        int64_t rows = (end - 1) / pitch - first / pitch + 3;
        if (rows > most) most = rows;
    }
    return most;
}

/* False where so many strips do not fit into shared memory. */
static int fill_strips(struct resident_tiles_args *args, const braid_problem *p, const tile *t, const int64_t size[2],
                       int64_t strips) {
    const int rings = RESIDENT_RINGS(t->channels);
    int64_t width = launch_tiles(size[1], strips), pitch = strips == 1 ? width + 1 : width + 2;
    int64_t pixels = (size[0] - 1) * pitch + width, count = launch_tiles(pixels, t->pixels);
    if (pitch > BOX_MOST || !resident_divides(size, pitch)) return 0;
    int64_t rows = rows_of_tiles(pixels, pitch, count, t->pixels);
    if (rows > BOX_MOST) return 0;
    int64_t loaded = rows * pitch + 1, read = pitch - 1 + t->pixels + 2 * pitch + 2;
    int64_t stage_bytes = launch_tiles((loaded > read ? loaded : read) * 128, 1024) * 1024;
    int64_t left = SHARED_MOST - RESIDENT_STAGES * stage_bytes - 2 * RESIDENT_STAGING_BYTES - RESIDENT_BARRIER_BYTES;
    int64_t stages = left / (rings * RESIDENT_WEIGHT_BYTES);
    if (left < 0 || stages < STAGES_LEAST) return 0;
    args->rows = (int32_t)rows;
    args->stage_bytes = (uint32_t)stage_bytes;
    args->stages = (int32_t)(stages < STAGES_MOST ? stages : STAGES_MOST);
    resident_fill_strips(&args->head, p, size, width, pitch);
    args->head.strip_tiles = (int32_t)count;
    return 1;
}

/* The tiles of all planes. */
static int fill_schedule(struct resident_tiles_args *args, const braid_problem *p) {
    int64_t count[BRAID_MAX_PLANES] = {0};
    for (int i = 0; i < p->streams; i++) {
        double all = (double)args->plane[i].groups * args->head.strip_tiles * (double)p->batch * args->head.strips;
        if (all >= (double)CUDA_MAX_BLOCKS) return 0;
        count[i] = (int64_t)all;
    }
    return launch_schedule(args->head.first_tile, count, p->streams);
}

/* The tiling: everything but pointers and maps. False where the problem is too large. */
static int fill(struct resident_tiles_args *args, const braid_problem *p, const tile *t) {
    int64_t size[2], strips = 1;
    *args = (struct resident_tiles_args){0};
    seen_size(p, t, size);
    while (!fill_strips(args, p, t, size, strips)) {
        if (++strips > size[1]) return 0;
    }
    resident_fill_planes(args->plane, p, t->channels);
    return (double)p->batch * args->head.strips * (double)size[0] < (double)CUDA_MAX_BLOCKS && fill_schedule(args, p);
}

/* ---- What is asked of a kernel --------------------------------------------------------------------- */

static int fits(const braid_problem *p, const void *of) {
    struct resident_tiles_args args;
    return fill(&args, p, of);
}

static const char *supports(const braid_problem *p, const device *d, const tile *t) {
    const char *reason = resident_refuses(p, d, t->stride);
    return reason ? reason : resident_refuses_parts(p, t, fits);
}

/* Tiles in turns of the multiprocessors, each at the speed of its matrix units or of the L2 cache. At stride 2 a tile
 * stores four times its pixels, and was not seen to wait for what it loads. */
static double seconds(const braid_problem *p, const void *of) {
    const tile *t = of;
    const double bytes_per_s = 3.5e10, tile_s = 1e-6;
    struct resident_tiles_args args;
    double all = 0, count = 0, store = t->stride == 2 ? tile_s * t->pixels / 64 : tile_s;
    if (!fill(&args, p, t)) return 1;
    for (int i = 0; i < p->streams; i++) {
        double own = (double)(args.head.first_tile[i + 1] - args.head.first_tile[i]), blocks = args.plane[i].blocks;
        double flops = 2.0 * t->channels * t->pixels * RESIDENT_TAPS * RESIDENT_BLOCK * blocks;
        double bytes =
            blocks * (double)(args.rows * args.head.pitch * 128 + t->channels * RESIDENT_TAPS * RESIDENT_BLOCK * 2);
        double work = flops / RESIDENT_FLOPS_PER_S, memory = t->stride == 2 ? 0 : bytes / bytes_per_s;
        all += own * (store + (work > memory ? work : memory));
        count += own;
    }
    double turns = (double)launch_tiles((int64_t)count, LAUNCH_PROCESSORS);
    return RESIDENT_LAUNCH_S + (count > 0 ? all / count * turns : 0);
}

/* ---- State and launch ------------------------------------------------------------------------------ */

/* One launch: a part of the streams. */
typedef struct state {
    struct resident_tiles_args args;
    resident_memory memory[RESIDENT_MOST_STREAMS];
    const tile *tile;
} state;

static void ready(void *made, const braid_problem *p, device *d, const void *of) {
    state *s = made;
    (void)d;
    s->tile = of;
    (void)fill(&s->args, p, s->tile); /* supports has asked */
}

static braid_status create(const braid_problem *p, device *d, const tile *t, void **made, size_t *workspace_bytes) {
    *workspace_bytes = 0;
    return resident_create(p, d, t, sizeof(state), made, ready);
}

static size_t shared_bytes(const struct resident_tiles_args *args, const tile *t) {
    return RESIDENT_STAGES * (size_t)args->stage_bytes + 2 * RESIDENT_STAGING_BYTES +
           (size_t)(RESIDENT_RINGS(t->channels) * args->stages) * RESIDENT_WEIGHT_BYTES + RESIDENT_BARRIER_BYTES;
}

static braid_status launch_once(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    struct resident_tiles_args *args = &s->args;
    const int32_t count = args->head.first_tile[BRAID_MAX_PLANES], most = (int32_t)cuda_processors(d);
    int64_t size[2];
    seen_size(p, s->tile, size);
    for (int i = 0; i < p->streams; i++) {
        resident_memory *memory = &s->memory[i];
        resident_bind(&args->plane[i], p, b, i);
        TRY(resident_map_input(&args->map[i].input, &memory->input, d, p, b, i, size, args->head.pitch, args->rows));
        TRY(resident_map_weight(&args->map[i].weight, &memory->weight, d, p, b, i));
    }
    return cuda_launch(d, &(cuda_call){.stem = s->tile->stem[p->pass],
                                       .function = launch_function(s->tile->entry[p->pass], p->dtype),
                                       .blocks = count < most ? count : most,
                                       .threads = RESIDENT_THREADS,
                                       .shared_bytes = shared_bytes(args, s->tile),
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    return resident_launch(p, d, made, sizeof(state), b, launch_once);
}

/* ---- The kernels ----------------------------------------------------------------------------------- */

/* The functions of a tile; TILE_KERNEL(tile) is its kernel_functions. */
#define TILE_FUNCTIONS(name)                                                                                     \
    static const char *supports_##name(const braid_problem *p, const device *d) {                                \
        return supports(p, d, &tiles[TILE_##name]);                                                              \
    }                                                                                                            \
    static double cost_##name(const braid_problem *p, const machine *on) {                                       \
        return (void)on, resident_cost(p, &tiles[TILE_##name], seconds);                                         \
    }                                                                                                            \
    static braid_status create_##name(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) { \
        return create(p, d, &tiles[TILE_##name], made, workspace_bytes);                                         \
    }
#define TILE_KERNEL(name)                                                                            \
    {                                                                                                \
        .supports = supports_##name, .cost = cost_##name, .create = create_##name, .launch = launch, \
        .destroy = resident_destroy                                                                  \
    }

TILE_FUNCTIONS(128x232)
const kernel_functions conv2d_fwd__cuda_resident3x3_128x232 = TILE_KERNEL(128x232);
const kernel_functions conv2d_bwd_data__cuda_resident3x3_128x232 = TILE_KERNEL(128x232);
const kernel_functions conv2d_scale_bias_act__cuda_resident3x3_128x232 = TILE_KERNEL(128x232);

TILE_FUNCTIONS(64x240)
const kernel_functions conv2d_fwd__cuda_resident3x3_64x240 = TILE_KERNEL(64x240);
const kernel_functions conv2d_bwd_data__cuda_resident3x3_64x240 = TILE_KERNEL(64x240);
const kernel_functions conv2d_scale_bias_act__cuda_resident3x3_64x240 = TILE_KERNEL(64x240);

TILE_FUNCTIONS(PARITY_128)
const kernel_functions conv2d_bwd_data__cuda_parity_128 = TILE_KERNEL(PARITY_128);

TILE_FUNCTIONS(PARITY_160)
const kernel_functions conv2d_bwd_data__cuda_parity_160 = TILE_KERNEL(PARITY_160);
