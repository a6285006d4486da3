/*
 * integrate weight gradients by the matrix instructions of a warp (sm_80 and newer), first stage: a block makes a tile
 * of `rows` outputs by `columns` channels for one part of the pixels. The channels of all sources stand side by side
 * in panels of 64, so a tile may hold several sources, which dy is then copied for once. The sum runs over 64 pixels a
 * step. Each part writes its own float sums; weight_sum adds the parts in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate.cuh"
#include "kernels/cuda/integrate/panel_mma.cuh"

template <class number, int rows, int columns, int ahead> struct integrate_weights {
    static const int stages = ahead + 1;
    static const int row_groups = rows / 64, column_groups = 2 / row_groups;
    static const int group_columns = columns / column_groups;
    static const int row_bytes = row_groups * PANEL_SQUARE_BYTES;
    static const int stage_bytes = row_bytes + columns / PANEL_COLUMNS * PANEL_SQUARE_BYTES;

    const integrate_panels_args &args;
    unsigned char *memory; /* the stages: panels of outputs, then those of channels */
    int32_t first_output, part, first_panel;
    int32_t pixel, end; /* of the step whose copies are started next, and of the part */

    __device__ __forceinline__ integrate_weights(const integrate_panels_args &all)
        : args(all), memory((unsigned char *)shared_memory()) {
        int32_t tile = (int32_t)blockIdx.x;
        first_output = tile % args.row_tiles * rows;
        tile /= args.row_tiles;
        first_panel = tile % args.columns * (columns / PANEL_COLUMNS);
        part = tile / args.columns;
        pixel = part * args.part_pixels;
        end = pixel + args.part_pixels < args.pixels ? pixel + args.part_pixels : args.pixels;
    }

    __device__ __forceinline__ unsigned char *stage(int step) { return memory + step % stages * stage_bytes; }

    /* The source of a panel of channels; beyond the last one the last source, in channels that it has not. */
    __device__ __forceinline__ int find_source(int32_t panel) {
        int i = 0;
        while (i + 1 < args.sources && panel >= args.source[i + 1].first_column) i++;
        return i;
    }

    __device__ __forceinline__ void copy_step(int step) {
        if (pixel < end) {
            unsigned char *to = stage(step);
            integrate_place place[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int row = panel_row() + 32 * j;
                place[j] = find_place(args, pixel + row);
#pragma unroll
                for (int panel = 0; panel < row_groups; panel++) {
                    const int32_t output = first_output + panel * PANEL_COLUMNS + panel_piece() * 8;
                    const bool inside = pixel + row < end && output < args.outputs;
                    copy_async(panel_at(to + panel * PANEL_SQUARE_BYTES, row, panel_piece()),
                               (const number *)args.y + (inside ? (int64_t)(pixel + row) * args.outputs + output : 0),
                               inside);
                }
            }
#pragma unroll
            for (int panel = 0; panel < columns / PANEL_COLUMNS; panel++) {
                const integrate_panels_source &from = args.source[find_source(first_panel + panel)];
                const int32_t c = (first_panel + panel - from.first_column) * PANEL_COLUMNS + panel_piece() * 8;
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const int row = panel_row() + 32 * j;
                    copy_pixel<number>(panel_at(to + row_bytes + panel * PANEL_SQUARE_BYTES, row, panel_piece()), from,
                                       pixel + row, place[j], end, c);
                }
            }
            pixel += 64;
        }
        copy_async_commit();
    }

    __device__ __forceinline__ void write(const float (&sum)[group_columns / 2]) {
        const int32_t output = first_output + panel_group() % row_groups * 64 + panel_sum_row();
#pragma unroll
        for (int j = 0; j < group_columns / 8; j++) {
            const int32_t column = panel_group() / row_groups * group_columns + 8 * j;
            const int32_t panel = first_panel + column / PANEL_COLUMNS;
            const integrate_panels_source &to = args.source[find_source(panel)];
            const int32_t c =
                (panel - to.first_column) * PANEL_COLUMNS + column % PANEL_COLUMNS + (int)threadIdx.x % 4 * 2;
            if (c >= to.channels) continue;
            float *partial =
                args.workspace + part * args.part_elements + to.partial + (int64_t)output * to.channels + c;
            if (output < args.outputs) write_bytes<8>(partial, &sum[4 * j]);
            if (output + 8 < args.outputs) write_bytes<8>(partial + 8 * (int64_t)to.channels, &sum[4 * j + 2]);
        }
    }

    __device__ __forceinline__ void run() {
        float sum[group_columns / 2];
        const int32_t steps = (end - pixel + 63) / 64;
        for (int step = 0; step < ahead; step++) copy_step(step);
        for (int step = 0; step < steps; step++) {
            copy_async_wait<ahead - 1>();
            __syncthreads();
            copy_step(step + ahead);
            unsigned char *at = stage(step);
            panel_add<number, true, true>(
                sum, at + panel_group() % row_groups * PANEL_SQUARE_BYTES,
                at + row_bytes + panel_group() / row_groups * (group_columns / PANEL_COLUMNS) * PANEL_SQUARE_BYTES,
                step > 0);
        }
        write(sum);
    }
};

ENTRY_HALVES(integrate_bwd_weight_mma_64, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_weights<number, 64, 256, 1>(args).run())
ENTRY_HALVES(integrate_bwd_weight_mma_128, (INTEGRATE_THREADS, 2), integrate_panels_args,
             integrate_weights<number, 128, 128, 2>(args).run())
