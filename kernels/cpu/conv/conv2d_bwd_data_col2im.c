/*
 * The data gradient of conv2d into images with few channels: products as wide as the filter, col2im over the image
 * (conv/col2im.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/col2im.h"

PACKED_KERNELS(AMX_BF16, conv2d_bwd_data, cpu_col2im, gemm, col2im_supports, col2im_cost, col2im_create,
               KERNEL_SLOT(CONV2D_W), col2im_pack, col2im_run, col2im_destroy)
