/*
 * The launch of weight_sum.cu. How the parts are cut into slices depends on their number alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/sizes.h"
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/weight_sum_launch.h"

#define SLICE_LEAST 8         /* parts that are worth a slice of their own, ... */
#define SLICES 16             /* ... most slices, ... */
#define THREADS_ENOUGH 262144 /* ... and threads that need no more company */

/* Four elements at a time: no bias stands between them, and they begin where an access of four may. */
static int goes_by_four(const struct weight_sum_args *args) {
    int64_t all = args->part_elements;
    for (int i = 0; i < args->planes; i++) {
        const struct weight_sum_plane *plane = &args->plane[i];
        if (plane->bias || (uintptr_t)plane->w % 16) return 0;
        all |= plane->partial | plane->elements;
    }
    return all % 4 == 0 && (uintptr_t)args->workspace % 16 == 0;
}

braid_status weight_sum_launch(struct weight_sum_args *args, device *d, braid_dtype dtype) {
    static const launch_names one = {"weight_sum_f32", "weight_sum_f16", "weight_sum_bf16"},
                              four = {"weight_sum_f32_by4", "weight_sum_f16_by4", "weight_sum_bf16_by4"};
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    int64_t elements = 0;
    int by_four = goes_by_four(args);
    for (int i = 0; i < args->planes; i++) elements += args->plane[i].elements;
    args->slices = 1;
    while (args->slices < SLICES && args->parts >= 2 * args->slices * SLICE_LEAST &&
           elements * args->slices < THREADS_ENOUGH)
        args->slices *= 2;
    for (int i = 0; i < args->planes; i++)
        blocks[i] = launch_tiles(args->plane[i].elements, BLOCK_THREADS / args->slices * (by_four ? 4 : 1));
    if (!launch_schedule(args->first_block, blocks, args->planes))
        return fail(BRAID_ERROR_ARGUMENT, "weight_sum: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "weight_sum",
                                       .function = launch_name(by_four ? &four : &one, dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = BLOCK_THREADS,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}

static int64_t columns(const braid_problem *p, int i) {
    return p->filter[0] * p->filter[1] * (p->in_channels[i] / p->groups) + p->bias;
}

const char *weight_sum_refuses(const braid_problem *p) {
    for (int i = 0; i < p->streams; i++) {
        double elements = (double)p->out_channels[i] * (double)columns(p, i);
        if (elements / BLOCK_THREADS * p->streams * SLICES >= CUDA_MAX_BLOCKS / 2.0) return launch_too_large;
    }
    return NULL;
}

braid_status weight_sum_bytes(const braid_problem *p, int64_t parts, size_t *bytes) {
    size_t elements = 0;
    for (int i = 0; i < p->streams; i++) elements += (size_t)(p->out_channels[i] * columns(p, i));
    TRY(size_array(elements, (size_t)parts, "partial weight gradients", &elements));
    return size_array(elements, sizeof(float), "partial weight gradients", bytes);
}

braid_status weight_sum_conv2d(const braid_problem *p, int32_t parts, device *d, const buffers *b) {
    struct weight_sum_args args = {.planes = p->streams, .parts = parts, .workspace = b->workspace};
    for (int i = 0; i < p->streams; i++) {
        args.plane[i] = (struct weight_sum_plane){.w = b->plane[CONV2D_W][i],
                                                  .bias = b->plane[CONV2D_BIAS][i],
                                                  .partial = args.part_elements,
                                                  .elements = p->out_channels[i] * columns(p, i),
                                                  .columns = columns(p, i)};
        args.part_elements += args.plane[i].elements;
    }
    return weight_sum_launch(&args, d, p->dtype);
}
