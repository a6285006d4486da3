/*
 * bn_dapply: the gradient of the input of batch normalisation, for g = dy and for the gradients behind the activations
 * of the fused ops. The equations are in src/ops/bn_dapply.c; with everything that is the same for all pixels of a
 * channel gathered they read
 *
 *     dx = g * of_g + x * of_x + rest
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/bn.cuh"
#include "kernels/cuda/tile/mask.cuh"
#include "kernels/cuda/tile/slide.cuh"

template <template <class, int> class gradient> struct dapply_of {
    template <class number, int width> struct body : gradient<number, width> {
        typedef typename gradient<number, width>::inputs inputs;
        float of_g[width], of_x[width], rest[width];
        float share; /* 1 / active values; in evaluation 0, for the statistics do not depend on x */
        __device__ __forceinline__ body(const pixel_args &all, int i) : gradient<number, width>(all, i), share(0) {
            const int64_t active = mask_active(this->plane.mask, all.map.batch);
            if (all.train) share = 1 / (float)(active * all.map.sample_pixels);
        }
        __device__ __forceinline__ void begin(int64_t c) {
            const int64_t inside = this->plane.channels - c;
            float rstd[width], sum[width];
            gradient<number, width>::begin(c);
            pack_channels(rstd, this->plane.rstd + c, inside);
            pack_channels(of_g, this->plane.gamma + c, inside);
            pack_channels(of_x, this->plane.dgamma + c, inside);
            pack_channels(rest, this->plane.center + c, inside);
            pack_channels(sum, this->plane.dbeta + c, inside);
#pragma unroll
            for (int j = 0; j < width; j++) {
                of_g[j] *= rstd[j];
                of_x[j] *= -of_g[j] * rstd[j] * share;
                rest[j] = -of_x[j] * rest[j] - of_g[j] * sum[j] * share;
            }
        }
        __device__ __forceinline__ void make(const inputs &in, int64_t pixel, int64_t c, int64_t at) const {
            float g[width], x[width];
            this->gradient_at(g, x, in, pixel, c);
            write(g, x, c, at);
        }
        __device__ __forceinline__ void write(float (&g)[width], const float (&x)[width], int64_t c, int64_t at) const {
            if (this->plane.dz) this->put(this->plane.dz, at, g, c);
#pragma unroll
            for (int j = 0; j < width; j++) {
                g[j] *= of_g[j];
                if (this->args.train) g[j] += x[j] * of_x[j] + rest[j];
            }
            this->put(this->plane.dx, at, g, c);
        }
        __device__ __forceinline__ void blank(int64_t at) const {
            this->clear(this->plane.dx, at);
            if (this->plane.dz) this->clear(this->plane.dz, at);
        }
    };
};

template <bool curved> struct act_dapply {
    template <class number, int width>
    using body = typename dapply_of<gradient_act<curved>::template body>::template body<number, width>;
};

/* bn_act_pool with a ReLU and windows as tile/slide.cuh has them. */
template <class number, int width> struct pool_dapply : dapply_of<gradient_pool>::body<number, width> {
    typedef dapply_of<gradient_pool>::body<number, width> dapply;
    struct alignas(16) factors {
        float scale[width], shift[width], of_g[width], of_x[width], rest[width];
        float apart[4]; /* neighbours lie in other banks */
    };
    bn_order<number, width> order;
    const factors *mine;
    using dapply::dapply;
    __device__ __forceinline__ void begin(factors &to, int64_t c) {
        dapply::begin(c);
#pragma unroll
        for (int j = 0; j < width; j++) {
            to.scale[j] = this->scale[j];
            to.shift[j] = this->shift[j];
            to.of_g[j] = this->of_g[j];
            to.of_x[j] = this->of_x[j];
            to.rest[j] = this->rest[j];
        }
    }
    __device__ __forceinline__ void use(const factors &from) {
        mine = &from;
        order.begin(from.scale);
    }
    __device__ __forceinline__ uint32_t key(uint32_t x, int k) const { return order.key(x, k); }
    __device__ __forceinline__ uint32_t open(uint32_t best, int k) const {
        const int numbers = word<number>::width;
        float x[numbers];
        uint32_t bits = 0;
        word<number>::open(x, best ^ order.flipped[k]);
#pragma unroll
        for (int j = 0; j < numbers; j++) {
            const float value = x[j] * mine->scale[k * numbers + j] + mine->shift[k * numbers + j];
            bits |= (value <= 0 ? 0 : numbers == 2 ? 0xFFFFu : 0xFFFFFFFFu) << 16 * j;
        }
        return bits;
    }
    __device__ __forceinline__ uint32_t make(const float (&g)[word<number>::width], uint32_t from, int k) const {
        const int numbers = word<number>::width;
        float x[numbers];
        word<number>::open(x, from);
#pragma unroll
        for (int j = 0; j < numbers; j++) {
            const float trained = x[j] * mine->of_x[k * numbers + j] + mine->rest[k * numbers + j];
            x[j] = g[j] * mine->of_g[k * numbers + j] + (this->args.train ? trained : 0);
        }
        return word<number>::close(x);
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3) bn_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_plain>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_dapply, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_dapply, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_act_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel_act<act_dapply, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    bn_add_act_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_add_act>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_f32(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, f32>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_f16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, f16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    bn_act_pool_dapply_bf16(const __grid_constant__ pixel_args args) {
    pixels_kernel<dapply_of<gradient_pool>::body, bf16>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_f32(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<f32, widest<f32>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, f32>(args, shared, factors);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_f16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<f16, widest<f16>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, f16>(args, shared, factors);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    bn_act_pool_slide_bf16(const __grid_constant__ pixel_args args) {
    __shared__ slide_shared shared;
    __shared__ pool_dapply<bf16, widest<bf16>::width>::factors factors[SLIDE_LANES];
    slide_kernel<pool_dapply, bf16>(args, shared, factors);
}
