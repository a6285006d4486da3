/*
 * The data gradient of conv2d: the indirect matrix product of tile/indirect_gemm.h with the weights turned
 * round, one class of pixels for each remainder by the stride.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

PACKED_KERNELS(AMX_BF16, conv2d_bwd_data, cpu_indirect_gemm, gemm, indirect_gemm_backward_supports, indirect_gemm_cost,
               indirect_gemm_create_backward, KERNEL_SLOT(CONV2D_W), indirect_gemm_pack, indirect_gemm_run,
               indirect_gemm_destroy)
