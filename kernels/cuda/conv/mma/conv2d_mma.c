/*
 * From a convolution to the launch of its kernel on sm_80's tensor cores. How the work is cut depends on the problem
 * alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/conv/mma/conv2d_mma_launch.h"
#include "kernels/cuda/conv/mma/mma_tile.h"

#define WEIGHT_BLOCKS \
    (2 * LAUNCH_PROCESSORS) /* blocks of a weight gradient that are worth a further cut of the pixels */

/* Input pixels of one class of bwd_data along an axis: those with a remainder by the stride. */
static int64_t class_size(const braid_problem *p, int axis, int64_t remainder) {
    return remainder >= p->size[axis] ? 0 : launch_tiles(p->size[axis] - remainder, p->stride[axis]);
}

/* The blocks of one plane, all groups; for bwd_weight of one part. */
static int64_t plane_blocks(const braid_problem *p, int i) {
    int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups, tiles = 0;
    int64_t in_lanes = channels + p->in_pitch[i] - p->in_channels[i],
            out_lanes = filters + p->out_pitch[i] - p->out_channels[i];
    if (p->pass == BRAID_PASS_BWD_WEIGHT)
        return p->groups * launch_tiles(filters, MMA_ROWS) *
               launch_tiles(p->filter[0] * p->filter[1] * channels + p->bias, MMA_COLUMNS);
    if (p->pass == BRAID_PASS_FWD) {
        int64_t pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
        return p->groups * launch_tiles(pixels, MMA_ROWS) * launch_tiles(out_lanes, MMA_COLUMNS);
    }
    for (int64_t r = 0; r < p->stride[0]; r++) {
        for (int64_t s = 0; s < p->stride[1]; s++)
            tiles += launch_tiles(p->batch * class_size(p, 0, r) * class_size(p, 1, s), MMA_ROWS);
    }
    return p->groups * tiles * launch_tiles(in_lanes, MMA_COLUMNS);
}

const char conv2d_mma_leaves_tf32[] = "the kernel of TF32 makes one product of what are three here";

const char *conv2d_mma_refuses(const braid_problem *p, const device *d) {
    const int wide = p->dtype == BRAID_DTYPE_F32, piece = wide ? MMA_PIECE / 2 : MMA_PIECE;
    struct conv2d_args args;
    if (p->padding_mode != BRAID_PADDING_ZEROS) return "only zero padding";
    if (p->stride[0] > MMA_MOST_STRIDE || p->stride[1] > MMA_MOST_STRIDE) return "only strides of up to 8";
    for (int i = 0; i < p->streams; i++) {
        int64_t channels = p->in_channels[i] / p->groups, filters = p->out_channels[i] / p->groups;
        if (channels < 1 || channels % piece || filters < 1 || filters % piece)
            return wide ? "only channels that are multiples of 4 in every group"
                        : "only channels that are multiples of 8 in every group";
        if ((p->pass == BRAID_PASS_FWD && filters < MMA_PIECE) ||
            (p->pass == BRAID_PASS_BWD_DATA && channels < MMA_PIECE))
            return "fewer than 8 columns, which are no work for tiles of 128";
        if (p->in_pitch[i] % piece || p->out_pitch[i] % piece)
            return wide ? "only pitches that are multiples of 4" : "only pitches that are multiples of 8";
    }
    const char *reason = conv2d_refuses(p, d);
    if (!reason && !conv2d_mma_fill(&args, p, NULL)) reason = launch_too_large;
    return reason;
}

int conv2d_mma_fill(struct conv2d_args *args, const braid_problem *p, const buffers *b) {
    int64_t blocks[BRAID_MAX_PLANES] = {0}, total = 0, parts = 1;
    int64_t pixels = p->batch * conv2d_out_size(p, 0) * conv2d_out_size(p, 1);
    conv2d_fill(args, p, b);
    for (int i = 0; i < p->streams; i++) {
        blocks[i] = plane_blocks(p, i);
        total += blocks[i] < CUDA_MAX_BLOCKS ? blocks[i] : CUDA_MAX_BLOCKS;
    }
    if (p->pass == BRAID_PASS_BWD_WEIGHT) {
        int64_t most = launch_tiles(pixels, 8 * MMA_DEPTH);
        parts = total > 0 ? launch_tiles(WEIGHT_BLOCKS, total) : 1;
        if (parts > most) parts = most;
        if (parts < 1) parts = 1;
        for (int i = 0; i < p->streams; i++) blocks[i] *= parts;
    }
    args->parts = (int32_t)parts;
    args->part_pixels = launch_tiles(launch_tiles(pixels, parts), MMA_DEPTH) * MMA_DEPTH;
    return launch_schedule(args->first_block, blocks, p->streams);
}

braid_status conv2d_mma_launch(struct conv2d_args *args, const braid_problem *p, device *d, const mma_names *names,
                               const buffers *b) {
    if (!conv2d_mma_fill(args, p, b)) return fail(BRAID_ERROR_ARGUMENT, "%s: %s", names->stem, launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = names->stem,
                                       .function = p->tf32 ? names->tf32 : launch_name(&names->by_dtype, p->dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = MMA_THREADS,
                                       .shared_bytes = p->dtype == BRAID_DTYPE_F32 ? MMA_SHARED_F32 : MMA_SHARED,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

double conv2d_mma_cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double flops_per_s = p->tf32                       ? 7e13
                               : p->dtype == BRAID_DTYPE_F32 ? 2.5e13
                                                             : 2e14,
                 bytes_per_s = 2e12, launch_s = 5e-6;
    double arithmetic = op_of(p)->flops(p) / flops_per_s, memory = op_bytes(p) / bytes_per_s;
    return launch_s + (arithmetic > memory ? arithmetic : memory);
}
