/*
 * integrate data gradients on Hopper's matrix units: a block makes tiles of 128 pixels by `columns` channels of one
 * source, summed over the outputs of dy. Where all weights fit into shared memory they stay there, the outputs of 128
 * pixels come once, and all columns of all sources are made of them; else every tile of columns has its own steps over
 * the outputs, with the panels of weights beside those of dy. One thread has the panels copied ahead into a ring.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/integrate_tma.cuh"

#define PIXEL_BYTES (INTEGRATE_ROWS * PANEL_ROW_BYTES)

/* The source of a tile of columns. */
static __device__ __forceinline__ int find_source(const integrate_panels_args &all, int32_t column) {
    int i = 0;
    while (i + 1 < all.sources && column >= all.source[i + 1].first_column) i++;
    return i;
}

/* How shared memory is divided. */
struct backward_shape {
    int32_t panels;                      /* of outputs in a stage */
    uint32_t weights, ring, stage_bytes; /* where the weights stay, where the stages are, and the bytes of one */
};

template <int columns> static __device__ __forceinline__ backward_shape shape_of(const integrate_panels_args &all) {
    const uint32_t weight_bytes = columns * PANEL_ROW_BYTES, begin = first_panel_address();
    backward_shape shape = {1, begin, begin, PIXEL_BYTES + weight_bytes};
    if (all.stays) {
        shape.panels = (all.outputs + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
        shape.ring = begin + (uint32_t)(all.columns * shape.panels) * weight_bytes;
        shape.stage_bytes = (uint32_t)shape.panels * PIXEL_BYTES;
    }
    return shape;
}

/* Weights of 64 outputs, which are the rows, and a tile of columns: a panel for each 64 of them. */
template <int columns>
static __device__ __forceinline__ void load_weights(uint32_t to, const integrate_tma_args &args, uint32_t barrier,
                                                    int32_t column, int32_t output) {
    const int i = find_source(args.all, column);
    const int32_t c = (column - args.all.source[i].first_column) * columns;
    for (int panel = 0; panel < columns / PANEL_COLUMNS; panel++, to += PANEL_SQUARE_BYTES)
        tma_load_2d(to, &args.weights[i], barrier, c + panel * PANEL_COLUMNS, output);
}

template <int columns> static __device__ __forceinline__ void produce(const integrate_tma_args &args, ring_cursor at) {
    const integrate_panels_args &all = args.all;
    const backward_shape shape = shape_of<columns>(all);
    const uint32_t weight_bytes = columns * PANEL_ROW_BYTES;
    if (all.stays) {
        uint32_t to = shape.weights;
        barrier_expect(weights_barrier(args), shape.ring - shape.weights);
        for (int32_t column = 0; column < all.columns; column++) {
            for (int32_t panel = 0; panel < shape.panels; panel++, to += weight_bytes)
                load_weights<columns>(to, args, weights_barrier(args), column, panel * PANEL_COLUMNS);
        }
    }
    for (int32_t tile = (int32_t)blockIdx.x; tile < all.tiles; tile += (int32_t)gridDim.x) {
        const int32_t pixel = (all.stays ? tile : tile / all.columns) * INTEGRATE_ROWS;
        for (int32_t k = 0; k < all.steps; k++, ring_next(&at)) {
            uint32_t to = shape.ring + (uint32_t)at.index * shape.stage_bytes;
            ring_fill(at, shape.stage_bytes);
            for (int32_t panel = 0; panel < shape.panels; panel++, to += PIXEL_BYTES)
                tma_load_2d(to, &args.y, ring_filled(at), (k + panel) * PANEL_COLUMNS, pixel);
            if (!all.stays) load_weights<columns>(to, args, ring_filled(at), tile % all.columns, k * PANEL_COLUMNS);
        }
    }
}

/* A run of 8 channels of a pixel of dz, and zeros where the stride skips the pixels behind and below it. */
template <class number>
static __device__ __forceinline__ void write_pathway(const integrate_panels_args &all,
                                                     const integrate_panels_source &to, int32_t c,
                                                     integrate_place place, const uint32_t (&run)[4]) {
    const int32_t left = place.in_pathway % all.size[1], top = place.in_pathway / all.size[1] % all.size[0];
    for (int32_t row = 0; row < all.stride[0] && top + row < all.size[0]; row++) {
        for (int32_t column = 0; column < all.stride[1] && left + column < all.size[1]; column++) {
            const int64_t at = place.in_pathway + (int64_t)row * all.size[1] + column;
            uint32_t words[4];
            for (int i = 0; i < 4; i++) words[i] = row == 0 && column == 0 ? run[i] : 0;
            write_bytes<16>((number *)to.x + at * to.pitch + c, words);
        }
    }
}

template <class number, int columns>
static __device__ __forceinline__ void write(const float (&sum)[columns / 2], const integrate_tma_args &args,
                                             int32_t first, int32_t column) {
    const integrate_panels_args &all = args.all;
    const integrate_panels_source &to = all.source[find_source(all, column)];
    const int32_t first_column = (column - to.first_column) * columns + panel_run_column();
#pragma unroll
    for (int second = 0; second < 2; second++) {
        const int32_t pixel = first + panel_group() * 64 + panel_sum_row() + 8 * second;
        const integrate_place place = find_place(all, pixel);
        const bool inside = pixel < all.pixels, blank = inside && mask_blanks(to.mask, place.sample);
#pragma unroll
        for (int j = 0; j < columns / 32; j++) {
            const int32_t c = first_column + 32 * j;
            uint32_t run[4];
            gradient_run<number>(run, sum, to, pixel, c, inside && c < to.lanes, blank, second, j);
            if (!inside || c >= to.lanes) continue;
            if (to.is_pathway && args.is_strided) {
                write_pathway<number>(all, to, c, place, run);
            } else {
                write_bytes<16>((number *)to.x + (int64_t)pixel * to.pitch + c, run);
            }
        }
    }
}

/* All weights are there, and all outputs of 128 pixels come in one stage. */
template <class number, int columns>
static __device__ __forceinline__ void consume_staying(const integrate_tma_args &args, ring_cursor at) {
    const integrate_panels_args &all = args.all;
    const backward_shape shape = shape_of<columns>(all);
    float sum[columns / 2];
    barrier_wait(weights_barrier(args), 0);
    for (int32_t tile = (int32_t)blockIdx.x; tile < all.tiles; tile += (int32_t)gridDim.x, ring_next(&at)) {
        const uint32_t pixels =
            shape.ring + (uint32_t)at.index * shape.stage_bytes + (uint32_t)panel_group() * PANEL_SQUARE_BYTES;
        uint32_t weights = shape.weights;
        ring_wait(at);
        for (int32_t column = 0; column < all.columns; column++) {
            for (int32_t panel = 0; panel < shape.panels; panel++, weights += columns * PANEL_ROW_BYTES)
                panel_add<number, false, true>(sum, pixels + (uint32_t)(panel * PIXEL_BYTES), weights, panel > 0);
            wgmma_wait<0>();
            wgmma_hold(sum);
            if (column + 1 == all.columns) ring_free(at);
            write<number, columns>(sum, args, tile * INTEGRATE_ROWS, column);
        }
    }
}

template <class number, int columns>
static __device__ __forceinline__ void consume_streaming(const integrate_tma_args &args, ring_cursor at) {
    const integrate_panels_args &all = args.all;
    const backward_shape shape = shape_of<columns>(all);
    float sum[columns / 2];
    for (int32_t tile = (int32_t)blockIdx.x; tile < all.tiles; tile += (int32_t)gridDim.x) {
        ring_cursor before = at;
        for (int32_t k = 0; k < all.steps; k++) {
            const uint32_t stage = shape.ring + (uint32_t)at.index * shape.stage_bytes;
            ring_wait(at);
            panel_add<number, false, true>(sum, stage + (uint32_t)panel_group() * PANEL_SQUARE_BYTES,
                                           stage + PIXEL_BYTES, k > 0);
            wgmma_wait<1>();
            if (k > 0) ring_free(before);
            before = at;
            ring_next(&at);
        }
        wgmma_wait<0>();
        wgmma_hold(sum);
        ring_free(before);
        write<number, columns>(sum, args, tile / all.columns * INTEGRATE_ROWS, tile % all.columns);
    }
}

template <class number, int columns>
static __device__ __forceinline__ void integrate_bwd_data(const integrate_tma_args &args) {
    const ring_cursor at = open_ring(args, 2);
    if (!is_consumer(2)) {
        if (is_producer(2)) produce<columns>(args, at);
    } else if (args.all.stays) {
        consume_staying<number, columns>(args, at);
    } else {
        consume_streaming<number, columns>(args, at);
    }
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_bwd_data_wgmma_f16_64(const __grid_constant__ integrate_tma_args args) {
    integrate_bwd_data<f16, 64>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_bwd_data_wgmma_f16_128(const __grid_constant__ integrate_tma_args args) {
    integrate_bwd_data<f16, 128>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_bwd_data_wgmma_bf16_64(const __grid_constant__ integrate_tma_args args) {
    integrate_bwd_data<bf16, 64>(args);
}

extern "C" __global__ void __launch_bounds__(INTEGRATE_TMA_THREADS, 2)
    integrate_bwd_data_wgmma_bf16_128(const __grid_constant__ integrate_tma_args args) {
    integrate_bwd_data<bf16, 128>(args);
}
