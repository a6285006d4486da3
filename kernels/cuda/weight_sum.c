/*
 * The launch of weight_sum.cu. How the parts are cut into slices depends on their number alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/shape.h"
#include "kernels/cuda/weight_sum_launch.h"

#define PARTS_OF_SLICES 16 /* so many parts are worth slices, and those ... */
#define SLICES 8

braid_status weight_sum_launch(struct weight_sum_args *args, device *d, braid_dtype dtype) {
    static const launch_names names = {"weight_sum_f32", "weight_sum_f16", "weight_sum_bf16"};
    int64_t blocks[BRAID_MAX_PLANES] = {0};
    args->slices = args->parts < PARTS_OF_SLICES ? 1 : SLICES;
    for (int i = 0; i < args->planes; i++)
        blocks[i] = launch_tiles(args->plane[i].elements, BLOCK_THREADS / args->slices);
    if (!launch_schedule(args->first_block, blocks, args->planes))
        return fail(BRAID_ERROR_ARGUMENT, "weight_sum: %s", launch_too_large);
    return cuda_launch(d, &(cuda_call){.stem = "weight_sum",
                                       .function = launch_name(&names, dtype),
                                       .blocks = args->first_block[BRAID_MAX_PLANES],
                                       .threads = BLOCK_THREADS,
                                       .args = args,
                                       .args_bytes = sizeof *args});
}
