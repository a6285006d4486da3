/*
 * act forward: y = f(x).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/act.h"
#include "kernels/cuda/tile/pixels.cuh"

template <bool curved> struct act_fwd {
    template <class number, int width> struct body : pixel_body<number, width, act_fwd_args> {
        typedef pack<number, width> inputs;
        static const int ahead = 4;
        using pixel_body<number, width, act_fwd_args>::pixel_body;
        __device__ __forceinline__ void fetch(inputs &x, int64_t at) const { x = this->take(this->plane.x, at); }
        __device__ __forceinline__ void make(const inputs &x, int64_t, int64_t c, int64_t at) const {
            const act_rule<curved, sizeof(number) == 2> rule(this->args.activation);
            float value[width];
            pack_open(value, x);
            rule.values(value);
            pack_write_asking((number *)this->plane.y + at, value, this->plane.channels - c);
        }
        __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.y, at); }
    };
};

ENTRY_FORMATS(act_fwd, (BLOCK_THREADS), act_fwd_args, pixels_kernel_act<act_fwd, number>(args))
