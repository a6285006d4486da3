/*
 * integrate weight gradients on Hopper's matrix units: a block makes a tile of `rows` outputs by 256 channels for one
 * part of the pixels. The channels of all sources stand side by side in panels of 64, so a tile may hold several
 * sources, which dy is then copied for once. The sum runs over 64 pixels a step, which one thread has copied ahead into
 * a ring. Pixels of blanked samples are cleared in shared memory. A few parts of a tile are added by a tree
 * (tile/sum_tree.cuh), and the group that has the whole writes it; many parts write their own float sums, which
 * weight_sum adds in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate_tma.cuh"
#include "kernels/cuda/tile/sum_tree.cuh"

#define COLUMNS 256
#define COLUMN_PANELS (COLUMNS / PANEL_COLUMNS)

/* The work of a block. */
struct weight_tile {
    int32_t tile, first_output, first_panel, part;
    int32_t pixel, end;
    int32_t panels; /* of channels, that there are */
};

template <int rows> static __device__ __forceinline__ weight_tile find_tile(const integrate_panels_args &all) {
    weight_tile work;
    int32_t tile = (int32_t)blockIdx.x;
    work.first_output = tile % all.row_tiles * rows;
    tile /= all.row_tiles;
    work.first_panel = tile % all.columns * COLUMN_PANELS;
    work.part = tile / all.columns;
    work.tile = (int32_t)blockIdx.x - work.part * all.tiles;
    work.pixel = work.part * all.part_pixels;
    work.end = work.pixel + all.part_pixels < all.pixels ? work.pixel + all.part_pixels : all.pixels;
    const integrate_panels_source &last = all.source[all.sources - 1];
    const int32_t left = last.first_column + (last.channels + PANEL_COLUMNS - 1) / PANEL_COLUMNS - work.first_panel;
    work.panels = left < COLUMN_PANELS ? left : COLUMN_PANELS;
    return work;
}

/* The source of a panel of channels. */
static __device__ __forceinline__ int find_source(const integrate_panels_args &all, int32_t panel) {
    int i = 0;
    while (i + 1 < all.sources && panel >= all.source[i + 1].first_column) i++;
    return i;
}

template <int rows> static __device__ __forceinline__ void produce(const integrate_tma_args &args, pipeline at) {
    const weight_tile work = find_tile<rows>(args.all);
    const uint32_t stage_bytes = (rows / 64 + COLUMN_PANELS) * PANEL_SQUARE_BYTES;
    int32_t source[COLUMN_PANELS], channel[COLUMN_PANELS];
#pragma unroll
    for (int32_t panel = 0; panel < COLUMN_PANELS; panel++) {
        source[panel] = find_source(args.all, work.first_panel + panel);
        channel[panel] = (work.first_panel + panel - args.all.source[source[panel]].first_column) * PANEL_COLUMNS;
    }
    for (int32_t pixel = work.pixel; pixel < work.end; pixel += 64, pipeline_next(&at)) {
        uint32_t to = first_panel_address() + (uint32_t)at.index * stage_bytes;
        pipeline_fill(at, (uint32_t)(rows / 64 + work.panels) * PANEL_SQUARE_BYTES);
        for (int panel = 0; panel < rows / 64; panel++, to += PANEL_SQUARE_BYTES)
            tma_load_2d(to, &args.y, pipeline_full(at), work.first_output + panel * PANEL_COLUMNS, pixel);
#pragma unroll
        for (int32_t panel = 0; panel < COLUMN_PANELS; panel++, to += PANEL_SQUARE_BYTES) {
            if (panel < work.panels) load_pixels(to, args, source[panel], pipeline_full(at), channel[panel], pixel);
        }
    }
}

/* Clears the pixels of blanked samples in all panels of a stage. Both groups take part, a panel each. */
static __device__ __forceinline__ void clear_panels(uint32_t panels, const integrate_panels_args &all,
                                                    const weight_tile &work, int32_t pixel) {
    const int32_t end = pixel + 64 < all.pixels ? pixel + 64 : all.pixels;
    bool any = false;
    for (int32_t panel = 0; panel < work.panels; panel++) {
        const uint32_t *mask = all.source[find_source(all, work.first_panel + panel)].mask;
        if (!any_blanked(all, mask, pixel, end)) continue;
        any = true;
        if (panel % 2 == panel_group())
            clear_blanked(panels + (uint32_t)panel * PANEL_SQUARE_BYTES, all, mask, pixel, end);
    }
    if (!any) return;
    fence_async();
    named_sync(1, 2 * PANEL_GROUP);
}

/* Where a group is in the tree of its tile. */
template <int count>
static __device__ __forceinline__ sum_tree find_tree(const integrate_tma_args &args, const weight_tile &work) {
    const int32_t first = work.tile * args.all.parts, group = panel_group();
    sum_tree tree;
    tree.part = work.part;
    tree.parts = args.all.parts;
    tree.counters = args.counters + 2 * first + group;
    tree.counter_step = 2;
    tree.slot_elements = 2 * count * SUM_TREE_GROUP;
    tree.slots = args.all.workspace + (int64_t)(2 * first) * tree.slot_elements + group * count * SUM_TREE_GROUP;
    tree.meeting = shared_address(shared_memory()) + INTEGRATE_TMA_MEETING_AT + (uint32_t)group * 4;
    tree.barrier = 2 + group;
    return tree;
}

/* Writes the sums of a group, from `output` and a panel on, as those of its part. */
template <int count>
static __device__ __forceinline__ void write_part(const float (&sum)[count], const integrate_panels_args &all,
                                                  int32_t part, int32_t output, int32_t first_panel) {
#pragma unroll
    for (int j = 0; j < count / 4; j++) {
        const int32_t panel = first_panel + j / 8;
        const integrate_panels_source &to = all.source[find_source(all, panel)];
        const int32_t c = (panel - to.first_column) * PANEL_COLUMNS + j % 8 * 8 + (int)threadIdx.x % 4 * 2;
        if (c >= to.channels) continue;
        float *partial = all.workspace + part * all.part_elements + to.partial + (int64_t)output * to.channels + c;
        if (output < all.outputs) write_bytes<8>(partial, &sum[4 * j]);
        if (output + 8 < all.outputs) write_bytes<8>(partial + 8 * (int64_t)to.channels, &sum[4 * j + 2]);
    }
}

/* The same as the gradients. */
template <class number, int count>
static __device__ __forceinline__ void write(const float (&sum)[count], const integrate_panels_args &all,
                                             int32_t output, int32_t first_panel) {
#pragma unroll
    for (int j = 0; j < count / 16; j++) {
        const int32_t panel = first_panel + j / 2;
        const integrate_panels_source &to = all.source[find_source(all, panel)];
        const int32_t c = (panel - to.first_column) * PANEL_COLUMNS + j % 2 * 32 + panel_run_column();
        number *weights = (number *)to.weights + (int64_t)output * to.channels + c;
#pragma unroll
        for (int second = 0; second < 2; second++) {
            uint32_t run[4];
            panel_run<number>(run, sum, second, j);
            if (c < to.channels && output + 8 * second < all.outputs)
                write_bytes<16>(weights + 8 * second * (int64_t)to.channels, run);
        }
    }
}

template <class number, int rows, bool has_tree>
static __device__ __forceinline__ void consume(const integrate_tma_args &args, pipeline at) {
    const int row_groups = rows / 64, group_columns = COLUMNS * row_groups / 2;
    const weight_tile work = find_tile<rows>(args.all);
    const uint32_t stage_bytes = (row_groups + COLUMN_PANELS) * PANEL_SQUARE_BYTES;
    const int32_t row_group = panel_group() % row_groups, column_group = panel_group() / row_groups;
    float sum[group_columns / 2];
    pipeline before = at;
    for (int32_t pixel = work.pixel; pixel < work.end; pixel += 64) {
        const uint32_t stage = first_panel_address() + (uint32_t)at.index * stage_bytes;
        const uint32_t channels = stage + row_groups * PANEL_SQUARE_BYTES;
        pipeline_wait(at);
        if (args.all.needs_places) clear_panels(channels, args.all, work, pixel);
        panel_add<number, true, true>(
            sum, stage + (uint32_t)row_group * PANEL_SQUARE_BYTES,
            channels + (uint32_t)(column_group * (group_columns / PANEL_COLUMNS) * PANEL_SQUARE_BYTES),
            pixel > work.pixel);
        wgmma_wait<1>();
        if (pixel > work.pixel) pipeline_free(before);
        before = at;
        pipeline_next(&at);
    }
    wgmma_wait<0>();
    wgmma_hold(sum);
    const int32_t output = work.first_output + row_group * 64 + panel_sum_row();
    const int32_t panel = work.first_panel + column_group * (group_columns / PANEL_COLUMNS);
    if (!has_tree) {
        write_part(sum, args.all, work.part, output, panel);
    } else if (sum_tree_climb(find_tree<group_columns / 2>(args, work), sum)) {
        write<number>(sum, args.all, output, panel);
    }
}

template <class number, int rows, bool has_tree = false>
static __device__ __forceinline__ void integrate_bwd_weight(const integrate_tma_args &args) {
    const pipeline at = open_ring(args, 2);
    if (is_consumer(2)) {
        consume<number, rows, has_tree>(args, at);
    } else if (is_producer(2)) {
        produce<rows>(args, at);
    }
}

ENTRY_HALVES(integrate_bwd_weight_wgmma_64, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_bwd_weight<number, 64>(args))
ENTRY_HALVES(integrate_bwd_weight_wgmma_128, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_bwd_weight<number, 128>(args))
ENTRY_HALVES(integrate_bwd_weight_wgmma_64_tree, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_bwd_weight<number, 64, true>(args))
ENTRY_HALVES(integrate_bwd_weight_wgmma_128_tree, (INTEGRATE_TMA_THREADS, 1), integrate_tma_args,
             integrate_bwd_weight<number, 128, true>(args))
