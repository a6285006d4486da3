/*
 * conv2d_bn_stats on the matrix units of sm_90a, 3x3 at stride 1 and up to 64 input channels: one launch that makes y,
 * takes its statistics on the way and does what bn_finalize does (conv2d_fwd_resident3x3_sm90a.cu).
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"
#include "kernels/cuda/conv/conv2d_bn_stats_launch.h"
#include "kernels/cuda/launch/bn_reduce_launch.h"

static const char *supports(const braid_problem *p, const device *d) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    if (conv.streams > RESIDENT_BN_STATS_STREAMS) return "too many streams for one launch";
    if (conv.bias) return "a bias is left to other kernels";
    const char *reason = bn_reduce_refuse_empty(&conv);
    return reason ? reason : resident_rows_refuses(&conv, d);
}

/* What is added up hides behind the products of the other warpgroup. Behind the last row the parts of all blocks are
 * added. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const braid_problem conv = conv2d_bn_stats_conv(p);
    const double join_s = 3e-6;
    return resident_rows_seconds(&conv) + join_s;
}

typedef struct state {
    struct resident_bn_stats_args args;
    resident_memory memory[RESIDENT_BN_STATS_STREAMS];
} state;

/* Parts are those of one GPU on all, so that their sums have the same bits. */
static braid_status create(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    state *s = NULL;
    TRY(memory_calloc(1, sizeof *s, "conv2d_bn_stats", (void **)&s));
    (void)resident_fill_rows(&s->args.head, s->args.plane, &conv, LAUNCH_PROCESSORS); /* supports has asked */
    const braid_status status = conv2d_bn_stats_bytes(p, resident_parts_of(&s->args.head), workspace_bytes);
    if (status) resident_destroy(d, s);
    if (!status) *made = s;
    return status;
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    const braid_problem conv = conv2d_bn_stats_conv(p);
    struct resident_bn_stats_args *args = &((state *)made)->args;
    resident_memory *memory = ((state *)made)->memory;
    for (int i = 0; i < p->streams; i++)
        TRY(resident_bind_rows(&args->plane[i], &args->map[i], &memory[i], d, &conv, b, i, NULL));
    TRY(resident_bind_parts(&args->parts, &args->head, args->plane, d, b->workspace, sizeof(struct bn_moments)));
    args->finalize = conv2d_bn_stats_norm(p, b);
    return resident_launch_rows(d, "conv2d_fwd_resident3x3_sm90a",
                                launch_function("conv2d_bn_stats_resident3x3_rows136", p->dtype), &args->head,
                                sizeof *args, (size_t)RESIDENT_ROWS_BYTES);
}

const kernel_functions conv2d_bn_stats__cuda_resident3x3_rows136 = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = resident_destroy};
