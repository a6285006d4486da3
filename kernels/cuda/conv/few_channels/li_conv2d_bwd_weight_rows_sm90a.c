/*
 * li_conv2d weight gradient for few input channels on Hopper's matrix units, the first layer of a network: the sums of
 * parts of the pixels, and in a second launch their totals and the small product of li_conv2d_rows.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/conv/few_channels/conv2d_rows_launch.h"
#include "kernels/cuda/conv/few_channels/li_conv2d_rows.h"

#define MOST_TAPS 152

static const char *supports(const braid_problem *p, const device *d) {
    if (p->integrated_in > 0) return "only without an integrated input";
    if (p->integrated_out < 1 || p->integrated_out > ROWS_FILTERS || p->integrated_out % 8)
        return "only multiples of 8 integrated channels, up to 64";
    if (p->streams > LI_ROWS_STREAMS) return "only up to 4 streams";
    for (int i = 0; i < p->streams; i++) {
        if (p->out_channels[i] > ROWS_FILTERS) return "only up to 64 output channels";
        if (p->filter[0] > MOST_TAPS || p->filter[1] > MOST_TAPS ||
            p->filter[0] * p->filter[1] * p->in_channels[i] > MOST_TAPS)
            return "only filters of up to 152 taps and channels";
    }
    return conv2d_rows_refuses(p, d);
}

/* The argument without pointers and maps. A part holds G, H and dv of each stream. */
static void fill(struct li_conv2d_rows_args *args, const braid_problem *p) {
    int64_t at = 0;
    memset(args, 0, sizeof *args);
    (void)conv2d_rows_fill(&args->rows, p);
    args->integrated = (int32_t)p->integrated_out;
    for (int i = 0; i < p->streams; i++) {
        struct conv2d_rows_plane *plane = &args->rows.plane[i];
        plane->partial = at;
        args->mixed[i] = plane->partial + (int64_t)plane->filters * plane->taps;
        args->mix[i] = args->mixed[i] + p->integrated_out * plane->taps;
        at = args->mix[i] + p->integrated_out * plane->filters;
    }
    args->rows.part_elements = at;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct li_conv2d_rows_args args;
    size_t elements;
    (void)d;
    *state = NULL;
    fill(&args, p);
    TRY(size_array((size_t)args.rows.part_elements, (size_t)conv2d_rows_parts(&args.rows), "partial gradients",
                   &elements));
    return size_array(elements, sizeof(float), "partial gradients", workspace_bytes);
}

static double cost(const braid_problem *p, const machine *on) { return conv2d_rows_cost(p, on); }

/* dw = G + v^T H, and dv. */
static braid_status add_parts(const struct li_conv2d_rows_args *args, const braid_problem *p, device *d,
                              const buffers *b) {
    static const launch_names names = {NULL, "li_conv2d_mix_f16", "li_conv2d_mix_bf16"};
    const struct conv2d_rows_args *rows = &args->rows;
    struct li_conv2d_mix_args mix;
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    memset(&mix, 0, sizeof mix);
    mix.workspace = rows->workspace;
    mix.part_elements = rows->part_elements;
    mix.planes = p->streams;
    mix.integrated = args->integrated;
    mix.parts = conv2d_rows_parts(rows);
    for (int i = 0; i < p->streams; i++) {
        mix.plane[i] = (struct li_conv2d_mix_plane){.v = b->plane[LI_CONV2D_V][i],
                                                    .dw = b->plane[LI_CONV2D_W][i],
                                                    .dv = b->plane[LI_CONV2D_DV][i],
                                                    .gradient = rows->plane[i].partial,
                                                    .mixed = args->mixed[i],
                                                    .mix = args->mix[i],
                                                    .filters = rows->plane[i].filters,
                                                    .taps = rows->plane[i].taps};
        blocks[i] = launch_tiles(mix.plane[i].taps, LI_MIX_TAPS) +
                    launch_tiles((int64_t)mix.integrated * mix.plane[i].filters, LI_MIX_THREADS);
    }
    (void)launch_schedule(mix.first_block, blocks, p->streams); /* few: 64 filters of 152 taps at most */
    return cuda_launch(d, &(cuda_call){.stem = "li_conv2d_bwd_weight_mix",
                                       .function = launch_name(&names, p->dtype),
                                       .blocks = mix.first_block[BRAID_MAX_PLANES],
                                       .threads = LI_MIX_THREADS,
                                       .args = &mix,
                                       .args_bytes = sizeof mix});
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {NULL, "li_conv2d_bwd_weight_rows_f16", "li_conv2d_bwd_weight_rows_bf16"};
    struct li_conv2d_rows_args args;
    (void)state;
    fill(&args, p);
    TRY(conv2d_rows_bind(&args.rows, p, d, b, LI_CONV2D_DY));
    TRY(conv2d_rows_map(&args.zy, p, d, b->plane[LI_CONV2D_ZY][0], p->integrated_out, p->integrated_out));
    for (int i = 0; i < p->streams; i++)
        TRY(conv2d_rows_map(&args.r[i], p, d, b->plane[LI_CONV2D_R][i], p->out_channels[i], p->out_pitch[i]));
    TRY(cuda_launch(d, &(cuda_call){.stem = "li_conv2d_bwd_weight_rows_sm90a",
                                    .function = launch_name(&names, p->dtype),
                                    .blocks = args.rows.first_block[BRAID_MAX_PLANES],
                                    .threads = LI_ROWS_THREADS,
                                    .shared_bytes = (size_t)conv2d_rows_shared(&args.rows, p),
                                    .args = &args,
                                    .args_bytes = sizeof args}));
    return add_parts(&args, p, d, b);
}

const kernel_functions li_conv2d_bwd_weight__cuda_rows_wgmma = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
