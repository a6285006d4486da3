/*
 * From an integrate problem to the argument of its kernels on panels.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/integrate/integrate_panels_launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"

#define PART_LEAST 256 /* pixels that are worth a part of their own */

int32_t integrate_panels_of(int64_t channels) { return (int32_t)launch_tiles(channels, PANEL_COLUMNS); }

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

double integrate_panels_cost(const braid_problem *p, double flops_per_s, double bytes_per_s) {
    const double launch_s = p->pass == BRAID_PASS_BWD_WEIGHT ? 6e-6 : 3e-6;
    double arithmetic = op_of(p)->flops(p) / flops_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}

/* ---- The argument --------------------------------------------------------------------------------- */

static void fill_sources(struct integrate_panels_args *args, const braid_problem *p, const buffers *b) {
    if (p->integrated_in > 0) {
        args->source[args->sources++] = (struct integrate_panels_source){
            .x = b ? b->plane[INTEGRATE_Z][0] : NULL,
            .weights = b ? b->plane[INTEGRATE_W][0] : NULL,
            .add = b ? b->plane[INTEGRATE_AZ][0] : NULL,
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
            .add = b ? b->plane[INTEGRATE_A][i] : NULL,
            .mask = b ? b->plane[INTEGRATE_MASK][i] : NULL,
            .pitch = p->in_pitch[i],
            .channels = (int32_t)p->in_channels[i],
            .lanes = (int32_t)p->in_pitch[i],
        };
    }
}

void integrate_panels_fill(struct integrate_panels_args *args, const braid_problem *p, const buffers *b) {
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

/* ---- bwd_weight ------------------------------------------------------------------------------------ */

void integrate_panels_cut_weights(struct integrate_panels_args *args, int rows, int panels, int blocks) {
    int64_t all_panels = 0, most = launch_tiles(args->pixels, PART_LEAST);
    for (int i = 0; i < args->sources; i++) {
        args->source[i].first_column = (int32_t)all_panels;
        args->source[i].partial = args->part_elements;
        all_panels += integrate_panels_of(args->source[i].channels);
        args->part_elements += (int64_t)args->outputs * args->source[i].channels;
    }
    args->row_tiles = (int32_t)launch_tiles(args->outputs, rows);
    args->columns = (int32_t)launch_tiles(all_panels, panels);
    args->tiles = args->row_tiles * args->columns;
    int64_t parts = args->tiles > 0 ? blocks / args->tiles : 1;
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
    args->part_pixels = (int32_t)(launch_tiles(launch_tiles(args->pixels, parts), 64) * 64);
    args->parts = args->part_pixels > 0 ? (int32_t)launch_tiles(args->pixels, args->part_pixels) : 0;
}

braid_status integrate_panels_workspace(const struct integrate_panels_args *args, size_t *bytes) {
    size_t elements = 0;
    TRY(size_array((size_t)args->part_elements, (size_t)args->parts, "partial weight gradients", &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", bytes);
}

int integrate_panels_sums(const struct integrate_panels_args *args, braid_dtype dtype, void *to) {
    struct weight_sum_plane *planes = to;
    for (int i = 0; i < args->sources && to; i++) {
        const struct integrate_panels_source *source = &args->source[i];
        planes[i] = (struct weight_sum_plane){.from = args->workspace + source->partial,
                                              .w = source->weights,
                                              .dtype = (int32_t)dtype,
                                              .as.rows = {.step = args->part_elements,
                                                          .elements = (int64_t)args->outputs * source->channels,
                                                          .columns = source->channels,
                                                          .parts = args->parts}};
    }
    if (to) weight_sum_cut_rows(planes, args->sources);
    return args->sources;
}

_Static_assert(BRAID_MAX_STREAMS + 1 <= BRAID_MAX_PLANES, "there is a source for every stream and the pathway");
