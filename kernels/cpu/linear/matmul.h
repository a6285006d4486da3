/*
 * The kernels of matmul on the CPU: for an instruction set and those below it, each by the kernels of linear for the
 * same set (kernels/matmul_linear.h). MATMUL_KERNELS(AVX512, matmul_fwd, cpu_indirect_gemm, linear_fwd,
 * linear_bwd_data) makes matmul_fwd__cpu_igemm_avx512 of linear_fwd__cpu_igemm_avx512 and
 * linear_bwd_data__cpu_igemm_avx512, and so on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_LINEAR_MATMUL_H
#define BRAID_KERNELS_CPU_LINEAR_MATMUL_H

#include "kernels/cpu/isa/tile_kernels.h"
#include "kernels/matmul_linear.h"

#define MATMUL_KERNELS(top, op, algorithm, straight, turned) FROM_##top(MATMUL_BOTH, algorithm, op, straight, turned)
#define MATMUL_BOTH(set, ending, op, straight, turned) MATMUL_KERNEL(op##ending, straight##ending, turned##ending)

/* By one of the two. */
#define MATMUL_KERNELS_STRAIGHT(top, op, algorithm, straight) FROM_##top(MATMUL_ONE_STRAIGHT, algorithm, op, straight)
#define MATMUL_ONE_STRAIGHT(set, ending, op, straight) MATMUL_STRAIGHT(op##ending, straight##ending)

#define MATMUL_KERNELS_TURNED(top, op, algorithm, turned) FROM_##top(MATMUL_ONE_TURNED, algorithm, op, turned)
#define MATMUL_ONE_TURNED(set, ending, op, turned) MATMUL_TURNED(op##ending, turned##ending)

#endif
