/*
 * A persistent matrix product on the matrix units of sm_90a. A block takes tile after tile of 128 rows; one thread
 * loads stages of 64 terms, two warpgroups multiply 64 rows each, and while one stores its results the other goes on.
 * Results leave in chunks of 64 columns through shared memory and the copy engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_GEMM_GEMM_CUH
#define BRAID_KERNELS_CUDA_GEMM_GEMM_CUH

#include "kernels/cuda/gemm/gemm.h"
#include "kernels/cuda/ptx/matrix.cuh"
#include "kernels/cuda/ptx/pair.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/tile/pipeline.cuh"
#include "kernels/cuda/tile/schedule.cuh"

/* A tile of a plane, in units of tiles. Groups of rows come one after the other, in a group column by column. */
struct gemm_tile {
    int32_t plane, row, column;
};

static __device__ __forceinline__ gemm_tile gemm_find(const gemm_args &args, int32_t t) {
    gemm_tile tile = {0, 0, 0};
    while (tile.plane + 1 < args.planes && t >= args.first_block[tile.plane + 1]) tile.plane++;
    const gemm_plane &plane = args.plane[tile.plane];
    const int32_t at = t - args.first_block[tile.plane], group = GEMM_GROUP_ROWS * plane.column_tiles;
    const int32_t first = at / group * GEMM_GROUP_ROWS, rest = plane.row_tiles - first;
    const int32_t rows = rest < GEMM_GROUP_ROWS ? rest : GEMM_GROUP_ROWS;
    tile.row = first + at % group % rows;
    tile.column = at % group / rows;
    return tile;
}

/* A stage of an operand: `count` rows of the product from `first` on. */
template <bool down, int count>
static __device__ __forceinline__ void gemm_load(uint32_t to, const cuda_tensor_map *map, uint32_t barrier,
                                                 int32_t first, int32_t term) {
    if constexpr (down) {
#pragma unroll
        for (int j = 0; j < count / 64; j++) tma_load_2d(to + j * GEMM_BOX_BYTES, map, barrier, first + j * 64, term);
    } else {
        tma_load_2d(to, map, barrier, term, first);
    }
}

template <bool left_down, bool right_down, int columns, int stages>
static __device__ __forceinline__ void gemm_produce(const gemm_args &args, uint32_t memory, uint32_t barriers) {
    pipeline at = pipeline_begin(barriers, stages);
    for (int32_t i = 0; i < args.planes; i++) tma_prefetch(&args.plane[i].out);
    for (int32_t t = (int32_t)blockIdx.x; t < args.first_block[BRAID_MAX_PLANES]; t += (int32_t)gridDim.x) {
        const gemm_tile tile = gemm_find(args, t);
        const gemm_plane &plane = args.plane[tile.plane];
        for (int32_t j = 0; j < plane.stages; j++, pipeline_next(&at)) {
            pipeline_fill(at, GEMM_STAGE_BYTES(columns));
            const uint32_t to = memory + at.index * GEMM_STAGE_BYTES(columns), full = pipeline_full(at);
            gemm_load<left_down, GEMM_ROWS>(to, &plane.left, full, tile.row * GEMM_ROWS, j * GEMM_TERMS);
            gemm_load<right_down, columns>(to + GEMM_ROWS * GEMM_TERMS * 2, &plane.right, full, tile.column * columns,
                                           j * GEMM_TERMS);
        }
    }
}

/* Column sums of the left operand, the gradient of a bias: a thread adds eight of a warpgroup's 64 rows of the product
 * over every 16th term, and the threads of those eight are added in their order. */
template <class number> struct gemm_bias_sum {
    float sum[8];
    __device__ __forceinline__ gemm_bias_sum() : sum{0, 0, 0, 0, 0, 0, 0, 0} {}
    __device__ __forceinline__ void add(uint32_t box) {
        const uint32_t thread = threadIdx.x % 128;
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const uint32_t term = j * 16 + thread / 8;
            uint32_t words[4];
            shared_read(words, box + term * 128 + ((thread % 8 ^ (term % 8)) << 4));
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] += pair_at<number>(words[i / 2], i % 2);
        }
    }
    /* Barrier `id` is the warpgroup's own; `scratch` has room for eight sums of each thread. */
    __device__ __forceinline__ void finish(const gemm_plane &plane, int32_t first, float *scratch, int id) const {
        const int32_t thread = (int32_t)threadIdx.x % 128, row = first + thread;
        named_sync(id, 128);
#pragma unroll
        for (int i = 0; i < 8; i++) scratch[thread * 8 + i] = sum[i];
        named_sync(id, 128);
        if (thread < 64 && row < plane.biases) {
            float all = 0;
            for (int32_t j = 0; j < 16; j++) all += scratch[(j * 8 + thread / 8) * 8 + thread % 8];
            store((number *)plane.bias + row, all);
        }
        named_sync(id, 128);
    }
};

/* The biases of a thread's columns of a tile, in pairs. They are read while the matrix units do the tile's last
 * products: one after the other between the results, each would wait for memory. */
template <class number, int columns> struct gemm_biases {
    uint32_t pair[columns / 8];
    __device__ __forceinline__ void read(const gemm_plane &plane, int32_t first) {
        const uint16_t *from = (const uint16_t *)plane.bias;
#pragma unroll
        for (int j = 0; j < columns / 8; j++) {
            const int32_t c = first + j * 8 + (int32_t)(threadIdx.x % 4) * 2;
            const uint32_t low = c < plane.biases ? from[c] : 0, high = c + 1 < plane.biases ? from[c + 1] : 0;
            pair[j] = low | high << 16;
        }
    }
};

/* Rounds 64 rows and columns of results into shared memory, 128 bytes of a row, swizzled. `blanked`: which of the
 * thread's two rows are zeros. */
template <class number>
static __device__ __forceinline__ void gemm_round(uint32_t to, const float *sum, const uint32_t *biases, bool has_bias,
                                                  float floor, uint32_t blanked) {
    const uint32_t lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; i++) { /* eight columns, and the row eight further */
            float value[2] = {sum[j * 8 + i * 2], sum[j * 8 + i * 2 + 1]};
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (has_bias) value[k] += pair_at<number>(biases[j * 2 + i / 2], k);
                value[k] = value[k] < floor ? 0 : value[k];
            }
            words[i] = blanked >> (i % 2) & 1 ? 0 : pair_made<number>(value[0], value[1]);
        }
        matrix_store_x4(to + row * 128 + ((((uint32_t)j * 2 + lane / 16) ^ (row % 8)) << 4), words);
    }
}

/* Stores a tile's rows of this warpgroup; barrier `id` is its own. */
template <class number, int columns>
static __device__ __forceinline__ void gemm_store(const float (&sum)[columns / 2], const gemm_args &args,
                                                  const gemm_tile &tile, const gemm_biases<number, columns> &biases,
                                                  bool has_bias, uint32_t staging, int32_t row, int id) {
    constexpr int chunks = columns / 64 < GEMM_CHUNKS ? columns / 64 : GEMM_CHUNKS;
    const gemm_plane &plane = args.plane[tile.plane];
    const int64_t own = row + (int64_t)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    const uint32_t blanked = (uint32_t)(own < plane.rows && mask_blanks(plane.mask, own)) |
                             (uint32_t)(own + 8 < plane.rows && mask_blanks(plane.mask, own + 8)) << 1;
#pragma unroll
    for (int j = 0; j < columns / 64; j++) {
        const uint32_t to = staging + (uint32_t)(j % chunks) * GEMM_BOX_BYTES;
        if (threadIdx.x % 128 == 0) tma_wait_read<chunks - 1>();
        named_sync(id, 128);
        gemm_round<number>(to, sum + j * 32, biases.pair + j * 8, has_bias, args.floor, blanked);
        fence_async();
        named_sync(id, 128);
        if (threadIdx.x % 128 == 0) {
            tma_store_2d(&plane.out, to, tile.column * columns + j * 64, row);
            tma_commit();
        }
    }
}

/* One stage: starts its products. */
template <class number, int columns, bool left_down, bool right_down>
static __device__ __forceinline__ void gemm_multiply(float (&sum)[columns / 2], uint32_t left, uint32_t right,
                                                     bool adds) {
    const shared_matrix a = left_down ? matrix_down_rows(left, GEMM_BOX_BYTES) : matrix_along_rows(left);
    const shared_matrix b = right_down ? matrix_down_rows(right, GEMM_BOX_BYTES) : matrix_along_rows(right);
    wgmma_hold(sum);
    wgmma_begin();
#pragma unroll
    for (int k = 0; k < GEMM_TERMS / 16; k++)
        wgmma<number, columns, left_down, right_down>(sum, matrix_moved(a, (uint32_t)k * (left_down ? 2048u : 32u)),
                                                      matrix_moved(b, (uint32_t)k * (right_down ? 2048u : 32u)),
                                                      adds || k > 0);
    wgmma_commit();
}

/* Both operands down the terms: a weight gradient, whose bias is made and not added. */
template <class number, bool left_down, bool right_down, int columns, int stages>
static __device__ __forceinline__ void gemm_consume(const gemm_args &args, uint32_t memory, uint32_t staging,
                                                    uint32_t barriers, int group) {
    const uint32_t own = staging + (uint32_t)(group * GEMM_CHUNKS) * GEMM_BOX_BYTES;
    pipeline at = pipeline_begin(barriers, stages);
    float sum[columns / 2];
    for (int32_t t = (int32_t)blockIdx.x; t < args.first_block[BRAID_MAX_PLANES]; t += (int32_t)gridDim.x) {
        const gemm_tile tile = gemm_find(args, t);
        const gemm_plane &plane = args.plane[tile.plane];
        const int32_t row = tile.row * GEMM_ROWS + group * 64;
        const bool makes_bias = left_down && plane.bias && tile.column == 0;
        gemm_bias_sum<number> bias;
        for (int32_t j = 0; j < plane.stages; j++, pipeline_next(&at)) {
            const uint32_t stage = memory + at.index * GEMM_STAGE_BYTES(columns);
            pipeline_wait(at);
            gemm_multiply<number, columns, left_down, right_down>(sum, stage + (uint32_t)group * GEMM_BOX_BYTES,
                                                                  stage + GEMM_ROWS * GEMM_TERMS * 2, j > 0);
            if (makes_bias) bias.add(stage + (uint32_t)group * GEMM_BOX_BYTES);
            if (j == 0) continue;
            wgmma_wait<1>();
            pipeline_free_last(at);
        }
        const bool has_bias = !left_down && plane.bias;
        gemm_biases<number, columns> biases;
        if (has_bias) biases.read(plane, tile.column * columns);
        wgmma_wait<0>();
        wgmma_hold(sum);
        pipeline_free_last(at);
        gemm_store<number, columns>(sum, args, tile, biases, has_bias, own, row, 2 + group);
        if (!makes_bias) continue;
        if (threadIdx.x % 128 == 0) tma_wait_read<0>();
        bias.finish(plane, row, (float *)((char *)shared_memory() + (own - memory)), 2 + group);
    }
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

template <class number, bool left_down, bool right_down, int columns, int stages>
static __device__ __forceinline__ void gemm(const gemm_args &args) {
    const uint32_t memory = shared_address(shared_memory()), staging = memory + stages * GEMM_STAGE_BYTES(columns);
    const uint32_t barriers = staging + 2 * GEMM_CHUNKS * GEMM_BOX_BYTES;
    const int group = warp_uniform((int)threadIdx.x / 128);
    if (threadIdx.x == 256) {
        for (int32_t i = 0; i < args.planes; i++) {
            tma_prefetch(&args.plane[i].left);
            tma_prefetch(&args.plane[i].right);
        }
    }
    if (threadIdx.x == 0) {
        pipeline_init(barriers, stages, 1, 8);
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<40>();
        if (threadIdx.x == 256) gemm_produce<left_down, right_down, columns, stages>(args, memory, barriers);
    } else {
        registers_take<232>();
        gemm_consume<number, left_down, right_down, columns, stages>(args, memory, staging, barriers, group);
    }
}

#endif
