/*
 * integrate forward by the matrix instructions of a warp (sm_80 and newer): a block makes tiles of 128 pixels by
 * `columns` outputs, one after the other. The sum of a tile runs over panels of 64 channels, source after source; the
 * copies of the next steps, of the next tile too, are under way while one is multiplied. Weights stay in shared memory
 * where they fit, else their panels come with those of the pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate.cuh"
#include "kernels/cuda/integrate/panel_mma.cuh"

template <class number, int columns, int ahead> struct integrate_forward {
    static const int weight_bytes = columns * PANEL_ROW_BYTES, pixel_bytes = INTEGRATE_ROWS * PANEL_ROW_BYTES;
    static const int stages = ahead + 1;

    const integrate_panels_args &args;
    unsigned char *memory; /* the weights that stay, then the stages */
    int stage_bytes;
    /* The step whose copies are started next. */
    int32_t tile, source, begin;
    integrate_place place[INTEGRATE_ROWS / 32];

    __device__ __forceinline__ integrate_forward(const integrate_panels_args &all)
        : args(all), memory((unsigned char *)shared_memory()), tile((int32_t)blockIdx.x), source(0), begin(0) {
        stage_bytes = pixel_bytes + (args.stays ? 0 : weight_bytes);
    }

    __device__ __forceinline__ unsigned char *stage(int step) {
        return memory + (args.stays ? args.steps * weight_bytes : 0) + step % stages * stage_bytes;
    }

    /* A panel of weights: rows are outputs. */
    __device__ __forceinline__ void copy_weights(unsigned char *to, const integrate_panels_source &from, int32_t first,
                                                 int32_t c) {
        c += panel_piece() * 8;
#pragma unroll
        for (int row = panel_row(); row < columns; row += 32) {
            const bool inside = first + row < args.outputs && c < from.channels;
            copy_async(panel_at(to, row, panel_piece()),
                       (const number *)from.weights + (inside ? (int64_t)(first + row) * from.channels + c : 0),
                       inside);
        }
    }

    __device__ __forceinline__ void copy_all_weights() {
        unsigned char *to = memory;
        for (int32_t i = 0; i < args.sources; i++) {
            for (int32_t c = 0; c < args.source[i].channels; c += PANEL_COLUMNS, to += weight_bytes)
                copy_weights(to, args.source[i], 0, c);
        }
    }

    /* Starts the copies of the next step, if there is one, and goes on. */
    __device__ __forceinline__ void copy_step(int step) {
        if (tile < args.tiles) {
            const integrate_panels_source &from = args.source[source];
            const int32_t first = tile / args.columns * INTEGRATE_ROWS;
            unsigned char *to = stage(step);
#pragma unroll
            for (int j = 0; j < INTEGRATE_ROWS / 32; j++) {
                const int row = panel_row() + 32 * j;
                if (source == 0 && begin == 0) place[j] = find_place(args, first + row);
                copy_pixel<number>(panel_at(to, row, panel_piece()), from, first + row, place[j], args.pixels,
                                   begin + panel_piece() * 8);
            }
            if (!args.stays) copy_weights(to + pixel_bytes, from, tile % args.columns * columns, begin);
            begin += PANEL_COLUMNS;
            if (begin >= from.channels) {
                begin = 0;
                source = source + 1 == args.sources ? 0 : source + 1;
                if (source == 0) tile += (int32_t)gridDim.x;
            }
        }
        copy_async_commit();
    }

    __device__ __forceinline__ void write(float (&sum)[columns / 2], int32_t of) {
        const int32_t first_column = of % args.columns * columns;
        const number *bias = (const number *)args.bias;
        for (int j = 0; bias && j < columns / 8; j++) {
            for (int i = 0; i < 2; i++) {
                const int32_t column = first_column + 8 * j + (int)threadIdx.x % 4 * 2 + i;
                const float value = column < args.outputs ? load(bias + column) : 0;
                sum[4 * j + i] += value;
                sum[4 * j + 2 + i] += value;
            }
        }
#pragma unroll
        for (int second = 0; second < 2; second++) {
            const int32_t pixel =
                of / args.columns * INTEGRATE_ROWS + panel_group() * 64 + panel_sum_row() + 8 * second;
#pragma unroll
            for (int j = 0; j < columns / 32; j++) {
                const int32_t column = first_column + 32 * j + panel_run_column();
                uint32_t run[4];
                panel_run<number>(run, sum, second, j);
                if (pixel < args.pixels && column < args.outputs)
                    write_bytes<16>((number *)args.y + (int64_t)pixel * args.outputs + column, run);
            }
        }
    }

    __device__ __forceinline__ void run() {
        float sum[columns / 2];
        if (args.stays) copy_all_weights();
        for (int step = 0; step < ahead; step++) copy_step(step);
        int step = 0;
        for (int32_t of = (int32_t)blockIdx.x; of < args.tiles; of += (int32_t)gridDim.x) {
            for (int32_t k = 0; k < args.steps; k++, step++) {
                copy_async_wait<ahead - 1>();
                __syncthreads();
                copy_step(step + ahead);
                unsigned char *at = stage(step);
                panel_add<number, false, false>(sum, at + panel_group() * PANEL_SQUARE_BYTES,
                                                args.stays ? memory + k * weight_bytes : at + pixel_bytes, k > 0);
            }
            write(sum, of);
        }
    }
};

ENTRY_HALVES(integrate_fwd_mma_64, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_forward<number, 64, 2>(args).run())
ENTRY_HALVES(integrate_fwd_mma_128, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_forward<number, 128, 2>(args).run())
