/*
 * conv2d_prepare on the matrix units, for any filter, stride and dilation: conv2d's forward pass (tile/im2col.cuh over
 * x), whose epilogue takes the statistics of what it stores. The two warpgroups of a block divide the lanes; the name
 * of a function says how many pixels each multiplies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/tile/im2col.cuh"

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes64(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 64, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 112, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 144, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 176, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes192(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 192, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes208(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 208, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 224, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_f16_lanes256(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<f16, 256, 0, 0, row_moments<f16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes64(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 64, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes112(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 112, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes144(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 144, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes176(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 176, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes192(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 192, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes208(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 208, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes224(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 224, 0, 0, row_moments<bf16>>>(args);
}

extern "C" __global__ void __launch_bounds__(IM2COL_THREADS, 1)
    conv2d_prepare_bf16_lanes256(const __grid_constant__ conv2d_im2col_args args) {
    im2col_run<im2col_shape<bf16, 256, 0, 0, row_moments<bf16>>>(args);
}
