# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

function(bn_stats_lanes_mutant name file from to)
    emu_mutant(conv2d_bn_stats_implicit_gemm_${name} ${file} conv2d_bn_stats_implicit_gemm_sm90a conv2d_bn_stats__cuda_implicit_gemm_lanes
               "${from}" "${to}")
endfunction()
bn_stats_lanes_mutant(blanked conv/implicit_gemm/implicit_results.cuh "place >= 0 && place < IMPLICIT_BLANKED) << j" "place >= 0) << j")
bn_stats_lanes_mutant(tail_pixels conv/implicit_gemm/implicit_results.cuh "place >= 0 && place < IMPLICIT_BLANKED) << j"
                     "place < IMPLICIT_BLANKED) << j")
bn_stats_lanes_mutant(no_origin tile/row_moments.cuh "isfinite(first) ? first : 0" "isfinite(first) ? 0 : first")
bn_stats_lanes_mutant(blanked_origin tile/row_moments.cuh "if (live >> (j / 4 * 2 + j % 2) & 1) start(j" "start(j")
bn_stats_lanes_mutant(wrong_part conv/implicit_gemm/implicit_gemm.cuh "((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles," "0,")
bn_stats_lanes_mutant(wrong_plane tile/row_moments.cuh "bn_channel_of(norm.plane[i], c)" "bn_channel_of(norm.plane[0], c)")
bn_stats_lanes_mutant(early_group tile/row_parts.cuh "ROW_PARTS_GROUPS(at.parts), at)" "1, at)")
bn_stats_lanes_mutant(missing_barrier tile/row_parts.cuh "    named_sync(at.id, 128);\n    if (threadIdx" "    if (threadIdx")
bn_stats_lanes_mutant(early_count tile/row_moments.cuh "row_parts_arrives_last(finished, finishers, at)" "true")
bn_stats_lanes_mutant(unwritten_tail conv/implicit_gemm/implicit_gemm.cuh "implicit_live<shape>(places, at));" "0);")
function(bn_reduce_lanes_mutant name file from to)
    emu_mutant(conv2d_dgrad_bn_reduce_implicit_gemm_${name} ${file} conv2d_dgrad_bn_reduce_implicit_gemm_sm90a conv2d_dgrad_bn_reduce__cuda_implicit_gemm_lanes "${from}"
               "${to}")
endfunction()
bn_reduce_lanes_mutant(blanked conv/implicit_gemm/implicit_results.cuh "place >= 0 && place < IMPLICIT_BLANKED) << j" "place >= 0) << j")
bn_reduce_lanes_mutant(wrong_tile conv/implicit_gemm/implicit_results.cuh "(x, place + shape::plane_bytes)" "(x, place)")
bn_reduce_lanes_mutant(wrong_added conv/implicit_gemm/implicit_results.cuh "(dx, place + 2 * shape::plane_bytes)" "(dx, place + shape::plane_bytes)")
bn_reduce_lanes_mutant(lost_added conv/implicit_gemm/implicit_results.cuh "by_x && plane.epilogue.added)" "by_x && plane.epilogue.added && begin > 0)")
bn_reduce_lanes_mutant(unwritten_tail conv/implicit_gemm/implicit_results.cuh "at < begin + shape::piece && at < shape::columns; at += 16) {\n        const int32_t place"
                   "at < begin + shape::piece && at + 16 < shape::columns; at += 16) {\n        const int32_t place")
bn_reduce_lanes_mutant(early_tile conv/implicit_gemm/implicit_results.cuh "barrier_expect(to->filled(), planes * " "barrier_expect(to->filled(), ")
bn_reduce_lanes_mutant(early_r conv/implicit_gemm/implicit_results.cuh "        barrier_wait(to->filled(), to->parity);\n" "")
bn_reduce_lanes_mutant(early_store conv/implicit_gemm/implicit_results.cuh "        barrier_wait(from.ready(), from.parity);\n" "")
bn_reduce_lanes_mutant(early_fill conv/implicit_gemm/implicit_results.cuh "        tma_wait_read<1>();\n        implicit_ask" "        implicit_ask")
bn_reduce_lanes_mutant(last_group tile/row_parts.cuh "ROW_PARTS_GROUPS(at.parts));" "ROW_PARTS_GROUPS(at.parts) - 1);")
bn_reduce_lanes_mutant(wrong_part conv/implicit_gemm/implicit_gemm.cuh "((int32_t)blockIdx.x - plane.first_block) / plane.lane_tiles," "0,")
bn_reduce_lanes_mutant(wrong_plane conv/implicit_gemm/implicit_shape.cuh "    turns.step = plane.blocks;\n" "")
emu_mutant(conv2d_fwd_implicit_gemm_wrong_tap conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_lanes
           "tap.offset[1], tap.offset[0]" "tap.offset[0], tap.offset[1]")
emu_mutant(conv2d_fwd_implicit_gemm_missing_barrier conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_pixels
           "named_sync(meeting, 128);" ";")
emu_mutant(conv2d_fwd_implicit_gemm_unwritten_tail conv/implicit_gemm/implicit_results.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_lanes
           "lane >= plane.pitch" "lane >= plane.lanes")
emu_mutant(conv2d_fwd_implicit_gemm_early_reuse conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_pixels
           "    wgmma_wait<1>();\n    if (at->step > 0 && threadIdx.x % 32 == 0) barrier_arrive(at->used);"
           "    if (threadIdx.x % 32 == 0) barrier_arrive(place.empty());")
emu_mutant(conv2d_fwd_implicit_gemm_lost_group conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_lanes
           "if (thread == 0) tma_commit();" "if (thread == 0 && dense) tma_commit();")
emu_mutant(conv2d_fwd_implicit_gemm_lost_slice conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_lanes
           "k < depth" "k < depth - 1")
# A function of another width than its name: only a problem that chooses it shows that.
emu_mutant(conv2d_fwd_implicit_gemm_wrong_width conv/implicit_gemm/conv2d_fwd_implicit_gemm_sm90a.cu conv2d_fwd_implicit_gemm_sm90a conv2d_fwd__cuda_implicit_gemm_lanes
           "<number, columns," "<number, (columns == 256 ? 224 : columns),")
emu_mutant(conv2d_bwd_data_implicit_gemm_wrong_width conv/implicit_gemm/conv2d_bwd_data_implicit_gemm_sm90a.cu conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_lanes "<number, columns," "<number, (columns == 224 ? 208 : columns),")
emu_mutant(conv2d_bn_stats_implicit_gemm_wrong_width conv/implicit_gemm/conv2d_bn_stats_implicit_gemm_sm90a.cu conv2d_bn_stats_implicit_gemm_sm90a
           conv2d_bn_stats__cuda_implicit_gemm_lanes "<number, columns," "<number, (columns == 208 ? 192 : columns),")
emu_mutant(conv2d_dgrad_bn_reduce_implicit_gemm_wrong_width conv/implicit_gemm/conv2d_dgrad_bn_reduce_implicit_gemm_sm90a.cu conv2d_dgrad_bn_reduce_implicit_gemm_sm90a
           conv2d_dgrad_bn_reduce__cuda_implicit_gemm_lanes "<number, columns," "<number, (columns == 256 ? 224 : columns),")
emu_mutant(conv2d_bwd_data_implicit_gemm_wrong_class conv/implicit_gemm/implicit_results.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_lanes "w = from.first[1] + column" "w = from.first[0] + column")
emu_mutant(conv2d_bwd_data_implicit_gemm_blanked conv/implicit_gemm/implicit_results.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_pixels "if (mask_blanks(mask, sample)) return true;" ";")
emu_mutant(conv2d_bwd_data_implicit_gemm_wrong_buffer conv/implicit_gemm/implicit_gemm.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_lanes "if (++*turn == shape::buffers) *turn = 0;" ";")
emu_mutant(conv2d_scale_bias_act_implicit_wrong_pixel conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a
           conv2d_scale_bias_act__cuda_implicit_gemm_lanes "added + within + at * 128" "added + within")
emu_mutant(conv2d_scale_bias_act_implicit_wrong_half conv/implicit_gemm/implicit_gemm.cuh conv2d_fwd_implicit_gemm_sm90a
           conv2d_scale_bias_act__cuda_implicit_gemm_lanes "work.first_lane + part * 64, w, h" "work.first_lane, w, h")
emu_mutant(conv2d_bwd_data_implicit_gemm_early_added conv/implicit_gemm/implicit_gemm.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_pixels "    barrier_wait(place.full(), place.parity);\n}" "}")
emu_mutant(conv2d_bwd_data_implicit_gemm_wrong_step conv/implicit_gemm/implicit_gemm.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_lanes "args.count[1]) * args.step[1];" "args.count[1]);")
emu_mutant(conv2d_bwd_data_implicit_gemm_dropped_kept conv/implicit_gemm/implicit_results.cuh conv2d_bwd_data_implicit_gemm_sm90a
           conv2d_bwd_data__cuda_implicit_gemm_lanes "plane.epilogue.added && plane.epilogue.keeps" "false")
