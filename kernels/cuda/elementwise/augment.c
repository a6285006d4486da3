/*
 * augment on CUDA: the four launches of augment.cu. Whether an image is resampled or blurred is drawn on the device, so
 * that the workspace has room for all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/elementwise/augment.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/tile/shape.h"

#define BLOCK_PIXELS 1024 /* of a block, at least */
#define MOST_PARTS 64     /* of an image */

static int64_t count_parts(const braid_problem *p) {
    int64_t parts = launch_tiles(p->out_size[0] * p->out_size[1], BLOCK_PIXELS);
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

static const char *supports(const braid_problem *p, const device *d) {
    (void)d;
    for (int axis = 0; axis < 2; axis++) {
        if (p->size[axis] >= LAUNCH_MAX_LENGTH || p->out_size[axis] >= LAUNCH_MAX_LENGTH)
            return "an image has 2^30 rows or columns or more";
    }
    if (p->batch > CUDA_MAX_BLOCKS / MOST_PARTS / BRAID_MAX_STREAMS) return launch_too_large;
    return NULL;
}

/* The parts of the workspace, each at a multiple of MEMORY_DEVICE_ALIGNMENT, and its bytes. */
static braid_status lay(const braid_problem *p, struct augment_args *args, unsigned char *base, size_t *bytes) {
    const int64_t images = p->streams * p->batch;
    int64_t values = 0;
    size_t draws = 0, sums = 0, end = 0;
    for (int i = 0; i < p->streams; i++) {
        int64_t one = 0, channels = p->in_channels[i];
        int64_t room = channels == 3 ? 6 : channels; /* the blur of colours needs a second image */
        const int64_t dims[4] = {p->batch, p->out_size[0], p->out_size[1], room};
        TRY(size_elements(dims, 4, "images of augment", &one));
        args->plane[i].resampled = values;
        args->plane[i].blurred = values + (channels == 3 ? one / 2 : 0);
        values += one;
    }
    TRY(size_array((size_t)images, sizeof(augment_draws), "draws of augment", &draws));
    TRY(size_array((size_t)(images * count_parts(p)), sizeof(double), "sums of augment", &sums));
    TRY(size_array((size_t)values, sizeof(float), "images of augment", &end));
    if (!size_align(draws, MEMORY_DEVICE_ALIGNMENT, &draws) || !size_align(sums, MEMORY_DEVICE_ALIGNMENT, &sums) ||
        !size_add(end, draws, &end) || !size_add(end, sums, bytes))
        return fail(BRAID_ERROR_MEMORY, "workspace of augment: expected a size that fits in 64 bits");
    if (!base) return BRAID_OK;
    args->draws = (augment_draws *)(void *)base;
    args->sums = (double *)(void *)(base + draws);
    args->values = (float *)(void *)(base + draws + sums);
    return BRAID_OK;
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    struct augment_args args;
    (void)d;
    *state = NULL;
    return lay(p, &args, NULL, workspace_bytes);
}

static braid_status fill(const braid_problem *p, const buffers *b, struct augment_args *args) {
    size_t bytes = 0;
    *args = (struct augment_args){.key = b->plane[AUGMENT_KEY][0],
                                  .ids = b->plane[AUGMENT_IDS][0],
                                  .batch = p->batch,
                                  .size = {p->size[0], p->size[1]},
                                  .out_size = {p->out_size[0], p->out_size[1]},
                                  .planes = p->streams,
                                  .parts = (int32_t)count_parts(p),
                                  .is_train = p->phase == BRAID_PHASE_TRAIN};
    for (int i = 0; i < p->streams; i++) {
        args->plane[i] = (struct augment_plane){.x = b->plane[AUGMENT_X][i],
                                                .settings = b->plane[AUGMENT_SETTINGS_TABLE][i],
                                                .mean = b->plane[AUGMENT_MEAN][i],
                                                .std = b->plane[AUGMENT_STD][i],
                                                .y = b->plane[AUGMENT_Y][i],
                                                .pitch = p->in_pitch[i],
                                                .channels = (int32_t)p->in_channels[i]};
    }
    return lay(p, args, b->workspace, &bytes);
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    static const launch_names names = {"augment_f32", "augment_f16", "augment_bf16"};
    const char *const functions[] = {"augment_source", "augment_blur_rows", launch_name(&names, p->dtype)};
    struct augment_args args;
    (void)state;
    TRY(fill(p, b, &args));
    const int64_t images = p->streams * p->batch;
    cuda_call call = {.stem = "augment",
                      .function = "augment_draw_all",
                      .blocks = launch_tiles(images, BLOCK_THREADS),
                      .threads = BLOCK_THREADS,
                      .args = &args,
                      .args_bytes = sizeof args};
    TRY(cuda_launch(d, &call));
    call.blocks = images * args.parts;
    for (int j = 0; j < 3; j++) {
        call.function = functions[j];
        TRY(cuda_launch(d, &call));
    }
    return BRAID_OK;
}

const kernel_functions augment__cuda_direct = {
    .supports = supports, .cost = launch_cost, .create = create, .launch = launch, .destroy = launch_destroy};
