/*
 * integrate data gradients by the matrix instructions of a warp (sm_80 and newer): a block makes tiles of 128 pixels
 * by `columns` channels of one source, summed over the outputs of dy. Where all weights fit into shared memory they
 * stay there, the outputs of 128 pixels are copied once, and all columns of all sources are made of them; else every
 * tile of columns has its own steps over the outputs, with the panels of weights beside those of dy.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate.cuh"
#include "kernels/cuda/integrate/panel_mma.cuh"

template <class number, int columns, int ahead> struct integrate_backward {
    static const int weight_bytes = columns * PANEL_ROW_BYTES, pixel_bytes = INTEGRATE_ROWS * PANEL_ROW_BYTES;
    static const int stages = ahead + 1;

    const integrate_panels_args &args;
    unsigned char *memory; /* the weights that stay, [column][panel of outputs], then the stages */
    int panels;            /* of outputs in a stage */
    int stage_bytes;
    int32_t tile, begin; /* of the step whose copies are started next */

    __device__ __forceinline__ integrate_backward(const integrate_panels_args &all)
        : args(all), memory((unsigned char *)shared_memory()), tile((int32_t)blockIdx.x), begin(0) {
        panels = args.stays ? (args.outputs + PANEL_COLUMNS - 1) / PANEL_COLUMNS : 1;
        stage_bytes = panels * pixel_bytes + (args.stays ? 0 : weight_bytes);
    }

    __device__ __forceinline__ unsigned char *stage(int step) {
        return memory + (args.stays ? args.columns * panels * weight_bytes : 0) + step % stages * stage_bytes;
    }

    /* The source of a tile of columns. */
    __device__ __forceinline__ int find_source(int32_t column) {
        int i = 0;
        while (i + 1 < args.sources && column >= args.source[i + 1].first_column) i++;
        return i;
    }

    /* Weights of 64 outputs, which are the rows, and a tile of columns: a panel for each 64 of them. */
    __device__ __forceinline__ void copy_weights(unsigned char *to, int32_t column, int32_t output) {
        const integrate_panels_source &from = args.source[find_source(column)];
        const int32_t first = (column - from.first_column) * columns + panel_piece() * 8;
#pragma unroll
        for (int j = 0; j < columns / 32; j++) {
            const int row = panel_row() + j % 2 * 32;
            const int32_t c = first + j / 2 * PANEL_COLUMNS;
            const bool inside = output + row < args.outputs && c < from.channels;
            copy_async(panel_at(to + j / 2 * PANEL_SQUARE_BYTES, row, panel_piece()),
                       (const number *)from.weights + (inside ? (int64_t)(output + row) * from.channels + c : 0),
                       inside);
        }
    }

    __device__ __forceinline__ void copy_all_weights() {
        unsigned char *to = memory;
        for (int32_t column = 0; column < args.columns; column++) {
            for (int panel = 0; panel < panels; panel++, to += weight_bytes)
                copy_weights(to, column, panel * PANEL_COLUMNS);
        }
    }

    __device__ __forceinline__ int32_t first_pixel(int32_t of) {
        return (args.stays ? of : of / args.columns) * INTEGRATE_ROWS;
    }

    /* Starts the copies of the next step, if there is one, and goes on. */
    __device__ __forceinline__ void copy_step(int step) {
        if (tile < args.tiles) {
            const int32_t first = first_pixel(tile);
            unsigned char *to = stage(step);
            for (int panel = 0; panel < panels; panel++, to += pixel_bytes, begin += PANEL_COLUMNS) {
                const int32_t output = begin + panel_piece() * 8;
#pragma unroll
                for (int j = 0; j < INTEGRATE_ROWS / 32; j++) {
                    const int row = panel_row() + 32 * j;
                    const bool inside = first + row < args.pixels && output < args.outputs;
                    copy_async(panel_at(to, row, panel_piece()),
                               (const number *)args.y + (inside ? (int64_t)(first + row) * args.outputs + output : 0),
                               inside);
                }
            }
            if (!args.stays) copy_weights(to, tile % args.columns, begin - PANEL_COLUMNS);
            if (begin >= args.outputs) {
                begin = 0;
                tile += (int32_t)gridDim.x;
            }
        }
        copy_async_commit();
    }

    /* A run of 8 channels of a pixel of dz, and those that the stride skips behind and below it: zeros, or what is
     * added to them. */
    __device__ __forceinline__ void write_pathway(const integrate_panels_source &to, int32_t c, integrate_place place,
                                                  const uint32_t (&run)[4]) {
        const int32_t left = place.in_pathway % args.size[1], top = place.in_pathway / args.size[1] % args.size[0];
        for (int32_t row = 0; row < args.stride[0] && top + row < args.size[0]; row++) {
            for (int32_t column = 0; column < args.stride[1] && left + column < args.size[1]; column++) {
                const int64_t at = (place.in_pathway + (int64_t)row * args.size[1] + column) * to.pitch + c;
                const bool is_read = row == 0 && column == 0;
                uint32_t words[4] = {0, 0, 0, 0};
                if (to.add && !is_read) read_bytes<16>(words, (const number *)to.add + at);
                for (int i = 0; i < 4; i++) words[i] = is_read ? run[i] : words[i];
                write_bytes<16>((number *)to.x + at, words);
            }
        }
    }

    __device__ __forceinline__ void write(const float (&sum)[columns / 2], int32_t first, int32_t column) {
        const integrate_panels_source &to = args.source[find_source(column)];
        const int32_t first_column = (column - to.first_column) * columns + panel_run_column();
#pragma unroll
        for (int second = 0; second < 2; second++) {
            const int32_t pixel = first + panel_group() * 64 + panel_sum_row() + 8 * second;
            const integrate_place place = find_place(args, pixel);
            const bool inside = pixel < args.pixels, blank = inside && mask_blanks(to.mask, place.sample);
#pragma unroll
            for (int j = 0; j < columns / 32; j++) {
                const int32_t c = first_column + 32 * j;
                uint32_t run[4];
                gradient_run<number>(run, sum, to, to.is_pathway ? place.in_pathway : pixel, c, inside && c < to.lanes,
                                     blank, second, j);
                if (!inside || c >= to.lanes) continue;
                if (to.is_pathway && args.needs_places) {
                    write_pathway(to, c, place, run);
                } else {
                    write_bytes<16>((number *)to.x + (int64_t)pixel * to.pitch + c, run);
                }
            }
        }
    }

    /* Waits for the copies of a step, starts those of a later one, and says where the step's pixels are. */
    __device__ __forceinline__ unsigned char *next(int step) {
        copy_async_wait<ahead - 1>();
        __syncthreads();
        copy_step(step + ahead);
        return stage(step);
    }

    /* All weights are there, and all outputs of 128 pixels come in one step. */
    __device__ __forceinline__ void run_staying() {
        float sum[columns / 2];
        copy_all_weights();
        for (int step = 0; step < ahead; step++) copy_step(step);
        int step = 0;
        for (int32_t of = (int32_t)blockIdx.x; of < args.tiles; of += (int32_t)gridDim.x, step++) {
            unsigned char *pixels = next(step) + panel_group() * PANEL_SQUARE_BYTES, *weights = memory;
            for (int32_t column = 0; column < args.columns; column++) {
                for (int panel = 0; panel < panels; panel++, weights += weight_bytes) {
                    panel_add<number, false, true>(sum, pixels + panel * pixel_bytes, weights, panel > 0);
                }
                write(sum, first_pixel(of), column);
            }
        }
    }

    __device__ __forceinline__ void run_streaming() {
        float sum[columns / 2];
        for (int step = 0; step < ahead; step++) copy_step(step);
        int step = 0;
        for (int32_t of = (int32_t)blockIdx.x; of < args.tiles; of += (int32_t)gridDim.x) {
            for (int32_t k = 0; k < args.steps; k++, step++) {
                unsigned char *at = next(step);
                panel_add<number, false, true>(sum, at + panel_group() * PANEL_SQUARE_BYTES, at + pixel_bytes, k > 0);
            }
            write(sum, first_pixel(of), of % args.columns);
        }
    }

    __device__ __forceinline__ void run() {
        if (args.stays) {
            run_staying();
        } else {
            run_streaming();
        }
    }
};

ENTRY_HALVES(integrate_bwd_data_mma_64, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_backward<number, 64, 2>(args).run())
ENTRY_HALVES(integrate_bwd_data_mma_128, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_backward<number, 128, 2>(args).run())
