# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(conv2d_fwd_mma_wrong_tap conv/mma/mma_pixels.cuh conv2d_fwd_mma conv2d_fwd__cuda_mma
           "term.s * taps[1].advance" "term.r * taps[1].advance")
emu_mutant(conv2d_fwd_mma_missing_barrier conv/mma/mma_tile.cuh conv2d_fwd_mma conv2d_fwd__cuda_mma
           "copy_async_wait<MMA_STAGES - 2>();\n        __syncthreads();" "copy_async_wait<MMA_STAGES - 2>();")
emu_mutant(conv2d_fwd_mma_missing_wait conv/mma/mma_tile.cuh conv2d_fwd_mma conv2d_fwd__cuda_mma
           "copy_async_wait<MMA_STAGES - 2>();" "copy_async_wait<MMA_STAGES - 1>();")
emu_mutant(conv2d_fwd_mma_unwritten_tail conv/mma/conv2d_fwd_mma.cu conv2d_fwd_mma conv2d_fwd__cuda_mma
           "group + 1 == args.groups ? filters + unused : filters" "filters")
emu_mutant(conv2d_bwd_data_mma_wrong_class conv/mma/conv2d_bwd_data_mma.cu conv2d_bwd_data_mma conv2d_bwd_data__cuda_mma
           "w * args.stride[1] + pixels.first[1]" "w * args.stride[1]")
emu_mutant(conv2d_bwd_data_mma_wrong_term conv/mma/conv2d_bwd_data_mma.cu conv2d_bwd_data_mma conv2d_bwd_data__cuda_mma
           "found.step = tap - found.tap" "found.step = 1")
emu_mutant(conv2d_bwd_weight_mma_blanked conv/mma/conv2d_bwd_weight_mma.cu conv2d_bwd_weight_mma conv2d_bwd_weight__cuda_mma
           "pixel[j] < end && !mask_blanks(plane.mask, sample[j])" "pixel[j] < end")
emu_mutant(conv2d_bwd_weight_mma_wrong_pixel conv/mma/conv2d_bwd_weight_mma.cu conv2d_bwd_weight_mma conv2d_bwd_weight__cuda_mma
           "if (++p[j] == args.out_size[0])" "if (++p[j] > args.out_size[0])")
emu_mutant(linear_bwd_weight_mma_unwritten_bias conv/mma/conv2d_bwd_weight_mma.cu conv2d_bwd_weight_mma linear_bwd_weight__cuda_mma
           "columns = length + args.bias" "columns = length")
emu_mutant(conv2d_scale_bias_act_mma_wrong_group conv/mma/mma_pixels.cuh conv2d_fwd_mma
           conv2d_scale_bias_act__cuda_mma "rows->at[row] * pitch + first + column" "rows->at[row] * pitch + column")
emu_mutant(conv2d_fwd_tf32_mma_unrounded conv/mma/mma_tile.cuh conv2d_fwd_mma conv2d_fwd_tf32__cuda_mma
           "words[j] = tf32_word(words[j])" "words[j] = words[j]")
emu_mutant(conv2d_fwd_tf32_mma_unwritten_tail conv/mma/mma_pixels.cuh conv2d_fwd_mma conv2d_fwd_tf32__cuda_mma
           "rows->at[row] < 0 || column >= lanes" "rows->at[row] < 0 || column >= live")
emu_mutant(conv2d_bwd_data_tf32_mma_wrong_term conv/mma/mma_tile.cuh conv2d_bwd_data_mma conv2d_bwd_data_tf32__cuda_mma
           "term + lane % 4 + j % 2 * 4" "term + lane % 4 + j / 2 * 4")
emu_mutant(conv2d_bwd_weight_tf32_mma_wrong_row conv/mma/mma_tile.cuh conv2d_bwd_weight_mma
           conv2d_bwd_weight_tf32__cuda_mma "row + lane / 4 + j % 2 * 8" "row + lane / 4 + j / 2 * 8")
emu_mutant(linear_bwd_weight_tf32_mma_missing_barrier conv/mma/mma_tile.cuh conv2d_bwd_weight_mma
           linear_bwd_weight_tf32__cuda_mma
           "copy_async_wait<MMA_STAGES - 2>();\n        __syncthreads();" "copy_async_wait<MMA_STAGES - 2>();")
emu_mutant(conv2d_fwd_f32_mma_dropped_product conv/mma/mma_tile.cuh conv2d_fwd_mma conv2d_fwd_f32__cuda_mma
           "mma(sums->at[i][j], a, small[j], tf32());" "")
emu_mutant(linear_bwd_data_f32_mma_dropped_rest conv/mma/mma_tile.cuh conv2d_bwd_data_mma linear_bwd_data_f32__cuda_mma
           "rest[k] = tf32_rest(a[k]);" "rest[k] = 0;")
