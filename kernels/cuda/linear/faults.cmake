# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(linear_fwd_skinny_wrong_term linear/skinny.cuh linear_fwd_skinny linear_fwd_f32__cuda_skinny
           "const int term = group() * terms + step;\n            float a" "const int term = step;\n            float a")
emu_mutant(linear_fwd_skinny_missing_barrier linear/skinny.cuh linear_fwd_skinny linear_fwd__cuda_skinny
           "activation);\n            __syncthreads();" "activation);")
emu_mutant(linear_act_fwd_skinny_blanked linear/skinny_rows.cuh linear_fwd_skinny linear_act_fwd__cuda_skinny
           "mask_blanks(plane.mask, row)" "false")
emu_mutant(linear_act_fwd_skinny_unwritten_tail linear/skinny_rows.cuh linear_fwd_skinny linear_act_fwd_f32__cuda_skinny
           "column >= plane.lanes" "column >= plane.columns")
emu_mutant(linear_act_bwd_data_skinny_no_slope linear/skinny.cuh linear_bwd_data_skinny linear_act_bwd_data__cuda_skinny
           "act_gradient(activation, load(by + i), load(at + i))" "load(at + i)")
emu_mutant(linear_bwd_data_skinny_early_use linear/skinny.cuh linear_bwd_data_skinny linear_bwd_data__cuda_skinny
           "copy_async_wait<SKINNY_STAGES(tile) - 2>();" "copy_async_wait<SKINNY_STAGES(tile) - 1>();")
emu_mutant(linear_bwd_data_skinny_unwritten_tail linear/skinny_rows.cuh linear_bwd_data_skinny
           linear_bwd_data__cuda_skinny "column >= plane.lanes" "column >= plane.columns")
emu_mutant(linear_bwd_weight_skinny_blanked linear/skinny.cuh linear_bwd_weight_skinny linear_bwd_weight__cuda_skinny
           " && !mask_blanks(mask, term[j])" "")
emu_mutant(linear_act_bwd_weight_skinny_dropped_group linear/linear_bwd_weight_skinny.cu linear_bwd_weight_skinny
           linear_act_bwd_weight__cuda_skinny "g < groups; g++) total" "g + 1 < groups; g++) total")
emu_mutant(linear_bwd_weight_skinny_wrong_part linear/linear_bwd_weight_skinny.cu linear_bwd_weight_skinny
           linear_bwd_weight_f32__cuda_skinny "work.part * args.part_terms" "work.part")
