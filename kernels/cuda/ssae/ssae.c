/*
 * ssae on CUDA: the whole network in one launch, all matrices in the shared memory of every block. A block that is done
 * with its samples takes the next ones, so that the matrices are read once by each of those that run side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ssae/ssae.h"

#include "kernels/cuda/launch/launch.h"

#define BLOCKS_TOGETHER 2 /* of a multiprocessor */

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    if (p->in_channels[0] == SSAE_MELS && p->segments == SSAE_FRAMES && p->out_channels[0] == SSAE_SLICE &&
        p->integrated_out == SSAE_LATENT)
        return NULL;
    return "only 5 slices of 64 numbers, encoded to 64, and a basis of 32 (seg5:c64:k64:zo32)";
}

/* By bench/results/h200/2026-11-16_ssae.txt. */
static double cost(const braid_problem *p, const machine *on) { return (void)on, 9e-6 + 5e-9 * (double)p->batch; }

static struct ssae_args arguments(const braid_problem *p, const buffers *b) {
    return (struct ssae_args){
        .x = b->plane[SSAE_X][0],
        .y = b->plane[SSAE_Y][0],
        .slice_gamma = b->plane[SSAE_SLICE_GAMMA][0],
        .slice_beta = b->plane[SSAE_SLICE_BETA][0],
        .encoder = b->plane[SSAE_ENCODER][0],
        .encoder_bias = b->plane[SSAE_ENCODER_BIAS][0],
        .basis = b->plane[SSAE_BASIS][0],
        .latent_gamma = b->plane[SSAE_LATENT_GAMMA][0],
        .latent_beta = b->plane[SSAE_LATENT_BETA][0],
        .mixer = b->plane[SSAE_MIXER][0],
        .mixer_bias = b->plane[SSAE_MIXER_BIAS][0],
        .decoder = b->plane[SSAE_DECODER][0],
        .decoder_bias = b->plane[SSAE_DECODER_BIAS][0],
        .batch = p->batch,
        .eps = (float)p->eps,
        .basis_eps = (float)SSAE_BASIS_EPS,
    };
}

/* Every operand is read in packs of four numbers. */
static int is_aligned(const buffers *b) {
    for (int slot = SSAE_X; slot <= SSAE_Y; slot++) {
        if ((uintptr_t)b->plane[slot][0] % 16) return 0;
    }
    return 1;
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names few_names = {"ssae_few_f32", "ssae_few_f16", "ssae_few_bf16"},
                              many_names = {"ssae_many_f32", "ssae_many_f16", "ssae_many_bf16"};
    const int64_t most = (int64_t)cuda_processors(d) * BLOCKS_TOGETHER;
    const int few = p->batch <= most * SSAE_FEW || !(d->features & FEATURE_SM90A); /* older ones have less memory */
    const int64_t blocks = launch_tiles(p->batch, few ? SSAE_FEW : SSAE_MANY);
    struct ssae_args args = arguments(p, b);
    (void)state;
    if (!is_aligned(b)) return fail(BRAID_ERROR_ARGUMENT, "ssae: expected operands at multiples of 16 bytes");
    return cuda_launch(d, &(cuda_call){.stem = "ssae",
                                       .function = launch_name(few ? &few_names : &many_names, p->dtype),
                                       .blocks = blocks < most ? blocks : most,
                                       .threads = SSAE_THREADS,
                                       .shared_bytes = few ? SSAE_SHARED(SSAE_FEW) : SSAE_SHARED(SSAE_MANY),
                                       .args = &args,
                                       .args_bytes = sizeof args});
}

const kernel_functions ssae__cuda_resident = {.supports = supports, .cost = cost, .launch = launch};
