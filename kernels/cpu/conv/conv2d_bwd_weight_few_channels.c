/*
 * The weight gradient of conv2d for images with few channels, from copied rows: conv/few_channels.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/cpu/conv/few_channels.h"

TILE_KERNELS(AVX512, conv2d_bwd_weight, cpu_few_channels, few_channels, few_channels_supports, few_channels_cost,
             few_channels_create, few_channels_launch_weight, few_channels_destroy)
