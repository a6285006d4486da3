# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(sum_tiles_dropped_part reduce/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "part < parts; part++" "part + 1 < parts; part++")
emu_mutant(sum_tiles_unwritten_filters reduce/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "second < 2" "second < 1")
emu_mutant(sum_tiles_wrong_tile reduce/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "of_all = of.first_tile + tile" "of_all = tile")
emu_mutant(weight_sum_wrong_plane reduce/weight_sum.cu weight_sum integrate_bwd_weight__cuda_wgmma
           "blockIdx.x >= args.first_block[middle]" "blockIdx.x > args.first_block[middle]")
emu_mutant(sum_tiles_missing_barrier reduce/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "shared[threadIdx.x] = sum[0];\n    __syncthreads();" "shared[threadIdx.x] = sum[0];")
emu_mutant(conv2d_bwd_weight_lines_dropped_slice reduce/sum_rows.cuh weight_sum conv2d_bwd_weight__cuda_lines
           "slice < plane.slices; slice++" "slice + 1 < plane.slices; slice++")
emu_mutant(linear_bwd_weight_dropped_part reduce/sum_rows.cuh weight_sum linear_bwd_weight__cuda_direct
           "part < end" "part + 1 < end")
emu_mutant(integrate_bwd_weight_missing_barrier reduce/sum_rows.cuh weight_sum integrate_bwd_weight__cuda_mma
           "slices[threadIdx.x][j] = sum[j];\n        __syncthreads();" "slices[threadIdx.x][j] = sum[j];")
