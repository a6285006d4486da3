/*
 * Sums over pixels, channel by channel, in an order that depends on the problem alone. A block adds up a part of the
 * pixels; the last block of a tile of channels adds the parts, or a second launch where there are no counters, both in
 * the same order. What is summed comes as a body:
 *
 *     sum                    what a block adds up, with an add(); all its numbers are 0 at first
 *     part                   what a part hands on, with an add() too, and with a column_write(args, plane, channel,
 *                            part) that makes the outputs of a channel from all parts
 *     begin(c, live)         readies channels c to c + width - 1 of a part that has live pixels
 *     fetch(inputs, at)      takes the element at `at` and its neighbours from memory
 *     include(sums, inputs, live, pixel, step, c)
 *                            adds pixels pixel, pixel + step, ...: those that are live
 *     finish(sum, live, j)   the part of channel c + j
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH
#define BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH

#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/tile/mma.cuh"
#include "kernels/cuda/tile/pixels.cuh"

/* What a thread of a column sum has to do. */
struct column_work {
    int plane;
    int32_t channel; /* the first of its channels; may be beyond the last of the plane */
    int32_t part, lanes;
    int64_t begin, end; /* its pixels: begin, begin + step, ... before end */
    int32_t step;
};

/* The work of this thread in the first launch. */
static __device__ __forceinline__ column_work column_first(const pixel_args &args, int pack_width) {
    const pixel_columns &columns = args.columns;
    column_work work;
    work.plane = schedule_plane(columns.first_block, args.planes);
    work.lanes = columns.lanes[work.plane];
    const int32_t width = columns.vector[work.plane] ? pack_width : 1;
    const int32_t tile = (int32_t)blockIdx.x - columns.first_block[work.plane];
    work.part = tile % columns.parts;
    work.channel = (tile / columns.parts * work.lanes + (int32_t)threadIdx.x % work.lanes) * width;
    work.step = BLOCK_THREADS / work.lanes;
    const int64_t first = work.part * columns.part_pixels, last = first + columns.part_pixels;
    work.begin = first + (int32_t)threadIdx.x / work.lanes;
    work.end = last < columns.pixels ? last : columns.pixels;
    return work;
}

/* The work of this thread in the second launch: the same, with parts in place of pixels. */
static __device__ __forceinline__ column_work column_second(const pixel_args &args) {
    const pixel_columns &columns = args.columns;
    column_work work;
    work.plane = schedule_plane(columns.first_tile, args.planes);
    work.lanes = columns.second_lanes[work.plane];
    work.part = 0;
    work.channel =
        ((int32_t)blockIdx.x - columns.first_tile[work.plane]) * work.lanes + (int32_t)threadIdx.x % work.lanes;
    work.step = BLOCK_THREADS / work.lanes;
    work.begin = (int32_t)threadIdx.x / work.lanes;
    work.end = columns.parts;
    return work;
}

/* Where the sums of a part and this thread's first channel lie in the workspace. */
static __device__ __forceinline__ int64_t column_at(const pixel_columns &columns, const column_work &work,
                                                    int64_t part) {
    return part * columns.first_channel[BRAID_MAX_PLANES] + columns.first_channel[work.plane] + work.channel;
}

/* The plainest sum; others bring an add() of their own. */
static __device__ __forceinline__ float add(float a, float b) { return a + b; }

/* Adds the rows of a block, halves upon halves: the threads of the first row get the sums. `shared` has room for the
 * sums of all threads. */
template <class sum, int width>
static __device__ __forceinline__ void column_add_rows(sum *shared, sum (&mine)[width], int32_t lanes) {
#pragma unroll
    for (int j = 0; j < width; j++) shared[j * BLOCK_THREADS + threadIdx.x] = mine[j];
    __syncthreads();
    for (int32_t half = BLOCK_THREADS / 2; half >= lanes; half /= 2) {
        if ((int32_t)threadIdx.x < half) {
#pragma unroll
            for (int j = 0; j < width; j++) {
                sum *at = shared + j * BLOCK_THREADS + threadIdx.x;
                *at = add(*at, at[half]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < width; j++) mine[j] = shared[j * BLOCK_THREADS + threadIdx.x];
}

/* The pixels of a part in samples that are not blanked: the first, and how many there are. */
struct column_live {
    int64_t first, count;
};

static __device__ __forceinline__ column_live column_live_of(const pixel_columns &columns, const pixel_plane &plane,
                                                             const column_work &work) {
    const int64_t begin = work.part * columns.part_pixels;
    column_live live = {begin, begin < work.end ? work.end - begin : 0};
    if (!plane.mask) return live;
    live.count = 0;
    for (int64_t pixel = begin; pixel < work.end;) {
        const int64_t sample = divide(pixel, columns.sample_pixels), next = (sample + 1) * columns.sample_pixels;
        if (!mask_blanks(plane.mask, sample)) {
            if (live.count == 0) live.first = pixel;
            live.count += (next < work.end ? next : work.end) - pixel;
        }
        pixel = next;
    }
    return live;
}

/* True where this thread has the sum of a channel. */
static __device__ __forceinline__ bool column_is_last(const pixel_args &args, const column_work &work) {
    return (int32_t)threadIdx.x < work.lanes && work.channel < args.plane[work.plane].channels;
}

/* This thread's share of the parts of its channel, in order: work.begin, then every step-th before work.end. */
template <class part>
static __device__ __forceinline__ part column_add_parts(const pixel_args &args, const column_work &work) {
    const int ahead = 8;
    const part *from = (const part *)args.columns.workspace;
    const bool inside = work.channel < args.plane[work.plane].channels;
    part mine = {};
    for (int64_t first = work.begin; first < work.end && inside; first += ahead * work.step) {
        part in[ahead] = {};
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t at = first + j * work.step;
            if (at < work.end) in[j] = from[column_at(args.columns, work, at)];
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) mine = add(mine, in[j]);
    }
    return mine;
}

/* The same, halves upon halves, of at most 32: `count` of them, a power of two; some may lie beyond the end. */
template <class part>
static __device__ __forceinline__ part column_add_halves(const pixel_args &args, const column_work &work,
                                                         int32_t count) {
    const int ahead = 8, most = 4; /* parts on their way at once, and how often */
    const int32_t times = count > ahead ? count / ahead : 1;
    const part *from = (const part *)args.columns.workspace;
    const bool inside = work.channel < args.plane[work.plane].channels;
    part sums[most] = {};
#pragma unroll
    for (int32_t k = 0; k < most; k++) {
        if (k >= times || !inside) continue;
        part in[ahead] = {};
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t at = work.begin + (int64_t)(k + j * times) * work.step;
            if (at < work.end) in[j] = add(in[j], from[column_at(args.columns, work, at)]);
        }
#pragma unroll
        for (int half = ahead / 2; half > 0; half /= 2) {
#pragma unroll
            for (int j = 0; j < half; j++) in[j] = add(in[j], in[j + half]);
        }
        sums[k] = in[0];
    }
    return add(add(sums[0], sums[2]), add(sums[1], sums[3]));
}

/* What the second launch would do, by the last block of this one's tile of channels: a row of threads there adds every
 * so-many-th part in order, and the rows are added halves upon halves. Here the last block of a row's parts does the
 * former, in the place of the first of them, and the last of all rows the latter. The block has `width` channels to a
 * lane; `shared` has room for a part of every thread. True in the block that wrote the outputs of the tile. A call of
 * its own, so that the sums of pixels keep their registers. */
template <class part>
static __device__ __noinline__ bool columns_join(const pixel_args &args, const column_work mine, int32_t width,
                                                 part *shared) {
    const pixel_columns &columns = args.columns;
    if (!args.counters) return false;
    const int32_t rows = BLOCK_THREADS / columns.second_lanes[mine.plane], row = mine.part % rows;
    uint32_t *counters = args.counters + (int64_t)((int32_t)blockIdx.x / columns.parts) * PIXEL_COLUMN_COUNTERS;
    column_work work = mine;
    work.lanes = mine.lanes * width;
    work.channel = mine.channel - (int32_t)threadIdx.x % mine.lanes * width + (int32_t)threadIdx.x % work.lanes;
    if (columns.parts > rows) {
        if (!arrives_last(counters + 1 + row, (columns.parts - row + rows - 1) / rows)) return false;
        work.begin = row;
        work.end = (int32_t)threadIdx.x < work.lanes ? columns.parts : 0;
        work.step = rows;
        const part sum = column_add_parts<part>(args, work);
        if (column_is_last(args, work)) ((part *)columns.workspace)[column_at(columns, work, row)] = sum;
    }
    if (!arrives_last(counters, columns.parts < rows ? columns.parts : rows)) return false;
    work.step = BLOCK_THREADS / work.lanes;
    work.begin = (int32_t)threadIdx.x / work.lanes;
    work.end = columns.parts < rows ? columns.parts : rows;
    part all[1] = {column_add_halves<part>(args, work, rows / work.step)};
    column_add_rows(shared, all, work.lanes);
    if (column_is_last(args, work)) column_write(args, work.plane, work.channel, all[0]);
    return true;
}

/* Adds up what the threads of a block have, leaves it as a part in the workspace, and adds the parts. */
template <class body>
static __device__ __forceinline__ bool columns_finish(const body &from, typename body::sum (&mine)[body::lanes],
                                                      const column_live &all, const column_work &work,
                                                      typename body::sum *shared) {
    const pixel_columns &columns = from.args.columns;
    column_add_rows(shared, mine, work.lanes);
    typename body::part *to = (typename body::part *)columns.workspace + column_at(columns, work, work.part);
#pragma unroll
    for (int j = 0; j < body::lanes; j++) {
        if ((int32_t)threadIdx.x < work.lanes && work.channel + j < from.plane.channels)
            to[j] = from.finish(mine[j], all, j);
    }
    return columns_join(from.args, work, body::lanes, (typename body::part *)shared);
}

template <class body>
static __device__ __forceinline__ bool columns_run(const pixel_args &args, const column_work &work,
                                                   typename body::sum *shared) {
    const int ahead = body::ahead;
    const pixel_columns &columns = args.columns;
    body from(args, work.plane);
    const pixel_plane &plane = from.plane;
    const column_live all = column_live_of(columns, plane, work);
    const bool inside = work.channel < plane.channels && all.count > 0;
    typename body::sum mine[body::lanes] = {};
    if (inside) from.begin(work.channel, all);
    for (int64_t pixel = work.begin; pixel < work.end && inside; pixel += ahead * work.step) {
        typename body::inputs in[ahead];
        bool live[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t at = pixel + j * work.step;
            live[j] = at < work.end && !(plane.mask && mask_blanks(plane.mask, divide(at, columns.sample_pixels)));
            if (live[j]) from.fetch(in[j], at * plane.pitch + work.channel);
        }
        from.include(mine, in, live, pixel, work.step, work.channel);
    }
    return columns_finish(from, mine, all, work, shared);
}

/* Packs that are on their way from memory: a ring of stages, each with those of one pixel of every thread. A thread
 * copies and reads its own alone. Behind the last pixel the sums of the block lie there. */
#define COLUMN_RING_PACKS (12 * BLOCK_THREADS)

struct alignas(16) column_pack {
    uint32_t at[4];
};

/* Starts to copy the packs of a pixel; zeros where it is blanked or beyond the last. */
template <class body>
static __device__ __forceinline__ void columns_send(const body &from, const column_work &work, int64_t pixel,
                                                    column_pack *stage) {
    const pixel_plane &plane = from.plane;
    const bool live =
        pixel < work.end && !(plane.mask && mask_blanks(plane.mask, divide(pixel, from.args.columns.sample_pixels)));
    const int64_t at = live ? pixel * plane.pitch + work.channel : 0;
#pragma unroll
    for (int j = 0; j < body::sources; j++)
        copy_async(stage + j * BLOCK_THREADS, (const typename body::format *)from.source(j) + at, live);
    copy_async_commit();
}

/* The same as columns_run for bodies whose inputs are packs of `sources` tensors, and to which zeros add nothing. */
template <class body>
static __device__ __forceinline__ bool columns_run_deep(const pixel_args &args, const column_work &work,
                                                        column_pack *ring) {
    const int sources = body::sources, stages = COLUMN_RING_PACKS / (sources * BLOCK_THREADS);
    const bool live[1] = {true};
    body from(args, work.plane);
    const column_live all = column_live_of(args.columns, from.plane, work);
    typename body::sum mine[body::lanes] = {};
    if (work.channel < from.plane.channels && all.count > 0) {
        column_pack *own = ring + threadIdx.x;
        int32_t here = 0, last = stages - 1; /* stages */
        for (int s = 0; s < stages - 1; s++)
            columns_send(from, work, work.begin + s * work.step, own + s * sources * BLOCK_THREADS);
        from.begin(work.channel, all);
        for (int64_t pixel = work.begin; pixel < work.end; pixel += work.step) {
            typename body::inputs in[1];
            copy_async_wait<stages - 2>();
            columns_send(from, work, pixel + (stages - 1) * work.step, own + last * sources * BLOCK_THREADS);
#pragma unroll
            for (int j = 0; j < sources; j++) ((column_pack *)in)[j] = own[(here * sources + j) * BLOCK_THREADS];
            from.include(mine, in, live, pixel, work.step, work.channel);
            last = here;
            here = here + 1 < stages ? here + 1 : 0;
        }
        copy_async_wait<0>();
    }
    __syncthreads(); /* nobody reads packs any more */
    return columns_finish(from, mine, all, work, (typename body::sum *)ring);
}

/* The first launch: the body with packs where the plane allows them. `shared` has room for the widest. True in the
 * block that wrote the outputs of its tile of channels. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ bool columns_kernel(const pixel_args &args, typename body<number, 1>::sum *shared) {
    const column_work work = column_first(args, widest<number>::width);
    if (args.columns.vector[work.plane]) return columns_run<body<number, widest<number>::width>>(args, work, shared);
    return columns_run<body<number, 1>>(args, work, shared);
}

/* The same with packs on their way in a ring, for bodies as columns_run_deep has them. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ bool columns_kernel_deep(const pixel_args &args, column_pack *ring) {
    const column_work work = column_first(args, widest<number>::width);
    if (args.columns.vector[work.plane]) return columns_run_deep<body<number, widest<number>::width>>(args, work, ring);
    return columns_run<body<number, 1>>(args, work, (typename body<number, 1>::sum *)ring);
}

/* The second launch: adds all parts, and writes what follows from them. */
template <class part> static __device__ __forceinline__ void columns_second(const pixel_args &args, part *shared) {
    const column_work work = column_second(args);
    part mine[1] = {column_add_parts<part>(args, work)};
    column_add_rows(shared, mine, work.lanes);
    if (column_is_last(args, work)) column_write(args, work.plane, work.channel, mine[0]);
}

#endif
