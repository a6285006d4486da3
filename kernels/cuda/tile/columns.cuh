/*
 * Sums over pixels, channel by channel, in an order that depends on the problem alone. A block adds up a part of the
 * pixels; the last block of a tile of channels adds the parts, or a second launch where there are no counters, both in
 * the same order. What is summed comes as a body:
 *
 *     sum                    what a block adds up, with an add(); all its numbers are 0 at first
 *     part                   what a part hands on, with an add() too; with a column_ask(args, plane, channel, part *)
 *                            that takes from memory what else the outputs of a channel need, and with a
 *                            column_write(args, plane, channel, part, that) that makes them from all parts
 *     begin(c, live)         readies channels c to c + width - 1 of a part that has live pixels
 *     fetch(inputs, at)      takes the element at `at` and its neighbours from memory
 *     include(sums, inputs, live, pixel, step, c)
 *                            adds pixels pixel, pixel + step, ...: those that are live
 *     origin_of(j)           what `finish` needs to know of channel c + j
 *     finish(sum, live, origin)
 *                            the part of a channel; may be that of another thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH
#define BRAID_KERNELS_CUDA_TILE_COLUMNS_CUH

#include <string.h>

#include "kernels/cuda/tile/arrive.cuh"
#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/tile/pixels.cuh"

/* What a thread of a column sum has to do. Instructions that all threads run once are a good part of a short sum, so
 * that nothing here divides: lanes and steps are powers of two. */
struct column_work {
    int plane;
    int32_t channel; /* the first of its channels; may be beyond the last of the plane */
    int32_t part, lanes;
    int32_t counter;    /* at which the blocks of its tile of channels arrive */
    int64_t begin, end; /* its pixels: begin, begin + step, ... before end */
    int32_t step;
};

/* a / b and a % b for 0 <= a and a power of two. */
static __device__ __forceinline__ int32_t column_quotient(int32_t a, int32_t b) { return a >> __popc(b - 1); }
static __device__ __forceinline__ int32_t column_rest(int32_t a, int32_t b) { return a & (b - 1); }

/* The work of this thread in block `block` of those of a plane in the first launch. */
static __device__ __forceinline__ column_work column_work_of(const pixel_args &args, int pack_width, int plane,
                                                             uint32_t block) {
    const pixel_columns &columns = args.columns;
    column_work work;
    work.plane = plane;
    work.lanes = columns.lanes[plane];
    const int32_t width = columns.vector[plane] ? pack_width : 1;
    const uint32_t parts = (uint32_t)columns.parts, tile = block / parts;
    work.part = (int32_t)(block - tile * parts);
    work.counter = columns.first_block[plane] + (int32_t)(tile * parts);
    work.channel = ((int32_t)tile * work.lanes + column_rest((int32_t)threadIdx.x, work.lanes)) * width;
    work.step = column_quotient(BLOCK_THREADS, work.lanes);
    const int64_t first = work.part * columns.part_pixels, last = first + columns.part_pixels;
    work.begin = first + column_quotient((int32_t)threadIdx.x, work.lanes);
    work.end = last < columns.pixels ? last : columns.pixels;
    return work;
}

/* The same of this block. */
static __device__ __forceinline__ column_work column_first(const pixel_args &args, int pack_width) {
    const int plane = schedule_plane(args.columns.first_block, args.planes);
    return column_work_of(args, pack_width, plane, blockIdx.x - (uint32_t)args.columns.first_block[plane]);
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

/* What a column_ask gives that needs nothing. */
struct column_nothing {};

/* What a thread adds up of the parts; those of some sums have cheaper adds here than among each other. */
template <class part> struct column_total {
    part all;
    __device__ __forceinline__ void include(const part &other) { all = add(all, other); }
    __device__ __forceinline__ part finish() const { return all; }
};

/* Adds all parts of some channels side by side: by rows of threads, each every so-many-th part in order, and the rows
 * halves upon halves. The threads of the first row get the sums. `shared` has room for a part of every thread. */
template <class part>
static __device__ __forceinline__ part columns_sum(const pixel_args &args, const column_work &work, part *shared) {
    const int ahead = sizeof(part) > 8 ? 8 : 13; /* parts on their way at once, as many as registers hold */
    const pixel_columns &columns = args.columns;
    const int32_t row = column_quotient((int32_t)threadIdx.x, work.lanes),
                  step = column_quotient(BLOCK_THREADS, work.lanes);
    const int64_t pitch = (int64_t)step * columns.first_channel[BRAID_MAX_PLANES];
    const bool inside = work.channel < args.plane[work.plane].channels;
    const part *from = (const part *)columns.workspace + column_at(columns, work, row);
    column_total<part> mine = {};
    for (int32_t left = inside ? columns.parts - row : 0; left > 0; left -= ahead * step) {
        part in[ahead] = {};
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            if (j * step < left) read_bytes<sizeof(part)>(&in[j], from);
            from += pitch;
        }
#pragma unroll
        for (int j = 0; j < ahead; j++) mine.include(in[j]);
    }
    part all[1] = {mine.finish()};
    column_add_rows(shared, all, work.lanes);
    return all[0];
}

/* The same, and writes what follows from the sums. */
template <class part>
static __device__ __forceinline__ void columns_add(const pixel_args &args, const column_work &work, part *shared) {
    const bool writes = (int32_t)threadIdx.x < work.lanes && work.channel < (int32_t)args.plane[work.plane].channels;
    decltype(column_ask(args, 0, 0, shared)) known = {};
    if (writes) known = column_ask(args, work.plane, work.channel, shared);
    const part all = columns_sum(args, work, shared);
    if (writes) column_write(args, work.plane, work.channel, all, known);
}

/* What the second launch would do, by the last block of this one's tile of channels, which has `width` channels to a
 * lane. True in the block that wrote the outputs of the tile. A call of its own, so that the sums of pixels keep their
 * registers. */
template <class part>
static __device__ __forceinline__ bool columns_join(const pixel_args &args, const column_work mine, int32_t width,
                                                    part *shared) {
    const int32_t thread = (int32_t)threadIdx.x;
    if (!args.counters || !arrives_last(args.counters + mine.counter, args.columns.parts)) return false;
    column_work work = mine;
    work.lanes = mine.lanes * width;
    work.channel = mine.channel - column_rest(thread, mine.lanes) * width + column_rest(thread, work.lanes);
    columns_add(args, work, shared);
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
        const typename body::part some = from.finish(mine[j], all, from.origin_of(j));
        if ((int32_t)threadIdx.x < work.lanes && work.channel + j < from.plane.channels)
            write_bytes<sizeof some>(to + j, &some);
    }
    return columns_join(from.args, work, body::lanes, (typename body::part *)shared);
}

template <class body> static __device__ __forceinline__ bool column_blanks(const body &of, int64_t pixel) {
    return of.plane.mask && mask_blanks(of.plane.mask, divide(pixel, of.args.columns.sample_pixels));
}

template <class body>
static __device__ __forceinline__ bool columns_run(const pixel_args &args, const column_work &work,
                                                   typename body::sum *shared) {
    const int ahead = body::ahead;
    body from(args, work.plane);
    const pixel_plane &plane = from.plane;
    const column_live all = column_live_of(args.columns, plane, work);
    const bool inside = work.channel < plane.channels && all.count > 0;
    typename body::sum mine[body::lanes] = {};
    if (inside) from.begin(work.channel, all);
    for (int64_t pixel = work.begin; pixel < work.end && inside; pixel += ahead * work.step) {
        typename body::inputs in[ahead];
        bool live[ahead];
#pragma unroll
        for (int j = 0; j < ahead; j++) {
            const int64_t at = pixel + j * work.step;
            live[j] = at < work.end && !column_blanks(from, at);
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

/* Sends the packs of a thread's pixels on their way, one pixel after the other. */
template <class body, bool masked> struct column_sender {
    const body &from;
    const char *next[body::sources]; /* the packs of the next pixel */
    int64_t bytes, pixel;            /* on to the pixel behind; the next one */
    int32_t step, left;              /* pixels that are still to be sent */

    __device__ __forceinline__ column_sender(const body &of, const column_work &work, int32_t count)
        : from(of), bytes(work.step * of.plane.pitch * (int64_t)sizeof(typename body::format)), pixel(work.begin),
          step(work.step), left(count) {
        const int64_t at = work.begin * of.plane.pitch + work.channel;
#pragma unroll
        for (int j = 0; j < body::sources; j++)
            next[j] = (const char *)((const typename body::format *)of.source(j) + at);
    }
    /* Zeros where it is blanked; nothing behind the last. */
    __device__ __forceinline__ void send(column_pack *to) {
        if (left-- > 0) {
            const bool live = !masked || !column_blanks(from, pixel);
#pragma unroll
            for (int j = 0; j < body::sources; j++) copy_async(to + j * BLOCK_THREADS, next[j], live);
        }
        copy_async_commit();
#pragma unroll
        for (int j = 0; j < body::sources; j++) next[j] += bytes;
        pixel += step;
    }
};

/* Adds up what the threads of a block have, and leaves it as a part in the workspace, `ring` being free: a thread adds
 * a few rows of a channel, and one the sums of those. */
template <class body>
static __device__ __forceinline__ void columns_leave(const body &from, const typename body::sum (&mine)[body::lanes],
                                                     const column_live &all, const column_work &work,
                                                     column_pack *ring) {
    typedef typename body::sum sum;
    const int width = body::lanes, pitch = BLOCK_THREADS + 2; /* so that the channels of a lane lie in other banks */
    sum *const sums = (sum *)ring, *const rows = sums + width * pitch;
    float *const origins = (float *)(rows + BLOCK_THREADS);
    const int32_t thread = (int32_t)threadIdx.x, channels = work.lanes * width, at = column_rest(thread, channels),
                  lane = column_quotient(at, width), j = column_rest(at, width),
                  first = column_quotient(thread, channels) * width;
    __syncthreads(); /* nobody reads packs any more */
#pragma unroll
    for (int k = 0; k < width; k++) sums[k * pitch + thread] = mine[k];
#pragma unroll
    for (int k = 0; k < width; k++) {
        if (thread < work.lanes) origins[thread * width + k] = from.origin_of(k);
    }
    __syncthreads();
    sum total = sums[j * pitch + first * work.lanes + lane];
#pragma unroll
    for (int row = 1; row < width; row++) total = add(total, sums[j * pitch + (first + row) * work.lanes + lane]);
    rows[thread] = total;
    __syncthreads();
    column_work own = work;
    own.channel = work.channel - column_rest(thread, work.lanes) * width + at;
    if (thread < channels && own.channel < from.plane.channels) {
#pragma unroll 1
        for (int32_t other = at + channels; other < BLOCK_THREADS; other += channels) total = add(total, rows[other]);
        const typename body::part some = from.finish(total, all, origins[at]);
        typename body::part *const to = (typename body::part *)from.args.columns.workspace;
        write_bytes<sizeof some>(to + column_at(from.args.columns, own, work.part), &some);
    }
}

/* Adds up the pixels of a thread that has `count` of them. */
template <class body, bool masked>
static __device__ __forceinline__ void columns_stream(body &from, typename body::sum (&mine)[body::lanes],
                                                      const column_live &all, const column_work &work, int32_t count,
                                                      column_pack *ring) {
    const int sources = body::sources, stage = sources * BLOCK_THREADS, stages = COLUMN_RING_PACKS / stage;
    column_sender<body, masked> sender(from, work, count);
    column_pack *const own = ring + threadIdx.x;
#pragma unroll 1
    for (int s = 0; s < stages - 1; s++) sender.send(own + s * stage);
    if (count > 0 && (masked || !body::looks_around)) from.begin(work.channel, all);
    if (body::looks_around && !masked) {
        copy_async_wait<stages - 2>();
        __syncthreads();
        from.settle(work, all, ring, (float *)(ring + (stages - 1) * stage + (int32_t)threadIdx.x / 32 * 32));
        __syncthreads(); /* before any thread sends to its first stage again */
    }
    int32_t here = 0, last = stages - 1; /* stages */
    int64_t pixel = work.begin;
    for (int32_t k = 0; k < count; k++, pixel += work.step) {
        typename body::inputs in[1];
        const bool live[1] = {body::zeros_add_nothing || !masked || !column_blanks(from, pixel)};
        copy_async_wait<stages - 2>();
        sender.send(own + last * stage);
#pragma unroll
        for (int j = 0; j < sources; j++)
            memcpy((char *)in + j * sizeof *own, own + here * stage + j * BLOCK_THREADS, sizeof *own);
        from.include(mine, in, live, pixel, work.step, work.channel);
        last = here;
        here = here + 1 < stages ? here + 1 : 0;
    }
    copy_async_wait<0>();
}

/* Pixels of a thread. */
static __device__ __forceinline__ int32_t column_count(const column_work &work) {
    return work.begin < work.end ? (int32_t)((work.end - work.begin + work.step - 1) >> __popc(work.step - 1)) : 0;
}

/* Adds up the part of a block, for bodies whose inputs are packs of `sources` tensors, and leaves it in the workspace.
 * Where a body looks_around and no sample may be blanked, there is settle(work, live, first, room) in place of begin:
 * it finds the first packs of all threads in `first`, and has room for a float of every channel, which its warp alone
 * sees. */
template <class body>
static __device__ __forceinline__ void columns_make_part(const pixel_args &args, const column_work &work,
                                                         column_pack *ring) {
    body from(args, work.plane);
    const column_live all = column_live_of(args.columns, from.plane, work);
    typename body::sum mine[body::lanes] = {};
    const int32_t count = work.channel < from.plane.channels && all.count > 0 ? column_count(work) : 0;
    if (from.plane.mask) {
        columns_stream<body, true>(from, mine, all, work, count, ring);
    } else {
        columns_stream<body, false>(from, mine, all, work, count, ring);
    }
    columns_leave(from, mine, all, work, ring);
}

/* The same as columns_run for such bodies. */
template <class body>
static __device__ __forceinline__ bool columns_run_deep(const pixel_args &args, const column_work &work,
                                                        column_pack *ring) {
    columns_make_part<body>(args, work, ring);
    return columns_join(args, work, body::lanes, (typename body::part *)ring);
}

/* The first launch: the body with packs where the plane allows them. `shared` has room for the widest. True in the
 * block that wrote the outputs of its tile of channels. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ bool columns_kernel(const pixel_args &args, typename body<number, 1>::sum *shared) {
    const column_work work = column_first(args, widest<number>::width);
    if (args.columns.vector[work.plane]) return columns_run<body<number, widest<number>::width>>(args, work, shared);
    return columns_run<body<number, 1>>(args, work, shared);
}

/* The same for one block, with packs on their way in a ring, for bodies as columns_run_deep has them. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ bool columns_block_deep(const pixel_args &args, const column_work &work,
                                                          column_pack *ring) {
    if (args.columns.vector[work.plane]) return columns_run_deep<body<number, widest<number>::width>>(args, work, ring);
    return columns_run<body<number, 1>>(args, work, (typename body<number, 1>::sum *)ring);
}

/* All of the first launch by such blocks. */
template <template <class, int> class body, class number>
static __device__ __forceinline__ bool columns_kernel_deep(const pixel_args &args, column_pack *ring) {
    return columns_block_deep<body, number>(args, column_first(args, widest<number>::width), ring);
}

/* The second launch: adds all parts of a tile of channels, and writes what follows from them. */
template <class part> static __device__ __forceinline__ void columns_second(const pixel_args &args, part *shared) {
    const pixel_columns &columns = args.columns;
    column_work work = {};
    work.plane = schedule_plane(columns.first_tile, args.planes);
    work.lanes = columns.second_lanes[work.plane];
    work.channel = ((int32_t)blockIdx.x - columns.first_tile[work.plane]) * work.lanes +
                   column_rest((int32_t)threadIdx.x, work.lanes);
    columns_add(args, work, shared);
}

#endif
