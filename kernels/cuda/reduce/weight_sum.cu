/*
 * The second stage of weight gradients: adds the parts of the planes of a table. The blocks of a plane are beside each
 * other; how a block adds is in sum_rows.cuh and sum_tiles.cuh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/reduce/sum_rows.cuh"
#include "kernels/cuda/reduce/sum_tiles.cuh"

/* The plane of this block, of many. Planes without a block are passed over. */
static __device__ __forceinline__ int find_plane(const weight_sum_args &args) {
    int first = 0, end = args.planes;
    while (end - first > 1) {
        const int middle = (first + end) / 2;
        if ((int32_t)blockIdx.x >= args.first_block[middle]) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

ENTRY(
    weight_sum, (BLOCK_THREADS), weight_sum_args,
    __shared__ union {
        sum_four fours[BLOCK_THREADS];
        float wide[BLOCK_THREADS][4], narrow[BLOCK_THREADS][1];
    } shared;
    const int i = find_plane(args); const weight_sum_plane &plane = args.plane[i];
    const int32_t block = (int32_t)blockIdx.x - args.first_block[i];
    if (plane.is_tiled) { sum_tiles(plane, block, shared.fours); } else if (plane.as.rows.width == 4) {
        sum_rows(plane, block, shared.wide);
    } else { sum_rows(plane, block, shared.narrow); })
