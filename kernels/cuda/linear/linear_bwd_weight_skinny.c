/*
 * linear weight gradient on small and skinny matrices.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/linear/linear_skinny_launch.h"

const kernel_functions linear_bwd_weight_f32__cuda_skinny = LINEAR_SKINNY;
const kernel_functions linear_bwd_weight__cuda_skinny = LINEAR_SKINNY;
