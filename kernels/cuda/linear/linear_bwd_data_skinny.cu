/*
 * linear and linear_act data gradient on small and skinny matrices: dx = (dy f'(u)) w, all streams in one launch. The
 * gradient before the activation is made in shared memory, on the way from dy and u to the product.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cuda/ptx/entry.cuh"
#include "kernels/cuda/linear/skinny_rows.cuh"

ENTRY_FORMATS(linear_bwd_data_skinny16, (SKINNY_THREADS), skinny_args, skinny_rows<number, 16, false>(args))
ENTRY_FORMATS(linear_bwd_data_skinny32, (SKINNY_THREADS), skinny_args, skinny_rows<number, 32, false>(args))
ENTRY_FORMATS(linear_bwd_data_skinny64, (SKINNY_THREADS), skinny_args, skinny_rows<number, 64, false>(args))
