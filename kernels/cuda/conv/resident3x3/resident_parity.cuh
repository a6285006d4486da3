/*
 * The data gradient of a 3x3 convolution with stride 2 and padding 1, for at most 128 channels to sum over. The pixels
 * of dx fall into four classes by the parity of their row and column, which 1, 2, 2 and 4 taps reach. As in
 * resident_rows.cuh all taps of 64 output channels stay in shared memory and rows of dy pass through a ring; but a row
 * of dy and the one below it give one row of every class, so that dy is loaded once for all of them. The four
 * accumulators of a warpgroup are those rows; the two computing warpgroups take turns.
 *
 * A unit of work is a row of dy in one strip of one sample. Unit u of a block's range reads rows u + s and u + s + 1 of
 * those that the block loads, where s counts the strips that ended before it: every strip has a border of zeros below.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_PARITY_CUH
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_PARITY_CUH

#include "kernels/cuda/conv/resident3x3/resident_rows.cuh"

/* Bytes of a row of dy in the ring. */
template <int columns> static __device__ __forceinline__ constexpr uint32_t resident_parity_row_bytes(void) {
    return RESIDENT_PARITY_BLOCKS * RESIDENT_ROW_BYTES(columns);
}

template <int columns> static __device__ __forceinline__ resident_rows_shared resident_parity_layout(void) {
    resident_rows_shared at;
    at.weights = shared_address(shared_memory());
    at.staging = at.weights + RESIDENT_PARITY_BLOCKS * RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES;
    at.rows = at.staging + 2 * RESIDENT_ROW_STAGING_BYTES(columns);
    at.weight_full = at.rows + RESIDENT_PARITY_ROWS * resident_parity_row_bytes<columns>();
    at.full = at.weight_full + BARRIER_BYTES;
    at.empty = at.full + RESIDENT_PARITY_ROWS * BARRIER_BYTES;
    at.added = 0;
    return at;
}

/* One thread loads the weights, then row after row of dy with one column more than the strip has. */
template <int columns>
static __device__ __forceinline__ void resident_parity_load(const resident_parity_args &args,
                                                            const resident_rows_shared &at,
                                                            const resident_range &range) {
    const resident_plane &plane = args.plane[range.plane];
    barrier_expect(at.weight_full, (uint32_t)plane.blocks * RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES);
    for (int32_t i = 0; i < plane.blocks * RESIDENT_TAPS; i++)
        tma_load_3d(at.weights + (uint32_t)i * RESIDENT_WEIGHT_BYTES, &args.map[range.plane].weight, at.weight_full,
                    range.group * RESIDENT_BLOCK, i % RESIDENT_TAPS, i / RESIDENT_TAPS * RESIDENT_BLOCK);
    ring_place place = {0, 1};
    int32_t strip = range.first / args.head.size[0], row = range.row;
    for (int32_t i = 0; i < range.loads; i++, ring_step(&place, RESIDENT_PARITY_ROWS)) {
        const uint32_t stage = (uint32_t)place.stage, full = at.full + stage * BARRIER_BYTES;
        const uint32_t to = at.rows + stage * resident_parity_row_bytes<columns>();
        barrier_wait(at.empty + stage * BARRIER_BYTES, place.parity);
        barrier_expect(full, (uint32_t)plane.blocks * (columns + 1) * 128);
        for (int32_t block = 0; block < plane.blocks; block++)
            tma_load_4d(to + (uint32_t)block * RESIDENT_ROW_BYTES(columns), &args.map[range.plane].input, full,
                        block * RESIDENT_BLOCK, strip % args.head.strips * columns, row, strip / args.head.strips);
        if (++row > args.head.size[0]) {
            row = 0;
            strip++;
        }
    }
}

/* sums = a row of each class (2 for odd rows + 1 for odd columns) from a row of dy and the one below it. */
template <class number, int columns>
static __device__ __forceinline__ void resident_parity_multiply(float (&sums)[4][columns / 2],
                                                                const resident_rows_shared &at,
                                                                const uint32_t (&row)[2], int32_t blocks) {
#pragma unroll
    for (int of = 0; of < 4; of++) wgmma_hold(sums[of]);
#pragma unroll 1
    for (int32_t block = 0; block < blocks; block++) {
        wgmma_begin();
        const shared_matrix left =
            matrix_down_rows(at.weights + (uint32_t)block * RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES, 0);
#pragma unroll
        for (int tap = 0; tap < RESIDENT_TAPS; tap++) {
            const int r = tap / 3, s = tap % 3;
            const bool begins = r < 2 && s < 2; /* the first tap of its class */
            const shared_matrix a = matrix_moved(left, (uint32_t)tap * RESIDENT_WEIGHT_BYTES);
            const shared_matrix b =
                matrix_moved(matrix_along_rows(row[r == 0 ? 1 : 0] + (uint32_t)block * RESIDENT_ROW_BYTES(columns)),
                             s == 0 ? 128 : 0);
#pragma unroll
            for (int k = 0; k < 4; k++)
                wgmma<number, columns, 1>(sums[(r != 1) * 2 + (s != 1)], matrix_moved(a, (uint32_t)k * 2048),
                                          matrix_moved(b, (uint32_t)k * 32), block != 0 || !begins || k != 0);
        }
        wgmma_commit();
    }
}

template <class number, int columns>
static __device__ __forceinline__ void resident_parity_compute(const resident_parity_args &args,
                                                               const resident_rows_shared &at,
                                                               const resident_range &range, int group) {
    const resident_plane &plane = args.plane[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * RESIDENT_ROW_STAGING_BYTES(columns);
    const epilogue_rows plain = {{}, 0, true};
    resident_unit unit = {0, range.first / args.head.size[0], range.row, 0};
    int32_t released = 0;
    float sums[4][columns / 2];
    barrier_wait(at.weight_full, 0);
    resident_unit_step<1>(&unit, args.head, range, group);
    resident_rows_release<RESIDENT_PARITY_ROWS>(at, &released, unit.input);
    if (group == 1) named_arrive(1, 256); /* the first turn is the other's */
#pragma unroll 1
    while (unit.index < range.units) {
        const int32_t sample = unit.strip / args.head.strips, strip = unit.strip - sample * args.head.strips;
        const resident_tile tile = {range.plane, range.group, sample, strip, 0, 0, mask_blanks(plane.mask, sample)};
        const int32_t dy_row = unit.row;
        uint32_t row[2];
#pragma unroll
        for (int i = 0; i < 2; i++)
            row[i] = at.rows + resident_rows_await<RESIDENT_PARITY_ROWS>(at, unit.input + i) *
                                   resident_parity_row_bytes<columns>();
        named_sync(1 + group, 256);
        if (!tile.blanked) resident_parity_multiply<number, columns>(sums, at, row, plane.blocks);
        if (unit.index + 1 < range.units) named_arrive(2 - group, 256);
        resident_unit_step<1>(&unit, args.head, range, 2);
        wgmma_wait<0>();
#pragma unroll
        for (int of = 0; of < 4; of++) wgmma_hold(sums[of]);
        resident_rows_release<RESIDENT_PARITY_ROWS>(at, &released, unit.input);
#pragma unroll
        for (int of = 0; of < 4; of++) {
#pragma unroll
            for (int i = 0; i < columns / 2; i++) sums[of][i] = tile.blanked ? 0 : sums[of][i];
            resident_rows_store<number, columns>(sums[of], plain, &args.map[range.plane].columns[of % 2], staging, tile,
                                                 2 * dy_row + of / 2, 3 + group, false);
        }
    }
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

/* The kernel: for 64 channels of dx, `columns` pixels of one row of dy at a time. */
template <class number, int columns>
static __device__ __forceinline__ void conv2d_resident3x3_parity(const resident_parity_args &args) {
    const resident_rows_shared at = resident_parity_layout<columns>();
    const resident_range range = resident_rows_range<1>(args.head);
    const int group = warp_uniform((int)threadIdx.x / 128);
    if (threadIdx.x == 0) {
        barrier_init(at.weight_full, 1);
        for (uint32_t i = 0; i < RESIDENT_PARITY_ROWS; i++) {
            barrier_init(at.full + i * BARRIER_BYTES, 1);
            barrier_init(at.empty + i * BARRIER_BYTES, 8); /* the computing warps */
        }
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<24>();
        if (threadIdx.x == 256) resident_parity_load<columns>(args, at, range);
    } else {
        registers_take<240>();
        resident_parity_compute<number, columns>(args, at, range, group);
    }
}

#endif
