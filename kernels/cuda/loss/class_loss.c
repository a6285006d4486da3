/*
 * The launches of softmax_xent and focal: a row of logits for some lanes of a block.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/loss/class_loss.h"

#include <string.h>

#include "core/sizes.h"
#include "kernels/cuda/loss/class_loss_launch.h"
#include "kernels/cuda/tile/shape.h"

#define LANE_CLASSES 4    /* logits of a lane, where there are enough */
#define WARP_CLASSES 1024 /* most logits of a row that a warp does without others */
#define MOST_ALONE 2      /* blocks of rows that one block goes through faster than a second launch starts */

const char *class_loss_refuses(const braid_problem *p, const device *d) {
    (void)d;
    if (p->batch >= LAUNCH_MAX_LENGTH) return "the batch has 2^30 samples or more";
    return launch_refuses_channels(p);
}

braid_status class_loss_create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    (void)d;
    *state = NULL;
    return size_array((size_t)p->batch, sizeof(struct class_share), "losses of samples", workspace_bytes);
}

static void fill(struct class_loss_args *args, const braid_problem *p, const buffers *b) {
    memset(args, 0, sizeof *args);
    *args = (struct class_loss_args){
        .x = b->plane[CLASS_X][0],
        .labels = b->plane[CLASS_LABELS][0],
        .loss = b->plane[CLASS_LOSS][0],
        .correct = b->plane[CLASS_CORRECT][0],
        .dx = b->plane[CLASS_DX][0],
        .workspace = b->workspace,
        .batch = p->batch,
        .classes = p->in_channels[0],
        .pitch = p->in_pitch[0],
        .smoothing = p->smoothing,
        .alpha = p->alpha,
        .gamma = p->gamma,
        .lanes = launch_lanes(launch_tiles(p->in_channels[0], LANE_CLASSES),
                              p->in_channels[0] <= WARP_CLASSES ? 32 : BLOCK_THREADS),
        .focal = p->op == BRAID_OP_FOCAL,
    };
    if (!args->focal) args->weights = b->plane[CLASS_WEIGHTS][0]; /* focal has no such slot */
}

static braid_status run(const struct class_loss_args *args, device *d, const char *function, int64_t blocks) {
    return cuda_launch(d, &(cuda_call){.stem = "class_loss",
                                       .function = function,
                                       .blocks = blocks,
                                       .threads = BLOCK_THREADS,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

static int64_t row_blocks(const struct class_loss_args *args) {
    return launch_tiles(args->batch, BLOCK_THREADS / args->lanes);
}

braid_status class_loss_launch_fwd(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"class_loss_rows_f32", "class_loss_rows_f16", "class_loss_rows_bf16"};
    struct class_loss_args args;
    (void)state;
    fill(&args, p, b);
    args.alone = row_blocks(&args) <= MOST_ALONE;
    TRY(run(&args, d, launch_name(&names, p->dtype), args.alone ? 1 : row_blocks(&args)));
    if (args.alone) return BRAID_OK;
    return run(&args, d, "class_loss_mean", 1);
}

braid_status class_loss_launch_bwd_data(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"class_loss_gradient_f32", "class_loss_gradient_f16",
                                       "class_loss_gradient_bf16"};
    struct class_loss_args args;
    (void)state;
    fill(&args, p, b);
    return run(&args, d, launch_name(&names, p->dtype), row_blocks(&args));
}
