/*
 * conv2d_dsums on the matrix units, for any filter at stride 1: conv2d's data gradient (tile/im2col.cuh over dy), whose
 * epilogue adds up what it stores. The two warpgroups of a block divide the lanes; the name of a function says how many
 * pixels each multiplies, and `_x` that it reads the ReLU off x.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/im2col.cuh"

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 112, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_f16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 112, 0, 1, row_dsums<f16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 112, 0, 1, row_dsums<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_bf16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 112, 0, 1, row_dsums<bf16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 144, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_f16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 144, 0, 1, row_dsums<f16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 144, 0, 1, row_dsums<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_bf16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 144, 0, 1, row_dsums<bf16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 176, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_f16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 176, 0, 1, row_dsums<f16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 176, 0, 1, row_dsums<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_bf16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 176, 0, 1, row_dsums<bf16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes192(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 192, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes192(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 192, 0, 1, row_dsums<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 224, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_f16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 224, 0, 1, row_dsums<f16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 224, 0, 1, row_dsums<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_x_bf16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 224, 0, 1, row_dsums<bf16, true>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_f16_lanes256(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 256, 0, 1, row_dsums<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_dsums_bf16_lanes256(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 256, 0, 1, row_dsums<bf16>>>(args);
}
