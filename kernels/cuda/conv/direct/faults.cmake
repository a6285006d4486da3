# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(conv2d_fwd_wrong_tap conv/direct/conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "pixel[j].h + r * args.dilation[0]" "pixel[j].h + s * args.dilation[0]")
emu_mutant(conv2d_fwd_missing_barrier conv/direct/conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "gemm_add(&sums, slice);\n        __syncthreads();" "gemm_add(&sums, slice);")
emu_mutant(conv2d_fwd_unwritten_tail conv/direct/conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "if (n >= columns) break;" "if (n >= filters) break;")
emu_mutant(conv2d_bwd_data_wrong_tap conv/direct/conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "term.tap[axis] * args.dilation[axis]" "term.tap[0] * args.dilation[axis]")
emu_mutant(conv2d_bwd_data_missing_barrier conv/direct/conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "filters);\n        __syncthreads();" "filters);")
emu_mutant(conv2d_bwd_data_early_sum conv/direct/conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "__syncthreads();\n        gemm_add" "gemm_add")
emu_mutant(conv2d_bwd_data_wrong_place tile/padding.cuh conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "slot == 1 ? -pixel : 2 * (size - 1) - pixel" "slot == 1 ? -pixel : 2 * size - 1 - pixel")
emu_mutant(conv2d_bwd_weight_blanked conv/direct/conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "pixel < end && !mask_blanks(mask, sample)" "pixel < end")
emu_mutant(conv2d_bwd_weight_missing_barrier conv/direct/conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "        }\n        __syncthreads();\n        for" "        }\n        for")
emu_mutant(conv2d_bwd_weight_early_sum conv/direct/conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "__syncthreads();\n        gemm_add" "gemm_add")
emu_mutant(conv2d_bwd_weight_unwritten_bias conv/direct/conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "at < columns" "at < length")
emu_mutant(conv2d_scale_bias_act_dropped_floor tile/epilogue.cuh conv2d_fwd conv2d_scale_bias_act__cuda_direct
           "of.floored ? 0 : NAN" "NAN")
