# Planted faults: each mutant is the emulator with one kernel whose source has one passage replaced. The test
# passes when the check catches it. A passage that is no longer in the source stops the configuration, and so does a
# .cu file with fewer than three faults: a wrong index, a missing barrier, an unwritten tail, or what comes nearest to
# them in a kernel that has none.
#
# SPDX-License-Identifier: MIT

# emu_mutant(NAME file stem kernel from to): `file` is below kernels/cuda and part of <stem>.cu.
# One in sixteen is built and run by `make test`, as a draw by its name says, and all of them by `make test-full`; that the
# text is there is looked at in any case.
function(emu_mutant name file stem kernel from to)
    set(source "${PROJECT_SOURCE_DIR}/kernels/cuda/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(READ "${source}" text)
    string(FIND "${text}" "${from}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "tests/emu/mutants.cmake: ${name}: kernels/cuda/${file} does not hold: ${from}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY emu_faults_${stem} ${name})
    string(MD5 draw "${name}")
    if(BRAID_SANITIZE OR NOT (BRAID_ALL_FAULTS OR draw MATCHES "^0"))
        return()
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}")
    file(GLOB_RECURSE stale "${folder}/*") # of a passage that has moved to another file
    list(REMOVE_ITEM stale "${folder}/kernels/cuda/${file}")
    if(stale)
        file(REMOVE ${stale})
    endif()
    file(CONFIGURE OUTPUT "${folder}/kernels/cuda/${file}" CONTENT "${text}" @ONLY)
    set(others ${emu_kernels})
    list(REMOVE_ITEM others emu_kernel_${stem})
    emu_objects(emu_mutant_${name}_kernel "${folder}" "${CMAKE_CURRENT_BINARY_DIR}/wrapped/${stem}.cpp")
    emu_program(emu_mutant_${name} emu_runtime emu_check emu_mutant_${name}_kernel ${others})
    target_compile_options(emu_mutant_${name}_kernel PRIVATE -Wno-unused -Wno-unused-parameter)
    braid_add_test("emu/mutant_${name}" emu_mutant_${name} --kernel ${kernel} --cases 100 --caught)
endfunction()

emu_mutant(conv2d_fwd_wrong_tap conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "pixel[j].h + r * args.dilation[0]" "pixel[j].h + s * args.dilation[0]")
emu_mutant(conv2d_fwd_missing_barrier conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "gemm_add(&sums, slice);\n        __syncthreads();" "gemm_add(&sums, slice);")
emu_mutant(conv2d_fwd_unwritten_tail conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "if (n >= columns) break;" "if (n >= filters) break;")
emu_mutant(conv2d_fwd_lines_wrong_copy conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "at += plane.copy - 1" "at += plane.copy")
emu_mutant(conv2d_fwd_lines_missing_barrier conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "__syncthreads();\n        out.tile = next;" "out.tile = next;")
emu_mutant(conv2d_fwd_lines_early_reuse conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "    for (int i = 0; i < row_tiles; i += together) {\n        __syncwarp();"
           "    for (int i = 0; i < row_tiles; i += together) {")
emu_mutant(conv2d_fwd_lines_unwritten_tail conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "all_columns = (int32_t)plane.out_pitch" "all_columns = plane.out_channels")
emu_mutant(conv2d_fwd_lines_wrong_line tile/lines.cuh conv2d_fwd_lines conv2d_fwd__cuda_lines
           "tile.row * args.stride[0] - args.padding[0]" "tile.row - args.padding[0]")
emu_mutant(conv2d_fwd_halo_early_reuse tile/halo.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_64x240
           "                wgmma_wait<1>();\n" "")
emu_mutant(conv2d_fwd_halo_unwritten_tail tile/halo.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_128x192
           "target.rest = plane.pitch - channel" "target.rest = plane.channels - channel")
emu_mutant(conv2d_fwd_halo_early_start tile/halo.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_128x232
           "barrier_wait(at.input_full + (uint32_t)turn->input.stage * BARRIER_BYTES, turn->input.parity);" "")
emu_mutant(conv2d_fwd_halo_wrong_border tile/halo.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_64x240
           "shared_clear(at.input + stage * args.stage_bytes + byte)" ";")
emu_mutant(conv2d_fwd_halo_rows_wrong_strip tile/halo_rows.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_rows136
           "unit->input += borders" ";")
emu_mutant(conv2d_fwd_halo_rows_blanked tile/halo_rows.cuh conv2d_fwd_halo_sm90a conv2d_fwd__cuda_halo_rows112
           "mask_blanks(plane.mask, sample)" "false")
emu_mutant(conv2d_bwd_data_parity_wrong_row tile/halo_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "row[r == 0 ? 1 : 0]" "row[r == 2 ? 1 : 0]")
emu_mutant(conv2d_bwd_data_parity_wrong_strip tile/halo_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "if (++row > args.size[0])" "if (++row >= args.size[0])")
emu_mutant(conv2d_bwd_data_parity_blanked tile/halo_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "tile.blanked ? 0 : sums[of][i]" "sums[of][i]")
emu_mutant(conv2d_bwd_data_parity_early_reuse tile/halo_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72
           "        halo_unit_step<1>(&unit, args, range, 2);\n        wgmma_wait<0>();"
           "        halo_unit_step<1>(&unit, args, range, 2);\n        halo_rows_release<HALO_PARITY_ROWS>(at, &released, unit.input);\n        wgmma_wait<0>();")
emu_mutant(conv2d_bwd_data_parity_wrong_class tile/halo.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_128 "(tap / 3 != 1) * 2" "(tap / 3 != 2) * 2")
emu_mutant(conv2d_bwd_data_parity_wrong_edge tile/halo.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_160 "w >= (uint32_t)args.out_size[1]" "w > (uint32_t)args.out_size[1]")
emu_mutant(conv2d_bwd_data_halo_wrong_tap tile/halo.cuh conv2d_bwd_data_halo_sm90a conv2d_bwd_data__cuda_halo_64x240
           "HALO_TAPS - 1 - tap" "tap")
emu_mutant(conv2d_bwd_data_halo_rows_early_reuse tile/halo_rows.cuh conv2d_bwd_data_halo_sm90a
           conv2d_bwd_data__cuda_halo_rows136
           "        wgmma_wait<0>();\n        wgmma_hold(sum);\n        halo_rows_release<HALO_ROWS>(at, &released, unit.input);"
           "        halo_rows_release<HALO_ROWS>(at, &released, unit.input);\n        wgmma_wait<0>();")
emu_mutant(conv2d_bwd_data_halo_rows_early_staging tile/halo_rows.cuh conv2d_bwd_data_halo_sm90a
           conv2d_bwd_data__cuda_halo_rows136
           "    if (threadIdx.x % 128 == 0) tma_wait_read<0>();\n" "")
emu_mutant(conv2d_bwd_data_wrong_tap conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "term.tap[axis] * args.dilation[axis]" "term.tap[0] * args.dilation[axis]")
emu_mutant(conv2d_bwd_data_missing_barrier conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "filters);\n        __syncthreads();" "filters);")
emu_mutant(conv2d_bwd_data_early_sum conv2d_bwd_data.cu conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "__syncthreads();\n        gemm_add" "gemm_add")
emu_mutant(conv2d_bwd_data_wrong_place tile/padding.cuh conv2d_bwd_data conv2d_bwd_data__cuda_direct
           "slot == 1 ? -pixel : 2 * (size - 1) - pixel" "slot == 1 ? -pixel : 2 * size - 1 - pixel")
emu_mutant(conv2d_bwd_weight_blanked conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "pixel < end && !mask_blanks(mask, sample)" "pixel < end")
emu_mutant(conv2d_bwd_weight_missing_barrier conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "        }\n        __syncthreads();\n        for" "        }\n        for")
emu_mutant(conv2d_bwd_weight_early_sum conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "__syncthreads();\n        gemm_add" "gemm_add")
emu_mutant(conv2d_bwd_weight_unwritten_bias conv2d_bwd_weight.cu conv2d_bwd_weight conv2d_bwd_weight__cuda_direct
           "at < columns" "at < length")
emu_mutant(conv2d_bwd_weight_taps_wrong_tap conv2d_bwd_weight_taps_sm90a.cu conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "column - 1, row - 1" "column, row - 1")
emu_mutant(conv2d_bwd_weight_taps_wrong_row conv2d_bwd_weight_taps_sm90a.cu conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "args.dy_bytes + warpgroup * args.x_pitch" "args.dy_bytes + (2 - warpgroup) * args.x_pitch")
emu_mutant(conv2d_bwd_weight_taps_missing_arrival tile/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "wgmma_wait<1>();\n                if (arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);"
           "wgmma_wait<1>();")
emu_mutant(conv2d_bwd_weight_taps_early_arrival tile/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "wgmma_wait<1>();\n" "\n")
emu_mutant(conv2d_bwd_weight_taps_unwritten_tail tile/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "weight_clear(box, args.dy_box_bytes, args.dy_bytes)" "weight_clear(box, args.dy_box_bytes, args.dy_box_bytes)")
emu_mutant(conv2d_bwd_weight_taps_blanked tile/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
           "at->blanked = mask_blanks(args.plane[at->plane].mask, at->sample)" "at->blanked = false")
emu_mutant(conv2d_bwd_weight_boxes_wrong_tap conv2d_bwd_weight_boxes_sm90a.cu conv2d_bwd_weight_boxes_sm90a conv2d_bwd_weight__cuda_boxes_wgmma
           "r * args.dilation[0]" "s * args.dilation[0]")
emu_mutant(conv2d_bwd_weight_boxes_wrong_filters conv2d_bwd_weight_boxes_sm90a.cu conv2d_bwd_weight_boxes_sm90a conv2d_bwd_weight__cuda_boxes_wgmma
           "filter + half * 64" "filter")
emu_mutant(conv2d_bwd_weight_boxes_missing_arrival tile/weight_tiles.cuh conv2d_bwd_weight_boxes_sm90a
           conv2d_bwd_weight__cuda_boxes_wgmma
           "wgmma_wait<1>();\n                if (arrives) barrier_arrive(stages.empty + at.previous * BARRIER_BYTES);"
           "wgmma_wait<1>();")
emu_mutant(conv2d_bwd_weight_taps_short_row tile/weight_tiles.cuh conv2d_bwd_weight_taps_sm90a conv2d_bwd_weight__cuda_taps_wgmma
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
sum_tree_mutant(wrong_part tile/weight_units.cuh "(tile + 1) * tile_units - 1, units" "(tile + 1) * tile_units, units")
sum_tree_mutant(wrong_warpgroup tile/weight_tiles.cuh "by.first * groups + warpgroup" "by.first * groups")
sum_tree_mutant(unwritten_filters tile/weight_tiles.cuh "second < 2" "second < 1")
sum_tree_mutant(wrong_run tile/weight_tiles.cuh "j % 2 * 32" "j % 2 * 16")
sum_tree_mutant(unwritten_channel tile/weight_tiles.cuh "if (channel + 1 < channels)" "if (channel + 2 < channels)")
emu_mutant(sum_tiles_dropped_part tile/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "part < parts; part++" "part + 1 < parts; part++")
emu_mutant(sum_tiles_unwritten_filters tile/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "second < 2" "second < 1")
emu_mutant(sum_tiles_wrong_tile tile/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "of_all = of.first_tile + tile" "of_all = tile")
emu_mutant(weight_sum_wrong_plane weight_sum.cu weight_sum integrate_bwd_weight__cuda_wgmma
           "blockIdx.x >= args.first_block[middle]" "blockIdx.x > args.first_block[middle]")
emu_mutant(sum_tiles_missing_barrier tile/sum_tiles.cuh weight_sum conv2d_bwd_weight__cuda_taps_wgmma
           "shared[threadIdx.x] = sum[0];\n    __syncthreads();" "shared[threadIdx.x] = sum[0];")
emu_mutant(conv2d_bwd_weight_lines_wrong_copy conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "column % 2 ? plane.copy - 1 : 0" "column % 2 ? plane.copy : 0")
emu_mutant(conv2d_bwd_weight_lines_early_sum conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "copy_async_wait<0>();\n        __syncthreads();" "copy_async_wait<0>();")
emu_mutant(conv2d_bwd_weight_lines_missing_wait conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "copy_async_wait<0>();" "copy_async_wait<1>();")
emu_mutant(conv2d_bwd_weight_lines_dropped_warp conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "int32_t pixel = 1; pixel < share.pixels" "int32_t pixel = 1; pixel + 1 < share.pixels")
emu_mutant(conv2d_bwd_weight_lines_unwritten_bias conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines conv2d_bwd_weight__cuda_lines
           "plane.in_channels + args.bias" "plane.in_channels")
emu_mutant(conv2d_bwd_weight_lines_dropped_slice tile/sum_rows.cuh weight_sum conv2d_bwd_weight__cuda_lines
           "slice < plane.slices; slice++" "slice + 1 < plane.slices; slice++")
emu_mutant(conv2d_fwd_igemm_wrong_tap tile/igemm_pixels.cuh conv2d_fwd_igemm conv2d_fwd__cuda_igemm
           "term.s * taps[1].advance" "term.r * taps[1].advance")
emu_mutant(conv2d_fwd_igemm_missing_barrier tile/igemm.cuh conv2d_fwd_igemm conv2d_fwd__cuda_igemm
           "copy_async_wait<IGEMM_STAGES - 2>();\n        __syncthreads();" "copy_async_wait<IGEMM_STAGES - 2>();")
emu_mutant(conv2d_fwd_igemm_missing_wait tile/igemm.cuh conv2d_fwd_igemm conv2d_fwd__cuda_igemm
           "copy_async_wait<IGEMM_STAGES - 2>();" "copy_async_wait<IGEMM_STAGES - 1>();")
emu_mutant(conv2d_fwd_igemm_unwritten_tail conv2d_fwd_igemm.cu conv2d_fwd_igemm conv2d_fwd__cuda_igemm
           "group + 1 == args.groups ? filters + unused : filters" "filters")
emu_mutant(conv2d_bwd_data_igemm_wrong_class conv2d_bwd_data_igemm.cu conv2d_bwd_data_igemm conv2d_bwd_data__cuda_igemm
           "w * args.stride[1] + pixels.first[1]" "w * args.stride[1]")
emu_mutant(conv2d_bwd_data_igemm_wrong_term conv2d_bwd_data_igemm.cu conv2d_bwd_data_igemm conv2d_bwd_data__cuda_igemm
           "found.step = tap - found.tap" "found.step = 1")
emu_mutant(conv2d_bwd_weight_igemm_blanked conv2d_bwd_weight_igemm.cu conv2d_bwd_weight_igemm conv2d_bwd_weight__cuda_igemm
           "pixel[j] < end && !mask_blanks(plane.mask, sample[j])" "pixel[j] < end")
emu_mutant(conv2d_bwd_weight_igemm_wrong_pixel conv2d_bwd_weight_igemm.cu conv2d_bwd_weight_igemm conv2d_bwd_weight__cuda_igemm
           "if (++p[j] == args.out_size[0])" "if (++p[j] > args.out_size[0])")
emu_mutant(linear_bwd_weight_igemm_unwritten_bias conv2d_bwd_weight_igemm.cu conv2d_bwd_weight_igemm linear_bwd_weight__cuda_igemm
           "columns = length + args.bias" "columns = length")
emu_mutant(linear_bwd_weight_dropped_part tile/sum_rows.cuh weight_sum linear_bwd_weight__cuda_direct
           "part < end" "part + 1 < end")
emu_mutant(bn_stats_dropped_pixel tile/columns.cuh bn_stats bn_stats__cuda_direct
           "last < columns.pixels ? last : columns.pixels" "last < columns.pixels ? last : columns.pixels - 1")
emu_mutant(bn_stats_missing_barrier tile/columns.cuh bn_stats bn_stats__cuda_direct
           "            }\n        }\n        __syncthreads();" "            }\n        }")
emu_mutant(bn_stats_wrong_lane tile/columns.cuh bn_stats bn_stats__cuda_direct
           "thread < channels && own.channel < from.plane.channels" "thread < channels && own.channel < from.plane.pitch")
emu_mutant(bn_stats_missing_reset tile/arrive.cuh bn_stats bn_stats__cuda_direct
           "atomicInc(counter, (uint32_t)count - 1)" "atomicInc(counter, 0xFFFFFFFFu)")
emu_mutant(bn_stats_early_look tile/arrive.cuh bn_stats bn_stats__cuda_direct
           "__syncthreads_or(is_last)" "is_last")
emu_mutant(bn_stats_wrong_arrivals tile/columns.cuh bn_stats bn_stats__cuda_direct
           "mine.counter, args.columns.parts)" "mine.counter, args.columns.parts > 1 ? args.columns.parts - 1 : 1)")
emu_mutant(bn_sums_wrong_row tile/columns.cuh bn_sums bn_sums__cuda_direct
           "column_at(columns, work, row)" "column_at(columns, work, 0)")
emu_mutant(bn_sums_dropped_row tile/columns.cuh bn_sums bn_sums__cuda_direct
           "other = at + channels;" "other = at + 2 * channels;")
emu_mutant(bn_stats_wrong_count tile/columns.cuh bn_stats bn_stats__cuda_direct
           "(next < work.end ? next : work.end) - pixel" "next - pixel")
emu_mutant(bn_stats_wrong_origin tile/moments.cuh bn_stats bn_stats__cuda_direct
           "mean += load(value) * share;" "mean = 0;")
emu_mutant(bn_sums_stuck_barrier tile/columns.cuh bn_sums bn_sums__cuda_direct
           "    __syncthreads();\n    for" "    if (threadIdx.x == 255) return;\n    __syncthreads();\n    for")
emu_mutant(bn_sums_early_stage tile/columns.cuh bn_sums bn_sums__cuda_direct
           "copy_async_wait<stages - 2>" "copy_async_wait<stages - 1>")
emu_mutant(bn_sums_wrong_stage tile/columns.cuh bn_sums bn_sums__cuda_direct
           "last = here;" "last = here + 1 < stages ? here + 1 : 0;")
emu_mutant(bn_add_act_bwd_weight_early_sums tile/columns.cuh bn_sums bn_add_act_bwd_weight__cuda_direct
           "    __syncthreads(); /* nobody reads packs any more */\n" "")
emu_mutant(bn_stats_early_origin tile/moments.cuh bn_stats bn_stats__cuda_direct
           "        __syncwarp();\n" "")
emu_mutant(bn_sums_lost_pixel tile/columns.cuh bn_sums bn_sums__cuda_direct
           "work.begin + work.step - 1) >>" "work.begin) >>")
emu_mutant(bn_sums_unsent_pixel tile/columns.cuh bn_sums bn_sums__cuda_direct
           "left-- > 0" "--left > 0")
emu_mutant(bn_prepare_lost_round tile/columns.cuh bn_prepare bn_prepare__cuda_direct
           "left -= ahead * step)" "left -= (ahead + 1) * step)")
emu_mutant(bn_apply_short_row tile/pixels.cuh bn_apply bn_apply__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bn_apply_beyond_the_end tile/pixels.cuh bn_apply bn_apply__cuda_direct
           "pixel < work.end" "pixel < work.end + 100000")
emu_mutant(bn_dapply_wrong_count tile/bn.cuh bn_dapply bn_dapply__cuda_direct
           "mask_active(plane.mask, args.map.batch)" "args.map.batch")
emu_mutant(bn_prepare_early_count bn_prepare.cu bn_prepare bn_prepare__cuda_direct
           "arrives_last(args.sums.counters + gridDim.x, tiles)" "true")
emu_mutant(bn_prepare_wrong_tiles bn_prepare.cu bn_prepare bn_prepare__cuda_direct
           "(int32_t)gridDim.x / args.sums.columns.parts" "(int32_t)gridDim.x")
emu_mutant(bn_finalize_wrong_channel bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "c -= args.plane[i++].channels" "i++")
emu_mutant(bn_finalize_early_count bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "int64_t c = " "if (args.train) *args.batches = batches + 1;\n    int64_t c = ")
emu_mutant(bn_finalize_unwritten_tail bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "            finalize(all, i, c," "            if (c + 1 < args.plane[i].channels) finalize(all, i, c,")
emu_mutant(act_fwd_second_pixel tile/pixels.cuh act_fwd act_fwd__cuda_direct
           "pixel += ahead * work.step" "pixel += (ahead + 1) * work.step")
emu_mutant(act_bwd_data_open_relu tile/act.cuh act_bwd_data act_bwd_data__cuda_direct
           "x <= floor ? 0 : dy" "x < floor ? 0 : dy")
emu_mutant(act_fwd_wrong_side tile/act.cuh act_fwd act_fwd__cuda_direct
           "x < 0 ? beyond : 1 - beyond" "1 - beyond")
emu_mutant(act_fwd_other_curve tile/act.cuh act_fwd act_fwd__cuda_direct
           "act_rule(BRAID_ACTIVATION_GELU_TANH).each::values(x)" "act_rule(BRAID_ACTIVATION_GELU).each::values(x)")
emu_mutant(act_bwd_data_other_curve tile/act.cuh act_bwd_data act_bwd_data__cuda_direct
           "act_rule(BRAID_ACTIVATION_GELU).each::gradients(x, dy)"
           "act_rule(BRAID_ACTIVATION_GELU_TANH).each::gradients(x, dy)")
emu_mutant(act_bwd_data_no_density tile/act.cuh act_bwd_data act_bwd_data__cuda_direct
           "normal.below + x * ACT_INV_SQRT_2PI * normal.density" "normal.below")
emu_mutant(add_unaligned tile/pixels.cuh add add__cuda_direct
           "work.lane * body::lanes" "work.lane")
emu_mutant(add_wrong_input add.cu add add__cuda_direct
           "this->take(this->plane.z, at)" "this->take(this->plane.x, at)")
emu_mutant(add_unwritten_tail tile/pixels.cuh add add__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bias_fwd_wrong_channel bias.cu bias bias_fwd__cuda_direct
           "(const number *)this->plane.z + c" "(const number *)this->plane.z")
emu_mutant(bias_fwd_unwritten_tail tile/pixels.cuh bias bias_fwd__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bias_fwd_blanked bias.cu bias bias_fwd__cuda_direct
           "this->clear(this->plane.y, at)" "")
emu_mutant(bias_bwd_weight_blanked tile/columns.cuh bias bias_bwd_weight__cuda_direct
           "!masked || !column_blanks(from, pixel);" "true;")
emu_mutant(bias_bwd_weight_dropped_part bias.cu bias bias_bwd_weight__cuda_direct
           "both.dy = a.dy + b.dy" "both.dy = a.dy")
emu_mutant(bias_bwd_weight_early_sums tile/columns.cuh bias bias_bwd_weight__cuda_direct
           "    __syncthreads(); /* nobody reads packs any more */\n" "")
emu_mutant(cast_wrong_format cast.cu cast cast__cuda_direct
           "pack_write((bf16 *)y" "pack_write((f16 *)y")
emu_mutant(cast_wide_packs tile/pixels.cuh cast cast__cuda_direct
           "args.map.vector[work.plane] == 4" "args.map.vector[work.plane] == 3")
emu_mutant(cast_unwritten_tail tile/pixels.cuh cast cast__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(dropout_shared_block dropout.cu dropout dropout_fwd__cuda_direct
           "j > 0 && number_at % 4 == 0" "j > 0 && number_at % 8 == 0")
emu_mutant(dropout_wrong_stream dropout.cu dropout dropout_bwd_data__cuda_direct
           "* 16 + (uint64_t)i" "* 16")
emu_mutant(dropout_whole_blocks dropout.cu dropout dropout_fwd__cuda_direct
           "plane.channels == plane.pitch &&" "plane.channels <= plane.pitch &&")
emu_mutant(dropout_full_tail tile/pack.cuh dropout dropout_fwd__cuda_direct
           "if (inside < width) {" "if (inside < -width) {")
emu_mutant(dropout_keeps_at_the_limit dropout.cu dropout dropout_fwd__cuda_direct
           "all.limit >> BITS ? 0 :" "all.limit < 0 ? 0 :")
emu_mutant(maxpool_fwd_wrong_tap tile/window.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "left + s * window.dilation[1]" "left + s")
emu_mutant(maxpool_bwd_data_last_of_equals tile/window.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "!(value[j] > best.value[j])" "!(value[j] >= best.value[j])")
emu_mutant(maxpool_bwd_data_missing_window tile/window.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "r = window.filter[0] - 1; r >= 0" "r = window.filter[0] - 1; r > 0")
emu_mutant(avgpool_fwd_missing_barrier tile/columns.cuh avgpool_fwd avgpool_fwd__cuda_direct
           "            }\n        }\n        __syncthreads();" "            }\n        }")
emu_mutant(avgpool_fwd_early_pack avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "copy_async_wait<STAGES - 2>();" "copy_async_wait<STAGES - 1>();")
emu_mutant(avgpool_fwd_early_sums avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "__syncthreads(); /* nobody reads packs any more */" "")
emu_mutant(avgpool_fwd_lost_part avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "part < of.parts; part++" "part < of.parts - 1; part++")
emu_mutant(avgpool_fwd_wrong_arrivals avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "(uint32_t)of.parts, of.parts)" "(uint32_t)of.parts, of.parts + 1)")
emu_mutant(avgpool_fwd_other_part avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "sums[of.part * WINDOW_SUMS +" "sums[of.part % 2 * WINDOW_SUMS +")
emu_mutant(avgpool_fwd_wrong_line avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "at / across * line" "at / across * across")
emu_mutant(avgpool_fwd_unwritten_tail avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "lanes || c >= plane.pitch" "lanes || c >= plane.channels")
emu_mutant(avgpool_bwd_data_wrong_window tile/window.cuh avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "(at + 1) * of + size - 1" "(at + 1) * of")
emu_mutant(avgpool_bwd_data_wrong_sample avgpool_bwd_data.cu avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "this->in_sample * this->plane.pitch + c" "c")
emu_mutant(avgpool_bwd_data_unwritten_tail tile/pixels.cuh avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bn_act_fwd_wrong_channel tile/bn_apply.cuh bn_apply bn_act_fwd__cuda_direct
           "this->plane.shift + c, this->plane.channels" "this->plane.shift, this->plane.channels")
emu_mutant(bn_add_act_fwd_residual tile/bn_apply.cuh bn_apply bn_add_act_fwd__cuda_direct
           "this->shift[j] += zshift[j]" "this->shift[j] = zshift[j]")
emu_mutant(bn_add_act_bwd_data_unwritten tile/bn_dapply.cuh bn_dapply bn_add_act_bwd_data__cuda_direct
           "if (this->plane.dz) this->clear(this->plane.dz, at);" ";")
emu_mutant(bn_act_bwd_weight_dropped_part tile/columns.cuh bn_sums bn_act_bwd_weight__cuda_direct
           "if (j * step < left)" "if (j * step + 1 < left)")
emu_mutant(bn_act_pool_bwd_data_open_relu tile/bn.cuh bn_dapply bn_act_pool_bwd_data__cuda_direct
           "act_gradient(this->args.activation, x[j] * scale[j]" "act_gradient(BRAID_ACTIVATION_NONE, x[j] * scale[j]")
emu_mutant(maxpool_fwd_wrong_row tile/window3.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "window.padding[0] + r, window.size[0]" "window.padding[0] + 1, window.size[0]")
emu_mutant(maxpool_bwd_data_slide_second_of_equals tile/slide.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "int t = 8; t >= 0; t--" "int t = 0; t < 9; t++")
emu_mutant(maxpool_bwd_data_slide_missing_barrier tile/slide.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "took.at[2 * half + 1]};\n        __syncthreads();" "took.at[2 * half + 1]};")
emu_mutant(maxpool_bwd_data_slide_short_strip tile/slide.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "row = work.first - 1; row" "row = work.first; row")
emu_mutant(maxpool_bwd_data_slide_right_edge tile/slide.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "right = middle < last" "right = middle <= last")
emu_mutant(maxpool_bwd_data_slide_left_of_last tile/slide.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "middle > 0 && middle <= last" "middle > 0")
emu_mutant(bn_act_pool_bwd_data_slide_two_rows tile/slide.cuh bn_dapply bn_act_pool_bwd_data__cuda_direct
           "SLIDE_ROWS 3 " "SLIDE_ROWS 2 ")
emu_mutant(bn_act_pool_bwd_data_slide_padding tile/slide.cuh bn_dapply bn_act_pool_bwd_data__cuda_direct
           "(t < 3 ? below : 0)" "0")
emu_mutant(bn_act_pool_bwd_weight_scale_zero bn_sums.cu bn_sums bn_act_pool_bwd_weight__cuda_direct
           "some_alike ? (best.at[k] & kept) | (first.at[k] & ~kept) : best.at[k]" "best.at[k]")
emu_mutant(bn_act_pool_bwd_weight_short_part bn_sums.cu bn_sums bn_act_pool_bwd_weight__cuda_direct
           "begin + share < steps ? begin + share : steps" "begin + share < steps ? begin + share - 1 : steps")
emu_mutant(bn_act_pool_bwd_weight_flipped bn_sums.cu bn_sums bn_act_pool_bwd_weight__cuda_direct
           "if (is_flipped(j)) center[j]" "if (false) center[j]")
emu_mutant(bn_act_pool_bwd_data_threshold tile/bn.cuh bn_dapply bn_act_pool_bwd_data__cuda_direct
           "* fabsf(scale) + shift <= 0) {" "* scale + shift <= 0) {")
emu_mutant(maxpool_bwd_data_apart_last_places maxpool_bwd_data.cu maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "if (at == window.out_size[axis] || first" "if (first")
emu_mutant(maxpool_bwd_data_2x2_all_of_equals maxpool_bwd_data.cu maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "best) & ~taken;" "best);")
emu_mutant(maxpool_fwd_2x2_wrong_row tile/window2.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "2 * line * window.size[1]" "line * window.size[1]")
emu_mutant(maxpool_fwd_next_row tile/window.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "if (++s < window.filter[1]) continue;" "if (++s <= window.filter[1]) continue;")
emu_mutant(act_fwd_wrong_tile tile/pixels.cuh act_fwd act_fwd__cuda_direct
           "block % tiles * lanes" "0")
emu_mutant(bn_act_pool_fwd_wrong_order tile/bn.cuh bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "< 0 ? sign : 0" "> 0 ? sign : 0")
emu_mutant(bn_act_pool_fwd_wrong_row tile/window3.cuh bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "window.padding[0] + r, window.size[0]" "window.padding[0] + 1, window.size[0]")
emu_mutant(bn_act_pool_fwd_unwritten_blank bn_act_pool_fwd.cu bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "this->clear(this->plane.y, at);" "")
emu_mutant(softmax_xent_fwd_missing_barrier tile/rows.cuh class_loss softmax_xent_fwd__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(softmax_xent_bwd_data_partial_weight class_loss.cu class_loss softmax_xent_bwd_data__cuda_direct
           "    weight = row_sum(shared, weight, BLOCK_THREADS);\n" "")
emu_mutant(softmax_xent_bwd_data_unwritten_tail class_loss.cu class_loss softmax_xent_bwd_data__cuda_direct
           "c < args.pitch; c += args.lanes" "c < args.classes; c += args.lanes")
emu_mutant(focal_fwd_wrong_row class_loss.cu class_loss focal_fwd__cuda_direct
           "(int32_t)threadIdx.x / args.lanes;" "(int32_t)threadIdx.x % args.lanes;")
emu_mutant(focal_bwd_data_ignored class_loss.cu class_loss focal_bwd_data__cuda_direct
           "if (label >= 0) weight +=" "weight +=")
emu_mutant(mse_fwd_dropped_block totals.cu totals mse_fwd__cuda_direct
           "args.map.first_block[i] + (int32_t)threadIdx.x" "args.map.first_block[i] + 1 + (int32_t)threadIdx.x")
emu_mutant(mse_bwd_data_wrong_count mse_bwd_data.cu mse_bwd_data mse_bwd_data__cuda_direct
           "(double)this->plane.channels" "(double)this->plane.pitch")
emu_mutant(mse_bwd_data_wrong_target mse_bwd_data.cu mse_bwd_data mse_bwd_data__cuda_direct
           "this->take(this->plane.z, at)" "this->take(this->plane.z, at % this->plane.pitch)")
emu_mutant(mse_bwd_data_unwritten_tail tile/pixels.cuh mse_bwd_data mse_bwd_data__cuda_direct
           "last : map.sample_pixels)" "last : map.sample_pixels - 1)")
emu_mutant(balance_fwd_dropped_warp tile/rows.cuh totals balance_fwd__cuda_direct
           "j < warps; j++" "j + 1 < warps; j++")
emu_mutant(balance_bwd_data_wrong_norm balance_bwd_data.cu balance_bwd_data balance_bwd_data__cuda_direct
           "all.norms[i]" "all.norms[0]")
emu_mutant(balance_bwd_data_dropped_stream balance_bwd_data.cu balance_bwd_data balance_bwd_data__cuda_direct
           "int k = 0; k < all.planes" "int k = 1; k < all.planes")
emu_mutant(balance_bwd_data_unwritten_tail tile/pixels.cuh balance_bwd_data balance_bwd_data__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(sgd_wrong_segment update.cu update sgd__cuda_direct
           "args.segments[2 * middle] <= element" "args.segments[2 * middle] > element")
emu_mutant(adam_missing_barrier update.cu update adam__cuda_direct
           "    __syncthreads();\n    const update_factors" "    const update_factors")
emu_mutant(adamw_unwritten_tail update.cu update adamw__cuda_direct
           "4 * pack >= args.count" "4 * pack + 3 >= args.count")
emu_mutant(rmsprop_frozen update.cu update rmsprop__cuda_direct
           "hyper[2] == 0 || " "")
emu_mutant(clip_norm_dropped_pack clip_norm.cu clip_norm clip_norm__cuda_direct
           "pack += args.blocks * blockDim.x" "pack += (args.blocks + 1) * blockDim.x")
emu_mutant(clip_norm_halves_dropped_tail clip_norm.cu clip_norm clip_norm__cuda_direct
           "at = packs * wide + thread" "at = packs * wide + thread + 1")
emu_mutant(clip_norm_halves_wrong_place clip_norm.cu clip_norm clip_norm__cuda_direct
           "(args.y + first, value)" "(args.y, value)")
emu_mutant(clip_norm_halves_alone clip_norm.cu clip_norm clip_norm__cuda_direct
           "share_halves<f16>(args) + share(args)" "share_halves<f16>(args)")
emu_mutant(clip_norm_wrong_arrivals clip_norm.cu clip_norm clip_norm__cuda_direct
           "arrives_last(args.counters, (int32_t)args.blocks)" "arrives_last(args.counters, (int32_t)args.blocks - 1)")
emu_mutant(mse_fwd_never_last totals.cu totals mse_fwd__cuda_direct
           "(int32_t)gridDim.x" "(int32_t)gridDim.x + 1")
emu_mutant(clip_norm_one_batch clip_norm.cu clip_norm clip_norm__cuda_direct
           "(double)args.scaling[SCALING_BATCHES]" "1.0")
emu_mutant(integrate_fwd_wrong_stride integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "* source.stride[1]" "* source.stride[0]")
emu_mutant(integrate_fwd_missing_barrier integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "gemm_add(&sums, slice);\n            __syncthreads();" "gemm_add(&sums, slice);")
emu_mutant(integrate_fwd_unwritten_tail integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "if (output >= args.outputs) break;" "if (output + 1 >= args.outputs) break;")
emu_mutant(layernorm_fwd_missing_barrier tile/rows.cuh rows layernorm_fwd__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(layernorm_bwd_data_unwritten_tail rows.cu rows layernorm_bwd_data__cuda_direct
           "c < plane.pitch && work.live" "c < plane.channels && work.live")
emu_mutant(layernorm_bwd_weight_wrong_row layernorm_bwd_weight.cu layernorm_bwd_weight layernorm_bwd_weight__cuda_direct
           "this->plane.var[pixel + p * step]" "this->plane.var[pixel]")
emu_mutant(rownorm_bwd_data_wrong_row rows.cu rows rownorm_bwd_data__cuda_direct
           "(BLOCK_THREADS / lanes) +" "(BLOCK_THREADS / lanes + 1) +")
emu_mutant(fuse_fwd_wrong_column fuse.cu fuse fuse_fwd__cuda_direct
           "this->args.column[this->index] + c;\n        float" "c;\n        float")
emu_mutant(fuse_bwd_data_wrong_sample fuse.cu fuse fuse_bwd_data__cuda_direct
           "(const number *)this->plane.dy + sample * this->args.width" "(const number *)this->plane.dy")
emu_mutant(fuse_fwd_unwritten_tail fuse.cu fuse fuse_fwd__cuda_direct
           "if (c + j < this->plane.channels) store" "if (c + j + 1 < this->plane.channels) store")
emu_mutant(fuse_bwd_weight_dropped_sample fuse_bwd_weight.cu fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "sum += args.totals[sample" "sum = args.totals[sample")
emu_mutant(fuse_bwd_weight_missing_barrier tile/rows.cuh fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(fuse_bwd_weight_unwritten_tail fuse_bwd_weight.cu fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "i < args.planes; i++) {\n        const double value"
           "i + 1 < args.planes; i++) {\n        const double value")
emu_mutant(normalize_wrong_byte normalize.cu normalize normalize__cuda_direct
           "pixel * this->plane.channels + c" "pixel * this->plane.pitch + c")
emu_mutant(normalize_wrong_channel normalize.cu normalize normalize__cuda_direct
           "(int32_t)(c + j) % folded" "j % folded")
emu_mutant(normalize_unwritten_tail tile/pixels.cuh normalize normalize__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(act_fwd_odd_addresses tile/pixels.cuh act_fwd act_fwd__cuda_direct
           "args.map.vector[work.plane]" "args.map.vector[work.plane] || args.map.sample_pixels == 15")
emu_mutant(augment_wrong_corner augment.cu augment augment__cuda_direct
           "s.d.source.left + column" "column")
emu_mutant(augment_unwritten_tail augment.cu augment augment__cuda_direct
           "c < s.plane.pitch" "c < s.plane.channels")
emu_mutant(augment_lost_part augment.cu augment augment__cuda_direct
           "args.sums[s.image * args.parts + s.part] = mine" "args.sums[s.image * args.parts] = mine")
emu_mutant(augment_other_noise augment.cu augment augment__cuda_direct
           "numbers.index = 2 * (uint64_t)element" "numbers.index = (uint64_t)element")
emu_mutant(integrate_fwd_mma_blanked tile/integrate.cuh integrate_fwd_mma integrate_fwd__cuda_mma
           "c < source.channels && !mask_blanks(source.mask, place.sample)" "c < source.channels")
emu_mutant(integrate_fwd_mma_missing_barrier integrate_fwd_mma.cu integrate_fwd_mma integrate_fwd__cuda_mma
           "copy_async_wait<ahead - 1>();\n                __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_fwd_mma_wrong_lane tile/quad.cuh integrate_fwd_mma integrate_fwd__cuda_mma
           "upper ? word[j] : word[j + step]" "upper ? word[j + step] : word[j]")
emu_mutant(integrate_fwd_wgmma_early_free tile/integrate_fwd.cuh integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (k > 0) ring_free(before);" "ring_free(before);")
emu_mutant(integrate_fwd_wgmma_blanked tile/integrate_tma.cuh integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (!mask || first >= end) return false;" "if (first >= 0) return false;")
emu_mutant(integrate_fwd_wgmma_unwritten_tail integrate_fwd_sm90a.cu integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (pixel < all.pixels && column" "if (pixel + 1 < all.pixels && column")
emu_mutant(integrate_prepare_tail integrate_prepare_sm90a.cu integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "pixel < all.pixels && !(mask" "!(mask")
emu_mutant(integrate_prepare_blanked integrate_prepare_sm90a.cu integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "all, all.source[i].mask, tile.index" "all, NULL, tile.index")
emu_mutant(integrate_prepare_not_staged integrate_prepare_sm90a.cu integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "    barrier_wait(at.staged, parity);\n" "")
emu_mutant(integrate_prepare_written_over integrate_prepare_sm90a.cu integrate_prepare_sm90a
           integrate_prepare__cuda_wgmma
           "            barrier_wait(at.read, (round + (uint32_t)(k / squares) + 1) & 1);\n" "")
emu_mutant(integrate_prepare_early_free integrate_prepare_sm90a.cu integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "            ring_wait(*at);\n" "")
emu_mutant(integrate_prepare_swizzle tile/panel_sums.cuh integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "panel_piece_address(panel, first + 4, piece)" "panel_piece_address(panel, first, piece) + 4 * PANEL_ROW_BYTES")
emu_mutant(integrate_prepare_lost_tiles tile/panel_sums.cuh integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "sums.count += count" "sums.count = count")
emu_mutant(integrate_prepare_dropped_group tile/moments_join.cuh integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "all.group, groups, c" "all.group, groups > 1 ? groups - 1 : 1, c")
emu_mutant(integrate_prepare_early_group tile/moments_join.cuh integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "+ 1 + group, count)" "+ 1 + group, count > 1 ? count - 1 : 1)")
emu_mutant(integrate_prepare_early_count tile/moments_join.cuh integrate_prepare_sm90a integrate_prepare__cuda_wgmma
           "arrives_last(moments_finished(all), all.columns)" "arrives_last(moments_finished(all), all.columns) && false")
function(prepare_rows_mutant name file from to)
    emu_mutant(conv2d_prepare_rows_${name} ${file} conv2d_fwd_rows_sm90a conv2d_prepare__cuda_rows_wgmma "${from}" "${to}")
endfunction()
prepare_rows_mutant(beyond_column tile/epilogue_rows.cuh "first + 1 < inside" "first + 1 <= inside + 1")
prepare_rows_mutant(beyond_row conv2d_fwd_rows_sm90a.cu "i < rows ? columns : 0" "columns")
prepare_rows_mutant(one_part conv2d_fwd_rows_sm90a.cu "2 * work.part + group" "2 * work.part")
prepare_rows_mutant(wrong_parts conv2d_fwd_rows_sm90a.cu "args.parts[work.plane]" "args.parts[0]")
prepare_rows_mutant(early_count tile/row_moments.cuh "row_parts_arrives_last(finished, finishers, at)" "true")
function(prepare_halo_mutant name columns file from to)
    emu_mutant(conv2d_prepare_halo_rows_${name} ${file} conv2d_fwd_halo_sm90a conv2d_prepare__cuda_halo_rows${columns}
               "${from}" "${to}")
endfunction()
prepare_halo_mutant(wrong_channel 136 tile/row_moments.cuh "include_one(j / 2 % 2, pair_at" "include_one(j % 2, pair_at")
prepare_halo_mutant(origin_stays 112 tile/row_moments.cuh "origin[i] = next;" "")
prepare_halo_mutant(no_origin 112 tile/row_moments.cuh "isfinite(first) ? first : 0" "isfinite(first) ? 0 : first")
prepare_halo_mutant(lost_lanes 136 tile/row_moments.cuh "bits < 4; bits *= 2" "bits < 2; bits *= 2")
prepare_halo_mutant(wrong_share 136 tile/halo_rows.cuh "2 * range.share + group," "group,")
prepare_halo_mutant(wrong_norm 136 tile/halo_rows.cuh "of_prepare.norm, range.plane" "of_prepare.norm, 0")
function(prepare_lanes_mutant name file from to)
    emu_mutant(conv2d_prepare_im2col_${name} ${file} conv2d_prepare_im2col_sm90a conv2d_prepare__cuda_im2col_lanes
               "${from}" "${to}")
endfunction()
prepare_lanes_mutant(blanked tile/im2col_results.cuh "place >= 0 && place < IM2COL_BLANKED) << j" "place >= 0) << j")
prepare_lanes_mutant(tail_pixels tile/im2col_results.cuh "place >= 0 && place < IM2COL_BLANKED) << j"
                     "place < IM2COL_BLANKED) << j")
prepare_lanes_mutant(no_origin tile/row_moments.cuh "isfinite(first) ? first : 0" "isfinite(first) ? 0 : first")
prepare_lanes_mutant(blanked_origin tile/row_moments.cuh "if (live >> (j / 4 * 2 + j % 2) & 1) start(j" "start(j")
prepare_lanes_mutant(wrong_part tile/im2col.cuh "((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles," "0,")
prepare_lanes_mutant(wrong_plane tile/row_moments.cuh "bn_channel_of(norm.plane[i], c)" "bn_channel_of(norm.plane[0], c)")
prepare_lanes_mutant(early_group tile/row_parts.cuh "ROW_PARTS_GROUPS(at.parts), at)" "1, at)")
prepare_lanes_mutant(missing_barrier tile/row_parts.cuh "    named_sync(at.id, 128);\n    if (threadIdx" "    if (threadIdx")
prepare_lanes_mutant(early_count tile/row_moments.cuh "row_parts_arrives_last(finished, finishers, at)" "true")
prepare_lanes_mutant(unwritten_tail tile/im2col.cuh "im2col_live<shape>(places, at));" "0);")

# Sums in the epilogue of a data gradient: channels, the ReLU, pixels that are not there or blanked, lanes, parts and
# those who add them.
function(dsums_rows_mutant name file from to)
    emu_mutant(conv2d_dsums_halo_rows_${name} ${file} conv2d_dsums_halo_sm90a conv2d_dsums__cuda_halo_rows136 "${from}"
               "${to}")
endfunction()
function(dsums_lanes_mutant name file from to)
    emu_mutant(conv2d_dsums_im2col_${name} ${file} conv2d_dsums_im2col_sm90a conv2d_dsums__cuda_im2col_lanes "${from}"
               "${to}")
endfunction()
dsums_rows_mutant(wrong_channel tile/row_dsums.cuh "const int i = j / 2 % 2;" "const int i = j % 2;")
dsums_rows_mutant(no_relu tile/row_dsums.cuh "open <= 0 ? 0 : pair_at" "open < -1e30f ? 0 : pair_at")
dsums_rows_mutant(tail_pixels tile/epilogue_rows.cuh "first + 1 < inside" "first + 1 <= inside + 1")
dsums_rows_mutant(lost_lanes tile/row_dsums.cuh "bits < 4; bits *= 2" "bits < 2; bits *= 2")
dsums_rows_mutant(last_part tile/row_parts.cuh "(own, at.pitch, count)" "(own, at.pitch, count - 1)")
dsums_rows_mutant(early_group tile/row_parts.cuh "at.counters + 1 + group, count, at)"
                  "at.counters + 1 + group, count > 1 ? count - 1 : 1, at)")
dsums_rows_mutant(missing_barrier tile/row_parts.cuh "    named_sync(at.id, 128);\n    return" "    return")
dsums_rows_mutant(wrong_group tile/halo_dsums.cuh "sums.begin(plane.sums, range.group * HALO_BLOCK" "sums.begin(plane.sums, 0")
dsums_rows_mutant(one_part tile/halo_rows.cuh "2 * range.share + group," "2 * range.share,")
dsums_rows_mutant(early_r tile/halo_dsums.cuh "            barrier_wait(added, parity);\n" "")
dsums_rows_mutant(early_row tile/halo_dsums.cuh "            tma_wait_read<0>();\n" "")
dsums_rows_mutant(early_store tile/halo_dsums.cuh "named_sync(HALO_DSUMS_READY + group, 160);" "")
dsums_rows_mutant(early_x tile/halo_dsums.cuh "barrier_wait(read_full, (uint32_t)index >> 1 & 1);" "(void)index;")
dsums_rows_mutant(early_reuse tile/halo_dsums.cuh "barrier_wait(at.read_empty, (uint32_t)(unit.index + 1) & 1);" "")
dsums_lanes_mutant(blanked tile/im2col_results.cuh "place >= 0 && place < IM2COL_BLANKED) << j" "place >= 0) << j")
dsums_lanes_mutant(wrong_tile tile/im2col_results.cuh "(x, place + shape::plane_bytes)" "(x, place)")
dsums_lanes_mutant(wrong_added tile/im2col_results.cuh "(dx, place + 2 * shape::plane_bytes)" "(dx, place + shape::plane_bytes)")
dsums_lanes_mutant(lost_added tile/im2col_results.cuh "by_x && plane.epilogue.added)" "by_x && plane.epilogue.added && begin > 0)")
dsums_lanes_mutant(unwritten_tail tile/im2col_results.cuh "at < begin + shape::piece && at < shape::columns; at += 16) {\n        const int32_t place"
                   "at < begin + shape::piece && at + 16 < shape::columns; at += 16) {\n        const int32_t place")
dsums_lanes_mutant(early_tile tile/im2col_results.cuh "barrier_expect(to->filled(), planes * " "barrier_expect(to->filled(), ")
dsums_lanes_mutant(early_r tile/im2col_results.cuh "        barrier_wait(to->filled(), to->parity);\n" "")
dsums_lanes_mutant(early_store tile/im2col_results.cuh "        barrier_wait(from.ready(), from.parity);\n" "")
dsums_lanes_mutant(early_fill tile/im2col_results.cuh "        tma_wait_read<1>();\n        im2col_ask" "        im2col_ask")
dsums_lanes_mutant(last_group tile/row_parts.cuh "ROW_PARTS_GROUPS(at.parts));" "ROW_PARTS_GROUPS(at.parts) - 1);")
dsums_lanes_mutant(wrong_part tile/im2col.cuh "((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles," "0,")
dsums_lanes_mutant(wrong_plane tile/im2col_shape.cuh "    turns.step = plane.blocks;\n" "")
emu_mutant(bn_act_conv2d_border tile/halo_norm.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows136
           "column < 0 || column >= width" "column < -1 || column >= width")
emu_mutant(bn_act_conv2d_swizzle tile/halo_norm.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows112
           "(pack ^ pixel % 8) << 4" "pack << 4")
emu_mutant(bn_act_conv2d_unwritten_tail tile/halo_norm.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows136
           "pixel <= columns &&" "pixel < columns &&")
emu_mutant(bn_act_conv2d_early tile/halo_rows.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows136
           "barrier_wait(at.loaded + stage * BARRIER_BYTES, (uint32_t)i / HALO_ROWS & 1);" "")
emu_mutant(bn_act_conv2d_missing_arrival tile/halo_rows.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows112
           "if (threadIdx.x % 32 == 0) barrier_arrive(at.full" "if (threadIdx.x % 64 == 0) barrier_arrive(at.full")
emu_mutant(bn_act_conv2d_blanked tile/halo_norm.cuh conv2d_fwd_halo_sm90a bn_act_conv2d__cuda_halo_rows136
           "if (row.is_blanked) {" "if (false) {")
emu_mutant(integrate_bwd_data_mma_wrong_row tile/panel_mma.cuh integrate_bwd_data_mma integrate_bwd_data__cuda_mma
           "panel_address(b, lane % 16, lane / 16)" "panel_address(b, lane % 8, lane / 16)")
emu_mutant(integrate_bwd_data_mma_missing_barrier integrate_bwd_data_mma.cu integrate_bwd_data_mma
           integrate_bwd_data__cuda_mma
           "copy_async_wait<ahead - 1>();\n        __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_bwd_data_mma_unwritten_tail integrate_bwd_data_mma.cu integrate_bwd_data_mma
           integrate_bwd_data__cuda_mma "if (!inside || c >= to.lanes)" "if (!inside || c >= to.channels)")
emu_mutant(integrate_bwd_data_wgmma_no_zeros integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "w < args.stride[1] &&" "w < 1 &&")
emu_mutant(integrate_bwd_data_wgmma_unwritten_tail integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "panel < shape::columns / PANEL_COLUMNS && !skips" "panel < 1 && !skips")
emu_mutant(integrate_bwd_data_wgmma_early_reuse integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "        tma_wait_read<0>();\n" "")
emu_mutant(integrate_bwd_data_wgmma_early_add integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "    ring_wait(result);\n" "")
emu_mutant(integrate_bwd_data_wgmma_wrong_weights integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "(column - work.column) * args.panels" "column * args.panels")
emu_mutant(integrate_bwd_data_wgmma_lost_turn integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "ring_skip(&stage, args.panels)" "ring_skip(&stage, 1)")
emu_mutant(integrate_dapply_wgmma_wrong_factors integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "args.stays ? column % args.block_columns : column" "column % args.block_columns")
emu_mutant(integrate_dapply_wgmma_wrong_half integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "piece + (uint32_t)(row / 2) * PANEL_SQUARE_BYTES +" "piece +")
emu_mutant(integrate_dapply_wgmma_blanked integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "if (args.source[i].mask) clear_blanked" "if (false) clear_blanked")
emu_mutant(integrate_dapply_wgmma_wrong_count integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "mask_active(cut.source[i].mask, args.batch)" "args.batch")
emu_mutant(integrate_dapply_wgmma_early_free integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "ring_fill(result, norm ? shape::place_bytes :" "ring_fill(result,")
emu_mutant(integrate_dapply_wgmma_dropped_factors integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_dapply__cuda_wgmma "columns * shape::columns; j +=" "columns * shape::columns - 8; j +=")
emu_mutant(integrate_bwd_weight_mma_dropped_step integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma "(end - pixel + 63) / 64" "(end - pixel) / 64")
emu_mutant(integrate_bwd_weight_mma_missing_barrier integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma
           "copy_async_wait<ahead - 1>();\n            __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_bwd_weight_mma_unwritten_tail integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma "if (output + 8 < args.outputs)" "if (output + 16 < args.outputs)")
emu_mutant(integrate_bwd_weight_wgmma_wrong_panel tile/panel_wgmma.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "turned_a ? 2048 : 32" "32")
emu_mutant(integrate_bwd_weight_wgmma_wrong_join tile/sum_tree.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "(part >> level | 1) << level" "(part >> level << level) | 1")
emu_mutant(integrate_bwd_weight_wgmma_left_sums tile/sum_tree.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "if (!(come >> level & 1)) return false;" "")
emu_mutant(integrate_bwd_weight_wgmma_wrong_tile integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "first = work.tile * args.all.parts" "first = 0")
emu_mutant(integrate_bwd_weight_wgmma_wrong_group integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "slot_elements + group * count" "slot_elements + 0 * count")
emu_mutant(integrate_bwd_weight_wgmma_wrong_run integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "j % 2 * 32" "j % 2 * 16")
emu_mutant(integrate_bwd_weight_wgmma_unwritten_row integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "output + 8 * second < all.outputs" "output + 8 < all.outputs")
emu_mutant(integrate_bwd_weight_missing_barrier tile/sum_rows.cuh weight_sum integrate_bwd_weight__cuda_mma
           "slices[threadIdx.x][j] = sum[j];\n        __syncthreads();" "slices[threadIdx.x][j] = sum[j];")
emu_mutant(conv2d_fwd_im2col_wrong_tap tile/im2col.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_lanes
           "tap.offset[1], tap.offset[0]" "tap.offset[0], tap.offset[1]")
emu_mutant(conv2d_fwd_im2col_missing_barrier tile/im2col.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_pixels
           "named_sync(meeting, 128);" ";")
emu_mutant(conv2d_fwd_im2col_unwritten_tail tile/im2col_results.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_lanes
           "lane >= plane.pitch" "lane >= plane.lanes")
emu_mutant(conv2d_fwd_im2col_early_reuse tile/im2col.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_pixels
           "    wgmma_wait<1>();\n    if (at->step > 0 && threadIdx.x % 32 == 0) barrier_arrive(at->used);"
           "    if (threadIdx.x % 32 == 0) barrier_arrive(place.empty());")
emu_mutant(conv2d_fwd_im2col_lost_group tile/im2col.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_lanes
           "if (thread == 0) tma_commit();" "if (thread == 0 && dense) tma_commit();")
emu_mutant(conv2d_fwd_im2col_lost_slice tile/im2col.cuh conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_lanes
           "k < depth" "k < depth - 1")
# A function of another width than its name: only a problem that chooses it shows that.
emu_mutant(conv2d_fwd_im2col_wrong_width conv2d_fwd_im2col_sm90a.cu conv2d_fwd_im2col_sm90a conv2d_fwd__cuda_im2col_lanes
           "<bf16, 256, 0, 0>" "<bf16, 224, 0, 0>")
emu_mutant(conv2d_bwd_data_im2col_wrong_width conv2d_bwd_data_im2col_sm90a.cu conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_lanes "<f16, 224, 0, 1>" "<f16, 208, 0, 1>")
emu_mutant(conv2d_prepare_im2col_wrong_width conv2d_prepare_im2col_sm90a.cu conv2d_prepare_im2col_sm90a
           conv2d_prepare__cuda_im2col_lanes "<bf16, 208, 0, 0," "<bf16, 192, 0, 0,")
emu_mutant(conv2d_dsums_im2col_wrong_width conv2d_dsums_im2col_sm90a.cu conv2d_dsums_im2col_sm90a
           conv2d_dsums__cuda_im2col_lanes "<f16, 256, 0, 1," "<f16, 224, 0, 1,")
emu_mutant(conv2d_bwd_data_im2col_wrong_class tile/im2col_results.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_lanes "w = from.first[1] + column" "w = from.first[0] + column")
emu_mutant(conv2d_bwd_data_im2col_blanked tile/im2col_results.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_pixels "if (mask_blanks(mask, sample)) return true;" ";")
emu_mutant(conv2d_bwd_data_im2col_wrong_buffer tile/im2col.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_lanes "if (++*turn == shape::buffers) *turn = 0;" ";")
emu_mutant(conv2d_scale_bias_act_im2col_wrong_pixel tile/im2col.cuh conv2d_fwd_im2col_sm90a
           conv2d_scale_bias_act__cuda_im2col_lanes "added + within + at * 128" "added + within")
emu_mutant(conv2d_scale_bias_act_im2col_wrong_half tile/im2col.cuh conv2d_fwd_im2col_sm90a
           conv2d_scale_bias_act__cuda_im2col_lanes "work.first_lane + part * 64, w, h" "work.first_lane, w, h")
emu_mutant(conv2d_bwd_data_im2col_early_added tile/im2col.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_pixels "    barrier_wait(place.full(), place.parity);\n}" "}")
emu_mutant(conv2d_bwd_data_im2col_wrong_step tile/im2col.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_lanes "args.count[1]) * args.step[1];" "args.count[1]);")
emu_mutant(conv2d_bwd_data_im2col_dropped_kept tile/im2col_results.cuh conv2d_bwd_data_im2col_sm90a
           conv2d_bwd_data__cuda_im2col_lanes "plane.epilogue.added && plane.epilogue.keeps" "false")
emu_mutant(conv2d_scale_bias_act_halo_rows_early_added tile/halo_rows.cuh conv2d_fwd_halo_sm90a
           conv2d_scale_bias_act__cuda_halo_rows136 "            parity ^= 1;\n" "")
emu_mutant(conv2d_scale_bias_act_halo_rows_early_staging tile/halo_rows.cuh conv2d_fwd_halo_sm90a
           conv2d_scale_bias_act__cuda_halo_rows136 "    tma_wait_read<0>();\n    barrier_expect(barrier" "    barrier_expect(barrier")
emu_mutant(conv2d_scale_bias_act_halo_stale_chunk tile/halo.cuh conv2d_fwd_halo_sm90a
           conv2d_scale_bias_act__cuda_halo_128x192 "first + (uint32_t)begin + 64);" "first + (uint32_t)begin);")
emu_mutant(conv2d_bwd_data_halo_dropped_kept tile/halo.cuh conv2d_bwd_data_halo_sm90a
           conv2d_bwd_data__cuda_halo_128x232 "if (keeps && target.added)" "if (false)")
emu_mutant(conv2d_scale_bias_act_lines_dropped_scale tile/epilogue.cuh conv2d_fwd_lines
           conv2d_scale_bias_act__cuda_lines "sum * channel.scale + channel.shift;" "sum + channel.shift;")
emu_mutant(conv2d_scale_bias_act_dropped_floor tile/epilogue.cuh conv2d_fwd conv2d_scale_bias_act__cuda_direct
           "of.floored ? 0 : NAN" "NAN")
emu_mutant(conv2d_scale_bias_act_igemm_wrong_group tile/igemm_pixels.cuh conv2d_fwd_igemm
           conv2d_scale_bias_act__cuda_igemm "rows->at[row] * pitch + first + column" "rows->at[row] * pitch + column")
emu_mutant(linear_fwd_skinny_wrong_term tile/skinny.cuh linear_fwd_skinny linear_fwd_f32__cuda_skinny
           "const int term = group() * terms + step;\n            float a" "const int term = step;\n            float a")
emu_mutant(linear_fwd_skinny_missing_barrier tile/skinny.cuh linear_fwd_skinny linear_fwd__cuda_skinny
           "activation);\n            __syncthreads();" "activation);")
emu_mutant(linear_act_fwd_skinny_blanked tile/skinny_rows.cuh linear_fwd_skinny linear_act_fwd__cuda_skinny
           "mask_blanks(plane.mask, row)" "false")
emu_mutant(linear_act_fwd_skinny_unwritten_tail tile/skinny_rows.cuh linear_fwd_skinny linear_act_fwd_f32__cuda_skinny
           "column >= plane.lanes" "column >= plane.columns")
emu_mutant(linear_act_bwd_data_skinny_no_slope tile/skinny.cuh linear_bwd_data_skinny linear_act_bwd_data__cuda_skinny
           "act_gradient(activation, load(by + i), load(at + i))" "load(at + i)")
emu_mutant(linear_bwd_data_skinny_early_use tile/skinny.cuh linear_bwd_data_skinny linear_bwd_data__cuda_skinny
           "copy_async_wait<SKINNY_STAGES(tile) - 2>();" "copy_async_wait<SKINNY_STAGES(tile) - 1>();")
emu_mutant(linear_bwd_data_skinny_unwritten_tail tile/skinny_rows.cuh linear_bwd_data_skinny
           linear_bwd_data__cuda_skinny "column >= plane.lanes" "column >= plane.columns")
emu_mutant(linear_bwd_weight_skinny_blanked tile/skinny.cuh linear_bwd_weight_skinny linear_bwd_weight__cuda_skinny
           " && !mask_blanks(mask, term[j])" "")
emu_mutant(linear_act_bwd_weight_skinny_dropped_group linear_bwd_weight_skinny.cu linear_bwd_weight_skinny
           linear_act_bwd_weight__cuda_skinny "g < groups; g++) total" "g + 1 < groups; g++) total")
emu_mutant(linear_bwd_weight_skinny_wrong_part linear_bwd_weight_skinny.cu linear_bwd_weight_skinny
           linear_bwd_weight_f32__cuda_skinny "work.part * args.part_terms" "work.part")
emu_mutant(conv2d_fwd_strips_missing_barrier conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_fwd__cuda_strips
           "tile);\n        __syncthreads();" "tile);")
emu_mutant(conv2d_fwd_strips_unwritten_tail conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_fwd__cuda_strips
           "if (first + k < plane.out_pitch) store" "if (first + k < plane.out_channels) store")
emu_mutant(conv2d_bwd_data_strips_wrong_tap conv2d_fwd_strips.cu conv2d_fwd_strips conv2d_bwd_data__cuda_strips
           "taps - 1 - r * args.filter[1] - s" "r * args.filter[1] + s")
emu_mutant(conv2d_bwd_weight_strips_early_reuse conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "        __syncthreads();\n        strips_load" "        strips_load")
emu_mutant(conv2d_bwd_weight_strips_wrong_row conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "value[(j + STRIPS_ROWS - 1) % STRIPS_ROWS] = " "value[j % STRIPS_ROWS] = ")
emu_mutant(conv2d_bwd_weight_strips_lost_slice conv2d_bwd_weight_strips.cu conv2d_bwd_weight_strips
           conv2d_bwd_weight__cuda_strips
           "slice = 0; slice < args.slices" "slice = 0; slice + 1 < args.slices")
emu_mutant(conv2d_fwd_patches_missing_barrier conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "tile);\n        __syncthreads();" "tile);")
emu_mutant(conv2d_fwd_patches_wrong_copy conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "? plane.copy - 1 : 0" "? plane.copy : 0")
emu_mutant(conv2d_fwd_patches_unwritten_tail conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_fwd__cuda_patches
           "k >= plane.out_pitch) continue" "k >= plane.out_channels) continue")
emu_mutant(conv2d_bwd_data_patches_wrong_tap conv2d_fwd_patches.cu conv2d_fwd_patches conv2d_bwd_data__cuda_patches
           "args.filter[0] - 1 - r" "r")
emu_mutant(conv2d_bwd_data_patches_wrong_exchange conv2d_fwd_patches.cu conv2d_fwd_patches
           conv2d_bwd_data__cuda_patches "lane & ~2" "lane & ~1")
emu_mutant(layernorm_bwd_weight_rows_dropped_warp layernorm_bwd_weight.cu layernorm_bwd_weight layernorm_bwd_weight__cuda_direct
           "int w = 1; w < warps" "int w = 2; w < warps")
emu_mutant(layernorm_bwd_weight_rows_missing_barrier layernorm_bwd_weight.cu layernorm_bwd_weight
           layernorm_bwd_weight__cuda_direct "= sums[k];\n    __syncthreads();" "= sums[k];")
emu_mutant(softmax_xent_fwd_dropped_rows class_loss.cu class_loss softmax_xent_fwd__cuda_direct
           "block * rows < args.batch" "block * rows + rows < args.batch")
emu_mutant(conv2d_fwd_lines_early_use conv2d_fwd_lines.cu conv2d_fwd_lines conv2d_fwd__cuda_lines
           "        copy_async_wait<0>();\n        __syncthreads();" "        __syncthreads();")
emu_mutant(conv2d_bwd_weight_lines_wrong_half conv2d_bwd_weight_lines.cu conv2d_bwd_weight_lines
           conv2d_bwd_weight__cuda_lines
           "first >> 16 | (second & 0xFFFF0000u)" "first >> 16 | second << 16")
emu_mutant(conv2d_fwd_tf32_igemm_unrounded tile/igemm.cuh conv2d_fwd_igemm conv2d_fwd_tf32__cuda_igemm
           "words[j] = tf32_word(words[j])" "words[j] = words[j]")
emu_mutant(conv2d_fwd_tf32_igemm_unwritten_tail tile/igemm_pixels.cuh conv2d_fwd_igemm conv2d_fwd_tf32__cuda_igemm
           "rows->at[row] < 0 || column >= lanes" "rows->at[row] < 0 || column >= live")
emu_mutant(conv2d_bwd_data_tf32_igemm_wrong_term tile/igemm.cuh conv2d_bwd_data_igemm conv2d_bwd_data_tf32__cuda_igemm
           "term + lane % 4 + j % 2 * 4" "term + lane % 4 + j / 2 * 4")
emu_mutant(conv2d_bwd_weight_tf32_igemm_wrong_row tile/igemm.cuh conv2d_bwd_weight_igemm
           conv2d_bwd_weight_tf32__cuda_igemm "row + lane / 4 + j % 2 * 8" "row + lane / 4 + j / 2 * 8")
emu_mutant(linear_bwd_weight_tf32_igemm_missing_barrier tile/igemm.cuh conv2d_bwd_weight_igemm
           linear_bwd_weight_tf32__cuda_igemm
           "copy_async_wait<IGEMM_STAGES - 2>();\n        __syncthreads();" "copy_async_wait<IGEMM_STAGES - 2>();")
emu_mutant(conv2d_fwd_f32_igemm_dropped_product tile/igemm.cuh conv2d_fwd_igemm conv2d_fwd_f32__cuda_igemm
           "mma(sums->at[i][j], a, small[j], tf32());" "")
emu_mutant(linear_bwd_data_f32_igemm_dropped_rest tile/igemm.cuh conv2d_bwd_data_igemm linear_bwd_data_f32__cuda_igemm
           "rest[k] = tf32_rest(a[k]);" "rest[k] = 0;")
emu_mutant(ssae_missing_barrier ssae.cu ssae ssae__cuda_resident
           "ssae_project(at);\n        __syncthreads();" "ssae_project(at);")
emu_mutant(ssae_early_slices ssae.cu ssae ssae__cuda_resident "__syncthreads(); /* the slices were read */" "")
emu_mutant(ssae_wrong_row ssae.cu ssae ssae__cuda_resident
           "&at->basis[row + 8 * j][k]" "&at->basis[4 * row + j][k]")
emu_mutant(ssae_dropped_part ssae.cu ssae ssae__cuda_resident "int j = 0; j < parts" "int j = 1; j < parts")
emu_mutant(ssae_unwritten_tail ssae.cu ssae ssae__cuda_resident
           "if (sample >= args.batch) return;" "if (sample + 1 >= args.batch) return;")
emu_mutant(ssae_wrong_turn ssae.cu ssae ssae__cuda_resident "slices.fetch(args, next)" "slices.fetch(args, first)")

# Convolutions of few channels on Hopper: the line under the next row, the swizzle, the second 8 pixels of a step, the
# last line of a unit, units that are used too early, filters, weights and blanked samples.
function(rows_mutant name file pass from to)
    emu_mutant(conv2d_${pass}_rows_${name} ${file} conv2d_${pass}_rows_sm90a conv2d_${pass}__cuda_rows_wgmma "${from}"
               "${to}")
endfunction()
rows_mutant(wrong_line tile/spread_sums.cuh bwd_weight "args.stride * plane.spread * ROWS_ROW_BYTES"
            "plane.spread * ROWS_ROW_BYTES")
rows_mutant(early_use tile/spread_sums.cuh bwd_weight "        ring_wait(made);\n" "")
rows_mutant(wrong_stage tile/spread_sums.cuh bwd_weight "        ring_next(&made);\n" "")
rows_mutant(unwritten_filters tile/spread_sums.cuh bwd_weight "k < plane.filters" "k < plane.filters - 1")
rows_mutant(wrong_swizzle tile/spread.cuh bwd_weight "(piece ^ (row & 7))" "(piece ^ (row & 3))")
rows_mutant(wrong_half tile/spread.cuh bwd_weight "share.piece % 2 * SPREAD_PIECE * step"
            "share.piece % 2 * (SPREAD_PIECE - 1) * step")
rows_mutant(wrong_turn tile/spread.cuh bwd_weight "word + turn," "word,")
rows_mutant(dropped_turns tile/spread.cuh bwd_weight "pair += turns * apart" "pair += pairs")
rows_mutant(dropped_line tile/spread.cuh bwd_weight "(unit.rows - 1) * args.stride + args.filter_rows"
            "unit.rows * args.stride + args.filter_rows - 3")
rows_mutant(odd_box tile/spread.cuh bwd_weight "plane.step - plane.before" "plane.step - plane.before + plane.shift")
rows_mutant(early_load tile/spread.cuh bwd_weight "        ring_wait(ring);\n" "")
rows_mutant(wrong_blank tile/spread.cuh bwd_weight "mask_blanks(plane.mask, unit.sample)"
            "mask_blanks(plane.mask, unit.sample + 1)")
rows_mutant(wrong_weight conv2d_fwd_rows_sm90a.cu fwd "filter + i % 2 * 8" "filter + i / 2 * 8")
rows_mutant(wrong_row conv2d_fwd_rows_sm90a.cu fwd "matrix_moved(b, i * row_bytes)" "matrix_moved(b, i * row_bytes / 2)")
rows_mutant(unwritten_row conv2d_fwd_rows_sm90a.cu fwd "row + i < unit.rows" "row + i < unit.rows - 1")
rows_mutant(early_store conv2d_fwd_rows_sm90a.cu fwd "    fence_async();\n    named_sync(id, 128);\n" "    fence_async();\n")
rows_mutant(unwritten_blank conv2d_fwd_rows_sm90a.cu fwd "shared_clear(staging + to);" ";")
rows_mutant(wrong_unit conv2d_fwd_rows_sm90a.cu fwd "        ring_next(&made);\n" "")
rows_mutant(dropped_step conv2d_fwd_rows_sm90a.cu fwd "step >= weights.steps" "step >= weights.steps - 1")
rows_mutant(repeated_taps conv2d_fwd_rows_sm90a.cu fwd "is_first_step || tap >= ROWS_STEP" "is_first_step || tap >= 0")
rows_mutant(early_reuse conv2d_fwd_rows_sm90a.cu fwd "tma_wait_read<STAGINGS - 1>()" "tma_wait_read<STAGINGS>()")

# Those whose gradient is made on the way: the windows of a unit's first row and to its right, the swizzle, factors
# that are read too early, rows that are used or left too early, pixels beyond a unit, the count of samples.
function(pool_rows_mutant name from to)
    emu_mutant(conv2d_pool_dapply_rows_${name} conv2d_pool_dapply_rows_sm90a.cu conv2d_pool_dapply_rows_sm90a
               conv2d_pool_dapply__cuda_rows_wgmma "${from}" "${to}")
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
emu_mutant(conv2d_pool_dapply_rows_pixels_beyond tile/spread.cuh conv2d_pool_dapply_rows_sm90a
           conv2d_pool_dapply__cuda_rows_wgmma "if (piece % 2 == 0) return;" "return;")
emu_mutant(conv2d_pool_dapply_rows_pixel_beyond tile/spread.cuh conv2d_pool_dapply_rows_sm90a
           conv2d_pool_dapply__cuda_rows_wgmma "2 * j + 1 < inside" "2 * j < inside")
pool_rows_mutant(unwritten_pixels "column + 16 - 2 * side" "place.column")
pool_rows_mutant(wrong_count "mask_active(plane.mask, args.batch)" "args.batch")
pool_rows_mutant(wrong_filter "work.filter + place.pack * 8" "place.pack * 8")
function(li_rows_mutant name file stem from to)
    emu_mutant(li_conv2d_bwd_weight_rows_${name} ${file} ${stem} li_conv2d_bwd_weight__cuda_rows_wgmma "${from}" "${to}")
endfunction()
li_rows_mutant(wrong_tensor li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a "mixes ? ROWS_Y_BYTES : 0"
               "mixes ? 0 : ROWS_Y_BYTES")
li_rows_mutant(wrong_step li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "r = matrix_moved(r, ROWS_STEP * ROWS_ROW_BYTES);" "")
li_rows_mutant(early_use li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "            ring_wait(stage);\n" "")
li_rows_mutant(unwritten_mix li_conv2d_bwd_weight_rows_sm90a.cu li_conv2d_bwd_weight_rows_sm90a
               "mix, args.integrated, plane.filters" "mix, args.integrated - 1, plane.filters")
li_rows_mutant(wrong_weight li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "(first + j) * plane.filters + filter" "(first + j) + plane.filters * filter")
li_rows_mutant(unwritten_tail li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "element < args.integrated * plane.filters" "element < args.integrated * plane.filters - 1")
li_rows_mutant(lost_half li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix " + sum + room" " + room")
li_rows_mutant(missing_barrier li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix
               "column] = sum;\n    __syncthreads();" "column] = sum;")
li_rows_mutant(dropped_part li_conv2d_bwd_weight_mix.cu li_conv2d_bwd_weight_mix "part < args.parts" "part < args.parts - 1")

# Both backward passes of a normalisation in one launch: the plane whose sums are awaited, sums that nobody tells of, an
# item too few and one that is done twice, blocks of a data pass beyond its part, counters that are left, a shared word
# that is written too early, planes that are given or have no data pass.
function(grad_mutant name from to)
    emu_mutant(bn_grad_${name} bn_grad.cu bn_grad bn_grad__cuda_direct "${from}" "${to}")
endfunction()
grad_mutant(wrong_plane "arrive_wait(args.written + plane," "arrive_wait(args.written + plane + 1,")
grad_mutant(missing_release "arrive_count(args.written + plane, UINT32_MAX);" ";")
grad_mutant(unwritten_tail "end - begin > back ?" "end - begin > back + 1 ?")
grad_mutant(lost_item "item < args.items;)" "item + 1 < args.items;)")
grad_mutant(wrong_part "divide((part + 1) * blocks, parts)" "divide(part * blocks, parts) + 1")
grad_mutant(dirty_ticket "if (threadIdx.x == 0) *args.taken = 0;" "")
grad_mutant(dirty_planes "args.written[threadIdx.x] = 0;" ";")
grad_mutant(missing_barrier "ring->at[0] = mine;\n    __syncthreads();" "ring->at[0] = mine;")
grad_mutant(early_ring "    __syncthreads();\n    return shared;" "    return shared;")
grad_mutant(wrong_run "run.first + (item - run.item)" "item - run.item")

# Statistics and the normalisation behind them in one launch: a unit too few, parts that nobody tells of, the wrong tile
# that is awaited, a pack of another pixel, pixels that are not in the ring any more, lanes behind the channels, a
# residual of another plane, a batch that is counted twice, counters that are left, words that are written too early.
function(norm_mutant name from to)
    emu_mutant(bn_norm_${name} bn_norm_sm90a.cu bn_norm_sm90a bn_norm__cuda_resident "${from}" "${to}")
endfunction()
norm_mutant(lost_unit "unit < args.units;)" "unit + 1 < args.units;)")
norm_mutant(missing_arrival "arrive_count(args.sums.counters + work.counter, UINT32_MAX);" ";")
norm_mutant(wrong_tile "args.sums.counters + mine.counter," "args.sums.counters + mine.counter + 1,")
norm_mutant(wrong_pack "(k + j) % BN_NORM_STAGES" "(k + j + 1) % BN_NORM_STAGES")
norm_mutant(stale_ring "kept = is_last ? over : count" "kept = is_last ? 0 : count")
norm_mutant(others_ring "kept = is_last ? over : count" "kept = over")
norm_mutant(unwritten_tail "if (c >= pitch) return;" "if (c >= of.plane.channels) return;")
norm_mutant(wrong_residual "other.plane -= args.skip;" "other.plane -= 1;")
norm_mutant(counted_twice "work.counter == columns.first_block[first]" "work.plane == first")
norm_mutant(wrong_factor "mine.plane - half * args.skip" "mine.plane")
norm_mutant(dirty_ticket "if (threadIdx.x == 0) *args.taken = 0;" "")
norm_mutant(dirty_tiles "args.sums.counters[unit] = 0;" ";")
norm_mutant(missing_barrier "memory->unit = mine;\n    __syncthreads();" "memory->unit = mine;")
norm_mutant(early_scales "batches));\n    __syncthreads();" "batches));")

foreach(library ${emu_kernels})
    string(REPLACE "emu_kernel_" "" stem "${library}")
    get_property(faults DIRECTORY PROPERTY emu_faults_${stem})
    list(LENGTH faults count)
    if(count LESS 3)
        message(FATAL_ERROR "tests/emu/mutants.cmake: kernels/cuda/${stem}.cu has ${count} planted faults, not three")
    endif()
endforeach()
