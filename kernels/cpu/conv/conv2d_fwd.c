/*
 * conv2d forward: an indirect matrix product (tile/indirect_gemm.h), all streams in one launch. Every
 * filter, stride, dilation, group and padding mode takes the same path.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/indirect_gemm.h"
#include "kernels/cpu/isa/tile_kernels.h"

PACKED_KERNELS(AMX_BF16, conv2d_fwd, cpu_indirect_gemm, gemm, supports_all, indirect_gemm_cost,
               indirect_gemm_create_forward, KERNEL_SLOT(CONV2D_W), indirect_gemm_pack, indirect_gemm_run,
               indirect_gemm_destroy)
