/*
 * clip_norm on CUDA: sums of parts of the arena, and by the last block what follows from all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/update/update.h"
#include "kernels/cuda/update/update_launch.h"

#define MOST_BLOCKS 1024
#define ALONE_ELEMENTS 65536 /* that one block adds faster than several that wait for each other */

static int is_alone(const braid_problem *p) { return p->in_channels[0] <= ALONE_ELEMENTS && p->integrated_in == 0; }

static int64_t choose_blocks(const braid_problem *p) {
    if (is_alone(p)) return 1;
    int64_t blocks = launch_tiles(p->in_channels[0], 4 * UPDATE_PACKS * BLOCK_THREADS);
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return size_array((size_t)choose_blocks(p), sizeof(double), "partial sums", workspace_bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names with_halves = {"clip_norm_f32", "clip_norm_f16", "clip_norm_bf16"};
    const void *const addresses[] = {b->plane[CLIP_NORM_G][0], b->plane[CLIP_NORM_H][0], b->plane[CLIP_NORM_Y][0]};
    const struct clip_norm_args args = {
        .g = b->plane[CLIP_NORM_G][0],
        .h = b->plane[CLIP_NORM_H][0],
        .y = b->plane[CLIP_NORM_Y][0],
        .loss = b->plane[CLIP_NORM_LOSS][0],
        .loss_scale = b->plane[CLIP_NORM_LOSS_SCALE][0],
        .scaling = b->plane[CLIP_NORM_SCALING][0],
        .norm = b->plane[CLIP_NORM_NORM][0],
        .scale = b->plane[CLIP_NORM_SCALE][0],
        .step = b->plane[CLIP_NORM_STEP][0],
        .workspace = b->workspace,
        .counters = cuda_counters(d, 1),
        .limit = p->limit,
        .count = p->in_channels[0] - p->integrated_in,
        .halves = p->integrated_in,
        .blocks = choose_blocks(p),
        .vector = update_is_aligned(addresses, p->integrated_in ? 3 : 1),
    };
    cuda_call call = {.stem = "clip_norm", .threads = BLOCK_THREADS, .args = &args, .args_bytes = sizeof args};
    (void)state;
    if (is_alone(p)) {
        call.function = "clip_norm_alone";
        call.blocks = 1;
        call.threads = CLIP_NORM_ALONE_THREADS;
        return cuda_launch(d, &call);
    }
    call.function = p->integrated_in ? launch_name(&with_halves, p->dtype) : "clip_norm";
    call.blocks = args.blocks;
    return cuda_launch(d, &call);
}

static const char *supports(const braid_problem *p, const device *d) {
    (void)p;
    (void)d;
    return NULL;
}

const kernel_functions clip_norm__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
