/*
 * conv2d forward for images with few channels, from copied rows: conv/few_channels.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/few_channels.h"

#define WEIGHTS (KERNEL_SLOT(CONV2D_W) | KERNEL_SLOT(CONV2D_BIAS))

PACKED_KERNEL(conv2d_fwd_bf16__cpu_few_channels_amx_bf16, few_channels_amx_bf16, few_channels_amx_supports,
              few_channels_cost, few_channels_create, WEIGHTS, few_channels_pack, few_channels_run_forward,
              few_channels_destroy)
PACKED_KERNELS(AVX512_BF16, conv2d_fwd, cpu_few_channels, few_channels, few_channels_supports, few_channels_cost,
               few_channels_create, WEIGHTS, few_channels_pack, few_channels_run_forward, few_channels_destroy)
