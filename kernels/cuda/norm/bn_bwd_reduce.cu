/*
 * bn_bwd_reduce: dbeta = sum of g and dgamma = sum of g * (x - center) * rstd over the active pixels of every channel,
 * added in an order that depends on the problem alone, for g = dy and for the gradients behind the activations of the
 * fused ops. rstd is the same for all pixels, so it multiplies the finished sum.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/norm/bn_bwd_reduce.cuh"
#include "kernels/cuda/tile/slide.cuh"

/* bn_act_pool with a ReLU and windows as tile/slide.cuh has them: the sums of all places are those of all windows, each
 * with its dy and the x that it took. A thread has a pack of channels and goes down columns of windows; columns.pixels
 * counts those of all samples. The x that a window took is added as its key, which changes the sign where the scale is
 * negative. */
template <class number> struct pool_sums : pixel_body<number, widest<number>::width> {
    static const int width = widest<number>::width, numbers = word<number>::width;
    bn_gradients sums[width];
    float center[width];
    const bn_gate &gate;
    bool some_alike; /* channels with a scale of 0, whose windows take their first place */
    __device__ __forceinline__ pool_sums(const pixel_args &all, int i, const bn_gate &of, int64_t c)
        : pixel_body<number, width>(all, i), sums{}, gate(of), some_alike(false) {
        pack_channels(center, this->plane.center + c, this->plane.channels - c);
#pragma unroll
        for (int j = 0; j < width; j++) {
            if (is_flipped(j)) center[j] = -center[j];
        }
#pragma unroll
        for (int k = 0; k < PACK_WORDS; k++) some_alike |= gate.kept.at[k] != 0xFFFFFFFFu;
    }
    __device__ __forceinline__ bool is_flipped(int j) const {
        return (gate.flipped.at[j / numbers] >> (numbers == 1 ? 31 : 15 + 16 * (j % numbers))) & 1u;
    }
    /* The largest keys of three places. */
    __device__ __forceinline__ words largest(const words *x) const {
        words best;
#pragma unroll
        for (int k = 0; k < PACK_WORDS; k++) {
            const uint32_t flipped = gate.flipped.at[k];
            best.at[k] = word<number>::larger(x[0].at[k] ^ flipped, x[1].at[k] ^ flipped);
            best.at[k] = word<number>::larger(best.at[k], x[2].at[k] ^ flipped);
        }
        return best;
    }
    __device__ __forceinline__ void include(const words &best, const words &dy, const words &first) {
#pragma unroll
        for (int k = 0; k < PACK_WORDS; k++) {
            const uint32_t kept = gate.kept.at[k];
            const uint32_t open = word<number>::above(best.at[k] & kept, gate.threshold.at[k]);
            float g[numbers], x[numbers];
            word<number>::open(g, dy.at[k] & open);
            word<number>::open(x, some_alike ? (best.at[k] & kept) | (first.at[k] & ~kept) : best.at[k]);
#pragma unroll
            for (int j = 0; j < numbers; j++) {
                bn_gradients &sum = sums[k * numbers + j];
                sum.shift += g[j];
                sum.scale += g[j] * (x[j] - center[k * numbers + j]);
            }
        }
    }
    /* Windows of rows first to last - 1. */
    __device__ __forceinline__ void down(const slide_source<number> &from, int32_t first, int32_t last) {
        words coming[6], dy;
        from.read_places(coming, 2 * first - 1);
        words above = largest(coming), corner = coming[0];
        from.read(coming, dy, first);
        for (int32_t row = first; row < last; row++) {
            const words upper = largest(coming), lower = largest(coming + 3), gradient = dy, place = corner;
            words best;
            corner = coming[3];
            if (row + 1 < last) from.read(coming, dy, row + 1);
#pragma unroll
            for (int k = 0; k < PACK_WORDS; k++) {
                best.at[k] = word<number>::larger(above.at[k], word<number>::larger(upper.at[k], lower.at[k]));
            }
            include(best, gradient, place);
            above = lower;
        }
    }
};

/* The columns of windows of a part: rows from `step` on, those of one column of blocks after the other. */
template <class number>
static __device__ __forceinline__ void pool_sums_run(const pixel_args &args, bn_gradients *shared, bn_gate *gates) {
    const int width = widest<number>::width;
    const pixel_columns &columns = args.columns;
    const column_work work = column_first(args, width);
    const pixel_plane &plane = args.plane[work.plane];
    const int32_t rows = args.window.out_size[0], lane = (int32_t)threadIdx.x % work.lanes;
    const int64_t steps = (columns.pixels + work.step - 1) / work.step * rows;
    const int64_t share = (steps + columns.parts - 1) / columns.parts, begin = work.part * share;
    const int64_t end = begin + share < steps ? begin + share : steps;
    for (int32_t j = (int32_t)threadIdx.x; j < work.lanes * width; j += BLOCK_THREADS) {
        const int64_t c = work.channel - lane * width + j;
        const bool inside = c < plane.channels;
        bn_gate_set<number>(gates[j / width], j % width, inside ? plane.scale[c] : 1, inside ? plane.shift[c] : 0);
    }
    __syncthreads();
    pool_sums<number> of(args, work.plane, gates[lane], work.channel);
    for (int64_t step = begin; step < end;) {
        const int64_t tile = divide(step, rows), column = tile * work.step + (int32_t)threadIdx.x / work.lanes;
        const int32_t first = (int32_t)(step - tile * rows);
        const int32_t last = end - step < rows - first ? first + (int32_t)(end - step) : rows;
        slide_work at = {};
        at.sample = divide(column, columns.sample_pixels);
        at.column = (int32_t)(column - at.sample * columns.sample_pixels);
        if (column < columns.pixels && work.channel < plane.channels && !mask_blanks(plane.mask, at.sample))
            of.down(slide_source<number>(of, at, work.channel), first, last);
        step += last - first;
    }
    column_add_rows(shared, of.sums, work.lanes);
    bn_gradients *to = (bn_gradients *)columns.workspace + column_at(columns, work, work.part);
#pragma unroll
    for (int j = 0; j < width; j++) {
        if (of.is_flipped(j)) of.sums[j].scale = -of.sums[j].scale;
        if ((int32_t)threadIdx.x < work.lanes && work.channel + j < plane.channels)
            write_bytes<sizeof *to>(to + j, &of.sums[j]);
    }
    columns_join(args, work, width, shared);
}

/* The second launch, of all kinds. */
ENTRY(bn_bwd_reduce_parts, (BLOCK_THREADS), pixel_args, __shared__ bn_gradients shared[BLOCK_THREADS];
      columns_second(args, shared))
ENTRY_FORMATS(bn_bwd_reduce, (BLOCK_THREADS, 3), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<sums_of<gradient_plain>::body, number>(args, ring))
ENTRY_FORMATS(bn_act_sums, (BLOCK_THREADS, 3), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<act_sums<false>::body, number>(args, ring))
ENTRY_FORMATS(bn_act_sums_curved, (BLOCK_THREADS, 2), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<act_sums<true>::body, number>(args, ring))
ENTRY_FORMATS(bn_add_act_sums, (BLOCK_THREADS, 3), pixel_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              columns_kernel_deep<sums_of<gradient_add_act>::body, number>(args, ring))
ENTRY_FORMATS(bn_act_pool_sums, (BLOCK_THREADS, 2), pixel_args,
              __shared__ bn_gradients shared[widest<number>::width * BLOCK_THREADS];
              columns_kernel<sums_of<gradient_pool>::body, number>(args, shared))
ENTRY_FORMATS(bn_act_pool_slide_sums, (BLOCK_THREADS, 2), pixel_args,
              __shared__ bn_gradients shared[widest<number>::width * BLOCK_THREADS];
              __shared__ bn_gate gates[SLIDE_LANES]; pool_sums_run<number>(args, shared, gates))
