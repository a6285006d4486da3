/*
 * From an integrate problem to the argument of its kernels on panels.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/integrate_panels_launch.h"
#include "kernels/cuda/weight_sum_launch.h"

#define WEIGHT_BLOCKS 264    /* of a weight gradient: by the problem alone, so that the parts are the same everywhere */
#define PART_LEAST 256       /* pixels that are worth a part of their own */
#define SHARED_OF_ALL 233472 /* bytes of a multiprocessor, for all of its blocks */
#define SHARED_KEPT 1024     /* of a block, by the system */
#define PIXEL_BYTES (INTEGRATE_ROWS * PANEL_ROW_BYTES)

static int64_t panels_of(int64_t channels) { return launch_tiles(channels, PANEL_COLUMNS); }

static int64_t pixels_of(const braid_problem *p) {
    return p->batch * integrate_out_size(p, 0) * integrate_out_size(p, 1);
}

/* ---- What is supported ---------------------------------------------------------------------------- */

static const char *refuses_channels(const braid_problem *p) {
    int64_t all = p->integrated_in | p->integrated_out, widest = p->integrated_in;
    if (widest < p->integrated_out) widest = p->integrated_out;
    for (int i = 0; i < p->streams; i++) {
        all |= p->in_channels[i] | p->in_pitch[i];
        if (widest < p->in_pitch[i]) widest = p->in_pitch[i];
    }
    if (all % 8) return "channels and pitches must be multiples of 8";
    return widest > 65536 ? "more than 65536 channels" : NULL;
}

const char *integrate_panels_refuses(const braid_problem *p, const device *d) {
    (void)d;
    double in_pixels = (double)p->batch * (double)p->size[0] * (double)p->size[1];
    if (in_pixels >= (double)LAUNCH_MAX_LENGTH) return "2^30 pixels or more";
    if (p->stride[0] >= LAUNCH_MAX_LENGTH || p->stride[1] >= LAUNCH_MAX_LENGTH) return "a stride of 2^30 or more";
    if (p->pass == BRAID_PASS_BWD_WEIGHT && p->bias) return "the gradient of a bias";
    const char *reason = refuses_channels(p);
    if (reason) return reason;
    return (double)pixels_of(p) * (double)(p->streams + 1) * 8 >= (double)CUDA_MAX_BLOCKS ? launch_too_large : NULL;
}

double integrate_panels_cost(const braid_problem *p, const integrate_way *way) {
    const double launch_s = p->pass == BRAID_PASS_BWD_WEIGHT ? 6e-6 : 3e-6;
    double arithmetic = op_of(p)->flops(p) / way->flops, memory = op_bytes(p) / way->bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}

/* ---- The argument --------------------------------------------------------------------------------- */

static void fill_sources(struct integrate_panels_args *args, const braid_problem *p, const buffers *b) {
    if (p->integrated_in > 0) {
        args->source[args->sources++] = (struct integrate_panels_source){
            .x = b ? b->plane[INTEGRATE_Z][0] : NULL,
            .weights = b ? b->plane[INTEGRATE_W][0] : NULL,
            .pitch = p->integrated_in,
            .channels = (int32_t)p->integrated_in,
            .lanes = (int32_t)p->integrated_in,
            .is_pathway = 1,
        };
    }
    for (int i = 0; i < p->streams; i++) {
        args->source[args->sources++] = (struct integrate_panels_source){
            .x = b ? b->plane[INTEGRATE_R][i] : NULL,
            .weights = b ? b->plane[INTEGRATE_V][i] : NULL,
            .mask = b ? b->plane[INTEGRATE_MASK][i] : NULL,
            .pitch = p->in_pitch[i],
            .channels = (int32_t)p->in_channels[i],
            .lanes = (int32_t)p->in_pitch[i],
        };
    }
}

static void fill(struct integrate_panels_args *args, const braid_problem *p, const buffers *b) {
    memset(args, 0, sizeof *args);
    fill_sources(args, p, b);
    args->pixels = (int32_t)pixels_of(p);
    args->outputs = (int32_t)p->integrated_out;
    for (int axis = 0; axis < 2; axis++) {
        args->out_size[axis] = (int32_t)integrate_out_size(p, axis);
        args->size[axis] = (int32_t)p->size[axis];
        args->stride[axis] = (int32_t)p->stride[axis];
    }
    args->needs_places = p->mask || (p->integrated_in > 0 && (p->stride[0] > 1 || p->stride[1] > 1));
    if (!b) return;
    args->y = b->plane[INTEGRATE_Y][0];
    args->bias = b->plane[INTEGRATE_BIAS][0];
    args->workspace = b->workspace;
}

/* ---- fwd and bwd_data ------------------------------------------------------------------------------ */

/* Cuts into tiles of `columns` columns. Says which function does it, and how much shared memory a block has. */
static const integrate_function *cut_forward(struct integrate_panels_args *args, int columns, const integrate_way *way,
                                             size_t *shared) {
    const integrate_function *streaming = columns > 64 ? &way->wide : &way->narrow;
    const integrate_function *staying = columns > 64 && way->if_staying ? way->if_staying : streaming;
    size_t weights = (size_t)columns * PANEL_ROW_BYTES;
    for (int i = 0; i < args->sources; i++) args->steps += (int32_t)panels_of(args->source[i].channels);
    args->columns = (int32_t)launch_tiles(args->outputs, columns);
    args->tiles = (int32_t)launch_tiles(args->pixels, INTEGRATE_ROWS) * args->columns;
    *shared = (size_t)args->steps * weights + (size_t)staying->stages * PIXEL_BYTES;
    args->stays = args->columns == 1 && *shared <= way->shared_bytes;
    if (args->stays) return staying;
    *shared = (size_t)streaming->stages * (PIXEL_BYTES + weights);
    return streaming;
}

static const integrate_function *cut_backward(struct integrate_panels_args *args, int columns, const integrate_way *way,
                                              size_t *shared) {
    const integrate_function *function = columns > 64 ? &way->wide : &way->narrow;
    size_t weights = (size_t)columns * PANEL_ROW_BYTES, panels = (size_t)panels_of(args->outputs);
    for (int i = 0; i < args->sources; i++) {
        args->source[i].first_column = args->columns;
        args->columns += (int32_t)launch_tiles(args->source[i].lanes, columns);
    }
    *shared = panels * ((size_t)args->columns * weights + (size_t)function->stages * PIXEL_BYTES);
    args->stays = *shared <= way->shared_bytes;
    if (!args->stays) *shared = (size_t)function->stages * (PIXEL_BYTES + weights);
    args->steps = args->stays ? 1 : (int32_t)panels;
    args->tiles = (int32_t)launch_tiles(args->pixels, INTEGRATE_ROWS) * (args->stays ? 1 : args->columns);
    return function;
}

braid_status integrate_panels_launch(const braid_problem *p, device *d, const buffers *b, const integrate_way *way) {
    struct integrate_panels_args args;
    int is_forward = p->pass == BRAID_PASS_FWD, is_wide = 0;
    size_t shared = 0;
    fill(&args, p, b);
    for (int i = 0; i < args.sources; i++) is_wide = is_wide || args.source[i].lanes > 64;
    if (is_forward) is_wide = args.outputs > 64;
    const integrate_function *function =
        (is_forward ? cut_forward : cut_backward)(&args, is_wide ? 128 : 64, way, &shared);
    int64_t blocks = cuda_processors(d) * (2 * (shared + SHARED_KEPT) <= SHARED_OF_ALL ? 2 : 1);
    return cuda_launch(d, &(cuda_call){.stem = way->stem,
                                       .function = launch_name(&function->names, p->dtype),
                                       .blocks = blocks < args.tiles ? blocks : args.tiles,
                                       .threads = INTEGRATE_THREADS,
                                       .shared_bytes = shared,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

/* ---- bwd_weight ------------------------------------------------------------------------------------ */

/* The tiles of one part. */
static void cut_weights(struct integrate_panels_args *args) {
    int is_wide = args->outputs > 64;
    int64_t panels = 0, most = launch_tiles(args->pixels, PART_LEAST);
    for (int i = 0; i < args->sources; i++) {
        args->source[i].first_column = (int32_t)panels;
        args->source[i].partial = args->part_elements;
        panels += panels_of(args->source[i].channels);
        args->part_elements += (int64_t)args->outputs * args->source[i].channels;
    }
    args->row_tiles = (int32_t)launch_tiles(args->outputs, is_wide ? 128 : 64);
    args->columns = (int32_t)launch_tiles(panels, is_wide ? 2 : 4);
    args->tiles = args->row_tiles * args->columns;
    int64_t parts = args->tiles > 0 ? WEIGHT_BLOCKS / args->tiles : 1;
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
    args->part_pixels = (int32_t)(launch_tiles(launch_tiles(args->pixels, parts), 64) * 64);
    args->parts = args->part_pixels > 0 ? (int32_t)launch_tiles(args->pixels, args->part_pixels) : 0;
}

braid_status integrate_panels_workspace(const braid_problem *p, size_t *bytes) {
    struct integrate_panels_args args;
    size_t elements = 0;
    fill(&args, p, NULL);
    cut_weights(&args);
    TRY(size_array((size_t)args.part_elements, (size_t)args.parts, "partial weight gradients", &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", bytes);
}

static braid_status sum_parts(const struct integrate_panels_args *first, device *d, braid_dtype dtype) {
    struct weight_sum_args args;
    memset(&args, 0, sizeof args);
    args.planes = first->sources;
    args.parts = first->parts;
    args.workspace = first->workspace;
    args.part_elements = first->part_elements;
    for (int i = 0; i < first->sources; i++) {
        const struct integrate_panels_source *from = &first->source[i];
        args.plane[i] = (struct weight_sum_plane){.w = from->weights,
                                                  .partial = from->partial,
                                                  .elements = (int64_t)first->outputs * from->channels,
                                                  .columns = from->channels};
    }
    return weight_sum_launch(&args, d, dtype);
}

braid_status integrate_panels_launch_weights(const braid_problem *p, device *d, const buffers *b,
                                             const integrate_way *way) {
    struct integrate_panels_args args;
    fill(&args, p, b);
    cut_weights(&args);
    int is_wide = args.outputs > 64;
    const integrate_function *function = is_wide ? &way->wide : &way->narrow;
    size_t panels = is_wide ? 4 : 5; /* of a stage */
    TRY(cuda_launch(d, &(cuda_call){.stem = way->stem,
                                    .function = launch_name(&function->names, p->dtype),
                                    .blocks = (int64_t)args.tiles * args.parts,
                                    .threads = INTEGRATE_THREADS,
                                    .shared_bytes = (size_t)function->stages * panels * PANEL_SQUARE_BYTES,
                                    .args = &args,
                                    .args_bytes = sizeof args}));
    return sum_parts(&args, d, p->dtype);
}

_Static_assert(BRAID_MAX_STREAMS + 1 <= BRAID_MAX_PLANES, "there is a source for every stream and the pathway");
