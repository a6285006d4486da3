# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(ssae_missing_barrier ssae/ssae.cu ssae ssae__cuda_resident
           "ssae_project(at);\n        __syncthreads();" "ssae_project(at);")
emu_mutant(ssae_early_slices ssae/ssae.cu ssae ssae__cuda_resident "__syncthreads(); /* the slices were read */" "")
emu_mutant(ssae_wrong_row ssae/ssae.cu ssae ssae__cuda_resident
           "&at->basis[row + 8 * j][k]" "&at->basis[4 * row + j][k]")
emu_mutant(ssae_dropped_part ssae/ssae.cu ssae ssae__cuda_resident "int j = 0; j < parts" "int j = 1; j < parts")
emu_mutant(ssae_unwritten_tail ssae/ssae.cu ssae ssae__cuda_resident
           "if (sample >= args.batch) return;" "if (sample + 1 >= args.batch) return;")
emu_mutant(ssae_wrong_turn ssae/ssae.cu ssae ssae__cuda_resident "slices.fetch(args, next)" "slices.fetch(args, first)")
