/*
 * linear and linear_act forward on small and skinny matrices: y = f(x w^T + bias), all streams in one launch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/linear/skinny_rows.cuh"

ENTRY_FORMATS(linear_fwd_skinny16, (SKINNY_THREADS), skinny_args, skinny_rows<number, 16, true>(args))
ENTRY_FORMATS(linear_fwd_skinny32, (SKINNY_THREADS), skinny_args, skinny_rows<number, 32, true>(args))
ENTRY_FORMATS(linear_fwd_skinny64, (SKINNY_THREADS), skinny_args, skinny_rows<number, 64, true>(args))
