/*
 * act gradient: dx = dy * f'(x).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/elementwise/act.h"
#include "kernels/cuda/tile/pixels.cuh"

template <bool curved> struct act_bwd_data {
    template <class number, int width> struct body : pixel_body<number, width, act_bwd_data_args> {
        struct inputs {
            pack<number, width> x, dy;
        };
        using pixel_body<number, width, act_bwd_data_args>::pixel_body;
        __device__ __forceinline__ void fetch(inputs &in, int64_t at) const {
            in.x = this->take(this->plane.x, at);
            in.dy = this->take(this->plane.dy, at);
        }
        __device__ __forceinline__ void make(const inputs &in, int64_t, int64_t c, int64_t at) const {
            const act_rule<curved, sizeof(number) == 2> rule(this->args.activation);
            float x[width], dy[width];
            pack_open(x, in.x);
            pack_open(dy, in.dy);
            rule.gradients(x, dy);
            pack_write_asking((number *)this->plane.dx + at, dy, this->plane.channels - c);
        }
        __device__ __forceinline__ void blank(int64_t at) const { this->clear(this->plane.dx, at); }
    };
};

ENTRY_FORMATS(act_bwd_data, (BLOCK_THREADS), act_bwd_data_args, pixels_kernel_act<act_bwd_data, number>(args))
