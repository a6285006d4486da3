# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(gemm_wrong_group gemm/gemm.cuh gemm_sm90a linear_fwd__cuda_gemm
           "tile.column = at % group / rows" "tile.column = at % group / GEMM_GROUP_ROWS")
emu_mutant(gemm_early_use gemm/gemm.cuh gemm_sm90a linear_fwd__cuda_gemm "            pipeline_wait(at);\n" "")
emu_mutant(gemm_early_reuse gemm/gemm.cuh gemm_sm90a linear_fwd__cuda_gemm "tma_wait_read<chunks - 1>()"
           "(void)0")
emu_mutant(gemm_unwritten_bias gemm/gemm.cuh gemm_sm90a linear_bwd_weight__cuda_gemm "thread < 64 &&" "thread < 63 &&")
emu_mutant(gemm_wrong_terms gemm/gemm.cuh gemm_sm90a linear_bwd_weight__cuda_gemm "j * 16 + thread / 8"
           "j * 8 + thread / 8")
emu_mutant(gemm_blanked gemm/gemm.cuh gemm_sm90a linear_fwd__cuda_gemm "blanked >> (i % 2) & 1" "blanked >> (i / 2) & 1")
emu_mutant(gemm_wrong_bias gemm/gemm.cuh gemm_sm90a linear_act_fwd__cuda_gemm "low | high << 16" "high | low << 16")
