/*
 * linear_act forward on small and skinny matrices.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/linear/linear_skinny_launch.h"

const kernel_functions linear_act_fwd_f32__cuda_skinny = LINEAR_SKINNY;
const kernel_functions linear_act_fwd__cuda_skinny = LINEAR_SKINNY;
