/*
 * bn_bwd on CUDA, all planes and both passes in one launch: the sums of all planes side by side, with the bits of
 * bn_bwd_reduce unless they activate again; then the data. (Plane by plane, so that a data pass finds in the cache what
 * its sums read, it was slower on an H200 at all sizes of LINet-18.)
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "kernels/cuda/norm/bn_bwd.h"
#include "kernels/cuda/launch/pixels_launch.h"
#include "kernels/cuda/tile/sums.h"
#include "kernels/cuda/tile/shape.h"

#define MORE_COUNTERS (2 + BRAID_MAX_PLANES)

static void fill(struct pixel_args *args, const braid_problem *p, const buffers *b) {
    pixel_args_begin(args, p);
    for (int i = 0; i < p->streams; i++) {
        struct pixel_plane *plane = &args->plane[i];
        const int summed = i - p->given, made = i - p->skip;
        plane->x = b->plane[BN_BWD_X][i];
        plane->scale = b->plane[BN_BWD_SCALE][i];
        plane->shift = b->plane[BN_BWD_SHIFT][i];
        plane->mask = b->plane[BN_BWD_MASK][i];
        plane->y = b->plane[BN_BWD_Y][i];
        plane->dy = b->plane[BN_BWD_DY][i];
        plane->center = b->plane[BN_BWD_CENTER][i];
        plane->rstd = b->plane[BN_BWD_RSTD][i];
        plane->dgamma = summed < 0 ? b->plane[BN_BWD_GIVEN_DGAMMA][i] : b->plane[BN_BWD_DGAMMA][summed];
        plane->dbeta = summed < 0 ? b->plane[BN_BWD_GIVEN_DBETA][i] : b->plane[BN_BWD_DBETA][summed];
        if (made < 0) continue;
        plane->gamma = b->plane[BN_BWD_GAMMA][made];
        plane->dx = b->plane[BN_BWD_DX][made];
        plane->dz = b->plane[BN_BWD_DZ][made];
    }
}

/* Items of a pass of a plane. Those of a data pass are as many for each part of the sums, some of them empty. */
static int64_t items_of(const struct pixel_args *args, int plane, int is_data) {
    const int32_t *first = is_data ? args->map.first_block : args->columns.first_block;
    const int64_t blocks = first[plane + 1] - first[plane];
    return is_data ? launch_tiles(blocks, args->columns.parts) * args->columns.parts : blocks;
}

static void add_run(struct bn_bwd_args *args, int plane, int is_data, int64_t first, int64_t count) {
    if (count <= 0) return;
    args->run[args->runs++] = (struct bn_bwd_run){args->items, (uint32_t)first, plane, is_data};
    args->items += (uint32_t)count;
}

/* How the items are laid out. */
typedef struct layout {
    struct bn_bwd_args *args;
    int64_t round;                 /* items that run side by side */
    int64_t passed;                /* items so far that wait for nothing */
    int plane[BRAID_MAX_PLANES];   /* whose data pass is to come, in this order ... */
    int64_t due[BRAID_MAX_PLANES]; /* ... behind so many of those items */
    int waits, served;
    int rest;          /* the plane whose data pass has begun; -1: none ... */
    int64_t rest_from; /* ... and the first of its items that are kept for later */
} layout;

static void add_rest(layout *l) {
    if (l->rest >= 0) add_run(l->args, l->rest, 1, l->rest_from, items_of(&l->args->pixels, l->rest, 1) - l->rest_from);
    l->rest = -1;
}

/* The next data pass, behind what was kept of the one before, which is done while the sums of this plane end. */
static void add_data(layout *l) {
    const int plane = l->plane[l->served++];
    const int64_t count = items_of(&l->args->pixels, plane, 1);
    add_rest(l);
    l->rest = plane;
    l->rest_from = count / 2 > l->round ? count - l->round : count - count / 2;
    add_run(l->args, plane, 1, 0, l->rest_from);
}

/* A pass that waits for nothing, and what is due inside it. */
static void add_free(layout *l, int plane, int is_data) {
    const int64_t count = items_of(&l->args->pixels, plane, is_data);
    int64_t done = 0;
    while (l->served < l->waits && l->due[l->served] < l->passed + count) {
        const int64_t cut = l->due[l->served] > l->passed ? l->due[l->served] - l->passed : 0;
        add_run(l->args, plane, is_data, done, cut - done);
        add_data(l);
        done = cut;
    }
    add_run(l->args, plane, is_data, done, count - done);
    l->passed += count;
}

/* Lays the items out: those that wait for nothing in order, the sums of planes with a data pass first of all, and each
 * data pass `lag` of them behind its sums, done while the last of the sums end, and none before the first round. */
static void lay_items(struct bn_bwd_args *args, const braid_problem *p, int64_t lag, int64_t round) {
    const int n = p->streams, both = p->given > p->skip ? p->given : p->skip;
    layout l = {.args = args, .round = round, .rest = -1};
    for (int j = 0; j < n; j++) {
        const int plane = j < n - both ? both + j : j - (n - both);
        add_free(&l, plane, plane < p->given);
        if (plane < both) continue;
        l.plane[l.waits] = plane;
        l.due[l.waits++] = l.passed + lag > round ? l.passed + lag : round;
    }
    while (l.served < l.waits) add_data(&l);
    add_rest(&l);
}

/* Its passes one after the other, less what one launch saves behind each. That was seen where sums are given; else it
 * is as slow as both passes on an H200, or slower. */
static double cost(const braid_problem *p, const machine *on) {
    const double saved_s = p->given ? 3e-6 : -1e-6;
    op_chain chain = {0};
    double seconds = saved_s;
    if (op_of(p)->chain(p, &chain)) return launch_cost(p, on);
    for (int j = 0; j < chain.count; j++) seconds += launch_cost(&chain.steps[j].problem, on) - saved_s;
    return seconds;
}

static const char *supports(const braid_problem *p, const device *d) {
    struct pixel_args args;
    const char *reason = launch_refuses_channels(p);
    (void)d;
    if (reason) return reason;
    pixel_args_begin(&args, p);
    if (!pixels_divide_grad(&args, p)) return launch_too_large;
    return args.columns.first_block[BRAID_MAX_PLANES] + MORE_COUNTERS > CUDA_MOST_COUNTERS
               ? "there are not enough counters for so many channels"
               : NULL;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    return pixels_create_grad(p, sizeof(struct bn_gradients), state, workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names plain = {"bn_bwd_f32", "bn_bwd_f16", "bn_bwd_bf16"},
                              act = {"bn_bwd_act_f32", "bn_bwd_act_f16", "bn_bwd_act_bf16"},
                              curved = {"bn_bwd_curved_f32", "bn_bwd_curved_f16", "bn_bwd_curved_bf16"},
                              add_act = {"bn_bwd_add_act_f32", "bn_bwd_add_act_f16", "bn_bwd_add_act_bf16"};
    const launch_names *names = p->add                                   ? &add_act
                                : p->activation == BRAID_ACTIVATION_NONE ? &plain
                                : p->activation == BRAID_ACTIVATION_RELU ? &act
                                                                         : &curved;
    struct bn_bwd_args args;
    (void)state;
    memset(&args, 0, sizeof args);
    fill(&args.pixels, p, b);
    args.pixels.columns.workspace = b->workspace;
    if (!pixels_divide_grad(&args.pixels, p)) return fail(BRAID_ERROR_ARGUMENT, "bn_bwd: %s", launch_too_large);
    const int64_t sums = args.pixels.columns.first_block[BRAID_MAX_PLANES];
    args.pixels.counters = cuda_counters(d, sums + MORE_COUNTERS);
    if (!args.pixels.counters) return fail(BRAID_ERROR_ARGUMENT, "bn_bwd: %s", launch_too_large);
    args.taken = args.pixels.counters + sums;
    args.left = args.taken + 1;
    args.written = args.left + 1;
    args.known = (1u << p->given) - 1;
    const int64_t processors = cuda_processors(d);
    const int64_t most = processors * (bn_bwd_is_activated(p) ? BN_BWD_ACT_BLOCKS : BN_BWD_BLOCKS); /* side by side */
    lay_items(&args, p, p->streams - p->given < 2 ? processors : sums, most);
    return cuda_launch(d, &(cuda_call){.stem = "bn_bwd",
                                       .function = launch_name(names, p->dtype),
                                       .blocks = args.items < most ? args.items : most,
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions bn_bwd__cuda_direct = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = launch_destroy};
