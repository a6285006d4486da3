/*
 * act gradient: dx = dy * f'(x).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/pixels.cuh"

template <bool curved> struct act_bwd_data {
    template <class number, int width> struct body : pixel_body<number, width> {
        struct inputs {
            pack<number, width> x, dy;
        };
        using pixel_body<number, width>::pixel_body;
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

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) act_bwd_data_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_bwd_data, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) act_bwd_data_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_bwd_data, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) act_bwd_data_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_bwd_data, bf16>(args);
}
