/*
 * The launch of the optimisers: all parameters at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/update/update.h"

#include <math.h>

#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/update/update_launch.h"

#define ENOUGH_BLOCKS 264 /* few parameters are spread over so many */

/* Packs of a thread. */
static int64_t choose_packs(const braid_problem *p) {
    int64_t packs = launch_tiles(p->in_channels[0], (int64_t)4 * BLOCK_THREADS * ENOUGH_BLOCKS);
    return packs < 1 ? 1 : packs < UPDATE_PACKS ? packs : UPDATE_PACKS;
}

static int64_t count_blocks(const braid_problem *p) {
    return launch_tiles(p->in_channels[0], 4 * choose_packs(p) * BLOCK_THREADS);
}

int update_is_aligned(const void *const *addresses, int count) {
    for (int j = 0; j < count; j++) {
        if ((uintptr_t)addresses[j] % 16) return 0;
    }
    return 1;
}

const char *update_refuses(const braid_problem *p, const device *d) {
    (void)d;
    return count_blocks(p) > CUDA_MAX_BLOCKS ? launch_too_large : NULL;
}

braid_status update_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const void *const addresses[] = {b->plane[UPDATE_W][0], b->plane[UPDATE_G][0], b->plane[UPDATE_M][0],
                                     b->plane[UPDATE_V][0], b->plane[UPDATE_HALF][0]};
    const struct update_args args = {
        .w = b->plane[UPDATE_W][0],
        .g = b->plane[UPDATE_G][0],
        .m = b->plane[UPDATE_M][0],
        .v = b->plane[UPDATE_V][0],
        .half = b->plane[UPDATE_HALF][0],
        .segments = b->plane[UPDATE_SEGMENTS][0],
        .hyper = b->plane[UPDATE_HYPER][0],
        .step = b->plane[UPDATE_STEP][0],
        .scale = b->plane[UPDATE_SCALE][0],
        .count = p->in_channels[0],
        .segment_count = p->segments,
        .beta_mean = p->beta_mean,
        .beta_square = p->beta_square,
        .log_mean = log(p->beta_mean),
        .log_square = log(p->beta_square),
        .packs = choose_packs(p),
        .momentum = (float)p->momentum,
        .alpha = (float)p->alpha,
        .eps = (float)p->eps,
        .nesterov = p->nesterov,
        .half_dtype = (int32_t)p->dtype,
        .vector = update_is_aligned(addresses, sizeof addresses / sizeof addresses[0]),
    };
    (void)state;
    return cuda_launch(d, &(cuda_call){.stem = "update",
                                       .function = op_of(p)->name,
                                       .blocks = count_blocks(p),
                                       .threads = BLOCK_THREADS,
                                       .args = &args,
                                       .args_bytes = sizeof args});
}
