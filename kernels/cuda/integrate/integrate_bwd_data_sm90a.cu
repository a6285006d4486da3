/*
 * integrate data gradients on Hopper's matrix units: tiles of `rows` pixels by `columns` channels of one source, summed
 * over the outputs of dy. This pass is bound by memory, so everything is under way at once: one thread has dy (and the
 * weights, where they do not stay in shared memory) copied ahead into a ring, one has what is added copied ahead into
 * a ring of results; two groups take turns at the tiles, add their products to it in place, and one thread stores it
 * from there. The ring of results has an even number of places, so that each is always the same group's.
 *
 * integrate_bn_bwd_apply is the same with more in each place: the gradient behind the normalisation of a stream (and
 * its ReLU) and its raw output x come together, and what is added is made of them on the way.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/integrate/integrate_gradient.h"
#include "kernels/cuda/tile/mask.cuh"
#include "kernels/cuda/tile/norm.cuh"
#include "kernels/cuda/integrate/panel_wgmma.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/tile/pipeline.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/tma.cuh"

/* `may_be_whole`: a stage may hold all outputs. `has_norm`: what is added comes through a normalisation. */
template <class number_type, int tile_rows, int tile_columns, int may_be_whole, int has_norm> struct gradient_tile {
    typedef number_type number;
    static const bool norm = has_norm;
    static const int rows = tile_rows, columns = tile_columns, halves = rows / 64;
    static const uint32_t pixel_bytes = rows * PANEL_ROW_BYTES;     /* 64 channels of the pixels */
    static const uint32_t weight_bytes = columns * PANEL_ROW_BYTES; /* 64 outputs of the columns */
    static const uint32_t result_bytes = columns / PANEL_COLUMNS * pixel_bytes;
    static const uint32_t place_bytes = (1 + has_norm) * result_bytes; /* of a result, with x of a normalisation */
    static const uint32_t factor_bytes = 4 * columns;                  /* of one factor of a tile of columns */

    static __device__ __forceinline__ bool is_whole(const integrate_gradient_cut &args) {
        return may_be_whole && args.whole;
    }
};

/* How shared memory is divided: barriers (of the ring of dy, of the ring of results, of the results that are made, and
 * of the weights that stay), weights, dy, results, factors of normalisations. */
struct gradient_memory {
    uint32_t ring_barriers, result_barriers, made_barriers, weights_barrier;
    uint32_t weights, ring, stage_bytes, results, factors;
};

template <class shape>
static __device__ __forceinline__ gradient_memory find_memory(const integrate_gradient_cut &args) {
    gradient_memory at;
    at.ring_barriers = shared_address(shared_memory());
    at.result_barriers = at.ring_barriers + (uint32_t)(2 * args.stages * BARRIER_BYTES);
    at.made_barriers = at.result_barriers + (uint32_t)(2 * args.results * BARRIER_BYTES);
    at.weights_barrier = at.made_barriers + (uint32_t)(args.results * BARRIER_BYTES);
    at.weights = at.ring_barriers + INTEGRATE_GRADIENT_BARRIER_BYTES;
    at.ring = at.weights + (args.stays ? (uint32_t)(args.block_columns * args.panels) * shape::weight_bytes : 0);
    at.stage_bytes =
        shape::pixel_bytes * (args.whole ? (uint32_t)args.panels : 1) + (args.stays ? 0 : shape::weight_bytes);
    at.results = at.ring + (uint32_t)args.stages * at.stage_bytes;
    at.factors = at.results + (uint32_t)args.results * shape::place_bytes;
    return at;
}

static __device__ __forceinline__ void open_barriers(const integrate_gradient_cut &args, const gradient_memory &at) {
    if (threadIdx.x == 0) {
        pipeline_init(at.ring_barriers, args.stages, 1, args.whole ? 8 : 4);
        pipeline_init(at.result_barriers, args.results, 1, 1);
        for (int32_t i = 0; i < args.results; i++) barrier_init(at.made_barriers + (uint32_t)i * BARRIER_BYTES, 4);
        barrier_init(at.weights_barrier, 1);
        barrier_publish();
    }
    __syncthreads();
}

/* The columns that a block makes of the pixels of a tile. */
struct gradient_work {
    int32_t first_pixel, column, end;
};

template <class shape>
static __device__ __forceinline__ gradient_work find_work(const integrate_gradient_cut &args, int32_t tile) {
    gradient_work work = {tile / args.splits * shape::rows, tile % args.splits * args.block_columns, 0};
    work.end = work.column + args.block_columns < args.columns ? work.column + args.block_columns : args.columns;
    return work;
}

/* The source of a tile of columns. */
static __device__ __forceinline__ int find_source(const integrate_gradient_cut &args, int32_t column) {
    int i = 0;
    while (i + 1 < args.sources && column >= args.source[i + 1].first_column) i++;
    return i;
}

static __device__ __forceinline__ bool skips_pixels(const integrate_gradient_cut &args, int source) {
    return args.is_strided && source == 0;
}

/* Whether what is added to a source's gradient comes through a normalisation: that of a stream. */
template <class shape> static __device__ __forceinline__ bool has_norm(const integrate_gradient_cut &args, int source) {
    return shape::norm && (source > 0 || args.z_channels == 0);
}

/* ---- The threads that copy ------------------------------------------------------------------------- */

/* Weights of 64 outputs, which are the rows, and a tile of columns: a panel for each 64 of them. */
template <class shape, class arguments>
static __device__ __forceinline__ void load_weights(uint32_t to, const arguments &args, uint32_t barrier,
                                                    int32_t column, int32_t output) {
    const int i = find_source(args.cut, column);
    const int32_t c = (column - args.cut.source[i].first_column) * shape::columns;
    for (int panel = 0; panel < shape::columns / PANEL_COLUMNS; panel++, to += PANEL_SQUARE_BYTES)
        tma_load_2d(to, &args.weights[i], barrier, c + panel * PANEL_COLUMNS, output);
}

template <class shape, class arguments>
static __device__ __forceinline__ void load_operands(const arguments &args, const gradient_memory &at) {
    const integrate_gradient_cut &cut = args.cut;
    pipeline stage = pipeline_begin(at.ring_barriers, cut.stages);
    if (cut.stays) {
        const gradient_work work = find_work<shape>(cut, (int32_t)blockIdx.x);
        uint32_t to = at.weights;
        barrier_expect(at.weights_barrier, (uint32_t)((work.end - work.column) * cut.panels) * shape::weight_bytes);
        for (int32_t column = work.column; column < work.end; column++) {
            for (int32_t panel = 0; panel < cut.panels; panel++, to += shape::weight_bytes)
                load_weights<shape>(to, args, at.weights_barrier, column, panel * PANEL_COLUMNS);
        }
    }
    for (int32_t tile = (int32_t)blockIdx.x; tile < cut.tiles; tile += (int32_t)gridDim.x) {
        const gradient_work work = find_work<shape>(cut, tile);
        for (int32_t panel = 0; panel < cut.panels; pipeline_next(&stage)) {
            uint32_t to = at.ring + (uint32_t)stage.index * at.stage_bytes;
            const int32_t first = panel, end = cut.whole ? cut.panels : panel + 1;
            pipeline_fill(stage, at.stage_bytes);
            for (; panel < end; panel++, to += shape::pixel_bytes)
                tma_load_2d(to, &args.y, pipeline_full(stage), panel * PANEL_COLUMNS, work.first_pixel);
            if (!cut.stays) load_weights<shape>(to, args, pipeline_full(stage), work.column, first * PANEL_COLUMNS);
        }
    }
}

/* 64 channels, from c on, of what is added to the tile's pixels of a source. */
template <class arguments>
static __device__ __forceinline__ void load_added_panel(uint32_t to, const arguments &args, int source,
                                                        uint32_t barrier, int32_t c, int32_t pixel) {
    const integrate_gradient_cut &cut = args.cut;
    if (skips_pixels(cut, source)) {
        const int32_t line = pixel / cut.out_size[1], sample = line / cut.out_size[0];
        tma_load_im2col_4d(to, &args.added[source], barrier, c, (pixel - line * cut.out_size[1]) * cut.stride[1],
                           (line - sample * cut.out_size[0]) * cut.stride[0], sample, 0, 0);
    } else {
        tma_load_2d(to, &args.added[source], barrier, c, pixel);
    }
}

/* A tile of columns of one source, in its place in the ring of results. */
struct gradient_result {
    int source;
    int32_t c, first_pixel; /* its first channel and pixel */
    uint32_t memory;
};

/* Every result of a block in turn: `does` gets it and its place in the ring. */
template <class shape, class action>
static __device__ __forceinline__ void for_results(const integrate_gradient_cut &args, const gradient_memory &at,
                                                   const action &does) {
    pipeline result = pipeline_begin(at.result_barriers, args.results);
    for (int32_t tile = (int32_t)blockIdx.x; tile < args.tiles; tile += (int32_t)gridDim.x) {
        const gradient_work work = find_work<shape>(args, tile);
        for (int32_t column = work.column; column < work.end; column++, pipeline_next(&result)) {
            const int i = find_source(args, column);
            const gradient_result one = {i, (column - args.source[i].first_column) * shape::columns, work.first_pixel,
                                         at.results + (uint32_t)result.index * shape::place_bytes};
            does(result, one);
        }
    }
}

/* x of a normalisation, behind what is added. */
template <class shape>
static __device__ __forceinline__ void load_raw(const integrate_bn_bwd_apply_args &args, const gradient_result &to,
                                                uint32_t barrier) {
    for (int panel = 0; panel < shape::columns / PANEL_COLUMNS; panel++)
        tma_load_2d(to.memory + shape::result_bytes + (uint32_t)panel * shape::pixel_bytes, &args.raw[to.source],
                    barrier, to.c + panel * PANEL_COLUMNS, to.first_pixel);
}

template <class shape>
static __device__ __forceinline__ void load_raw(const integrate_gradient_args &, const gradient_result &, uint32_t) {}

template <class shape, class arguments>
static __device__ __forceinline__ void load_added(const arguments &args, const gradient_memory &at) {
    for_results<shape>(args.cut, at, [&](const pipeline &result, const gradient_result &to) {
        const bool norm = has_norm<shape>(args.cut, to.source);
        pipeline_fill(result, norm ? shape::place_bytes : args.cut.source[to.source].adds ? shape::result_bytes : 0);
        for (int panel = 0; panel < shape::columns / PANEL_COLUMNS && args.cut.source[to.source].adds; panel++)
            load_added_panel(to.memory + (uint32_t)panel * shape::pixel_bytes, args, to.source, pipeline_full(result),
                             to.c + panel * PANEL_COLUMNS, to.first_pixel);
        if (norm) load_raw<shape>(args, to, pipeline_full(result));
    });
}

/* Stores the results as they are made. Those of a strided pathway the groups have written themselves. */
template <class shape, class arguments>
static __device__ __forceinline__ void store_results(const arguments &args, const gradient_memory &at) {
    for_results<shape>(args.cut, at, [&](const pipeline &result, const gradient_result &from) {
        barrier_wait(at.made_barriers + (uint32_t)result.index * BARRIER_BYTES, result.parity);
        for (int panel = 0; panel < shape::columns / PANEL_COLUMNS && !skips_pixels(args.cut, from.source); panel++)
            tma_store_2d(&args.x[from.source], from.memory + (uint32_t)panel * shape::pixel_bytes,
                         from.c + panel * PANEL_COLUMNS, from.first_pixel);
        tma_commit();
        tma_wait_read<0>();
        pipeline_free(result);
    });
    tma_wait<0>();
}

/* ---- Normalisations -------------------------------------------------------------------------------- */

/* The factors of all channels of a block's columns: dx = g * of_g + x * of_x + rest, where g is dy or, where the gate
 * x * scale + shift is closed, 0. Zeros behind the last channel. All threads of the block. */
template <class shape>
static __device__ __forceinline__ void make_factors(const integrate_bn_bwd_apply_args &args,
                                                    const gradient_memory &at) {
    const integrate_gradient_cut &cut = args.cut;
    const int32_t first = cut.stays ? find_work<shape>(cut, (int32_t)blockIdx.x).column : 0;
    const int32_t columns = cut.stays ? cut.block_columns : cut.columns;
    for (int32_t j = (int32_t)threadIdx.x; j < columns * shape::columns; j += INTEGRATE_GRADIENT_THREADS) {
        const int32_t column = first + j / shape::columns;
        const int i = find_source(cut, column < cut.columns ? column : cut.columns - 1);
        const int32_t c = (column - cut.source[i].first_column) * shape::columns + j % shape::columns;
        float all[INTEGRATE_BN_BWD_APPLY_FACTORS] = {0, 0, 0, 0, 1};
        if (has_norm<shape>(cut, i) && c < args.channels[i]) {
            const integrate_bn_bwd_apply_norm &from = args.norm[i];
            const int64_t active = mask_active(cut.source[i].mask, args.batch);
            const float share = 1 / (float)(active * cut.out_size[0] * cut.out_size[1]);
            const bn_factors of =
                bn_factors_of(from.gamma[c], from.rstd[c], from.center[c], from.dgamma[c], from.dbeta[c], share);
            all[0] = of.of_g;
            all[1] = of.of_x;
            all[2] = of.rest;
            if (from.scale) all[3] = from.scale[c];
            if (from.scale) all[4] = from.shift[c];
        }
        for (int k = 0; k < INTEGRATE_BN_BWD_APPLY_FACTORS; k++)
            shared_write_f32(
                at.factors + (uint32_t)(j / shape::columns * INTEGRATE_BN_BWD_APPLY_FACTORS + k) * shape::factor_bytes +
                    (uint32_t)(j % shape::columns) * (uint32_t)sizeof(float),
                all[k]);
    }
}

template <class shape>
static __device__ __forceinline__ void make_factors(const integrate_gradient_args &, const gradient_memory &) {}

/* The factors of two channels that lie side by side. */
struct norm_pair {
    float of_g[2], of_x[2], rest[2], scale[2], shift[2];
};

template <class shape> static __device__ __forceinline__ void read_norm(norm_pair &to, uint32_t from) {
    shared_read_pair(to.of_g, from);
    shared_read_pair(to.of_x, from + shape::factor_bytes);
    shared_read_pair(to.rest, from + 2 * shape::factor_bytes);
    shared_read_pair(to.scale, from + 3 * shape::factor_bytes);
    shared_read_pair(to.shift, from + 4 * shape::factor_bytes);
}

template <class number>
static __device__ __forceinline__ float norm_gradient(const norm_pair &with, uint32_t dy, uint32_t raw, int i) {
    const float x = pair_at<number>(raw, i);
    const float g = x * with.scale[i] + with.shift[i] <= 0 ? 0 : pair_at<number>(dy, i);
    return g * with.of_g[i] + (x * with.of_x[i] + with.rest[i]);
}

/* ---- The groups that multiply ---------------------------------------------------------------------- */

/* A pixel of the tile's: whether there is one, and whether the source's mask blanks it. */
static __device__ __forceinline__ bool is_blanked(const integrate_gradient_cut &args, int source, int32_t pixel) {
    const uint32_t *mask = args.source[source].mask;
    return mask && pixel < args.pixels && mask_blanks(mask, pixel / (args.out_size[0] * args.out_size[1]));
}

/* Adds what lies in the result's place to 64 rows of sums; sums of blanked pixels count as zero. */
template <class shape>
static __device__ __forceinline__ void add_to(float (&sum)[shape::columns / 2], const integrate_gradient_cut &args,
                                              int source, uint32_t from, int32_t first_pixel) {
    typedef typename shape::number number;
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (int second = 0; second < 2; second++) {
        const int row = panel_sum_row() + 8 * second;
        const uint32_t at = from + (uint32_t)row * PANEL_ROW_BYTES + lane % 4 * 4;
        const bool blank = is_blanked(args, source, first_pixel + row);
#pragma unroll
        for (int j = 0; j < shape::columns / 8; j++) {
            float *pair = &sum[4 * j + 2 * second];
            if (blank) pair[0] = pair[1] = 0;
            if (!args.source[source].adds) continue;
            const uint32_t word =
                shared_read_word(at + (uint32_t)(j / 8) * shape::pixel_bytes + (((uint32_t)j % 8 ^ lane / 4) << 4));
            pair[0] += pair_at<number>(word, 0);
            pair[1] += pair_at<number>(word, 1);
        }
    }
}

/* Adds what comes through the normalisation of a stream to all rows of sums. */
template <class shape>
static __device__ __forceinline__ void add_norm(float (&sum)[shape::halves][shape::columns / 2], uint32_t from,
                                                uint32_t factors) {
    typedef typename shape::number number;
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t first = from + (uint32_t)panel_sum_row() * PANEL_ROW_BYTES + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < shape::columns / 8; j++) {
        const uint32_t piece = first + (uint32_t)(j / 8) * shape::pixel_bytes + (((uint32_t)j % 8 ^ lane / 4) << 4);
        norm_pair with;
        read_norm<shape>(with, factors + (uint32_t)(8 * j + 2 * (int)(lane % 4)) * (uint32_t)sizeof(float));
#pragma unroll
        for (int row = 0; row < 2 * shape::halves; row++) {
            const uint32_t at =
                piece + (uint32_t)(row / 2) * PANEL_SQUARE_BYTES + (uint32_t)(row % 2) * 8 * PANEL_ROW_BYTES;
            const uint32_t dy = shared_read_word(at), raw = shared_read_word(at + shape::result_bytes);
#pragma unroll
            for (int i = 0; i < 2; i++)
                sum[row / 2][4 * j + 2 * (row % 2) + i] += norm_gradient<number>(with, dy, raw, i);
        }
    }
}

/* Zeros in the rows of blanked pixels. */
template <class shape>
static __device__ __forceinline__ void clear_blanked(float (&sum)[shape::halves][shape::columns / 2],
                                                     const integrate_gradient_cut &args, int source,
                                                     int32_t first_pixel) {
#pragma unroll
    for (int row = 0; row < 2 * shape::halves; row++) {
        if (!is_blanked(args, source, first_pixel + row / 2 * 64 + panel_sum_row() + 8 * (row % 2))) continue;
#pragma unroll
        for (int j = 0; j < shape::columns / 8; j++)
            sum[row / 2][4 * j + 2 * (row % 2)] = sum[row / 2][4 * j + 2 * (row % 2) + 1] = 0;
    }
}

/* 64 rows of sums, rounded, as panels. */
template <class shape>
static __device__ __forceinline__ void lay_down(const float (&sum)[shape::columns / 2], uint32_t to) {
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (int second = 0; second < 2; second++) {
        const uint32_t at = to + (uint32_t)(panel_sum_row() + 8 * second) * PANEL_ROW_BYTES + lane % 4 * 4;
#pragma unroll
        for (int j = 0; j < shape::columns / 8; j++)
            shared_write_word(at + (uint32_t)(j / 8) * shape::pixel_bytes + (((uint32_t)j % 8 ^ lane / 4) << 4),
                              pair_made<typename shape::number>(sum[4 * j + 2 * second], sum[4 * j + 2 * second + 1]));
    }
}

/* Eight channels, from c on, of an output's pixel of dz, and of the pixels behind and below it that the stride skips:
 * zeros, or what is added to them. */
template <class number>
static __device__ __forceinline__ void write_pathway(const integrate_gradient_cut &args, int32_t pixel, int32_t c,
                                                     const uint32_t (&run)[4]) {
    const int32_t line = pixel / args.out_size[1], sample = line / args.out_size[0];
    const int32_t top = (line - sample * args.out_size[0]) * args.stride[0];
    const int32_t left = (pixel - line * args.out_size[1]) * args.stride[1];
    const int64_t first = (((int64_t)sample * args.size[0] + top) * args.size[1] + left) * args.z_channels + c;
    write_bytes<16>((number *)args.z + first, run);
    if (args.added_z == args.z) return; /* in place */
    for (int32_t h = 0; h < args.stride[0] && top + h < args.size[0]; h++) {
        for (int32_t w = h == 0; w < args.stride[1] && left + w < args.size[1]; w++) {
            const int64_t at = first + ((int64_t)h * args.size[1] + w) * args.z_channels;
            uint32_t words[4] = {0, 0, 0, 0};
            if (args.added_z) read_bytes<16>(words, (const number *)args.added_z + at);
            write_bytes<16>((number *)args.z + at, words);
        }
    }
}

/* Writes 64 pixels of a strided pathway, from channel first_c on, that lie as panels; the group together. */
template <class shape>
static __device__ __forceinline__ void write_strided(const integrate_gradient_cut &args, uint32_t from,
                                                     int32_t first_pixel, int32_t first_c) {
    named_sync(3 + panel_group(), PANEL_GROUP);
    const uint32_t piece = threadIdx.x % PANEL_PIECES;
    for (uint32_t row = threadIdx.x % PANEL_GROUP / PANEL_PIECES; row < 64; row += PANEL_GROUP / PANEL_PIECES) {
        const int32_t pixel = first_pixel + (int32_t)row;
#pragma unroll
        for (int panel = 0; panel < shape::columns / PANEL_COLUMNS; panel++) {
            const int32_t c = first_c + panel * PANEL_COLUMNS + (int32_t)piece * 8;
            uint32_t run[4];
            if (pixel >= args.pixels || c >= args.z_channels) continue;
            shared_read(run,
                        from + (uint32_t)panel * shape::pixel_bytes + row * PANEL_ROW_BYTES + ((piece ^ row % 8) << 4));
            write_pathway<typename shape::number>(args, pixel, c, run);
        }
    }
}

/* The sums of a tile of columns become its gradients. */
template <class shape>
static __device__ __forceinline__ void finish(float (&sum)[shape::halves][shape::columns / 2],
                                              const integrate_gradient_cut &args, const gradient_memory &at,
                                              const pipeline &result, int32_t first_pixel, int32_t column) {
    const int i = find_source(args, column);
    const uint32_t to = at.results + (uint32_t)result.index * shape::place_bytes;
    const bool norm = has_norm<shape>(args, i);
    pipeline_wait(result);
    if (norm) {
        add_norm<shape>(sum, to,
                        at.factors + (uint32_t)(args.stays ? column % args.block_columns : column) *
                                         INTEGRATE_BN_BWD_APPLY_FACTORS * shape::factor_bytes);
        if (args.source[i].mask) clear_blanked<shape>(sum, args, i, first_pixel);
    }
#pragma unroll
    for (int half = 0; half < shape::halves; half++) {
        const uint32_t rows = to + (uint32_t)half * PANEL_SQUARE_BYTES;
        if (!norm && (args.source[i].adds || args.source[i].mask))
            add_to<shape>(sum[half], args, i, rows, first_pixel + half * 64);
        lay_down<shape>(sum[half], rows);
        if (skips_pixels(args, i))
            write_strided<shape>(args, rows, first_pixel + half * 64,
                                 (column - args.source[i].first_column) * shape::columns);
    }
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(at.made_barriers + (uint32_t)result.index * BARRIER_BYTES);
}

template <class shape>
static __device__ __forceinline__ void multiply(float (&sum)[shape::halves][shape::columns / 2], uint32_t pixels,
                                                uint32_t weights, bool add) {
#pragma unroll
    for (int half = 0; half < shape::halves; half++)
        panel_add<typename shape::number, false, true>(sum[half], pixels + (uint32_t)half * PANEL_SQUARE_BYTES, weights,
                                                       add);
}

/* All outputs of a tile's pixels come in one stage, and the weights stay. */
template <class shape>
static __device__ __forceinline__ void consume_whole(const integrate_gradient_cut &args, const gradient_memory &at) {
    pipeline stage = pipeline_begin(at.ring_barriers, args.stages);
    pipeline result = pipeline_begin(at.result_barriers, args.results);
    float sum[shape::halves][shape::columns / 2];
    int turn = 0;
    barrier_wait(at.weights_barrier, 0);
    for (int32_t tile = (int32_t)blockIdx.x; tile < args.tiles; tile += (int32_t)gridDim.x, pipeline_next(&stage)) {
        const uint32_t pixels = at.ring + (uint32_t)stage.index * at.stage_bytes;
        const gradient_work work = find_work<shape>(args, tile);
        pipeline_wait(stage);
        for (int32_t column = work.column; column < work.end; column++, turn ^= 1, pipeline_next(&result)) {
            if (turn != panel_group()) continue;
            const uint32_t weights =
                at.weights + (uint32_t)((column - work.column) * args.panels) * shape::weight_bytes;
            for (int32_t panel = 0; panel < args.panels; panel++)
                multiply<shape>(sum, pixels + (uint32_t)panel * shape::pixel_bytes,
                                weights + (uint32_t)panel * shape::weight_bytes, panel > 0);
            wgmma_wait<0>();
#pragma unroll
            for (int half = 0; half < shape::halves; half++) wgmma_hold(sum[half]);
            finish<shape>(sum, args, at, result, work.first_pixel, column);
        }
        pipeline_free(stage);
    }
}

/* A tile's outputs come 64 at a time, with their weights or without. */
template <class shape>
static __device__ __forceinline__ void consume_panels(const integrate_gradient_cut &args, const gradient_memory &at) {
    pipeline stage = pipeline_begin(at.ring_barriers, args.stages);
    pipeline result = pipeline_begin(at.result_barriers, args.results);
    float sum[shape::halves][shape::columns / 2];
    int turn = 0;
    if (args.stays) barrier_wait(at.weights_barrier, 0);
    for (int32_t tile = (int32_t)blockIdx.x; tile < args.tiles;
         tile += (int32_t)gridDim.x, turn ^= 1, pipeline_next(&result)) {
        if (turn != panel_group()) {
            pipeline_skip(&stage, args.panels);
            continue;
        }
        const gradient_work work = find_work<shape>(args, tile);
        pipeline before = stage;
        /* the stages in front of these have been waited for: a phase is never mistaken for the one two before */
        if (tile != (int32_t)blockIdx.x) named_sync(1 + panel_group(), 2 * PANEL_GROUP);
        for (int32_t panel = 0; panel < args.panels; panel++, pipeline_next(&stage)) {
            const uint32_t pixels = at.ring + (uint32_t)stage.index * at.stage_bytes;
            pipeline_wait(stage);
            multiply<shape>(sum, pixels,
                            args.stays ? at.weights + (uint32_t)panel * shape::weight_bytes
                                       : pixels + shape::pixel_bytes,
                            panel > 0);
            wgmma_wait<shape::halves>();
            if (panel > 0) pipeline_free(before);
            before = stage;
        }
        wgmma_wait<0>();
#pragma unroll
        for (int half = 0; half < shape::halves; half++) wgmma_hold(sum[half]);
        pipeline_free(before);
        if (tile + (int32_t)gridDim.x < args.tiles) named_arrive(2 - panel_group(), 2 * PANEL_GROUP);
        finish<shape>(sum, args, at, result, work.first_pixel, work.column);
    }
}

template <class shape, class arguments>
static __device__ __forceinline__ void integrate_bwd_data(const arguments &args) {
    const gradient_memory at = find_memory<shape>(args.cut);
    make_factors<shape>(args, at);
    open_barriers(args.cut, at);
    if (warp_uniform((int)threadIdx.x / PANEL_GROUP) < 2) {
        registers_take<216>();
        if (shape::is_whole(args.cut)) {
            consume_whole<shape>(args.cut, at);
        } else {
            consume_panels<shape>(args.cut, at);
        }
        return;
    }
    registers_give<72>();
    if (threadIdx.x == INTEGRATE_GRADIENT_LOADER) load_operands<shape>(args, at);
    if (threadIdx.x == INTEGRATE_GRADIENT_ADDER) load_added<shape>(args, at);
    if (threadIdx.x == INTEGRATE_GRADIENT_STORER) store_results<shape>(args, at);
}

ENTRY_HALVES(integrate_bwd_data_wgmma_128x64, (INTEGRATE_GRADIENT_THREADS, 1), integrate_gradient_args,
             integrate_bwd_data<gradient_tile<number, 128, 64, 1, 0>>(args))
ENTRY_HALVES(integrate_bwd_data_wgmma_64x128, (INTEGRATE_GRADIENT_THREADS, 1), integrate_gradient_args,
             integrate_bwd_data<gradient_tile<number, 64, 128, 1, 0>>(args))
ENTRY_HALVES(integrate_bwd_data_wgmma_128x128, (INTEGRATE_GRADIENT_THREADS, 1), integrate_gradient_args,
             integrate_bwd_data<gradient_tile<number, 128, 128, 0, 0>>(args))
ENTRY_HALVES(integrate_bn_bwd_apply_wgmma_128x64, (INTEGRATE_GRADIENT_THREADS, 1), integrate_bn_bwd_apply_args,
             integrate_bwd_data<gradient_tile<number, 128, 64, 1, 1>>(args))
ENTRY_HALVES(integrate_bn_bwd_apply_wgmma_64x128, (INTEGRATE_GRADIENT_THREADS, 1), integrate_bn_bwd_apply_args,
             integrate_bwd_data<gradient_tile<number, 64, 128, 1, 1>>(args))
