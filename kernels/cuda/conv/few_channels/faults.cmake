# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(conv2d_fwd_lines_wrong_copy conv/few_channels/conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "at += plane.copy - 1" "at += plane.copy")
emu_mutant(conv2d_fwd_lines_missing_barrier conv/few_channels/conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "__syncthreads();\n        out.tile = next;" "out.tile = next;")
emu_mutant(conv2d_fwd_lines_early_reuse conv/few_channels/conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "    for (int i = 0; i < row_tiles; i += together) {\n        __syncwarp();"
           "    for (int i = 0; i < row_tiles; i += together) {")
emu_mutant(conv2d_fwd_lines_unwritten_tail conv/few_channels/conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "all_columns = (int32_t)plane.out_pitch" "all_columns = plane.out_channels")
emu_mutant(conv2d_fwd_lines_wrong_line conv/few_channels/lines.cuh conv2d_fwd_lines conv2d_fwd__cuda_lines
           "tile.row * args.stride[0] - args.padding[0]" "tile.row - args.padding[0]")
emu_mutant(conv2d_bwd_weight_lines_wrong_copy conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "column % 2 ? plane.copy - 1 : 0" "column % 2 ? plane.copy : 0")
emu_mutant(conv2d_bwd_weight_lines_early_sum conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "copy_async_wait<0>();\n        __syncthreads();" "copy_async_wait<0>();")
emu_mutant(conv2d_bwd_weight_lines_missing_wait conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "copy_async_wait<0>();" "copy_async_wait<1>();")
emu_mutant(conv2d_bwd_weight_lines_dropped_warp conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "int32_t pixel = 1; pixel < share.pixels" "int32_t pixel = 1; pixel + 1 < share.pixels")
emu_mutant(conv2d_bwd_weight_lines_unwritten_bias conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "plane.in_channels + args.bias" "plane.in_channels")
function(bn_stats_rows_mutant name file from to)
    emu_mutant(conv2d_bn_stats_rows_${name} ${file} conv2d_fwd_rows_sm90a conv2d_bn_stats__cuda_rows_wgmma "${from}" "${to}")
endfunction()
bn_stats_rows_mutant(beyond_column tile/epilogue_rows.cuh "first + 1 < inside" "first + 1 <= inside + 1")
bn_stats_rows_mutant(beyond_row conv/few_channels/conv2d_fwd_rows_sm90a.cu "i < rows ? columns : 0" "columns")
bn_stats_rows_mutant(one_part conv/few_channels/conv2d_fwd_rows_sm90a.cu "2 * work.part + group" "2 * work.part")
bn_stats_rows_mutant(wrong_parts conv/few_channels/conv2d_fwd_rows_sm90a.cu "args.parts[work.plane]" "args.parts[0]")
bn_stats_rows_mutant(early_count tile/row_moments.cuh "row_parts_arrives_last(finished, finishers, at)" "true")
emu_mutant(conv2d_scale_bias_act_lines_dropped_scale tile/epilogue.cuh conv2d_fwd_lines
           conv2d_scale_bias_act__cuda_lines "sum * channel.scale + channel.shift;" "sum + channel.shift;")
emu_mutant(conv2d_fwd_strips_missing_barrier conv/few_channels/conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_fwd__cuda_strips
           "tile);\n        __syncthreads();" "tile);")
emu_mutant(conv2d_fwd_strips_unwritten_tail conv/few_channels/conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_fwd__cuda_strips
           "if (first + k < plane.out_pitch) store" "if (first + k < plane.out_channels) store")
emu_mutant(conv2d_bwd_data_strips_wrong_tap conv/few_channels/conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_bwd_data__cuda_strips
           "taps - 1 - r * args.filter[1] - s" "r * args.filter[1] + s")
emu_mutant(conv2d_bwd_weight_strips_early_reuse conv/few_channels/conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "        __syncthreads();\n        strips_load" "        strips_load")
emu_mutant(conv2d_bwd_weight_strips_wrong_row conv/few_channels/conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "value[(j + STRIPS_ROWS - 1) % STRIPS_ROWS] = " "value[j % STRIPS_ROWS] = ")
emu_mutant(conv2d_bwd_weight_strips_lost_slice conv/few_channels/conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "slice = 0; slice < args.slices" "slice = 0; slice + 1 < args.slices")
emu_mutant(conv2d_fwd_patches_missing_barrier conv/few_channels/conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "tile);\n        __syncthreads();" "tile);")
emu_mutant(conv2d_fwd_patches_wrong_copy conv/few_channels/conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "? plane.copy - 1 : 0" "? plane.copy : 0")
emu_mutant(conv2d_fwd_patches_unwritten_tail conv/few_channels/conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "k >= plane.out_pitch) continue" "k >= plane.out_channels) continue")
emu_mutant(conv2d_bwd_data_patches_wrong_tap conv/few_channels/conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_bwd_data__cuda_patches
           "args.filter[0] - 1 - r" "r")
emu_mutant(conv2d_bwd_data_patches_wrong_exchange conv/few_channels/conv2d_fwd_patches.cu conv2d_fwd_patches
           conv2d_bwd_data__cuda_patches "lane & ~2" "lane & ~1")
emu_mutant(conv2d_fwd_lines_early_use conv/few_channels/conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "        copy_async_wait<0>();\n        __syncthreads();" "        __syncthreads();")
emu_mutant(conv2d_bwd_weight_lines_wrong_half conv/few_channels/conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines
           conv2d_bwd_weight__cuda_lines
           "first >> 16 | (second & 0xFFFF0000u)" "first >> 16 | second << 16")
# Convolutions of few channels on Hopper: the line under the next row, the swizzle, the second 8 pixels of a step, the
# last line of a unit, units that are used too early, filters, weights and blanked samples.
function(rows_mutant name file pass from to)
    emu_mutant(conv2d_${pass}_rows_${name} ${file} conv2d_${pass}_rows_sm90a conv2d_${pass}__cuda_rows_wgmma "${from}"
               "${to}")
endfunction()
rows_mutant(wrong_line conv/few_channels/spread_sums.cuh bwd_weight "args.stride * plane.spread * ROWS_ROW_BYTES"
            "plane.spread * ROWS_ROW_BYTES")
rows_mutant(early_use conv/few_channels/spread_sums.cuh bwd_weight "        pipeline_wait(made);\n" "")
rows_mutant(wrong_stage conv/few_channels/spread_sums.cuh bwd_weight "        pipeline_next(&made);\n" "")
rows_mutant(unwritten_filters conv/few_channels/spread_sums.cuh bwd_weight "k < plane.filters" "k < plane.filters - 1")
rows_mutant(wrong_swizzle conv/few_channels/spread.cuh bwd_weight "(piece ^ (row & 7))" "(piece ^ (row & 3))")
rows_mutant(wrong_half conv/few_channels/spread.cuh bwd_weight "share.piece % 2 * SPREAD_PIECE * step"
            "share.piece % 2 * (SPREAD_PIECE - 1) * step")
rows_mutant(wrong_turn conv/few_channels/spread.cuh bwd_weight "word + turn," "word,")
rows_mutant(dropped_turns conv/few_channels/spread.cuh bwd_weight "pair += turns * apart" "pair += pairs")
rows_mutant(dropped_line conv/few_channels/spread.cuh bwd_weight "(unit.rows - 1) * args.stride + args.filter_rows"
            "unit.rows * args.stride + args.filter_rows - 3")
rows_mutant(odd_box conv/few_channels/spread.cuh bwd_weight "plane.step - plane.before" "plane.step - plane.before + plane.shift")
rows_mutant(early_load conv/few_channels/spread.cuh bwd_weight "        pipeline_wait(ring);\n" "")
rows_mutant(wrong_blank conv/few_channels/spread.cuh bwd_weight "mask_blanks(plane.mask, unit.sample)"
            "mask_blanks(plane.mask, unit.sample + 1)")
rows_mutant(wrong_weight conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "filter + i % 2 * 8" "filter + i / 2 * 8")
rows_mutant(wrong_row conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "matrix_moved(b, i * row_bytes)" "matrix_moved(b, i * row_bytes / 2)")
rows_mutant(unwritten_row conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "row + i < unit.rows" "row + i < unit.rows - 1")
rows_mutant(early_store conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "    fence_async();\n    named_sync(id, 128);\n" "    fence_async();\n")
rows_mutant(unwritten_blank conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "shared_clear(staging + to);" ";")
rows_mutant(wrong_unit conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "        pipeline_next(&made);\n" "")
rows_mutant(dropped_step conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "step >= weights.steps" "step >= weights.steps - 1")
rows_mutant(repeated_taps conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "is_first_step || tap >= ROWS_STEP" "is_first_step || tap >= 0")
rows_mutant(early_reuse conv/few_channels/conv2d_fwd_rows_sm90a.cu fwd "tma_wait_read<STAGINGS - 1>()" "tma_wait_read<STAGINGS>()")
# Those whose gradient is made on the way: the windows of a unit's first row and to its right, the swizzle, factors
# that are read too early, rows that are used or left too early, pixels beyond a unit, the count of samples.
function(pool_rows_mutant name from to)
    emu_mutant(conv2d_pool_bn_bwd_apply_rows_${name} conv/few_channels/conv2d_pool_bn_bwd_apply_rows_sm90a.cu conv2d_pool_bn_bwd_apply_rows_sm90a
               conv2d_pool_bn_bwd_apply__cuda_rows_wgmma "${from}" "${to}")
endfunction()
pool_rows_mutant(wrong_first_row "first = unit.row / 2" "first = (unit.row + 1) / 2")
pool_rows_mutant(missing_neighbour "column <= COLUMNS_OF_WARP" "column < COLUMNS_OF_WARP")
pool_rows_mutant(wrong_swizzle "(place.pack ^ ((pixel + 1) & 7))" "(place.pack ^ (pixel & 7))")
pool_rows_mutant(missing_barrier "    named_sync(MAKERS_BARRIER, ROW_OF_MAKERS);\n" "")
pool_rows_mutant(wrong_neighbour "mine.at[k], PACKS_OF_WARP)" "mine.at[k], 1)")
pool_rows_mutant(early_stage "    barrier_wait(stage_empty(ring), ring.parity ^ 1);\n" "")
pool_rows_mutant(early_use "    barrier_init(memory.own_barriers + i * BARRIER_BYTES, POOL_ROWS_MAKERS)"
                 "    barrier_init(memory.own_barriers + i * BARRIER_BYTES, 1)")
pool_rows_mutant(row_too_many "2 * row < end" "2 * row <= end")
emu_mutant(conv2d_pool_bn_bwd_apply_rows_pixels_beyond conv/few_channels/spread.cuh conv2d_pool_bn_bwd_apply_rows_sm90a
           conv2d_pool_bn_bwd_apply__cuda_rows_wgmma "if (piece % 2 == 0) return;" "return;")
emu_mutant(conv2d_pool_bn_bwd_apply_rows_pixel_beyond conv/few_channels/spread.cuh conv2d_pool_bn_bwd_apply_rows_sm90a
           conv2d_pool_bn_bwd_apply__cuda_rows_wgmma "2 * j + 1 < inside" "2 * j < inside")
pool_rows_mutant(unwritten_pixels "column + 16 - 2 * side" "place.column")
pool_rows_mutant(wrong_count "mask_active(plane.mask, args.batch)" "args.batch")
pool_rows_mutant(wrong_filter "work.filter + place.pack * 8" "place.pack * 8")
function(li_rows_mutant name file stem from to)
    emu_mutant(li_conv2d_bwd_weight_rows_${name} ${file} ${stem} li_conv2d_bwd_weight__cuda_rows_wgmma "${from}" "${to}")
endfunction()
li_rows_mutant(wrong_tensor conv/few_channels/li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a "mixes ? ROWS_Y_BYTES : 0"
               "mixes ? 0 : ROWS_Y_BYTES")
li_rows_mutant(wrong_step conv/few_channels/li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "r = matrix_moved(r, ROWS_STEP * ROWS_ROW_BYTES);" "")
li_rows_mutant(early_use conv/few_channels/li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "            pipeline_wait(stage);\n" "")
li_rows_mutant(unwritten_mix conv/few_channels/li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "mix, args.integrated, plane.filters" "mix, args.integrated - 1, plane.filters")
li_rows_mutant(wrong_weight conv/few_channels/li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "(first + j) * plane.filters + filter" "(first + j) + plane.filters * filter")
li_rows_mutant(unwritten_tail conv/few_channels/li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "element < args.integrated * plane.filters" "element < args.integrated * plane.filters - 1")
li_rows_mutant(lost_half conv/few_channels/li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix " + sum + room" " + room")
li_rows_mutant(missing_barrier conv/few_channels/li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "column] = sum;\n    __syncthreads();" "column] = sum;")
li_rows_mutant(dropped_part conv/few_channels/li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix "part < args.parts" "part < args.parts - 1")
