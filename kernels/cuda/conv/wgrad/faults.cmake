# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(conv2d_bwd_weight_taps_wrong_tap conv/wgrad/conv2d_bwd_weight_taps_sm90a.cu conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "column - 1, row - 1" "column, row - 1")
emu_mutant(conv2d_bwd_weight_taps_wrong_row conv/wgrad/conv2d_bwd_weight_taps_sm90a.cu conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "args.dy_bytes + warpgroup * args.x_pitch" "args.dy_bytes + (2 - warpgroup) * args.x_pitch")
emu_mutant(conv2d_bwd_weight_taps_missing_arrival conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "wgmma_wait<1>();\n                if (arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);"
           "wgmma_wait<1>();")
emu_mutant(conv2d_bwd_weight_taps_early_arrival conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "wgmma_wait<1>();\n" "\n")
emu_mutant(conv2d_bwd_weight_taps_unwritten_tail conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "weight_clear(box, args.dy_box_bytes, args.dy_bytes)" "weight_clear(box, args.dy_box_bytes, args.dy_box_bytes)")
emu_mutant(conv2d_bwd_weight_taps_blanked conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "at->blanked = mask_blanks(args.plane[at->plane].mask, at->sample)" "at->blanked = false")
emu_mutant(conv2d_bwd_weight_boxes_wrong_tap conv/wgrad/conv2d_bwd_weight_boxes_sm90a.cu conv2d_bwd_weight_boxes_sm90a conv2d_bwd_weight__cuda_boxes_wgmma
           "r * args.dilation[0]" "s * args.dilation[0]")
emu_mutant(conv2d_bwd_weight_boxes_wrong_filters conv/wgrad/conv2d_bwd_weight_boxes_sm90a.cu conv2d_bwd_weight_boxes_sm90a conv2d_bwd_weight__cuda_boxes_wgmma
           "filter + half * 64" "filter")
emu_mutant(conv2d_bwd_weight_boxes_missing_arrival conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_boxes_sm90a
           conv2d_bwd_weight__cuda_boxes_wgmma
           "wgmma_wait<1>();\n                if (arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);"
           "wgmma_wait<1>();")
emu_mutant(conv2d_bwd_weight_taps_short_row conv/wgrad/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "unit.row + 1 < args.piece_rows ? args.steps : args.last_steps" "args.last_steps")
# The tree that adds the parts of a tile: a level left out, the wrong branch, a counter that is not set back, a part of the
# next tile, threads that go on without the word, filters and channels at the edge.
function(sum_tree_mutant name file from to)
    emu_mutant(conv2d_bwd_weight_taps_${name} ${file} conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
               "${from}" "${to}")
endfunction()
sum_tree_mutant(skipped_level tile/sum_tree.cuh "1 << level < tree.parts" "2 << level < tree.parts")
sum_tree_mutant(wrong_branch tile/sum_tree.cuh "(2 * join + 1 - branch)" "(2 * join + branch)")
sum_tree_mutant(dirty_counter tile/sum_tree.cuh "tree.counters[(int64_t)join * tree.counter_step] = 0" "(void)0")
sum_tree_mutant(early_word tile/sum_tree.cuh "levels);\n    }\n    named_sync(tree.barrier, SUM_TREE_GROUP);"
                "levels);\n    }")
sum_tree_mutant(wrong_part reduce/weight_units.cuh "(tile + 1) * tile_units - 1, units" "(tile + 1) * tile_units, units")
sum_tree_mutant(wrong_warpgroup conv/wgrad/weight_tiles.cuh "by.first * groups + warpgroup" "by.first * groups")
sum_tree_mutant(unwritten_filters conv/wgrad/weight_tiles.cuh "second < 2" "second < 1")
sum_tree_mutant(wrong_run conv/wgrad/weight_tiles.cuh "j % 2 * 32" "j % 2 * 16")
sum_tree_mutant(unwritten_channel conv/wgrad/weight_tiles.cuh "if (channel + 1 < channels)" "if (channel + 2 < channels)")
