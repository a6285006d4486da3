/*
 * conv2d_dgrad_bn_reduce on the matrix units of sm_90a, 3x3 at stride 1 and up to 64 channels of dy: one launch that
 * makes dx and adds it up on the way (conv2d_dgrad_bn_reduce_resident3x3_sm90a.cu), or several, of the streams whose
 * tensor maps fit in an argument. Launches follow each other and share the workspace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3_launch.h"
#include "kernels/cuda/launch/bn_reduce_launch.h"

#define STEM "conv2d_dgrad_bn_reduce_resident3x3_sm90a"

static int reads_x(const braid_problem *p) { return (p->add & CONV2D_DGRAD_BN_REDUCE_ADD_Z) != 0; }

/* The streams of one launch. */
static int most_streams(const braid_problem *p) {
    return reads_x(p) ? RESIDENT_BN_REDUCE_X_STREAMS : RESIDENT_MOST_STREAMS;
}

static const char *supports(const braid_problem *p, const device *d) {
    const char *reason = bn_reduce_refuse_empty(p);
    for (int j = 0; j < launch_parts(p, most_streams(p)) && !reason; j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        if (reads_x(p) != part.conv.add)
            reason = "adds to what x gets from elsewhere if it reads the ReLU off x, and then alone";
        else
            reason = resident_rows_refuses(&part.conv, d);
    }
    return reason;
}

/* What is added up hides behind the products of the other warpgroup; what is read for it hides less. */
static double cost(const braid_problem *p, const machine *on) {
    (void)on;
    const double join_s = 4e-6, slower = reads_x(p) ? 1.4 : 1.1;
    double seconds = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        seconds += slower * resident_rows_seconds(&part.conv) + join_s;
    }
    return seconds;
}

/* One launch: a part of the streams, by what the ReLU is read off. */
typedef struct state {
    union {
        struct resident_bn_reduce_args by_r;
        struct resident_bn_reduce_x_args by_x;
    };
    resident_memory memory[RESIDENT_MOST_STREAMS];
} state;

/* Parts are those of one GPU on all, so that their sums have the same bits. */
static braid_status fill(state *s, const braid_problem *p, size_t *workspace_bytes) {
    *workspace_bytes = 0;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        struct resident_head *head = &s[j].by_r.head;
        struct resident_plane *planes = reads_x(p) ? s[j].by_x.plane : s[j].by_r.plane;
        bn_reduce_part part;
        size_t bytes;
        bn_reduce_take_part(&part, p, NULL, most_streams(p), j);
        (void)resident_fill_rows(head, planes, &part.conv, LAUNCH_PROCESSORS); /* supports has asked */
        TRY(bn_reduce_bytes(&part.problem, resident_parts_of(head), &bytes));
        if (bytes > *workspace_bytes) *workspace_bytes = bytes;
    }
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, device *d, void **made, size_t *workspace_bytes) {
    state *s = NULL;
    TRY(memory_calloc((size_t)launch_parts(p, most_streams(p)), sizeof *s, "conv2d_dgrad_bn_reduce", (void **)&s));
    const braid_status status = fill(s, p, workspace_bytes);
    if (status) resident_destroy(d, s);
    if (!status) *made = s;
    return status;
}

static braid_status launch_by_r(const bn_reduce_part *part, device *d, state *s) {
    struct resident_bn_reduce_args *args = &s->by_r;
    for (int i = 0; i < part->conv.streams; i++) {
        TRY(resident_bind_rows(&args->plane[i], &args->map[i], &s->memory[i], d, &part->conv, &part->of_conv, i,
                               part->of_norm.plane[BN_FUSED_X][i]));
        args->sums[i] = bn_reduce_plane_of(&part->of_norm, i);
    }
    TRY(resident_bind_parts(&args->parts, &args->head, args->plane, d, part->of_norm.workspace,
                            sizeof(struct bn_gradients)));
    return resident_launch_rows(d, STEM,
                                launch_function("conv2d_dgrad_bn_reduce_resident3x3_rows136", part->conv.dtype),
                                &args->head, sizeof *args, (size_t)RESIDENT_BN_REDUCE_BYTES(0));
}

static braid_status launch_by_x(const bn_reduce_part *part, device *d, state *s) {
    static const int slots[] = {BN_FUSED_X, BN_FUSED_Y};
    struct resident_bn_reduce_x_args *args = &s->by_x;
    for (int i = 0; i < part->conv.streams; i++) {
        TRY(resident_bind_rows(&args->plane[i], &args->map[i], &s->memory[i], d, &part->conv, &part->of_conv, i, NULL));
        args->sums[i] = bn_reduce_plane_of(&part->of_norm, i);
        for (int j = 0; j < 2; j++)
            TRY(resident_map_row(&args->read[i][j], &s->memory[i].read[j], d, &part->conv,
                                 part->of_norm.plane[slots[j]][i], i));
    }
    TRY(resident_bind_parts(&args->parts, &args->head, args->plane, d, part->of_norm.workspace,
                            sizeof(struct bn_gradients)));
    return resident_launch_rows(d, STEM,
                                launch_function("conv2d_dgrad_bn_reduce_x_resident3x3_rows136", part->conv.dtype),
                                &args->head, sizeof *args, (size_t)RESIDENT_BN_REDUCE_BYTES(1));
}

static braid_status launch(const braid_problem *p, device *d, void *made, const buffers *b) {
    state *s = made;
    for (int j = 0; j < launch_parts(p, most_streams(p)); j++) {
        bn_reduce_part part;
        bn_reduce_take_part(&part, p, b, most_streams(p), j);
        TRY((reads_x(p) ? launch_by_x : launch_by_r)(&part, d, &s[j]));
    }
    return BRAID_OK;
}

const kernel_functions conv2d_dgrad_bn_reduce__cuda_resident3x3_rows136 = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = resident_destroy};
