/*
 * From a convolution to the argument of the general tensor-core kernels: which pixels form a class, what its taps
 * read, and which size of tiles ends first when the blocks share them out.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cuda/conv/conv2d_epilogue.h"
#include "kernels/cuda/conv/implicit_gemm/conv2d_implicit_gemm_launch.h"
#include "kernels/cuda/launch/bn_reduce_launch.h"
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/tile/row_parts.h"

/* One axis of the gathering: `count` pixels, the first reading from `lower` on, each `stride` further; the walk ends
 * `upper` before or behind the last row of what is gathered. */
typedef struct axis {
    int64_t count, stride, lower, upper, step, size;
} axis;

#define KINDS (IMPLICIT_READ + 3) /* of maps */

/* One launch: the argument, its maps, and the addresses that they were made for. */
typedef struct implicit_state {
    struct conv2d_implicit_gemm_args args;
    const implicit_tile *tile;
    const void *memory[KINDS][IMPLICIT_MOST_STREAMS];
} implicit_state;

static int is_forward(const braid_problem *p) { return p->pass == BRAID_PASS_FWD; }

/* Which class of pixels a tap reaches, and the place that it reads for the first pixel of that class. */
static void reach(const braid_problem *p, int which, int64_t tap, int64_t *first, int64_t *place) {
    int64_t stride = p->stride[which], start = p->padding[which] - tap * p->dilation[which];
    if (is_forward(p)) {
        *first = 0;
        *place = -start;
        return;
    }
    *first = (stride - start % stride) % stride;
    if (start < 0) *first = -start % stride;
    *place = (*first + start) / stride;
}

static axis axis_of(const braid_problem *p, int which) {
    int64_t out = conv2d_out_size(p, which), in = p->size[which], first = 0, place = 0;
    if (is_forward(p)) {
        return (axis){.count = out,
                      .stride = p->stride[which],
                      .lower = -p->padding[which],
                      .upper =
                          p->padding[which] + p->extra_padding[which] - (p->filter[which] - 1) * p->dilation[which],
                      .step = 1,
                      .size = out};
    }
    axis a = {.count = launch_tiles(in, p->stride[which]), .stride = 1, .step = p->stride[which], .size = in};
    a.lower = INT64_MAX;
    for (int64_t tap = 0; tap < p->filter[which]; tap++) {
        reach(p, which, tap, &first, &place);
        if (place < a.lower) a.lower = place;
    }
    a.upper = a.lower + a.count - out;
    return a;
}

/* ---- What is refused --------------------------------------------------------------------------- */

static const char *refuses_axis(const braid_problem *p, int which) {
    axis a = axis_of(p, which);
    int64_t first, place;
    if (p->filter[which] > IMPLICIT_MAX_TAPS) return "only filters of up to 64 taps";
    if (p->stride[which] > (is_forward(p) ? 8 : 2))
        return is_forward(p) ? "only strides up to 8" : "only strides 1 and 2";
    if (a.lower < -128 || a.lower > 127 || a.upper < -128 || a.upper > 127)
        return "the filter reaches 128 rows or columns beyond the image";
    for (int64_t tap = 0; tap < p->filter[which]; tap++) {
        reach(p, which, tap, &first, &place);
        if (place - a.lower > 255) return "the filter is wider than 256 rows or columns";
    }
    return NULL;
}

static const char *refuses_channels(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        if (p->in_channels[i] < 8 || p->out_channels[i] < 8 || p->in_channels[i] % 8 || p->out_channels[i] % 8 ||
            p->in_pitch[i] % 8 || p->out_pitch[i] % 8) {
            return "only channels and pitches in multiples of 8";
        }
    }
    return launch_refuses_channels(p);
}

static const char *refuses_sizes(const braid_problem *p) {
    axis rows = axis_of(p, 0), columns = axis_of(p, 1);
    double pixels = (double)p->batch * (double)rows.count * (double)columns.count;
    double places = (double)p->batch * (double)rows.size * (double)columns.size;
    if (p->size[0] >= LAUNCH_MAX_LENGTH || p->size[1] >= LAUNCH_MAX_LENGTH || pixels >= (double)LAUNCH_MAX_LENGTH ||
        places >= (double)LAUNCH_MAX_LENGTH)
        return "a stream has 2^30 pixels or more";
    for (int i = 0; i < p->streams; i++) {
        int64_t lanes = is_forward(p) ? p->out_pitch[i] : p->in_pitch[i];
        if ((pixels / 32 + 1) * (double)launch_tiles(lanes, 64) >= (double)LAUNCH_MAX_LENGTH / IMPLICIT_MAX_SEGMENTS)
            return launch_too_large;
    }
    return NULL;
}

const char *conv2d_implicit_gemm_refuses(const braid_problem *p, const device *d) {
    if (p->groups != 1) return "only one group";
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "only zero padding";
    if (p->filter[0] * p->filter[1] > IMPLICIT_MAX_TAPS) return "only filters of up to 64 taps";
    const char *reason = conv2d_epilogue_refuses(p);
    if (!reason) reason = refuses_channels(p);
    for (int which = 0; which < 2 && !reason; which++) reason = refuses_axis(p, which);
    if (!reason) reason = refuses_sizes(p);
    return reason ? reason : cuda_refuses_tensor_maps(d);
}

/* ---- The argument ------------------------------------------------------------------------------ */

static void fill_axes(struct conv2d_implicit_gemm_args *args, const braid_problem *p) {
    args->batch = (int32_t)p->batch;
    for (int which = 0; which < 2; which++) {
        axis a = axis_of(p, which);
        args->count[which] = (int32_t)a.count;
        args->stride[which] = (int32_t)a.stride;
        args->lower[which] = (int32_t)a.lower;
        args->step[which] = (int32_t)a.step;
        args->size[which] = (int32_t)a.size;
    }
}

/* The taps of the class whose first pixel is (h, w), behind those of the classes before it. Returns the next class. */
static int fill_class(struct conv2d_implicit_gemm_args *args, const braid_problem *p, int at, int64_t h, int64_t w) {
    struct implicit_class *c = &args->pixel_class[at];
    int64_t first[2], place[2];
    c->first_tap = at > 0 ? args->pixel_class[at - 1].first_tap + args->pixel_class[at - 1].taps : 0;
    c->first[0] = (int32_t)h;
    c->first[1] = (int32_t)w;
    for (int64_t r = 0; r < p->filter[0]; r++) {
        reach(p, 0, r, &first[0], &place[0]);
        for (int64_t s = 0; s < p->filter[1]; s++) {
            reach(p, 1, s, &first[1], &place[1]);
            if (first[0] != h || first[1] != w) continue;
            struct implicit_tap *tap = &args->tap[c->first_tap + c->taps++];
            tap->index = (uint16_t)(r * p->filter[1] + s);
            for (int which = 0; which < 2; which++) {
                tap->offset[which] = (uint8_t)(place[which] - args->lower[which]);
            }
        }
    }
    return at + 1;
}

/* Returns how many classes there are. A class can have no taps: its pixels become zeros. */
static int fill_classes(struct conv2d_implicit_gemm_args *args, const braid_problem *p) {
    int classes = 0;
    for (int64_t h = 0; h < args->step[0] && h < args->size[0]; h++) {
        for (int64_t w = 0; w < args->step[1] && w < args->size[1]; w++) classes = fill_class(args, p, classes, h, w);
    }
    return classes;
}

static void fill_planes(struct conv2d_implicit_gemm_args *args, const braid_problem *p, int split) {
    args->planes = p->streams;
    for (int i = 0; i < p->streams; i++) {
        struct implicit_plane *plane = &args->plane[i];
        plane->pitch = is_forward(p) ? p->out_pitch[i] : p->in_pitch[i];
        plane->lanes = (int32_t)(is_forward(p) ? p->out_channels[i] : p->in_channels[i]);
        plane->lane_tiles = (int32_t)launch_tiles(plane->pitch, IMPLICIT_LANES(split));
        plane->slices = (int32_t)launch_tiles(is_forward(p) ? p->in_channels[i] : p->out_channels[i], 16);
        plane->dense = args->step[0] == 1 && args->step[1] == 1 && plane->pitch == plane->lanes;
    }
}

static int steps_of(const struct conv2d_implicit_gemm_args *args, const struct implicit_segment *s) {
    return IMPLICIT_BLOCKS(args->plane[s->plane].slices) * args->pixel_class[s->pixel_class].taps;
}

/* A tile, but for its stores. A block multiplies 64 x 64 x 64 in 128 cycles where nothing holds it up. */
static double tile_cycles(const struct conv2d_implicit_gemm_args *args, const struct implicit_segment *s, int columns) {
    double slices = args->plane[s->plane].slices * args->pixel_class[s->pixel_class].taps;
    return slices * columns + 24.0 * steps_of(args, s) + 300;
}

/* Segments in order of work, the longest sums first, so that the last round of tiles is a cheap one. */
static void fill_segments(struct conv2d_implicit_gemm_args *args, int planes, int classes) {
    args->segments = 0;
    for (int i = 0; i < planes; i++) {
        for (int c = 0; c < classes; c++) {
            struct implicit_segment made = {.plane = (int16_t)i, .pixel_class = (int16_t)c};
            int at = args->segments++;
            for (; at > 0 && steps_of(args, &args->segment[at - 1]) < steps_of(args, &made); at--)
                args->segment[at] = args->segment[at - 1];
            args->segment[at] = made;
        }
    }
}

static void count_tiles(struct conv2d_implicit_gemm_args *args, int columns, int split) {
    int64_t pixels = (int64_t)args->batch * args->count[0] * args->count[1];
    args->tiles = 0;
    for (int s = 0; s < args->segments; s++) {
        args->segment[s].first_tile = args->tiles;
        args->tiles += (int32_t)launch_tiles(pixels, IMPLICIT_PIXELS(columns, split)) *
                       args->plane[args->segment[s].plane].lane_tiles;
    }
}

static int64_t end_of(const struct conv2d_implicit_gemm_args *args, int s) {
    return s + 1 < args->segments ? args->segment[s + 1].first_tile : args->tiles;
}

/* For results that are added up: blocks of one plane each, as many as its share of the work, in multiples of its tiles
 * of lanes. A plane is one segment: forward, or at stride 1. */
static void fill_blocks(struct conv2d_implicit_gemm_args *args) {
    double work[BRAID_MAX_PLANES] = {0}, all = 0;
    int32_t first = 0;
    for (int s = 0; s < args->segments; s++) {
        work[s] = (double)(end_of(args, s) - args->segment[s].first_tile) * steps_of(args, &args->segment[s]);
        all += work[s];
    }
    for (int s = 0; s < args->segments; s++) {
        struct implicit_plane *plane = &args->plane[args->segment[s].plane];
        int64_t tiles = end_of(args, s) - args->segment[s].first_tile, each = plane->lane_tiles;
        int64_t share = (int64_t)(LAUNCH_PROCESSORS * (work[s] / all) + 1e-6) / each;
        int64_t blocks = share < 1 ? each : share * each;
        plane->first_block = first;
        plane->blocks = (int32_t)(blocks < tiles ? blocks : tiles);
        first += plane->blocks;
    }
}

/* The tiles of a size, and who takes them. */
static void fill_tiles(struct conv2d_implicit_gemm_args *args, const implicit_tile *tile) {
    count_tiles(args, tile->columns, tile->split);
    if (tile->sums) fill_blocks(args);
}

/* Cycles until the last of those blocks is done. */
static double cycles_of_blocks(const struct conv2d_implicit_gemm_args *args, const implicit_tile *tile) {
    static const double stores[] = {[IMPLICIT_SUMS_BY_R] = 12, [IMPLICIT_SUMS_BY_X] = 24, [IMPLICIT_MOMENTS] = 7};
    const int columns = tile->columns;
    const double store = stores[tile->sums]; /* with what is read and added up */
    double longest = 0;
    for (int s = 0; s < args->segments; s++) {
        const struct implicit_plane *plane = &args->plane[args->segment[s].plane];
        double turns = (double)launch_tiles(end_of(args, s) - args->segment[s].first_tile, plane->blocks);
        double cycles = turns * (tile_cycles(args, &args->segment[s], columns) + store * columns);
        if (cycles > longest) longest = cycles;
    }
    return longest;
}

/* Cycles until the last block is done. Pixels that lie apart take longer to store. */
static double cycles_of(const struct conv2d_implicit_gemm_args *args, int columns) {
    double longest = 0;
    for (int block = 0; block < LAUNCH_PROCESSORS; block++) {
        double cycles = 0;
        for (int s = 0; s < args->segments; s++) {
            int64_t begin = args->segment[s].first_tile, end = end_of(args, s);
            /* tiles of the segment that are `block` modulo LAUNCH_PROCESSORS */
            int64_t mine = (end + LAUNCH_PROCESSORS - 1 - block) / LAUNCH_PROCESSORS -
                           (begin + LAUNCH_PROCESSORS - 1 - block) / LAUNCH_PROCESSORS;
            double store = args->plane[args->segment[s].plane].dense ? 5 : 20;
            cycles += (double)mine * (tile_cycles(args, &args->segment[s], columns) + store * columns);
        }
        if (cycles > longest) longest = cycles;
    }
    return longest;
}

/* The tile that ends first; its count of tiles is filled in. */
static const implicit_tile *choose(struct conv2d_implicit_gemm_args *args, const braid_problem *p,
                                   const implicit_tiles *tiles, double *cycles) {
    const implicit_tile *best = NULL;
    memset(args, 0, sizeof *args);
    fill_axes(args, p);
    fill_planes(args, p, tiles->list->split);
    fill_segments(args, p->streams, fill_classes(args, p));
    for (const implicit_tile *tile = tiles->list; tile->columns; tile++) {
        fill_tiles(args, tile);
        double now = tile->sums ? cycles_of_blocks(args, tile) : cycles_of(args, tile->columns);
        if (best && now >= *cycles) continue;
        best = tile;
        *cycles = now;
    }
    fill_tiles(args, best);
    return best;
}

double conv2d_implicit_gemm_cost(const braid_problem *p, const machine *on, const implicit_tiles *tiles) {
    (void)on;
    const double cycles_per_s = 1.4e9, bytes_per_s = 3e12, launch_s = 5e-6;
    struct conv2d_implicit_gemm_args args;
    double all = 0;
    for (int j = 0; j < launch_parts(p, IMPLICIT_MOST_STREAMS); j++) {
        launch_part part;
        double cycles = 0;
        launch_take_part(&part, p, NULL, IMPLICIT_MOST_STREAMS, j);
        double memory = op_bytes(&part.problem) / bytes_per_s;
        (void)choose(&args, &part.problem, tiles, &cycles);
        all += launch_s + (cycles / cycles_per_s > memory ? cycles / cycles_per_s : memory);
    }
    return all;
}

/* ---- Tensor maps and launch -------------------------------------------------------------------- */

static braid_status make_map(implicit_state *made, int kind, int i, device *d, const cuda_tensor *of) {
    return launch_map(&made->args.map[kind * made->args.planes + i], &made->memory[kind][i], d, of);
}

/* Of stream i: pixels one behind the other, 16 at a time. */
static cuda_tensor pixels_of(const struct conv2d_implicit_gemm_args *args, const braid_problem *p, int i,
                             const void *memory) {
    const struct implicit_plane *plane = &args->plane[i];
    return (cuda_tensor){.memory = memory,
                         .dtype = p->dtype,
                         .rank = 2,
                         .size = {plane->lanes, p->batch * args->size[0] * args->size[1]},
                         .pitch = {2 * plane->pitch},
                         .box = {64, 16},
                         .swizzle = 128};
}

/* What the epilogue reads of stream i: r and x of the operands of `sums`, in pieces, then what is added. */
static braid_status make_read_maps(implicit_state *made, const braid_problem *p, device *d, const buffers *sums, int i,
                                   int tile_pixels) {
    const struct conv2d_implicit_gemm_args *args = &made->args;
    const struct implicit_plane *plane = &args->plane[i];
    const void *read[] = {sums ? sums->plane[BN_FUSED_X][i] : NULL, sums ? sums->plane[BN_FUSED_Y][i] : NULL,
                          plane->epilogue.added};
    int64_t pixel = 2 * plane->pitch, row = pixel * args->size[1];
    int kind = IMPLICIT_READ;
    cuda_tensor tile = {
        .dtype = p->dtype,
        .rank = 4,
        .size = {plane->lanes, args->size[1], args->size[0], p->batch},
        .pitch = {pixel, row, row * args->size[0]},
        .box = {64, tile_pixels},
        .step = {1, args->step[1], args->step[0], 1},
        .swizzle = 128,
        .is_im2col = 1,
    };
    if (sums) tile = pixels_of(args, p, i, NULL);
    for (size_t j = 0; j < sizeof read / sizeof read[0]; j++) {
        if (!read[j]) continue;
        tile.memory = read[j];
        TRY(make_map(made, kind++, i, d, &tile));
    }
    return BRAID_OK;
}

static braid_status make_maps(implicit_state *made, const braid_problem *p, device *d, const buffers *b, int i,
                              int tile_pixels) {
    int64_t taps = p->filter[0] * p->filter[1];
    int slot = is_forward(p) ? CONV2D_X : CONV2D_Y;
    int64_t pitch = 2 * (is_forward(p) ? p->in_pitch[i] : p->out_pitch[i]);
    int64_t height = is_forward(p) ? p->size[0] : conv2d_out_size(p, 0);
    int64_t width = is_forward(p) ? p->size[1] : conv2d_out_size(p, 1);
    axis rows = axis_of(p, 0), columns = axis_of(p, 1);
    cuda_tensor pixels = {
        .memory = b->plane[slot][i],
        .dtype = p->dtype,
        .rank = 4,
        .size = {is_forward(p) ? p->in_channels[i] : p->out_channels[i], width, height, p->batch},
        .pitch = {pitch, pitch * width, pitch * width * height},
        .box = {64, tile_pixels},
        .step = {1, (int)columns.stride, (int)rows.stride, 1},
        .swizzle = 128,
        .is_im2col = 1,
        .lower = {(int)columns.lower, (int)rows.lower},
        .upper = {(int)columns.upper, (int)rows.upper},
    };
    cuda_tensor weights = {
        .memory = b->plane[CONV2D_W][i],
        .dtype = p->dtype,
        .rank = 3,
        .size = {p->in_channels[i], taps, p->out_channels[i]},
        .pitch = {2 * p->in_channels[i], 2 * p->in_channels[i] * taps},
        .box = {64, 1, 64},
        .swizzle = 128,
    };
    const struct implicit_plane *plane = &made->args.plane[i];
    cuda_tensor out = pixels_of(&made->args, p, i, plane->out);
    TRY(make_map(made, IMPLICIT_GATHERED, i, d, &pixels));
    TRY(make_map(made, IMPLICIT_WEIGHTS, i, d, &weights));
    return plane->dense ? make_map(made, IMPLICIT_OUT, i, d, &out) : BRAID_OK;
}

braid_status conv2d_implicit_gemm_create(const braid_problem *p, const implicit_tiles *tiles, void **state) {
    int parts = launch_parts(p, IMPLICIT_MOST_STREAMS);
    TRY(memory_calloc((size_t)parts, sizeof(implicit_state), "conv2d", state));
    implicit_state *made = *state;
    for (int j = 0; j < parts; j++) {
        launch_part part;
        double cycles = 0;
        launch_take_part(&part, p, NULL, IMPLICIT_MOST_STREAMS, j);
        made[j].tile = choose(&made[j].args, &part.problem, tiles, &cycles);
    }
    return BRAID_OK;
}

void conv2d_implicit_gemm_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

/* Pixels that no tap reaches and that are added to in place are there already. Their segments are the last ones. */
static void drop_idle(struct conv2d_implicit_gemm_args *args) {
    while (args->segments > 0) {
        const struct implicit_segment *last = &args->segment[args->segments - 1];
        const struct implicit_plane *plane = &args->plane[last->plane];
        if (steps_of(args, last) > 0 || plane->epilogue.added != plane->out) return;
        args->tiles = last->first_tile;
        args->segments--;
    }
}

static int64_t parts_of(const struct implicit_plane *plane) { return plane->blocks / plane->lane_tiles; }

/* Where the sums of a plane begin among those of all; of the plane behind the last: how many there are. */
static int64_t sums_before(const struct conv2d_implicit_gemm_args *args, int plane) {
    int64_t sums = 0;
    for (int i = 0; i < plane; i++) sums += parts_of(&args->plane[i]) * args->plane[i].lanes;
    return sums;
}

/* The same of counters. */
static int64_t counters_before(const struct conv2d_implicit_gemm_args *args, int plane) {
    int64_t counters = 0;
    for (int i = 0; i < plane; i++)
        counters +=
            launch_tiles(args->plane[i].lanes, ROW_PARTS_CHANNELS) * ROW_PARTS_COUNTERS(parts_of(&args->plane[i]));
    return counters;
}

/* Where sums go. */
static braid_status fill_sums(struct conv2d_implicit_gemm_args *args, device *d, const implicit_beside *beside) {
    uint32_t *counters = cuda_counters(d, counters_before(args, args->planes) + 1);
    if (!counters) return fail(BRAID_ERROR_ARGUMENT, "conv2d: %s", launch_too_large);
    args->finished = counters + counters_before(args, args->planes);
    if (beside->norm) args->of_bn_stats.norm = *beside->norm;
    for (int i = 0; i < args->planes; i++) {
        struct implicit_plane *plane = &args->plane[i];
        plane->counters = counters + counters_before(args, i);
        if (beside->sums) {
            plane->sums = bn_reduce_plane_of(beside->sums, i);
            plane->parts = (struct bn_gradients *)beside->workspace + sums_before(args, i);
        } else {
            plane->parts = (struct bn_moments *)beside->workspace + sums_before(args, i);
            args->finishers += (int32_t)launch_tiles(plane->lanes, ROW_PARTS_CHANNELS);
        }
    }
    return BRAID_OK;
}

/* The blocks of a launch. */
static int64_t blocks_of(const struct conv2d_implicit_gemm_args *args, const implicit_tile *tile) {
    int64_t blocks = 0;
    if (!tile->sums) return args->tiles < LAUNCH_PROCESSORS ? args->tiles : LAUNCH_PROCESSORS;
    for (int i = 0; i < args->planes; i++) blocks += args->plane[i].blocks;
    return blocks;
}

static size_t shared_bytes(const implicit_tile *tile) {
    if (tile->sums == IMPLICIT_SUMS_BY_R) return (size_t)IMPLICIT_SUMS_BYTES(tile->columns, 0);
    if (tile->sums == IMPLICIT_SUMS_BY_X) return (size_t)IMPLICIT_SUMS_BYTES(tile->columns, 1);
    return (size_t)IMPLICIT_SHARED_BYTES(tile->columns, tile->split);
}

static braid_status bind(implicit_state *made, const braid_problem *p, device *d, const buffers *b, const buffers *sums,
                         int i) {
    const int pixels = IMPLICIT_PIXELS(made->tile->columns, made->tile->split);
    struct implicit_plane *plane = &made->args.plane[i];
    plane->out = b->plane[is_forward(p) ? CONV2D_Y : CONV2D_X][i];
    plane->epilogue = conv2d_epilogue(p, b, i);
    plane->mask = b->plane[CONV2D_MASK][i];
    TRY(make_maps(made, p, d, b, i, pixels));
    return make_read_maps(made, p, d, sums, i, pixels);
}

static braid_status launch_once(const braid_problem *p, device *d, implicit_state *made, const buffers *b,
                                const implicit_beside *beside, const implicit_tiles *tiles) {
    for (int i = 0; i < p->streams; i++) TRY(bind(made, p, d, b, beside ? beside->sums : NULL, i));
    struct conv2d_implicit_gemm_args args = made->args;
    if (beside) TRY(fill_sums(&args, d, beside));
    drop_idle(&args);
    return cuda_launch(d, &(cuda_call){.stem = tiles->stem,
                                       .function = launch_function(made->tile->entry, p->dtype),
                                       .blocks = blocks_of(&args, made->tile),
                                       .threads = IMPLICIT_THREADS,
                                       .shared_bytes = shared_bytes(made->tile),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

braid_status conv2d_implicit_gemm_launch(const braid_problem *p, device *d, void *state, const buffers *b,
                                         const implicit_tiles *tiles) {
    implicit_state *made = state;
    int parts = p->batch > 0 ? launch_parts(p, IMPLICIT_MOST_STREAMS) : 0;
    for (int j = 0; j < parts; j++) {
        launch_part part;
        launch_take_part(&part, p, b, IMPLICIT_MOST_STREAMS, j);
        TRY(launch_once(&part.problem, d, &made[j], &part.memory, NULL, tiles));
    }
    return BRAID_OK;
}

const char *conv2d_implicit_gemm_refuses_sums(const braid_problem *p, const device *d, implicit_sums sums) {
    const int reads = sums == IMPLICIT_SUMS_BY_X ? 2 : sums == IMPLICIT_SUMS_BY_R;
    if (p->add && sums == IMPLICIT_SUMS_BY_R) return "adds to what x gets from elsewhere if it reads the ReLU off x";
    if (p->bias) return "a bias is left to other kernels";
    if (!is_forward(p) && (p->stride[0] != 1 || p->stride[1] != 1)) return "only stride 1";
    if (p->streams > IMPLICIT_MOST_STREAMS || p->streams * (IMPLICIT_READ + reads + p->add) > IMPLICIT_MOST_MAPS)
        return "too many streams for one launch";
    const char *reason = bn_reduce_refuse_empty(p);
    return reason ? reason : conv2d_implicit_gemm_refuses(p, d);
}

braid_status conv2d_implicit_gemm_create_sums(const braid_problem *p, const implicit_tiles *tiles, void **state,
                                              size_t *bytes) {
    TRY(conv2d_implicit_gemm_create(p, tiles, state));
    const struct conv2d_implicit_gemm_args *args = &((const implicit_state *)*state)->args;
    const size_t each = tiles->list->sums == IMPLICIT_MOMENTS ? sizeof(struct bn_moments) : sizeof(struct bn_gradients);
    return size_array((size_t)sums_before(args, args->planes), each, "partial sums", bytes);
}

braid_status conv2d_implicit_gemm_launch_sums(const braid_problem *p, device *d, void *state, const buffers *b,
                                              const implicit_beside *beside, const implicit_tiles *tiles) {
    return launch_once(p, d, state, b, beside, tiles);
}
