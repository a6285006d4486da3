/*
 * 3x3 convolutions at stride 1 as matrix products over shared memory that holds a halo: the input rows around a
 * tile of pixels are loaded once for each block of 64 channels, and the nine taps read them at shifted addresses, so
 * that nothing is unfolded. Weights are the left operand as they lie in memory; output channels are rows of the
 * accumulators, pixels are columns.
 *
 * A persistent block has two computing warpgroups and one that loads. Where the warpgroups split the rows each has 64
 * output channels of the same pixels and a ring of weights of its own; else they split the pixels and share one ring.
 * The second starts some taps late, so that the stores of one hide behind the products of the other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT3X3_CUH
#define BRAID_KERNELS_CUDA_CONV_RESIDENT3X3_RESIDENT3X3_CUH

#include "kernels/cuda/conv/resident3x3/conv2d_resident3x3.h"
#include "kernels/cuda/ptx/barrier.cuh"
#include "kernels/cuda/tile/epilogue_rows.cuh"
#include "kernels/cuda/ptx/registers.cuh"
#include "kernels/cuda/tile/schedule.cuh"
#include "kernels/cuda/ptx/shared.cuh"
#include "kernels/cuda/ptx/tma.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

#define RESIDENT_LATE_TAPS 5 /* that the second warpgroup starts behind the first */

/* A place in a ring of stages: which stage, and the parity of its phase. */
struct ring_place {
    int32_t stage;
    uint32_t parity;
};

static __device__ __forceinline__ void ring_step(ring_place *place, int32_t stages) {
    if (++place->stage == stages) {
        place->stage = 0;
        place->parity ^= 1;
    }
}

static __device__ __forceinline__ int32_t ring_before(int32_t stage, int32_t stages) {
    return stage ? stage - 1 : stages - 1;
}

/* Addresses in shared memory. Ring r of weights begins `stages` stages behind ring r - 1, barriers likewise. */
struct resident_shared {
    uint32_t input, staging, weights, weight_full, weight_empty, input_full, input_empty;
};

template <int rings>
static __device__ __forceinline__ resident_shared resident_layout(const resident_tiles_args &args) {
    resident_shared at;
    at.input = shared_address(shared_memory());
    at.staging = at.input + RESIDENT_STAGES * args.stage_bytes;
    at.weights = at.staging + 2 * RESIDENT_STAGING_BYTES;
    at.weight_full = at.weights + (uint32_t)(rings * args.stages) * RESIDENT_WEIGHT_BYTES;
    at.weight_empty = at.weight_full + (uint32_t)(rings * args.stages) * BARRIER_BYTES;
    at.input_full = at.weight_empty + (uint32_t)(rings * args.stages) * BARRIER_BYTES;
    at.input_empty = at.input_full + RESIDENT_STAGES * BARRIER_BYTES;
    return at;
}

/* Behind the rows of a stage the last right border must read as zero; barriers are made ready. */
template <int rings>
static __device__ __forceinline__ void resident_begin(const resident_tiles_args &args, const resident_shared &at) {
    const uint32_t filled = (uint32_t)(args.rows * args.head.pitch) * 128;
    for (uint32_t byte = filled + threadIdx.x * 16; byte < args.stage_bytes; byte += RESIDENT_THREADS * 16) {
        for (uint32_t stage = 0; stage < RESIDENT_STAGES; stage++)
            shared_clear(at.input + stage * args.stage_bytes + byte);
    }
    fence_async();
    if (threadIdx.x == 0) {
        for (int32_t i = 0; i < rings * args.stages; i++) {
            barrier_init(at.weight_full + (uint32_t)i * BARRIER_BYTES, 1);
            barrier_init(at.weight_empty + (uint32_t)i * BARRIER_BYTES, 8 / rings); /* the warps that read it */
        }
        for (uint32_t i = 0; i < RESIDENT_STAGES; i++) {
            barrier_init(at.input_full + i * BARRIER_BYTES, 1);
            barrier_init(at.input_empty + i * BARRIER_BYTES, 8);
        }
        barrier_publish();
    }
    __syncthreads();
}

/* One tile of work. */
struct resident_tile {
    int32_t plane, group, sample, strip;
    int32_t first, row; /* first pixel, and the row it lies in */
    bool blanked;
};

static __device__ __forceinline__ uint32_t resident_row(const resident_head &head, uint32_t pixel) {
    return __umulhi(pixel, head.reciprocal);
}

/* `pixels` is how many a tile has. */
static __device__ __forceinline__ resident_tile resident_find(const resident_tiles_args &args, int32_t tile,
                                                              int32_t pixels) {
    resident_tile found;
    found.plane = 0;
    while (found.plane + 1 < args.head.planes && tile >= args.head.first_tile[found.plane + 1]) found.plane++;
    const resident_plane &plane = args.plane[found.plane];
    tile -= args.head.first_tile[found.plane];
    found.group = tile % plane.groups;
    tile /= plane.groups;
    found.first = tile % args.head.strip_tiles * pixels;
    tile /= args.head.strip_tiles;
    found.strip = tile % args.head.strips;
    found.sample = tile / args.head.strips;
    found.row = (int32_t)resident_row(args.head, (uint32_t)found.first);
    found.blanked = mask_blanks(plane.mask, found.sample);
    return found;
}

/* ---- Loading ------------------------------------------------------------------------------------ */

/* One thread fills one ring of weights; `transposed`: for the data gradient, whose taps are turned around. */
template <int rings, bool transposed>
static __device__ __forceinline__ void resident_load_weights(const resident_tiles_args &args, const resident_shared &at,
                                                             int ring, int32_t pixels) {
    const uint32_t first = (uint32_t)(ring * args.stages);
    ring_place place = {0, 1};
    for (int32_t t = (int32_t)blockIdx.x; t < args.head.first_tile[BRAID_MAX_PLANES]; t += (int32_t)gridDim.x) {
        const resident_tile tile = resident_find(args, t, pixels);
        if (tile.blanked) continue;
        const resident_plane &plane = args.plane[tile.plane];
        const int32_t output = (tile.group * rings + ring) * RESIDENT_BLOCK;
        for (int32_t block = 0; block < plane.blocks; block++) {
            for (int32_t tap = 0; tap < RESIDENT_TAPS; tap++, ring_step(&place, args.stages)) {
                const uint32_t stage = first + (uint32_t)place.stage, full = at.weight_full + stage * BARRIER_BYTES;
                barrier_wait(at.weight_empty + stage * BARRIER_BYTES, place.parity);
                barrier_expect(full, RESIDENT_WEIGHT_BYTES);
                if (transposed)
                    tma_load_3d(at.weights + stage * RESIDENT_WEIGHT_BYTES, &args.map[tile.plane].weight, full, output,
                                RESIDENT_TAPS - 1 - tap, block * RESIDENT_BLOCK);
                else
                    tma_load_3d(at.weights + stage * RESIDENT_WEIGHT_BYTES, &args.map[tile.plane].weight, full,
                                block * RESIDENT_BLOCK, tap, output);
            }
        }
    }
}

/* One thread loads the input rows of every tile, block by block of its channels. */
static __device__ __forceinline__ void resident_load_input(const resident_tiles_args &args, const resident_shared &at,
                                                           int32_t pixels) {
    const uint32_t bytes = (uint32_t)(args.rows * args.head.pitch) * 128;
    ring_place place = {0, 1};
    for (int32_t t = (int32_t)blockIdx.x; t < args.head.first_tile[BRAID_MAX_PLANES]; t += (int32_t)gridDim.x) {
        const resident_tile tile = resident_find(args, t, pixels);
        if (tile.blanked) continue;
        const resident_plane &plane = args.plane[tile.plane];
        for (int32_t block = 0; block < plane.blocks; block++, ring_step(&place, RESIDENT_STAGES)) {
            const uint32_t stage = (uint32_t)place.stage, full = at.input_full + stage * BARRIER_BYTES;
            barrier_wait(at.input_empty + stage * BARRIER_BYTES, place.parity);
            barrier_expect(full, bytes);
            tma_load_4d(at.input + stage * args.stage_bytes, &args.map[tile.plane].input, full, block * RESIDENT_BLOCK,
                        tile.strip * args.head.width - 1, tile.row - 1, tile.sample);
        }
    }
}

/* ---- Computing ---------------------------------------------------------------------------------- */

/* Where a computing warpgroup stands in the rings. */
struct resident_turn {
    ring_place weight, input;
    bool announced; /* the second warpgroup was let go */
};

/* Which of the sums a tap adds to, and how many rows and columns behind the border the pixels lie that it reads. With
 * four classes, those of pixels of dx by the parity of their row and column (2 for odd rows + 1 for odd columns), a tap
 * belongs to one of them, and reads the pixel of dy there or the next one. */
template <int classes> struct resident_tap {
    static __device__ __forceinline__ constexpr int sum(int tap) {
        return classes == 1 ? 0 : (tap / 3 != 1) * 2 + (tap % 3 != 1);
    }
    static __device__ __forceinline__ constexpr int row(int tap) { return classes != 1 && tap / 3 == 0 ? 1 : tap / 3; }
    static __device__ __forceinline__ constexpr int column(int tap) {
        return classes != 1 && tap % 3 == 0 ? 1 : tap % 3;
    }
    /* True for the first tap of its sum. */
    static __device__ __forceinline__ constexpr bool begins(int tap) {
        return classes == 1 ? tap == 0 : tap / 3 < 2 && tap % 3 < 2;
    }
};

/* sum = the products of one tile. `ring` is that of this warpgroup's weights, `first` the first pixel of its columns,
 * counted from the first of the loaded rows. */
template <class number, int columns, int rings, bool transposed, int classes>
static __device__ __forceinline__ void resident_multiply(float (&sum)[classes][columns / 2],
                                                         const resident_tiles_args &args, const resident_shared &at,
                                                         resident_turn *turn, int32_t blocks, int group,
                                                         uint32_t first) {
    const uint32_t ring = rings == 2 ? (uint32_t)(group * args.stages) : 0;
    const uint32_t full = at.weight_full + ring * BARRIER_BYTES, empty = at.weight_empty + ring * BARRIER_BYTES;
    const uint32_t weights = at.weights + ring * RESIDENT_WEIGHT_BYTES;
    const bool leads = threadIdx.x % 32 == 0;
    const int late = rings == 2 || args.stages > RESIDENT_LATE_TAPS + 1 ? RESIDENT_LATE_TAPS : 1;
#pragma unroll 1
    for (int32_t block = 0; block < blocks; block++) {
        const shared_matrix left = transposed ? matrix_down_rows(weights, 0) : matrix_along_rows(weights);
        const shared_matrix right =
            matrix_along_rows(at.input + (uint32_t)turn->input.stage * args.stage_bytes + first * 128);
        barrier_wait(at.input_full + (uint32_t)turn->input.stage * BARRIER_BYTES, turn->input.parity);
#pragma unroll
        for (int tap = 0; tap < RESIDENT_TAPS; tap++) {
            const shared_matrix a = matrix_moved(left, (uint32_t)turn->weight.stage * RESIDENT_WEIGHT_BYTES);
            const shared_matrix b = matrix_moved(right, (uint32_t)(resident_tap<classes>::row(tap) * args.head.pitch +
                                                                   resident_tap<classes>::column(tap)) *
                                                            128);
            barrier_wait(full + (uint32_t)turn->weight.stage * BARRIER_BYTES, turn->weight.parity);
#pragma unroll
            for (int of = 0; of < classes; of++) wgmma_hold(sum[of]);
            wgmma_begin();
#pragma unroll
            for (int k = 0; k < 4; k++) {
                wgmma<number, columns, transposed ? 1 : 0>(
                    sum[resident_tap<classes>::sum(tap)], matrix_moved(a, (uint32_t)k * (transposed ? 2048u : 32u)),
                    matrix_moved(b, (uint32_t)k * 32), block != 0 || !resident_tap<classes>::begins(tap) || k != 0);
            }
            wgmma_commit();
            if (block != 0 || tap != 0) { /* all before this group is done: what it read is free */
                wgmma_wait<1>();
                const int32_t before = ring_before(turn->weight.stage, args.stages);
                if (leads) barrier_arrive(empty + (uint32_t)before * BARRIER_BYTES);
                if (leads && tap == 0)
                    barrier_arrive(at.input_empty +
                                   (uint32_t)ring_before(turn->input.stage, RESIDENT_STAGES) * BARRIER_BYTES);
            }
            ring_step(&turn->weight, args.stages);
            if (tap == late && group == 0 && !turn->announced) {
                turn->announced = true;
                named_arrive(1, 256);
            }
        }
        ring_step(&turn->input, RESIDENT_STAGES);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int of = 0; of < classes; of++) wgmma_hold(sum[of]);
    if (leads) {
        barrier_arrive(empty + (uint32_t)ring_before(turn->weight.stage, args.stages) * BARRIER_BYTES);
        barrier_arrive(at.input_empty + (uint32_t)ring_before(turn->input.stage, RESIDENT_STAGES) * BARRIER_BYTES);
    }
}

/* Where the outputs of a warpgroup go: pixel p of the strip to output + (row * size + column) * pitch. */
struct resident_target {
    void *output;        /* of the first of 64 channels, at the first column of the strip in row 0 */
    const void *added;   /* the same of what is added; NULL: nothing */
    int32_t pitch, rest; /* of its lanes, those behind the first */
    int32_t live;        /* of those, channels */
    int32_t columns;     /* of the strip that exist */
};

/* Where eight channels of pixel `pixel` of the strip lie; -1: there is no such output. */
static __device__ __forceinline__ int64_t resident_place(const resident_head &head, const resident_target &target,
                                                         uint32_t pixel, uint32_t eight) {
    const uint32_t row = resident_row(head, pixel), column = pixel - row * (uint32_t)head.pitch;
    if (row >= (uint32_t)head.size[0] || column >= (uint32_t)target.columns || (int32_t)eight * 8 >= target.rest)
        return -1;
    return ((int64_t)row * head.size[1] + column) * target.pitch + eight * 8;
}

/* The same for one class of pixels of dx. */
struct resident_class_target : resident_target {
    int32_t odd[2]; /* rows, columns */
    int32_t first;  /* column of the strip in dy */
};

static __device__ __forceinline__ int64_t resident_place(const resident_head &head, const resident_class_target &target,
                                                         uint32_t pixel, uint32_t eight) {
    const uint32_t row = resident_row(head, pixel), column = pixel - row * (uint32_t)head.pitch;
    const uint32_t h = 2 * row + (uint32_t)target.odd[0];
    const uint32_t w = 2 * (column + (uint32_t)target.first) + (uint32_t)target.odd[1];
    if (h >= (uint32_t)head.out_size[0] || w >= (uint32_t)head.out_size[1] || column >= (uint32_t)target.columns ||
        (int32_t)eight * 8 >= target.rest)
        return -1;
    return ((int64_t)h * head.out_size[1] + w) * target.pitch + eight * 8;
}

template <class number, class aimed>
static __device__ __forceinline__ void resident_write(const resident_head &head, const aimed &target, uint32_t pixel,
                                                      uint32_t eight, const uint32_t (&words)[4]) {
    const int64_t at = resident_place(head, target, pixel, eight);
    if (at >= 0) write_bytes<16>((number *)target.output + at, words);
}

/* Eight channels of what is added to a pixel; zeros where there are none. */
template <class number, class aimed>
static __device__ __forceinline__ void resident_read(uint32_t (&words)[4], const resident_head &head,
                                                     const aimed &target, uint32_t pixel, uint32_t eight) {
    const int64_t at = resident_place(head, target, pixel, eight);
    uint4 read = {0, 0, 0, 0};
    if (at >= 0 && (int32_t)eight * 8 < target.live) read_bytes<16>(&read, (const number *)target.added + at);
    words[0] = read.x;
    words[1] = read.y;
    words[2] = read.z;
    words[3] = read.w;
}

/* What is added to a chunk of 64 pixels, on its way to shared memory: 16 bytes of every 16th pixel. */
struct resident_added {
    uint32_t words[4][4];
};

template <class number, class aimed>
static __device__ __forceinline__ void resident_fetch(resident_added *to, const resident_head &head,
                                                      const aimed &target, uint32_t first) {
#pragma unroll
    for (uint32_t part = 0; part < 4; part++)
        resident_read<number>(to->words[part], head, target, first + part * 16 + threadIdx.x % 128 / 8,
                              threadIdx.x % 8);
}

static __device__ __forceinline__ uint32_t resident_staged(uint32_t staging, uint32_t part) {
    const uint32_t at = part * 16 + threadIdx.x % 128 / 8;
    return staging + at * 128 + ((threadIdx.x % 8 ^ (at % 8)) << 4);
}

/* Zeros instead of outputs, or (`keeps`) what is added to them. */
template <class number, int columns, class aimed>
static __device__ __forceinline__ void resident_clear(const resident_head &head, const aimed &target, uint32_t first,
                                                      bool keeps) {
    uint32_t words[4] = {0, 0, 0, 0};
    for (uint32_t at = threadIdx.x % 128 / 8; at < columns; at += 16) {
        if (keeps && target.added) resident_read<number>(words, head, target, first + at, threadIdx.x % 8);
        resident_write<number>(head, target, first + at, threadIdx.x % 8, words);
    }
}

/* Rounds `count` columns of accumulators into shared memory: 128 bytes of 64 channels for each pixel, swizzled.
 * `is_added`: what is added lies there. */
template <class number, int count>
static __device__ __forceinline__ void resident_stage(const float *sum, const epilogue_rows &with, uint32_t staging,
                                                      bool is_added) {
    const uint32_t to = staging + epilogue_rows_at();
    if (with.is_plain) {
#pragma unroll
        for (int g = 0; g < count / 16; g++) epilogue_rows_plain_16<number>(to + (uint32_t)g * 2048, sum + g * 8);
        if (count % 16) epilogue_rows_plain_8<number>(to + (uint32_t)(count / 16) * 2048, sum + count / 2 - 4);
        return;
    }
#pragma unroll
    for (int g = 0; g < count / 16; g++)
        epilogue_rows_16<number>(to + (uint32_t)g * 2048, with, sum + g * 8, is_added ? to + (uint32_t)g * 2048 : 0);
    if (count % 16) {
        const uint32_t last = to + (uint32_t)(count / 16) * 2048;
        epilogue_rows_8<number>(last, with, sum + count / 2 - 4, is_added ? last : 0);
    }
}

/* Stores 64 channels x columns pixels from pixel `first` of the strip on, rounded. Chunks of 64 pixels, this one and
 * those behind it, pass through shared memory to become whole rows of channels. Barrier `id` is the warpgroup's own.
 * `added`: what was fetched for this chunk. */
template <class number, int columns, int begin = 0, class aimed>
static __device__ __forceinline__ void resident_store(const float (&sum)[columns / 2], const epilogue_rows &with,
                                                      const resident_head &head, const aimed &target, uint32_t staging,
                                                      uint32_t first, int id, resident_added *added) {
    const uint32_t thread = threadIdx.x % 128, eight = thread % 8;
    constexpr int count = columns - begin < 64 ? columns - begin : 64;
    named_sync(id, 128); /* the chunk before has been read */
    if (target.added) {
#pragma unroll
        for (uint32_t part = 0; part < 4; part++) shared_write(resident_staged(staging, part), added->words[part]);
        if (begin + 64 < columns) resident_fetch<number>(added, head, target, first + (uint32_t)begin + 64);
        named_sync(id, 128);
    }
    resident_stage<number, count>(sum + begin / 2, with, staging, target.added != nullptr);
    named_sync(id, 128);
    uint32_t words[(count + 15) / 16][4];
#pragma unroll
    for (int part = 0; part < (count + 15) / 16; part++)
        shared_read(words[part], resident_staged(staging, (uint32_t)part));
#pragma unroll
    for (int part = 0; part < (count + 15) / 16; part++) {
        const uint32_t at = (uint32_t)part * 16 + thread / 8;
        if (count % 16 && at >= (uint32_t)count) continue;
        resident_write<number>(head, target, first + (uint32_t)begin + at, eight, words[part]);
    }
    if constexpr (begin + 64 < columns)
        resident_store<number, columns, begin + 64>(sum, with, head, target, staging, first, id, added);
}

static __device__ __forceinline__ resident_target resident_aim(const resident_head &head, const resident_plane &plane,
                                                               const resident_tile &tile, int32_t channel) {
    const int32_t column = tile.strip * head.width, left = head.size[1] - column;
    resident_target target;
    target.pitch = plane.pitch;
    target.rest = plane.pitch - channel;
    target.live = plane.channels - channel;
    target.columns = left < head.width ? left : head.width;
    const int64_t at = ((int64_t)tile.sample * head.size[0] * head.size[1] + column) * plane.pitch + channel;
    target.output = (uint16_t *)plane.output + at;
    target.added = plane.epilogue.added ? (const uint16_t *)plane.epilogue.added + at : nullptr;
    return target;
}

static __device__ __forceinline__ resident_class_target resident_aim_class(const resident_head &head,
                                                                           const resident_plane &plane,
                                                                           const resident_tile &tile, int32_t channel,
                                                                           int of) {
    resident_class_target target;
    (resident_target &)target = resident_aim(head, plane, tile, channel);
    const int64_t at = (int64_t)tile.sample * head.out_size[0] * head.out_size[1] * plane.pitch + channel;
    target.output = (uint16_t *)plane.output + at;
    target.added = plane.epilogue.added ? (const uint16_t *)plane.epilogue.added + at : nullptr;
    target.odd[0] = of / 2;
    target.odd[1] = of % 2;
    target.first = tile.strip * head.width;
    return target;
}

/* Stores the sums of a tile's classes. */
template <class number, int columns>
static __device__ __forceinline__ void resident_store_classes(const float (&sum)[4][columns / 2],
                                                              const epilogue_rows &with,
                                                              const resident_tiles_args &args,
                                                              const resident_tile &tile, int32_t channel,
                                                              uint32_t staging, uint32_t first, int id) {
#pragma unroll
    for (int of = 0; of < 4; of++) {
        const resident_class_target target = resident_aim_class(args.head, args.plane[tile.plane], tile, channel, of);
        resident_added added;
        if (target.added) resident_fetch<number>(&added, args.head, target, first);
        resident_store<number, columns>(sum[of], with, args.head, target, staging, first, id, &added);
    }
}

template <class number, int columns, int rings, bool transposed, int classes>
static __device__ __forceinline__ void resident_compute(const resident_tiles_args &args, const resident_shared &at,
                                                        int group, int32_t pixels) {
    resident_turn turn = {{0, 0}, {0, 0}, false};
    const uint32_t staging = at.staging + (uint32_t)group * RESIDENT_STAGING_BYTES;
    const int32_t shift = rings == 1 ? group * columns : 0; /* of this warpgroup's pixels in the tile */
    bool waited = false;
    float sum[classes][columns / 2];
#pragma unroll 1
    for (int32_t t = (int32_t)blockIdx.x; t < args.head.first_tile[BRAID_MAX_PLANES]; t += (int32_t)gridDim.x) {
        const resident_tile tile = resident_find(args, t, pixels);
        const resident_plane &plane = args.plane[tile.plane];
        const int32_t channel = (tile.group * rings + (rings == 2 ? group : 0)) * RESIDENT_BLOCK;
        const resident_target target = resident_aim(args.head, plane, tile, channel);
        const uint32_t first = (uint32_t)(tile.first + shift);
        if (tile.blanked) {
            if constexpr (classes == 1) {
                resident_clear<number, columns>(args.head, target, first, plane.epilogue.keeps);
            } else {
                for (int of = 0; of < classes; of++)
                    resident_clear<number, columns>(
                        args.head, resident_aim_class(args.head, args.plane[tile.plane], tile, channel, of), first,
                        plane.epilogue.keeps);
            }
            continue;
        }
        if (group == 1 && !waited) named_sync(1, 256);
        waited = true;
        const epilogue_rows with = epilogue_rows_find<number>(plane.epilogue, channel, plane.channels);
        resident_added added;
        if (classes == 1 && target.added) resident_fetch<number>(&added, args.head, target, first);
        resident_multiply<number, columns, rings, transposed, classes>(sum, args, at, &turn, plane.blocks, group,
                                                                       first - (uint32_t)(tile.row * args.head.pitch));
        if constexpr (classes == 1)
            resident_store<number, columns>(sum[0], with, args.head, target, staging, first, 2 + group, &added);
        else
            resident_store_classes<number, columns>(sum, with, args, tile, channel, staging, first, 2 + group);
    }
}

/* The kernel of a tile (RESIDENT_TILES). classes = 4: the data gradient at stride 2, whose input and pixels are those
 * of dy; each pixel gives one of every class. */
template <class number, int channels, int pixels, bool transposed, int classes = 1>
static __device__ __forceinline__ void conv2d_resident3x3(const resident_tiles_args &args) {
    constexpr int rings = RESIDENT_RINGS(channels), columns = rings == 2 ? pixels : pixels / 2;
    static_assert((rings == 1 || rings == 2) && columns % 8 == 0, "a tile that two warpgroups share");
    const resident_shared at = resident_layout<rings>(args);
    const int group = warp_uniform((int)threadIdx.x / 128);
    resident_begin<rings>(args, at);
    if (group == 2) {
        registers_give<40>();
        const int warp = warp_uniform((int)threadIdx.x / 32 % 4);
        if (threadIdx.x % 32 == 0 && warp < rings) resident_load_weights<rings, transposed>(args, at, warp, pixels);
        if (threadIdx.x % 32 == 0 && warp == 2) resident_load_input(args, at, pixels);
    } else {
        registers_take<232>();
        resident_compute<number, columns, rings, transposed, classes>(args, at, group, pixels);
    }
}

#endif
