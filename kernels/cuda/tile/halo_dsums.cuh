/*
 * The rows of halo_rows.cuh for conv2d_dsums: the data gradient of 3x3 convolutions with at most 64 channels of dy, and
 * sums over it. A warpgroup that computes leaves its row of dx in shared memory and goes on; a warp beside it hands the
 * row to the copy engine, and asks for what the next one needs when that has been read. So r lies where dx will, and
 * where something is added that does, while r and x have a place that the warpgroups use in turns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_HALO_DSUMS_CUH
#define BRAID_KERNELS_CUDA_TILE_HALO_DSUMS_CUH

#include "kernels/cuda/tile/halo_rows.cuh"
#include "kernels/cuda/tile/row_dsums.cuh"

/* The named barriers: 1 and 2 of the turns, then two of each warpgroup, for a row that is ready and for its sums. */
#define HALO_DSUMS_READY 3
#define HALO_DSUMS_END 5

template <class number_type, int pixels, bool by_x> struct halo_dsums_shape {
    typedef number_type number;
    typedef row_dsums<number, by_x> beside;
    static const int columns = pixels, ring = HALO_DSUMS_ROWS(pixels, by_x);
    static const uint32_t tile_bytes = columns * 128, place_bytes = HALO_ROW_STAGING_BYTES(columns);
};

struct halo_dsums_shared : halo_rows_shared {
    uint32_t read;      /* where r and x lie, if they are read there */
    uint32_t read_full; /* two barriers, of each warpgroup, whose turns these are */
    uint32_t read_empty;
};

/* As halo_rows has it, with r and x in front of the barriers. */
template <class shape> static __device__ __forceinline__ halo_dsums_shared halo_dsums_layout(void) {
    halo_dsums_shared at;
    at.weights = shared_address(shared_memory());
    at.staging = at.weights + HALO_TAPS * HALO_WEIGHT_BYTES;
    at.rows = at.staging + 2 * shape::place_bytes;
    at.read = at.rows + shape::ring * HALO_ROW_BYTES(shape::columns);
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
template <class shape> static __device__ __forceinline__ void halo_dsums_init(const halo_dsums_shared &at) {
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

static __device__ __forceinline__ halo_unit halo_dsums_first(const conv2d_halo_args &args, const halo_range &range,
                                                             int group) {
    halo_unit unit = {0, range.first / args.size[0], range.row, 0};
    halo_unit_step<2>(&unit, args, range, group);
    return unit;
}

static __device__ __forceinline__ halo_tile halo_dsums_tile(const conv2d_halo_args &args, const halo_range &range,
                                                            const halo_unit &unit) {
    const int32_t sample = unit.strip / args.strips, strip = unit.strip - sample * args.strips;
    const halo_tile tile = {
        range.plane, range.group, sample, strip, 0, 0, mask_blanks(args.plane[range.plane].mask, sample)};
    return tile;
}

/* ---- The warps beside ------------------------------------------------------------------------------ */

/* The rows of a warpgroup: what is read where dx will lie, then dx. */
template <class shape>
static __device__ __forceinline__ void halo_dsums_move(const conv2d_halo_args &args, const halo_dsums_shared &at,
                                                       const halo_range &range, int group) {
    const conv2d_halo_plane &plane = args.plane[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * shape::place_bytes;
    const uint32_t added = at.added + (uint32_t)group * BARRIER_BYTES;
    const bool leads = threadIdx.x % 32 == 0;
    for (halo_unit unit = halo_dsums_first(args, range, group); unit.index < range.units;
         halo_unit_step<2>(&unit, args, range, 2)) {
        const halo_tile tile = halo_dsums_tile(args, range, unit);
        const int32_t channel = tile.group * HALO_BLOCK, column = tile.strip * shape::columns;
        if (tile.blanked) continue;
        if (leads) {
            tma_wait_read<0>();
            barrier_expect(added, shape::tile_bytes);
            tma_load_4d(staging, &plane.added, added, channel, column, unit.row, tile.sample);
        }
        named_sync(HALO_DSUMS_READY + group, 160);
        if (leads) {
            tma_store_4d(&plane.row, staging, channel, column, unit.row, tile.sample);
            tma_commit();
        }
    }
    if (leads) tma_wait<0>();
}

/* r and x of every row, those of blanked samples too, one after the other. One thread does it. */
template <class shape>
static __device__ __forceinline__ void halo_dsums_read(const conv2d_halo_args &args, const halo_dsums_shared &at,
                                                       const halo_range &range) {
    for (halo_unit unit = halo_dsums_first(args, range, 0); unit.index < range.units;
         halo_unit_step<2>(&unit, args, range, 1)) {
        const halo_tile tile = halo_dsums_tile(args, range, unit);
        const int32_t channel = tile.group * HALO_BLOCK, column = tile.strip * shape::columns;
        const uint32_t full = at.read_full + (uint32_t)(unit.index & 1) * BARRIER_BYTES;
        barrier_wait(at.read_empty, (uint32_t)(unit.index + 1) & 1);
        barrier_expect(full, 2 * shape::tile_bytes);
#pragma unroll
        for (int j = 0; j < 2; j++)
            tma_load_4d(at.read + j * shape::place_bytes, &args.of_dsums.read[2 * range.plane + j], full, channel,
                        column, unit.row, tile.sample);
    }
}

/* ---- The warpgroups -------------------------------------------------------------------------------- */

/* Pairs of 8 or 16 pixels from where they lie, and to there. */
template <int pairs> static __device__ __forceinline__ void halo_dsums_load(uint32_t (&to)[pairs], uint32_t from) {
    if constexpr (pairs == 4)
        matrix_load_x4_transposed(to, from);
    else
        matrix_load_x2_transposed(to, from);
}

template <int pairs>
static __device__ __forceinline__ void halo_dsums_store(uint32_t to, const uint32_t (&from)[pairs]) {
    if constexpr (pairs == 4)
        matrix_store_x4_transposed(to, from);
    else
        matrix_store_x2_transposed(to, from);
}

/* Rounds 8 * count pixels into shared memory at `to`, and includes the first `inside`. `read`: where r and x lie, if
 * that is not `to`. */
template <class shape, int count>
static __device__ __forceinline__ void halo_dsums_round(uint32_t to, uint32_t read, const float *sum, int32_t inside,
                                                        typename shape::beside *sums) {
    typedef typename shape::number number;
    uint32_t dx[2 * count], r[2 * count], x[2 * count];
    if constexpr (shape::beside::by_x) {
        halo_dsums_load(dx, to);
        halo_dsums_load(r, read);
        halo_dsums_load(x, read + shape::place_bytes);
        row_dsums_added<number>(dx, sum);
        sums->include(dx, r, x, epilogue_rows_live(inside));
    } else {
        halo_dsums_load(r, to);
        epilogue_rows_plain<number>(dx, sum);
        sums->include(dx, r, r, epilogue_rows_live(inside));
    }
    halo_dsums_store(to, dx);
}

/* A row of sums. */
template <class shape>
static __device__ __forceinline__ void halo_dsums_stage(const float (&sum)[shape::columns / 2], uint32_t staging,
                                                        uint32_t read, int32_t inside, typename shape::beside *sums) {
    const uint32_t at = epilogue_rows_at();
#pragma unroll
    for (int g = 0; g < shape::columns / 16; g++)
        halo_dsums_round<shape, 2>(staging + at + (uint32_t)g * 2048, read + at + (uint32_t)g * 2048, sum + g * 8,
                                   inside - g * 16, sums);
    if (shape::columns % 16) {
        const uint32_t last = at + shape::columns / 16 * 2048;
        halo_dsums_round<shape, 1>(staging + last, read + last, sum + shape::columns / 2 - 4,
                                   inside - shape::columns / 16 * 16, sums);
    }
}

template <class shape>
static __device__ __forceinline__ void halo_dsums_compute(const conv2d_halo_args &args, const halo_dsums_shared &at,
                                                          const halo_range &range, int group) {
    typedef typename shape::number number;
    const conv2d_halo_plane &plane = args.plane[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * shape::place_bytes;
    const uint32_t added = at.added + (uint32_t)group * BARRIER_BYTES;
    const uint32_t read_full = at.read_full + (uint32_t)group * BARRIER_BYTES;
    uint32_t parity = 0; /* of what is added */
    int32_t released = 0;
    float sum[shape::columns / 2];
    typename shape::beside sums;
    sums.begin(plane.sums, range.group * HALO_BLOCK, plane.channels);
    barrier_wait(at.weight_full, 0);
    halo_unit unit = halo_dsums_first(args, range, group);
    halo_rows_release<shape::ring>(at, &released, unit.input);
    if (group == 1) named_arrive(1, 256); /* the first turn is the other's */
#pragma unroll 1
    while (unit.index < range.units) {
        const halo_tile tile = halo_dsums_tile(args, range, unit);
        const int32_t output_row = unit.row, index = unit.index;
        uint32_t row[3];
#pragma unroll
        for (int i = 0; i < 3; i++)
            row[i] = at.rows + halo_rows_await<shape::ring>(at, unit.input + i) * HALO_ROW_BYTES(shape::columns);
        named_sync(1 + group, 256);
        if (!tile.blanked) halo_rows_multiply<number, shape::columns, true>(sum, at, row);
        if (unit.index + 1 < range.units) named_arrive(2 - group, 256);
        halo_unit_step<2>(&unit, args, range, 2);
        wgmma_wait<0>();
        wgmma_hold(sum);
        halo_rows_release<shape::ring>(at, &released, unit.input);
        if (shape::beside::by_x) barrier_wait(read_full, (uint32_t)index >> 1 & 1);
        if (tile.blanked) {
            halo_clear<number, shape::columns>(args, halo_aim(args, tile, range.group * HALO_BLOCK),
                                               (uint32_t)(output_row * args.pitch), plane.epilogue.keeps);
        } else {
            barrier_wait(added, parity);
            parity ^= 1;
            halo_dsums_stage<shape>(sum, staging, at.read, args.size[1] - tile.strip * shape::columns, &sums);
            fence_async();
            named_arrive(HALO_DSUMS_READY + group, 160);
        }
        if (shape::beside::by_x && threadIdx.x % 32 == 0) barrier_arrive(at.read_empty);
    }
    sums.finish(plane.sums, halo_rows_place<bn_gradients>(args, at, range, group, HALO_DSUMS_END + group));
}

template <class number, int columns, bool by_x>
static __device__ __forceinline__ void conv2d_halo_dsums(const conv2d_halo_args &args) {
    typedef halo_dsums_shape<number, columns, by_x> shape;
    const halo_dsums_shared at = halo_dsums_layout<shape>();
    const halo_range range = halo_rows_range<2>(args);
    const int group = warp_uniform((int)threadIdx.x / 128), warp = warp_uniform((int)threadIdx.x % 128 / 32);
    if (threadIdx.x == 0) halo_dsums_init<shape>(at);
    __syncthreads();
    if (group < 2) {
        registers_take<232>();
        halo_dsums_compute<shape>(args, at, range, group);
        return;
    }
    registers_give<40>();
    if (warp == 0) {
        if (threadIdx.x % 32 == 0) halo_rows_load<columns, true, shape::ring>(args, at, range);
    } else if (warp < 3) {
        halo_dsums_move<shape>(args, at, range, warp - 1);
    } else if (by_x && threadIdx.x % 32 == 0) {
        halo_dsums_read<shape>(args, at, range);
    }
}

#endif
