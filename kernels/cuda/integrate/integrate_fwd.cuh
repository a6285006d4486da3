/*
 * The forward pass of integrate on sm_90: a block makes tiles of 64 or 128 pixels by `columns` outputs, one after the
 * other. The sum of a tile runs over panels of 64 channels, source after source, which one thread has copied ahead into
 * a ring, across tiles. Weights stay in shared memory where they fit, else their panels come with those of the pixels.
 * Pixels of blanked samples are cleared in shared memory. Where the results go is the kernel's own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_FWD_CUH
#define BRAID_KERNELS_CUDA_INTEGRATE_INTEGRATE_FWD_CUH

#include "kernels/cuda/integrate/integrate_tma.cuh"

/* A tile has 64 pixels for each of `row_groups`; where that is one, the two groups divide the columns. */
template <int row_groups> static __device__ __forceinline__ constexpr uint32_t pixel_bytes() {
    return row_groups * PANEL_SQUARE_BYTES;
}

template <int columns> static __device__ __forceinline__ uint32_t ring_address(const integrate_tma_args &args) {
    return first_panel_address() + (uint32_t)(args.all.stays ? args.all.steps * columns * PANEL_ROW_BYTES : 0);
}

template <int columns, int row_groups>
static __device__ __forceinline__ uint32_t stage_bytes(const integrate_tma_args &args) {
    return pixel_bytes<row_groups>() + (uint32_t)(args.all.stays ? 0 : columns * PANEL_ROW_BYTES);
}

template <int columns, int row_groups>
static __device__ __forceinline__ void produce(const integrate_tma_args &args, pipeline at) {
    const integrate_panels_args &all = args.all;
    const uint32_t weight_bytes = columns * PANEL_ROW_BYTES;
    if (all.stays) {
        uint32_t to = first_panel_address();
        barrier_expect(weights_barrier(args), (uint32_t)all.steps * weight_bytes);
        for (int32_t i = 0; i < all.sources; i++) {
            for (int32_t c = 0; c < all.source[i].channels; c += PANEL_COLUMNS, to += weight_bytes)
                tma_load_2d(to, &args.weights[i], weights_barrier(args), c, 0);
        }
    }
    for (int32_t tile = (int32_t)blockIdx.x; tile < all.tiles; tile += (int32_t)gridDim.x) {
        const int32_t pixel = tile / all.columns * (64 * row_groups), column = tile % all.columns * columns;
        for (int32_t i = 0; i < all.sources; i++) {
            for (int32_t c = 0; c < all.source[i].channels; c += PANEL_COLUMNS, pipeline_next(&at)) {
                const uint32_t bytes = stage_bytes<columns, row_groups>(args);
                const uint32_t to = ring_address<columns>(args) + (uint32_t)at.index * bytes;
                pipeline_fill(at, bytes);
                load_pixels(to, args, i, pipeline_full(at), c, pixel);
                if (!all.stays)
                    tma_load_2d(to + pixel_bytes<row_groups>(), &args.weights[i], pipeline_full(at), c, column);
            }
        }
    }
}

/* Adds the bias to the group's sums. */
template <class number, int count>
static __device__ __forceinline__ void add_bias(float (&sum)[count], const integrate_panels_args &all,
                                                int32_t first_column) {
    const number *bias = (const number *)all.bias;
    for (int j = 0; bias && j < count / 4; j++) {
        for (int i = 0; i < 2; i++) {
            const int32_t column = first_column + 8 * j + (int)threadIdx.x % 4 * 2 + i;
            const float value = column < all.outputs ? load(bias + column) : 0;
            sum[4 * j + i] += value;
            sum[4 * j + 2 + i] += value;
        }
    }
}

/* Clears the pixels of blanked samples among the group's 64. Groups that share them clear them both, and meet. */
template <int row_groups>
static __device__ __forceinline__ void clear_pixels(uint32_t pixels, const integrate_panels_args &all,
                                                    const uint32_t *mask, int32_t begin) {
    const int32_t end = begin + 64 < all.pixels ? begin + 64 : all.pixels;
    if (!any_blanked(all, mask, begin, end)) return;
    clear_blanked(pixels, all, mask, begin, end);
    fence_async();
    if (row_groups == 2) {
        named_sync(1 + panel_group(), PANEL_GROUP);
    } else {
        named_sync(1, 2 * PANEL_GROUP);
    }
}

/* The groups that multiply. The sums of a tile go to a `results`: its write(sum, args, first_pixel, first_column) takes
 * those of the group's 64 pixels, rounded to `number`. */
template <class number, int columns, int row_groups, class results>
static __device__ __forceinline__ void consume(const integrate_tma_args &args, pipeline at, results to) {
    const integrate_panels_args &all = args.all;
    const uint32_t bytes = stage_bytes<columns, row_groups>(args), ring = ring_address<columns>(args);
    const int row_group = panel_group() % row_groups, group_columns = columns * row_groups / 2;
    const int first_of_group = panel_group() / row_groups * group_columns; /* column */
    float sum[group_columns / 2];
    if (all.stays) barrier_wait(weights_barrier(args), 0);
    for (int32_t tile = (int32_t)blockIdx.x; tile < all.tiles; tile += (int32_t)gridDim.x) {
        const int32_t first_pixel = (tile / all.columns * row_groups + row_group) * 64;
        pipeline before = at;
        int32_t source = 0, c = 0;
        for (int32_t k = 0; k < all.steps; k++) {
            const uint32_t stage = ring + (uint32_t)at.index * bytes;
            const uint32_t pixels = stage + (uint32_t)row_group * PANEL_SQUARE_BYTES;
            const uint32_t weights = all.stays ? first_panel_address() + (uint32_t)(k * columns * PANEL_ROW_BYTES)
                                               : stage + pixel_bytes<row_groups>();
            pipeline_wait(at);
            clear_pixels<row_groups>(pixels, all, all.source[source].mask, first_pixel);
            panel_add<number, false, false>(sum, pixels, weights + (uint32_t)first_of_group * PANEL_ROW_BYTES, k > 0);
            wgmma_wait<1>();
            if (k > 0) pipeline_free(before);
            before = at;
            pipeline_next(&at);
            c += PANEL_COLUMNS;
            if (c >= all.source[source].channels) {
                c = 0;
                source++;
            }
        }
        wgmma_wait<0>();
        wgmma_hold(sum);
        pipeline_free(before);
        const int32_t first_column = tile % all.columns * columns + first_of_group;
        add_bias<number>(sum, all, first_column);
        to.write(sum, args, first_pixel, first_column);
    }
}

#endif
