/*
 * conv2d forward for 1 to 4 input channels on Hopper's matrix units. Rows of the product are 64 filters, columns are
 * the 64 pixels of two output rows, and the sum runs over (r, s, c) as the weights lie in memory. The weights stay in
 * shared memory; some warps spread the lines of x (tile/spread.cuh). Steps have 16 taps each: the first begins with the
 * first tap and the others end with the last, so that none reads what the output does not see. What the second reads
 * again it multiplies by zeros. Results turn to [pixel][filter] in shared memory and leave by the copy engine. Two
 * warpgroups take pairs of rows in turn, so that one multiplies while the other stores. For conv2d_prepare they
 * also add up what they store (tile/row_moments.cuh), and bn_join adds what they found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/tile/registers.cuh"
#include "kernels/cuda/tile/row_moments.cuh"
#include "kernels/cuda/tile/spread.cuh"
#include "kernels/cuda/tile/wgmma.cuh"

#define COLUMNS (ROWS_TOGETHER * ROWS_PIXELS)

static __device__ __forceinline__ int32_t count_steps(const conv2d_rows_plane &plane) {
    return (plane.taps + ROWS_STEP - 1) / ROWS_STEP;
}

/* The block's weights: 64 terms of 64 filters at a time, as the matrix units take them; zeros for filters that there
 * are not, and for the taps that the second step repeats. */
static __device__ __forceinline__ void lay_out_weights(unsigned char *to, const conv2d_rows_plane &plane,
                                                       int32_t first) {
    const int32_t width = count_steps(plane) * ROWS_STEP, repeated = width - plane.taps;
    for (int32_t i = (int32_t)threadIdx.x; i < ROWS_FILTERS * width; i += ROWS_FWD_THREADS) {
        const int32_t filter = i / width, term = i - filter * width;
        const int32_t tap = term < ROWS_STEP ? term : term - repeated;
        const bool counts = first + filter < plane.filters && (term < ROWS_STEP || tap >= ROWS_STEP);
        const uint16_t *from = (const uint16_t *)plane.w + (int64_t)(first + filter) * plane.taps + tap;
        const int32_t at = term / 64 * ROWS_Y_BYTES + filter * ROWS_ROW_BYTES + ((term % 64 / 8 ^ filter % 8) << 4);
        *(uint16_t *)(to + at + term % 8 * 2) = counts ? *from : (uint16_t)0;
    }
}

/* Two rows of outputs: one product. */
template <class number>
static __device__ __forceinline__ void multiply(float (&sums)[COLUMNS / 2], const conv2d_rows_plane &plane,
                                                uint32_t weights, uint32_t spread, uint32_t row_bytes) {
    const int32_t steps = count_steps(plane), second = plane.taps - (steps - 1) * ROWS_STEP; /* its first tap */
    shared_matrix b = matrix_down_rows(spread, row_bytes);
    wgmma_hold(sums);
    wgmma_begin();
    wgmma<number, COLUMNS, 0, 1>(sums, matrix_along_rows(weights), b, 0);
    b = matrix_moved(b, (uint32_t)(second * ROWS_ROW_BYTES));
#pragma unroll 1
    for (int32_t step = 1; step < steps; step++) {
        const uint32_t a = weights + step / 4 * ROWS_Y_BYTES + step % 4 * (ROWS_STEP * 2);
        wgmma<number, COLUMNS, 0, 1>(sums, matrix_along_rows(a), b, 1);
        b = matrix_moved(b, ROWS_STEP * ROWS_ROW_BYTES);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_hold(sums);
}

/* Before a warpgroup writes rows of outputs to shared memory: the copy engine has read those before. Barrier `id` is
 * the warpgroup's own. */
static __device__ __forceinline__ void begin_rows(int id) {
    if (threadIdx.x % 128 == 0) tma_wait_read<0>();
    named_sync(id, 128);
}

/* Hands them to the copy engine. */
static __device__ __forceinline__ void store_rows(const conv2d_rows_plane &plane, uint32_t staging,
                                                  const spread_unit &unit, int32_t row, int32_t filter, int id) {
    fence_async();
    named_sync(id, 128);
    if (threadIdx.x % 128 != 0) return;
    for (int32_t i = 0; i < ROWS_TOGETHER && row + i < unit.rows; i++) {
        tma_store_4d(&plane.y, staging + i * ROWS_Y_BYTES, filter, unit.column, unit.row + row + i, unit.sample);
    }
    tma_commit();
}

/* Where a warpgroup leaves its statistics: a part of its own. */
static __device__ __forceinline__ row_moments_place find_place(const conv2d_rows_args &args,
                                                               const conv2d_rows_plane &plane, const spread_work &work,
                                                               int group) {
    const int64_t part = (int64_t)work.part * 2 + group;
    const row_moments_place at = {(bn_moments *)args.workspace + part * args.part_elements + plane.partial +
                                      work.filter,
                                  plane.filters - work.filter};
    return at;
}

/* Rounds two rows into shared memory. `rows` and `columns` of them are in the image. */
template <class number, class moments_of>
static __device__ __forceinline__ void stage(uint32_t to, const float (&sums)[COLUMNS / 2], int32_t rows,
                                             int32_t columns, moments_of *moments) {
    moments->begin(sums);
#pragma unroll
    for (int i = 0; i < ROWS_TOGETHER; i++)
        row_moments_stage<number, ROWS_PIXELS>(to + i * ROWS_Y_BYTES, sums + i * ROWS_PIXELS / 2,
                                               i < rows ? columns : 0, moments);
    moments->settle();
}

/* One warpgroup: every second pair of rows. Blanked samples become zeros. */
template <class number, class moments_of>
static __device__ __forceinline__ void compute(const conv2d_rows_args &args, const spread_memory &memory,
                                               const spread_work &work, int group) {
    const conv2d_rows_plane &plane = args.plane[work.plane];
    const uint32_t staging = memory.own + args.w_bytes + group * ROWS_TOGETHER * ROWS_Y_BYTES;
    const uint32_t row_bytes = (uint32_t)(args.stride * plane.spread * ROWS_ROW_BYTES), at = epilogue_rows_at();
    ring_cursor made = ring_begin(memory.spread_ring, ROWS_X_STAGES);
    moments_of moments;
    for (int32_t i = work.unit; i < work.end; i++) {
        const spread_unit unit = spread_find_unit(args, plane, i);
        if (!unit.blanked) ring_wait(made);
#pragma unroll 1
        for (int32_t row = group * ROWS_TOGETHER; row < unit.rows; row += 2 * ROWS_TOGETHER) {
            if (unit.blanked) {
                begin_rows(1 + group);
                for (uint32_t to = threadIdx.x % 128 * 16; to < ROWS_TOGETHER * ROWS_Y_BYTES; to += 128 * 16)
                    shared_clear(staging + to);
            } else {
                float sums[COLUMNS / 2];
                multiply<number>(sums, plane, memory.own,
                                 memory.spread + made.index * args.spread_bytes + row * row_bytes, row_bytes);
                begin_rows(1 + group);
                stage<number>(staging + at, sums, unit.rows - row, unit.pixels, &moments);
            }
            store_rows(plane, staging, unit, row, work.filter, 1 + group);
        }
        if (unit.blanked) continue;
        ring_free(made);
        ring_next(&made);
    }
    moments.write(find_place(args, plane, work, group));
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

/* `moments_of`: what becomes of the results beside being stored. */
template <class number, class moments_of>
static __device__ __forceinline__ void conv2d_fwd_rows(const conv2d_rows_args &args) {
    const int warp = warp_uniform((int)threadIdx.x / 32);
    const spread_memory memory = spread_find_memory(args, args.w_bytes + 2 * ROWS_TOGETHER * ROWS_Y_BYTES);
    const spread_work work = spread_find_work(args);
    lay_out_weights((unsigned char *)shared_memory(), args.plane[work.plane], work.filter);
    fence_async();
    if (threadIdx.x == 0) {
        spread_init(memory, 8);
        barrier_publish();
    }
    __syncthreads();
    if (warp < 8) {
        compute<number, moments_of>(args, memory, work, warp / 4);
    } else if (warp < 8 + ROWS_SPREADERS) {
        spread_all(args, memory, work, warp - 8);
    } else if (threadIdx.x == (8 + ROWS_SPREADERS) * 32) {
        spread_load(args, memory, work);
    }
}

extern "C" __global__ void __launch_bounds__(ROWS_FWD_THREADS, 1)
    conv2d_fwd_rows_f16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_fwd_rows<f16, no_row_moments>(args);
}

extern "C" __global__ void __launch_bounds__(ROWS_FWD_THREADS, 1)
    conv2d_fwd_rows_bf16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_fwd_rows<bf16, no_row_moments>(args);
}

extern "C" __global__ void __launch_bounds__(ROWS_FWD_THREADS, 1)
    conv2d_prepare_rows_f16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_fwd_rows<f16, row_moments<f16>>(args);
}

extern "C" __global__ void __launch_bounds__(ROWS_FWD_THREADS, 1)
    conv2d_prepare_rows_bf16(const __grid_constant__ conv2d_rows_args args) {
    conv2d_fwd_rows<bf16, row_moments<bf16>>(args);
}
