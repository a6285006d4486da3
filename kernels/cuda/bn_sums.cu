/*
 * bn_sums: dbeta = sum of g and dgamma = sum of g * (x - center) * rstd over the active pixels of every channel, added
 * in an order that depends on the problem alone, for g = dy and for the gradients behind the activations of the fused
 * ops. rstd is the same for all pixels, so it multiplies the finished sum.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn.cuh"
#include "kernels/cuda/tile/columns.cuh"
#include "kernels/cuda/tile/gradients.cuh"

template <template <class, int> class gradient> struct sums_of {
    template <class number, int width> struct body : gradient<number, width> {
        typedef bn_gradients sum, part;
        typedef typename gradient<number, width>::inputs inputs;
        static const int ahead = gradient<number, width>::ahead;
        float center[width];
        __device__ __forceinline__ body(const pixel_args &all, int i) : gradient<number, width>(all, i) {}
        __device__ __forceinline__ part finish(const sum &all, const column_live &, int) const { return all; }
        __device__ __forceinline__ void begin(int64_t c, const column_live &) {
            gradient<number, width>::begin(c);
            pack_channels(center, this->plane.center + c, this->plane.channels - c);
        }
        __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&in)[ahead],
                                                const bool (&live)[ahead], int64_t pixel, int32_t step,
                                                int64_t c) const {
#pragma unroll
            for (int p = 0; p < ahead; p++) {
                float g[width], x[width];
                if (!live[p]) continue;
                this->gradient_at(g, x, in[p], pixel + p * step, c);
#pragma unroll
                for (int j = 0; j < width; j++) {
                    mine[j].shift += g[j];
                    mine[j].scale += g[j] * (x[j] - center[j]);
                }
            }
        }
    };
};

template <bool curved> struct act_sums {
    template <class number, int width>
    using body = typename sums_of<gradient_act<curved>::template body>::template body<number, width>;
};

/* bn_act_pool with a ReLU and windows of 3 x 3: the sums of all places are those of all windows, each with its dy and
 * the x that it took. The pixels are those of dy. */
template <class number, int width> struct pool_sums : pixel_body<number, width> {
    typedef bn_gradients sum, part;
    typedef pixel_nothing inputs;
    static const int ahead = 1;
    float scale[width], shift[width], center[width];
    bn_order<number, width> order;
    using pixel_body<number, width>::pixel_body;
    __device__ __forceinline__ part finish(const sum &all, const column_live &, int) const { return all; }
    __device__ __forceinline__ void begin(int64_t c, const column_live &) {
        const int64_t inside = this->plane.channels - c;
        pack_channels(scale, this->plane.scale + c, inside);
        pack_channels(shift, this->plane.shift + c, inside);
        pack_channels(center, this->plane.center + c, inside);
        order.begin(scale);
    }
    __device__ __forceinline__ void fetch(inputs &, int64_t) const {}
    __device__ __forceinline__ void include(sum (&mine)[width], const inputs (&)[ahead], const bool (&live)[ahead],
                                            int64_t pixel, int32_t, int64_t c) const {
        const act_rule<false> rule(this->args.activation);
        words places[9];
        float x[width], first[width], dy[width];
        if (!live[0]) return;
        pack_open(dy, this->take(this->plane.dy, pixel * this->plane.pitch + c));
        order.open(x, window3_find<number>(places, *this, pixel, c));
        words_open<number>(first, places[0]);
#pragma unroll
        for (int j = 0; j < width; j++) {
            const float taken = scale[j] == 0 ? first[j] : x[j];
            const float g = rule.gradient(taken * scale[j] + shift[j], dy[j]);
            mine[j].shift += g;
            mine[j].scale += g * (taken - center[j]);
        }
    }
    __device__ __forceinline__ uint32_t key(uint32_t x, int k) const { return order.key(x, k); }
};

/* The second launch, of all kinds. */
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) bn_sums_parts(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[BLOCK_THREADS];
    const column_work work = column_second(args);
    const pixel_plane &plane = args.plane[work.plane];
    const bn_gradients sum = columns_add_parts(args, work, shared);
    if (!column_is_last(args, work)) return;
    plane.dbeta[work.channel] = sum.shift;
    plane.dgamma[work.channel] = sum.scale * plane.rstd[work.channel];
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_plain>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel_act<act_sums, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel_act<act_sums, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel_act<act_sums, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_add_act>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_pool_sums_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, f32>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_pool_sums_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, f16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_pool_sums_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_kernel<sums_of<gradient_pool>::body, bf16>(args, shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_sums_3x3_f32(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f32>::width * BLOCK_THREADS];
    columns_run<pool_sums<f32, widest<f32>::width>>(args, column_first(args, widest<f32>::width), shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_sums_3x3_f16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<f16>::width * BLOCK_THREADS];
    columns_run<pool_sums<f16, widest<f16>::width>>(args, column_first(args, widest<f16>::width), shared);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_sums_3x3_bf16(const __grid_constant__ pixel_args args) {
    __shared__ bn_gradients shared[widest<bf16>::width * BLOCK_THREADS];
    columns_run<pool_sums<bf16, widest<bf16>::width>>(args, column_first(args, widest<bf16>::width), shared);
}
