/*
 * The halo convolution (resident3x3.cuh) for at most 64 input channels: all nine taps of 64 output channels stay in
 * shared memory, and input rows pass through a ring. One accumulator is one row of outputs; the two computing
 * warpgroups take turns, so that one multiplies while the other stores.
 *
 * A unit of work is a row of one strip of one sample; a block has a range of units of one stream and 64 output
 * channels. Unit u of the range reads input rows u + 2 s to u + 2 s + 2 of those that the block loads, where s counts
 * the strips that ended before it, because every strip has a border above and below.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_ROWS_CUH
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT_ROWS_CUH

#include "kernels/cuda/conv/resident3x3/resident3x3.cuh"
#include "kernels/cuda/conv/resident3x3/resident_norm.cuh"
#include "kernels/cuda/tile/row_moments.cuh"

struct resident_rows_shared {
    uint32_t weights, staging, rows, weight_full, full, empty, added;
    uint32_t loaded; /* what a load tells: that a row is full, or that it may be changed */
    uint32_t words;  /* of the warpgroups, for their sums */
};

template <int columns, class norm_of = no_resident_norm>
static __device__ __forceinline__ resident_rows_shared resident_rows_layout(void) {
    resident_rows_shared at;
    at.weights = shared_address(shared_memory());
    at.staging = at.weights + RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES;
    at.rows = at.staging + 2 * RESIDENT_ROW_STAGING_BYTES(columns);
    at.weight_full = at.rows + RESIDENT_ROWS * RESIDENT_ROW_BYTES(columns);
    at.full = at.weight_full + BARRIER_BYTES;
    at.empty = at.full + RESIDENT_ROWS * BARRIER_BYTES;
    at.added = at.empty + RESIDENT_ROWS * BARRIER_BYTES;
    at.loaded = norm_of::changes ? at.added + 2 * BARRIER_BYTES : at.full;
    at.words = at.added + (2 + RESIDENT_ROWS) * BARRIER_BYTES;
    return at;
}

/* The range of a block. */
struct resident_range {
    int32_t plane, group;
    int32_t share;        /* which of the shares of the group's rows */
    int32_t first, units; /* first unit, and how many */
    int32_t row;          /* of the first unit in its strip */
    int32_t loads;        /* input rows */
};

/* `borders`: rows of zeros above and below a strip. */
template <int borders> static __device__ __forceinline__ resident_range resident_rows_range(const resident_head &head) {
    resident_range found;
    found.plane = schedule_plane(head.first_tile, head.planes);
    const int32_t share = (int32_t)blockIdx.x - head.first_tile[found.plane];
    const int64_t all = (int64_t)head.samples * head.strips * head.size[0], j = share % head.strip_tiles;
    found.group = share / head.strip_tiles;
    found.share = (int32_t)j;
    found.first = (int32_t)(j * all / head.strip_tiles);
    found.units = (int32_t)((j + 1) * all / head.strip_tiles) - found.first;
    found.row = found.first % head.size[0];
    found.loads = found.units + borders * ((found.row + found.units - 1) / head.size[0] + 1);
    return found;
}

/* One thread loads the weights, then row after row. */
template <int columns, bool transposed, int ring = RESIDENT_ROWS, class args_of>
static __device__ __forceinline__ void resident_rows_load(const args_of &args, const resident_rows_shared &at,
                                                          const resident_range &range) {
    const auto &map = args.map[range.plane];
    const int32_t output = range.group * RESIDENT_BLOCK;
    barrier_expect(at.weight_full, RESIDENT_TAPS * RESIDENT_WEIGHT_BYTES);
    for (int32_t tap = 0; tap < RESIDENT_TAPS; tap++) {
        const uint32_t to = at.weights + (uint32_t)tap * RESIDENT_WEIGHT_BYTES;
        if (transposed)
            tma_load_3d(to, &map.weight, at.weight_full, output, RESIDENT_TAPS - 1 - tap, 0);
        else
            tma_load_3d(to, &map.weight, at.weight_full, 0, tap, output);
    }
    ring_place place = {0, 1};
    int32_t strip = range.first / args.head.size[0], row = range.row - 1;
    for (int32_t i = 0; i < range.loads; i++, ring_step(&place, ring)) {
        const uint32_t stage = (uint32_t)place.stage, loaded = at.loaded + stage * BARRIER_BYTES;
        barrier_wait(at.empty + stage * BARRIER_BYTES, place.parity);
        barrier_expect(loaded, (columns + 2) * 128);
        tma_load_4d(at.rows + stage * RESIDENT_ROW_BYTES(columns), &map.input, loaded, 0,
                    strip % args.head.strips * columns - 1, row, strip / args.head.strips);
        if (++row > args.head.size[0]) {
            row = -1;
            strip++;
        }
    }
}

/* All rows that the block loads, one after the other. */
template <class number, int columns, class norm_of>
static __device__ __forceinline__ void resident_norm_rows(const resident_norm_args &args,
                                                          const resident_rows_shared &at, const resident_range &range) {
    const resident_norm &with = args.norm[range.plane];
    const norm_of norm(with, ((int32_t)threadIdx.x - RESIDENT_NORM_FIRST) % 8 * 8);
    const int32_t height = args.head.size[0], width = args.head.size[1];
    int32_t strip = range.first / height, row = range.row - 1;
    for (int32_t i = 0; i < range.loads; i++) {
        const uint32_t stage = (uint32_t)i % RESIDENT_ROWS;
        const int32_t sample = strip / args.head.strips, unit = strip * height + row - range.first;
        barrier_wait(at.loaded + stage * BARRIER_BYTES, (uint32_t)i / RESIDENT_ROWS & 1);
        if (row >= 0 && row < height) {
            const resident_norm_row here = {
                at.rows + stage * RESIDENT_ROW_BYTES(columns), strip % args.head.strips * columns - 1,
                range.group == 0 && unit >= 0 && unit < range.units, mask_blanks(args.plane[range.plane].mask, sample),
                (number *)with.activated + ((int64_t)sample * height + row) * width * with.pitch};
            resident_norm_change<number, columns>(norm, with, width, here);
        }
        fence_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(at.full + stage * BARRIER_BYTES);
        if (++row > height) {
            row = -1;
            strip++;
        }
    }
}

/* Waits until input row `i` is there. Returns its stage, of `rows` of the ring. */
template <int rows>
static __device__ __forceinline__ uint32_t resident_rows_await(const resident_rows_shared &at, int32_t i) {
    const uint32_t stage = (uint32_t)i % rows;
    barrier_wait(at.full + stage * BARRIER_BYTES, (uint32_t)i / rows & 1);
    return stage;
}

/* One lane of each warp gives input rows back, up to `end`. It waits for each of them, since the other warpgroup may
 * not have come so far. */
template <int rows>
static __device__ __forceinline__ void resident_rows_release(const resident_rows_shared &at, int32_t *released,
                                                             int32_t end) {
    for (; *released < end; ++*released) {
        if (threadIdx.x % 32 == 0) barrier_arrive(at.empty + resident_rows_await<rows>(at, *released) * BARRIER_BYTES);
    }
}

/* A unit: which of the range, its strip and row, and its first input row among those of the block. */
struct resident_unit {
    int32_t index, strip, row, input;
};

template <int borders>
static __device__ __forceinline__ void resident_unit_step(resident_unit *unit, const resident_head &head,
                                                          const resident_range &range, int32_t by) {
    unit->index += by;
    unit->row += by;
    unit->input += by;
    while (unit->row >= head.size[0]) {
        unit->row -= head.size[0];
        unit->strip++;
        unit->input += borders;
    }
    if (unit->index >= range.units) unit->input = range.loads;
}

/* sum = one row of outputs from three rows of input. */
template <class number, int columns, bool transposed>
static __device__ __forceinline__ void resident_rows_multiply(float (&sum)[columns / 2], const resident_rows_shared &at,
                                                              const uint32_t (&row)[3]) {
    const shared_matrix left = transposed ? matrix_down_rows(at.weights, 0) : matrix_along_rows(at.weights);
    wgmma_hold(sum);
    wgmma_begin();
#pragma unroll
    for (int tap = 0; tap < RESIDENT_TAPS; tap++) {
        const shared_matrix a = matrix_moved(left, (uint32_t)tap * RESIDENT_WEIGHT_BYTES);
        const shared_matrix b = matrix_moved(matrix_along_rows(row[tap / 3]), (uint32_t)(tap % 3) * 128);
#pragma unroll
        for (int k = 0; k < 4; k++)
            wgmma<number, columns, transposed ? 1 : 0>(sum, matrix_moved(a, (uint32_t)k * (transposed ? 2048u : 32u)),
                                                       matrix_moved(b, (uint32_t)k * 32), tap != 0 || k != 0);
    }
    wgmma_commit();
}

/* Asks for the row of what is added to a row of outputs, when the copy engine has read the outputs before it. */
template <int columns>
static __device__ __forceinline__ void resident_rows_load_added(const resident_row_maps &map, uint32_t staging,
                                                                uint32_t barrier, const resident_tile &tile,
                                                                int32_t row) {
    if (threadIdx.x % 128 != 0) return;
    tma_wait_read<0>();
    barrier_expect(barrier, columns * 128);
    tma_load_4d(staging, &map.added, barrier, tile.group * RESIDENT_BLOCK, tile.strip * columns, row, tile.sample);
}

/* Before a warpgroup writes a row of outputs to shared memory: the copy engine has read the one before. Barrier `id` is
 * the warpgroup's own. */
static __device__ __forceinline__ void resident_rows_begin(int id) {
    if (threadIdx.x % 128 == 0) tma_wait_read<0>();
    named_sync(id, 128);
}

/* Hands it to the copy engine. */
template <int columns>
static __device__ __forceinline__ void resident_rows_end(const cuda_tensor_map *map, uint32_t staging,
                                                         const resident_tile &tile, int32_t row, int id) {
    fence_async();
    named_sync(id, 128);
    if (threadIdx.x % 128 != 0) return;
    tma_store_4d(map, staging, tile.group * RESIDENT_BLOCK, tile.strip * columns, row, tile.sample);
    tma_commit();
}

/* Both of a row of sums. `is_added`: what is added lies where the outputs will. */
template <class number, int columns>
static __device__ __forceinline__ void resident_rows_store(const float (&sum)[columns / 2], const epilogue_rows &with,
                                                           const cuda_tensor_map *map, uint32_t staging,
                                                           const resident_tile &tile, int32_t row, int id,
                                                           bool is_added) {
    resident_rows_begin(id);
    resident_stage<number, columns>(sum, with, staging, is_added);
    resident_rows_end<columns>(map, staging, tile, row, id);
}

/* The same of plain sums, whose statistics are taken as far as they are in the image. */
template <class number, int columns>
static __device__ __forceinline__ void resident_rows_store(const float (&sum)[columns / 2], const cuda_tensor_map *map,
                                                           uint32_t staging, const resident_tile &tile, int32_t row,
                                                           int id, int32_t inside, row_moments<number> *moments) {
    resident_rows_begin(id);
    moments->begin(sum);
    row_moments_stage<number, columns>(staging + epilogue_rows_at(), sum, inside, moments);
    moments->settle();
    resident_rows_end<columns>(map, staging, tile, row, id);
}

/* Where a warpgroup leaves sums of its channels: a part of its own. Barrier `id` is the warpgroup's own. */
template <class sum, class args_of>
static __device__ __forceinline__ row_parts_place<sum> resident_rows_place(const args_of &args,
                                                                           const resident_rows_shared &at,
                                                                           const resident_range &range, int group,
                                                                           int id) {
    const resident_plane &plane = args.plane[range.plane];
    const int32_t parts = 2 * args.head.strip_tiles, all = (int32_t)blockIdx.x / args.head.strip_tiles;
    const row_parts_place<sum> found = {(sum *)args.parts.of[range.plane],
                                        args.parts.counters + all * ROW_PARTS_COUNTERS(parts),
                                        args.parts.pitch,
                                        2 * range.share + group,
                                        parts,
                                        range.group * RESIDENT_BLOCK,
                                        plane.channels - range.group * RESIDENT_BLOCK,
                                        at.words + (uint32_t)group * 4,
                                        id};
    return found;
}

/* Behind the last row: what the warpgroup found is added to what others did. */
template <class number>
static __device__ __forceinline__ void resident_rows_finish(const resident_bn_stats_args &args,
                                                            const resident_range &range,
                                                            const row_parts_place<bn_moments> &place,
                                                            const row_moments<number> &moments) {
    const int32_t groups = (int32_t)gridDim.x / args.head.strip_tiles;
    moments.finish(args.finalize, range.plane, place, args.parts.counters + groups * ROW_PARTS_COUNTERS(place.parts),
                   groups);
}

template <class number, int columns, bool transposed, class moments_of, class args_of>
static __device__ __forceinline__ void resident_rows_compute(const args_of &args, const resident_rows_shared &at,
                                                             const resident_range &range, int group) {
    const resident_plane &plane = args.plane[range.plane];
    const resident_row_maps &map = args.map[range.plane];
    const uint32_t staging = at.staging + (uint32_t)group * RESIDENT_ROW_STAGING_BYTES(columns);
    const uint32_t added = at.added + (uint32_t)group * BARRIER_BYTES;
    const bool is_added = plane.epilogue.added != nullptr;
    uint32_t parity = 0; /* of the barrier of what is added */
    resident_unit unit = {0, range.first / args.head.size[0], range.row, 0};
    int32_t released = 0;
    moments_of moments;
    float sum[columns / 2];
    const epilogue_rows with = epilogue_rows_find<number>(plane.epilogue, range.group * RESIDENT_BLOCK, plane.channels);
    barrier_wait(at.weight_full, 0);
    resident_unit_step<2>(&unit, args.head, range, group);
    resident_rows_release<RESIDENT_ROWS>(at, &released, unit.input);
    if (group == 1) named_arrive(1, 256); /* the first turn is the other's */
#pragma unroll 1
    while (unit.index < range.units) {
        const int32_t sample = unit.strip / args.head.strips, strip = unit.strip - sample * args.head.strips;
        const resident_tile tile = {range.plane, range.group, sample, strip, 0, 0, mask_blanks(plane.mask, sample)};
        const int32_t output_row = unit.row;
        if (is_added && !tile.blanked) resident_rows_load_added<columns>(map, staging, added, tile, output_row);
        uint32_t row[3];
#pragma unroll
        for (int i = 0; i < 3; i++)
            row[i] = at.rows + resident_rows_await<RESIDENT_ROWS>(at, unit.input + i) * RESIDENT_ROW_BYTES(columns);
        named_sync(1 + group, 256);
        if (!tile.blanked) resident_rows_multiply<number, columns, transposed>(sum, at, row);
        if (unit.index + 1 < range.units) named_arrive(2 - group, 256);
        resident_unit_step<2>(&unit, args.head, range, 2);
        wgmma_wait<0>();
        wgmma_hold(sum);
        resident_rows_release<RESIDENT_ROWS>(at, &released, unit.input);
        if (tile.blanked) {
            resident_clear<number, columns>(args.head,
                                            resident_aim(args.head, plane, tile, range.group * RESIDENT_BLOCK),
                                            (uint32_t)(output_row * args.head.pitch), plane.epilogue.keeps);
            continue;
        }
        if (is_added) {
            barrier_wait(added, parity);
            parity ^= 1;
        }
        if constexpr (moments_of::counts)
            resident_rows_store<number, columns>(sum, &map.output, staging, tile, output_row, 3 + group,
                                                 args.head.size[1] - strip * columns, &moments);
        else
            resident_rows_store<number, columns>(sum, with, &map.output, staging, tile, output_row, 3 + group,
                                                 is_added);
    }
    if constexpr (moments_of::counts)
        resident_rows_finish(args, range, resident_rows_place<bn_moments>(args, at, range, group, 3 + group), moments);
    if (threadIdx.x % 128 == 0) tma_wait<0>();
}

/* The kernel: 64 output channels x columns pixels of one row at a time. With moments nothing is
 * added to them; with a norm the rows are changed before they are multiplied. */
template <class number, int columns, bool transposed, class moments_of = no_row_moments,
          class norm_of = no_resident_norm, class args_of>
static __device__ __forceinline__ void conv2d_resident3x3_rows(const args_of &args) {
    const resident_rows_shared at = resident_rows_layout<columns, norm_of>();
    const resident_range range = resident_rows_range<2>(args.head);
    const int group = warp_uniform((int)threadIdx.x / 128);
    if (threadIdx.x == 0) {
        barrier_init(at.weight_full, 1);
        for (uint32_t i = 0; i < 2; i++) barrier_init(at.added + i * BARRIER_BYTES, 1);
        for (uint32_t i = 0; i < RESIDENT_ROWS; i++) {
            if (norm_of::changes) barrier_init(at.loaded + i * BARRIER_BYTES, 1);
            barrier_init(at.full + i * BARRIER_BYTES, norm_of::changes ? RESIDENT_NORM_THREADS / 32 : 1);
            barrier_init(at.empty + i * BARRIER_BYTES, 8); /* the computing warps */
        }
        barrier_publish();
    }
    __syncthreads();
    if (group == 2) {
        registers_give<norm_of::changes ? 72 : 24>();
        if (threadIdx.x == 256) resident_rows_load<columns, transposed>(args, at, range);
        if constexpr (norm_of::changes) {
            if (threadIdx.x >= RESIDENT_NORM_FIRST) resident_norm_rows<number, columns, norm_of>(args, at, range);
        }
    } else {
        registers_take<norm_of::changes ? 216 : 240>();
        resident_rows_compute<number, columns, transposed, moments_of>(args, at, range, group);
    }
}

#endif
