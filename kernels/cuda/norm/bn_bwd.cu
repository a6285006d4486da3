/*
 * bn_bwd: the sums of bn_bwd_reduce and the data pass of bn_bwd_apply in one launch, with their bodies. A block takes
 * one item of work after the other, and asks for the next while it does one. Who waits has the higher number, so that
 * somebody can always go on, however many blocks there are and whoever comes first.
 *
 * A data pass begins where the sums have ended: the last pixels of all their parts are still in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/norm/bn_bwd.h"
#include "kernels/cuda/norm/bn_bwd_apply.cuh"
#include "kernels/cuda/norm/bn_bwd_reduce.cuh"

/* The number of an item that nobody has, for the first thread. */
static __device__ __forceinline__ uint32_t grad_take(const bn_bwd_args &args) {
    return threadIdx.x == 0 ? atomicInc(args.taken, UINT32_MAX) : 0;
}

/* For all threads: what the first one has. No thread reads any more what others wrote to the ring. */
static __device__ __forceinline__ uint32_t grad_share(uint32_t mine, column_pack *ring) {
    if (threadIdx.x == 0) ring->at[0] = mine;
    __syncthreads();
    const uint32_t shared = ring->at[0];
    __syncthreads();
    return shared;
}

static __device__ __forceinline__ const bn_bwd_run &grad_find(const bn_bwd_args &args, uint32_t item) {
    int32_t run = 0;
    while (run + 1 < args.runs && item >= args.run[run + 1].item) run++;
    return args.run[run];
}

/* The block of a plane's data pass that is item `index` of it; -1: none. The blocks are cut like the parts of the
 * sums, and the last ones of all parts come first. */
static __device__ __forceinline__ int32_t grad_block(const pixel_args &args, int plane, uint32_t index) {
    const uint32_t parts = (uint32_t)args.columns.parts, back = index / parts, part = index - back * parts;
    const int64_t blocks = args.map.first_block[plane + 1] - args.map.first_block[plane];
    const int64_t begin = divide(part * blocks, parts), end = divide((part + 1) * blocks, parts);
    return end - begin > back ? (int32_t)(end - 1 - back) : -1;
}

/* A data pass for columns_stream, whose sums are nothing: its packs come through the ring too, which takes less
 * registers than packs ahead. */
template <template <class, int> class of> struct grad_data {
    template <class number, int width> struct body : of<number, width> {
        typedef typename of<number, width>::inputs inputs;
        typedef column_nothing sum;
        static const bool zeros_add_nothing = true, looks_around = false;
        __device__ __forceinline__ body(const pixel_args &all, int i) : of<number, width>(all, i) {}
        __device__ __forceinline__ void begin(int64_t c, const column_live &) { of<number, width>::begin(c); }
        __device__ __forceinline__ void settle(const column_work &, const column_live &, const column_pack *,
                                               float *) const {}
        __device__ __forceinline__ void include(sum (&)[width], const inputs (&in)[1], const bool (&)[1], int64_t pixel,
                                                int32_t, int64_t c) const {
            this->make(in[0], pixel, c, pixel * this->plane.pitch + c);
        }
    };
};

/* Some pixels of a data pass. */
template <template <class, int> class of, class number>
static __device__ __forceinline__ void grad_pixels(const pixel_args &args, const pixel_work &pixels,
                                                   column_pack *ring) {
    typedef typename grad_data<of>::template body<number, widest<number>::width> body;
    if (!args.map.vector[pixels.plane]) {
        of<number, 1> one_by_one(args, pixels.plane);
        pixels_run(one_by_one, pixels);
        return;
    }
    body from(args, pixels.plane);
    column_nothing none[body::lanes];
    column_work work = {};
    work.channel = pixels.lane * body::lanes;
    work.begin = pixels.begin;
    work.step = pixels.step;
    const bool inside = work.channel < from.plane.pitch && pixels.begin < pixels.end;
    if (mask_blanks(from.plane.mask, pixels.sample)) {
        for (int64_t pixel = pixels.begin; pixel < pixels.end && inside; pixel += pixels.step)
            from.blank(pixel * from.plane.pitch + work.channel);
        return;
    }
    const int64_t left = pixels.end - pixels.begin + pixels.step - 1;
    const int32_t count = inside ? (int32_t)(left >> __popc(work.step - 1)) : 0;
    columns_stream<body, false>(from, none, column_live(), work, count, ring);
}

template <template <class, int> class sums, template <class, int> class data, class number>
static __device__ __forceinline__ void grad_kernel(const bn_bwd_args &args, column_pack *ring) {
    const pixel_args &pixels = args.pixels;
    uint32_t known = args.known; /* planes whose sums are there */
    for (uint32_t item = grad_share(grad_take(args), ring); item < args.items;) {
        const bn_bwd_run &run = grad_find(args, item);
        const int plane = run.plane;
        const uint32_t index = run.first + (item - run.item), next = grad_take(args);
        if (run.is_data) {
            const int32_t block = grad_block(pixels, plane, index);
            const int32_t tiles = pixels.columns.first_tile[plane + 1] - pixels.columns.first_tile[plane];
            if (!(known >> plane & 1)) arrive_wait(args.written + plane, (uint32_t)tiles);
            known |= 1u << plane;
            if (block >= 0) grad_pixels<data, number>(pixels, pixel_work_of(pixels.map, plane, block), ring);
        } else {
            const column_work work = column_work_of(pixels, widest<number>::width, plane, index);
            if (columns_block_deep<sums, number>(pixels, work, ring)) {
                __syncthreads();
                if (threadIdx.x == 0) arrive_count(args.written + plane, UINT32_MAX);
            }
        }
        item = grad_share(next, ring);
    }
    if (!arrives_last(args.left, (int32_t)gridDim.x)) return;
    if ((int32_t)threadIdx.x < pixels.planes) args.written[threadIdx.x] = 0;
    if (threadIdx.x == 0) *args.taken = 0;
}

ENTRY_FORMATS(bn_bwd, (BLOCK_THREADS, BN_BWD_BLOCKS), bn_bwd_args, __shared__ column_pack ring[COLUMN_RING_PACKS];
              grad_kernel<sums_of<gradient_plain>::body, bn_bwd_apply_of<gradient_plain>::body, number>(args, ring))
ENTRY_FORMATS(bn_bwd_act, (BLOCK_THREADS, BN_BWD_ACT_BLOCKS), bn_bwd_args,
              __shared__ column_pack ring[COLUMN_RING_PACKS];
              grad_kernel<act_sums<false>::body, act_bn_bwd_apply<false>::body, number>(args, ring))
ENTRY_FORMATS(bn_bwd_curved, (BLOCK_THREADS, BN_BWD_ACT_BLOCKS), bn_bwd_args,
              __shared__ column_pack ring[COLUMN_RING_PACKS];
              grad_kernel<act_sums<true>::body, act_bn_bwd_apply<true>::body, number>(args, ring))
ENTRY_FORMATS(bn_bwd_add_act, (BLOCK_THREADS, BN_BWD_BLOCKS), bn_bwd_args,
              __shared__ column_pack ring[COLUMN_RING_PACKS];
              grad_kernel<sums_of<gradient_add_act>::body, bn_bwd_apply_of<gradient_add_act>::body, number>(args, ring))
