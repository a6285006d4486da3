/*
 * bn_bwd_apply: the gradient of the input of batch normalisation, for g = dy and for the gradients behind the
 * activations of the fused ops. The equations are in src/ops/bn_bwd_apply.c; with everything that is the same for all
 * pixels of a channel gathered they read
 *
 *     dx = g * of_g + x * of_x + rest
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/norm/bn_bwd_apply.cuh"
#include "kernels/cuda/tile/pool_rule.cuh"
#include "kernels/cuda/tile/slide.cuh"

/* bn_act_pool in training, with a ReLU and windows as tile/slide.cuh has them. */
template <class number, int width> struct pool_bn_bwd_apply : pixel_body<number, width>, pool_rule<number, width> {
    typedef typename pool_rule<number, width>::factors factors;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ void begin(factors *all, int64_t first, int32_t packs) const {
        const float share = bn_share(this->args, this->plane);
        for (int32_t j = (int32_t)threadIdx.x; j < packs * width; j += BLOCK_THREADS)
            all[j / width].set(j % width, this->plane, first + j, share);
    }
    __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
};

ENTRY_FORMATS(bn_bwd_apply, (BLOCK_THREADS, 3), pixel_args,
              pixels_kernel<bn_bwd_apply_of<gradient_plain>::body, number>(args))
ENTRY_FORMATS(bn_act_bwd_apply, (BLOCK_THREADS, 2), pixel_args,
              pixels_kernel<act_bn_bwd_apply<false>::body, number>(args))
ENTRY_FORMATS(bn_act_bwd_apply_curved, (BLOCK_THREADS, 2), pixel_args,
              pixels_kernel<act_bn_bwd_apply<true>::body, number>(args))
ENTRY_FORMATS(bn_add_act_bwd_apply, (BLOCK_THREADS, 3), pixel_args,
              pixels_kernel<bn_bwd_apply_of<gradient_add_act>::body, number>(args))
ENTRY_FORMATS(bn_act_pool_bwd_apply, (BLOCK_THREADS), pixel_args,
              pixels_kernel<bn_bwd_apply_of<gradient_pool>::body, number>(args))
ENTRY_FORMATS(bn_act_pool_slide, (BLOCK_THREADS, 2), pixel_args, __shared__ slide_shared shared;
              __shared__ pool_bn_bwd_apply<number, widest<number>::width>::factors factors[SLIDE_LANES];
              slide_kernel<pool_bn_bwd_apply, number>(args, shared, factors))
