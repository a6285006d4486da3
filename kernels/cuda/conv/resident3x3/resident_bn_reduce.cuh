/*
 * The rows of resident_rows.cuh for conv2d_dgrad_bn_reduce: the data gradient of 3x3 convolutions with at most 64
 * channels of dy, and sums over it. A warpgroup that computes leaves its row of dx in shared memory and goes on; a warp
 * beside it hands the row to the copy engine, and asks for what the next one needs when that has been read. So r lies
 * where dx will, and where something is added that does, while r and x have a place that the warpgroups use in turns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_BN_REDUCE_CUH
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_BN_REDUCE_CUH

#include "kernels/cuda/conv/resident3x3/resident_rows.cuh"
#include "kernels/cuda/tile/row_bn_reduce.cuh"

/* The named barriers: 1 and 2 of the turns, then two of each warpgroup, for a row that is ready and for its sums. */
#define RESIDENT_BN_REDUCE_READY 3
#define RESIDENT_BN_REDUCE_END 5

template <class number_type, int pixels, bool by_x> struct resident_bn_reduce_shape {
    typedef number_type number;
    typedef row_bn_reduce<number, by_x> beside;
    static const int columns = pixels, ring = RESIDENT_BN_REDUCE_ROWS(by_x);
    static const uint32_t tile_bytes = columns * 128, place_bytes = RESIDENT_ROW_STAGING_BYTES(columns);
};

struct resident_bn_reduce_shared : resident_rows_shared {
    uint32_t read;      /* where r and x lie, if they are read there */
    uint32_t read_full; /* two barriers, of each warpgroup, whose turns these are */
    uint32_t read_empty;
};

/* As resident_rows has it, with r and x in front of the barriers. */
template <class shape> static __device__ __forceinline__ resident_bn_reduce_shared resident_bn_reduce_layout(void) {
    resident_bn_reduce_shared at;
    at.weights = shared_address(shared_memory());
    at.staging = at.weights + RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES;
    at.rows = at.staging + 2 * shape::place_bytes;
    at.read = at.rows + shape::ring * RESIDENT_ROW_BYTES(shape::columns);
    at.weight_full = shape::beside::by_x ? at.read + 2 * shape::place_bytes : at.read;
    at.full = at.loaded = at.weight_full + BARRIER_BYTES;
    at.empty = at.full + shape::ring * BARRIER_BYTES;
    at.added = at.empty + shape::ring * BARRIER_BYTES;
    at.read_full = at.added + 2 * BARRIER_BYTES;
    at.read_empty = at.read_full + 2 * BARRIER_BYTES;
    at.words = at.read_empty + BARRIER_BYTES;
    return at;
}

/* One thread does it. */
template <class shape>
static __device__ __forceinline__ void resident_bn_reduce_init(const resident_bn_reduce_shared &at) {
    barrier_init(at.weight_full, 1);
    for (uint32_t i = 0; i < 2; i++) {
        barrier_init(at.added + i * BARRIER_BYTES, 1);
        barrier_init(at.read_full + i * BARRIER_BYTES, 1);
    }
    for (uint32_t i = 0; i < shape::ring; i++) {
        barrier_init(at.full + i * BARRIER_BYTES, 1);
        barrier_init(at.empty + i * BARRIER_BYTES, 8); /* the computing warps */
    }
    barrier_init(at.read_empty, 4); /* those of one warpgroup */
    barrier_publish();
}

static __device__ __forceinline__ resident_unit resident_bn_reduce_first(const resident_head &head,
                                                                         const resident_range &range, int group) {
    resident_unit unit = {0, range.first / head.size[0], range.row, 0};
    resident_unit_step<2>(&unit, head, range, group);
    return unit;
}

template <class args_of>
static __device__ __forceinline__ resident_tile resident_bn_reduce_tile(const args_of &args,
                                                                        const resident_range &range,
                                                                        const resident_unit &unit) {
    const int32_t sample = unit.strip / args.head.strips, strip = unit.strip - sample * args.head.strips;
    const resident_tile tile = {
        range.plane, range.group, sample, strip, 0, 0, mask_blanks(args.plane[range.plane].mask, sample)};
    return tile;
}

/* ---- The warps beside ------------------------------------------------------------------------------ */

/* The rows of a warpgroup: what is read where dx will lie, then dx. */
template <class shape, class args_of>
static __device__ __forceinline__ void resident_bn_reduce_move(const args_of &args, const resident_bn_reduce_shared &at,
                                                               const resident_range &range, int group) {
    const resident_row_maps &map = args.map[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * shape::place_bytes;
    const uint32_t added = at.added + (uint32_t)group * BARRIER_BYTES;
    const bool leads = threadIdx.x % 32 == 0;
    for (resident_unit unit = resident_bn_reduce_first(args.head, range, group); unit.index < range.units;
         resident_unit_step<2>(&unit, args.head, range, 2)) {
        const resident_tile tile = resident_bn_reduce_tile(args, range, unit);
        const int32_t channel = tile.group * RESIDENT_BLOCK, column = tile.strip * shape::columns;
        if (tile.blanked) continue;
        if (leads) {
            tma_wait_read<0>();
            barrier_expect(added, shape::tile_bytes);
            tma_load_4d(staging, &map.added, added, channel, column, unit.row, tile.sample);
        }
        named_sync(RESIDENT_BN_REDUCE_READY + group, 160);
        if (leads) {
            tma_store_4d(&map.output, staging, channel, column, unit.row, tile.sample);
            tma_commit();
        }
    }
    if (leads) tma_wait<0>();
}

/* r and x of every row, those of blanked samples too, one after the other. One thread does it. */
template <class shape>
static __device__ __forceinline__ void resident_bn_reduce_read(const resident_bn_reduce_x_args &args,
                                                               const resident_bn_reduce_shared &at,
                                                               const resident_range &range) {
    for (resident_unit unit = resident_bn_reduce_first(args.head, range, 0); unit.index < range.units;
         resident_unit_step<2>(&unit, args.head, range, 1)) {
        const resident_tile tile = resident_bn_reduce_tile(args, range, unit);
        const int32_t channel = tile.group * RESIDENT_BLOCK, column = tile.strip * shape::columns;
        const uint32_t full = at.read_full + (uint32_t)(unit.index & 1) * BARRIER_BYTES;
        barrier_wait(at.read_empty, (uint32_t)(unit.index + 1) & 1);
        barrier_expect(full, 2 * shape::tile_bytes);
#pragma unroll
        for (int j = 0; j < 2; j++)
            tma_load_4d(at.read + j * shape::place_bytes, &args.read[range.plane][j], full, channel, column, unit.row,
                        tile.sample);
    }
}

/* ---- The warpgroups -------------------------------------------------------------------------------- */

/* Pairs of 8 or 16 pixels from where they lie, and to there. */
template <int pairs>
static __device__ __forceinline__ void resident_bn_reduce_load(uint32_t (&to)[pairs], uint32_t from) {
    if constexpr (pairs == 4)
        matrix_load_x4_transposed(to, from);
    else
        matrix_load_x2_transposed(to, from);
}

template <int pairs>
static __device__ __forceinline__ void resident_bn_reduce_store(uint32_t to, const uint32_t (&from)[pairs]) {
    if constexpr (pairs == 4)
        matrix_store_x4_transposed(to, from);
    else
        matrix_store_x2_transposed(to, from);
}

/* Rounds 8 * count pixels into shared memory at `to`, and includes the first `inside`. `read`: where r and x lie, if
 * that is not `to`. */
template <class shape, int count>
static __device__ __forceinline__ void resident_bn_reduce_round(uint32_t to, uint32_t read, const float *sum,
                                                                int32_t inside, typename shape::beside *sums) {
    typedef typename shape::number number;
    uint32_t dx[2 * count], r[2 * count], x[2 * count];
    if constexpr (shape::beside::by_x) {
        resident_bn_reduce_load(dx, to);
        resident_bn_reduce_load(r, read);
        resident_bn_reduce_load(x, read + shape::place_bytes);
        row_bn_reduce_added<number>(dx, sum);
        sums->include(dx, r, x, epilogue_rows_live(inside));
    } else {
        resident_bn_reduce_load(r, to);
        epilogue_rows_plain<number>(dx, sum);
        sums->include(dx, r, r, epilogue_rows_live(inside));
    }
    resident_bn_reduce_store(to, dx);
}

/* A row of sums. */
template <class shape>
static __device__ __forceinline__ void resident_bn_reduce_stage(const float (&sum)[shape::columns / 2],
                                                                uint32_t staging, uint32_t read, int32_t inside,
                                                                typename shape::beside *sums) {
    const uint32_t at = epilogue_rows_at();
#pragma unroll
    for (int g = 0; g < shape::columns / 16; g++)
        resident_bn_reduce_round<shape, 2>(staging + at + (uint32_t)g * 2048, read + at + (uint32_t)g * 2048,
                                           sum + g * 8, inside - g * 16, sums);
    if (shape::columns % 16) {
        const uint32_t last = at + shape::columns / 16 * 2048;
        resident_bn_reduce_round<shape, 1>(staging + last, read + last, sum + shape::columns / 2 - 4,
                                           inside - shape::columns / 16 * 16, sums);
    }
}

template <class shape, class args_of>
static __device__ __forceinline__ void resident_bn_reduce_compute(const args_of &args,
                                                                  const resident_bn_reduce_shared &at,
                                                                  const resident_range &range, int group) {
    typedef typename shape::number number;
    const resident_plane &plane = args.plane[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * shape::place_bytes;
    const uint32_t added = at.added + (uint32_t)group * BARRIER_BYTES;
    const uint32_t read_full = at.read_full + (uint32_t)group * BARRIER_BYTES;
    uint32_t parity = 0; /* of what is added */
    int32_t released = 0;
    float sum[shape::columns / 2];
    typename shape::beside sums;
    sums.begin(args.sums[range.plane], range.group * RESIDENT_BLOCK, plane.channels);
    barrier_wait(at.weight_full, 0);
    resident_unit unit = resident_bn_reduce_first(args.head, range, group);
    resident_rows_release<shape::ring>(at, &released, unit.input);
    if (group == 1) named_arrive(1, 256); /* the first turn is the other's */
#pragma unroll 1
    while (unit.index < range.units) {
        const resident_tile tile = resident_bn_reduce_tile(args, range, unit);
        const int32_t output_row = unit.row, index = unit.index;
        uint32_t row[3];
#pragma unroll
        for (int i = 0; i < 3; i++)
            row[i] =
                at.rows + resident_rows_await<shape::ring>(at, unit.input + i) * RESIDENT_ROW_BYTES(shape::columns);
        named_sync(1 + group, 256);
        if (!tile.blanked) resident_rows_multiply<number, shape::columns, true>(sum, at, row);
        if (unit.index + 1 < range.units) named_arrive(2 - group, 256);
        resident_unit_step<2>(&unit, args.head, range, 2);
        wgmma_wait<0>();
        wgmma_hold(sum);
        resident_rows_release<shape::ring>(at, &released, unit.input);
        if (shape::beside::by_x) barrier_wait(read_full, (uint32_t)index >> 1 & 1);
        if (tile.blanked) {
            resident_clear<number, shape::columns>(args.head,
                                                   resident_aim(args.head, plane, tile, range.group * RESIDENT_BLOCK),
                                                   (uint32_t)(output_row * args.head.pitch), plane.epilogue.keeps);
        } else {
            barrier_wait(added, parity);
            parity ^= 1;
            resident_bn_reduce_stage<shape>(sum, staging, at.read, args.head.size[1] - tile.strip * shape::columns,
                                            &sums);
            fence_async();
            named_arrive(RESIDENT_BN_REDUCE_READY + group, 160);
        }
        if (shape::beside::by_x && threadIdx.x % 32 == 0) barrier_arrive(at.read_empty);
    }
    sums.finish(args.sums[range.plane],
                resident_rows_place<bn_gradients>(args, at, range, group, RESIDENT_BN_REDUCE_END + group));
}

template <class number, int columns, bool by_x, class args_of>
static __device__ __forceinline__ void conv2d_resident_bn_reduce(const args_of &args) {
    typedef resident_bn_reduce_shape<number, columns, by_x> shape;
    const resident_bn_reduce_shared at = resident_bn_reduce_layout<shape>();
    const resident_range range = resident_rows_range<2>(args.head);
    const int group = warp_uniform((int)threadIdx.x / 128), warp = warp_uniform((int)threadIdx.x % 128 / 32);
    if (threadIdx.x == 0) resident_bn_reduce_init<shape>(at);
    __syncthreads();
    if (group < 2) {
        registers_take<232>();
        resident_bn_reduce_compute<shape>(args, at, range, group);
        return;
    }
    registers_give<40>();
    if (warp == 0) {
        if (threadIdx.x % 32 == 0) resident_rows_load<columns, true, shape::ring>(args, at, range);
    } else if (warp < 3) {
        resident_bn_reduce_move<shape>(args, at, range, warp - 1);
    } else if constexpr (by_x) {
        if (threadIdx.x % 32 == 0) resident_bn_reduce_read<shape>(args, at, range);
    }
}

#endif
