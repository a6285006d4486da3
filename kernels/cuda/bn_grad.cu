/*
 * bn_grad: the sums of bn_sums and the data pass of bn_dapply in one launch, with their bodies. A block takes one item
 * of work after the other, and asks for the next while it does one. Who waits has the higher number, so that somebody
 * can always go on, however many blocks there are and whoever comes first.
 *
 * A data pass begins where the sums have ended: the last pixels of all their parts are still in the cache.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/bn_grad.h"
#include "kernels/cuda/tile/bn_dapply.cuh"
#include "kernels/cuda/tile/bn_sums.cuh"

/* The number of an item that nobody has, for the first thread. */
static __device__ __forceinline__ uint32_t grad_take(const bn_grad_args &args) {
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

static __device__ __forceinline__ const bn_grad_run &grad_find(const bn_grad_args &args, uint32_t item) {
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

template <template <class, int> class sums, template <class, int> class data, class number>
static __device__ __forceinline__ void grad_kernel(const bn_grad_args &args, column_pack *ring) {
    const pixel_args &pixels = args.pixels;
    uint32_t known = args.known; /* planes whose sums are there */
    for (uint32_t item = grad_share(grad_take(args), ring); item < args.items;) {
        const bn_grad_run &run = grad_find(args, item);
        const int plane = run.plane;
        const uint32_t index = run.first + (item - run.item), next = grad_take(args);
        if (run.is_data) {
            const int32_t block = grad_block(pixels, plane, index);
            const int32_t tiles = pixels.columns.first_tile[plane + 1] - pixels.columns.first_tile[plane];
            if (!(known >> plane & 1)) arrive_wait(args.written + plane, (uint32_t)tiles);
            known |= 1u << plane;
            if (block >= 0) pixels_block<data, number>(pixels, pixel_work_of(pixels, plane, block));
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

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_f32(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_plain>::body, dapply_of<gradient_plain>::body, f32>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_f16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_plain>::body, dapply_of<gradient_plain>::body, f16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_bf16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_plain>::body, dapply_of<gradient_plain>::body, bf16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_act_f32(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<false>::body, act_dapply<false>::body, f32>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_act_f16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<false>::body, act_dapply<false>::body, f16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_act_bf16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<false>::body, act_dapply<false>::body, bf16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_curved_f32(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<true>::body, act_dapply<true>::body, f32>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_curved_f16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<true>::body, act_dapply<true>::body, f16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_ACT_BLOCKS)
    bn_grad_curved_bf16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<act_sums<true>::body, act_dapply<true>::body, bf16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_add_act_f32(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_add_act>::body, dapply_of<gradient_add_act>::body, f32>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_add_act_f16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_add_act>::body, dapply_of<gradient_add_act>::body, f16>(args, ring);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, BN_GRAD_BLOCKS)
    bn_grad_add_act_bf16(const __grid_constant__ bn_grad_args args) {
    __shared__ column_pack ring[COLUMN_RING_PACKS];
    grad_kernel<sums_of<gradient_add_act>::body, dapply_of<gradient_add_act>::body, bf16>(args, ring);
}
