# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(conv2d_fwd_resident3x3_early_reuse conv/resident3x3/resident3x3.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_64x240
           "                wgmma_wait<1>();\n" "")
emu_mutant(conv2d_fwd_resident3x3_unwritten_tail conv/resident3x3/resident3x3.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_128x232
           "target.rest = plane.pitch - channel" "target.rest = plane.channels - channel")
emu_mutant(conv2d_fwd_resident3x3_early_start conv/resident3x3/resident3x3.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_128x232
           "barrier_wait(at.input_full + (uint32_t)turn->input.stage * BARRIER_BYTES, turn->input.parity);" "")
emu_mutant(conv2d_fwd_resident3x3_wrong_border conv/resident3x3/resident3x3.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_64x240
           "shared_clear(at.input + stage * args.stage_bytes + byte)" ";")
emu_mutant(conv2d_fwd_resident3x3_rows_wrong_strip conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_rows136
           "unit->input += borders" ";")
emu_mutant(conv2d_fwd_resident3x3_rows_blanked conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a conv2d_fwd__cuda_resident3x3_rows136
           "mask_blanks(plane.mask, sample)" "false")
emu_mutant(conv2d_bwd_data_parity_wrong_row conv/resident3x3/resident_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "row[r == 0 ? 1 : 0]" "row[r == 2 ? 1 : 0]")
emu_mutant(conv2d_bwd_data_parity_wrong_strip conv/resident3x3/resident_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "if (++row > args.head.size[0])" "if (++row >= args.head.size[0])")
emu_mutant(conv2d_bwd_data_parity_blanked conv/resident3x3/resident_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72 "tile.blanked ? 0 : sums[of][i]" "sums[of][i]")
emu_mutant(conv2d_bwd_data_parity_early_reuse conv/resident3x3/resident_parity.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_rows72
           "        resident_unit_step<1>(&unit, args.head, range, 2);\n        wgmma_wait<0>();"
           "        resident_unit_step<1>(&unit, args.head, range, 2);\n        resident_rows_release<RESIDENT_PARITY_ROWS>(at, &released, unit.input);\n        wgmma_wait<0>();")
emu_mutant(conv2d_bwd_data_parity_wrong_class conv/resident3x3/resident3x3.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_128 "(tap / 3 != 1) * 2" "(tap / 3 != 2) * 2")
emu_mutant(conv2d_bwd_data_parity_wrong_edge conv/resident3x3/resident3x3.cuh conv2d_bwd_data_parity_sm90a
           conv2d_bwd_data__cuda_parity_160 "w >= (uint32_t)head.out_size[1]" "w > (uint32_t)head.out_size[1]")
emu_mutant(conv2d_bwd_data_resident3x3_wrong_tap conv/resident3x3/resident3x3.cuh conv2d_bwd_data_resident3x3_sm90a conv2d_bwd_data__cuda_resident3x3_64x240
           "RESIDENT_TAPS - 1 - tap" "tap")
emu_mutant(conv2d_bwd_data_resident3x3_rows_early_reuse conv/resident3x3/resident_rows.cuh conv2d_bwd_data_resident3x3_sm90a
           conv2d_bwd_data__cuda_resident3x3_rows136
           "        wgmma_wait<0>();\n        wgmma_hold(sum);\n        resident_rows_release<RESIDENT_ROWS>(at, &released, unit.input);"
           "        resident_rows_release<RESIDENT_ROWS>(at, &released, unit.input);\n        wgmma_wait<0>();")
emu_mutant(conv2d_bwd_data_resident3x3_rows_early_staging conv/resident3x3/resident_rows.cuh conv2d_bwd_data_resident3x3_sm90a
           conv2d_bwd_data__cuda_resident3x3_rows136
           "    if (threadIdx.x % 128 == 0) tma_wait_read<0>();\n" "")
function(bn_stats_resident_mutant name columns file from to)
    emu_mutant(conv2d_bn_stats_resident3x3_rows_${name} ${file} conv2d_fwd_resident3x3_sm90a conv2d_bn_stats__cuda_resident3x3_rows${columns}
               "${from}" "${to}")
endfunction()
bn_stats_resident_mutant(wrong_channel 136 tile/row_moments.cuh "include_one(j / 2 % 2, pair_at" "include_one(j % 2, pair_at")
bn_stats_resident_mutant(origin_stays 136 tile/row_moments.cuh "origin[i] = next;" "")
bn_stats_resident_mutant(no_origin 136 tile/row_moments.cuh "isfinite(first) ? first : 0" "isfinite(first) ? 0 : first")
bn_stats_resident_mutant(lost_lanes 136 tile/row_moments.cuh "bits < 4; bits *= 2" "bits < 2; bits *= 2")
bn_stats_resident_mutant(wrong_share 136 conv/resident3x3/resident_rows.cuh "2 * range.share + group," "group,")
bn_stats_resident_mutant(wrong_norm 136 conv/resident3x3/resident_rows.cuh "args.finalize, range.plane" "args.finalize, 0")
# Sums in the epilogue of a data gradient: channels, the ReLU, pixels that are not there or blanked, lanes, parts and
# those who add them.
function(bn_reduce_rows_mutant name file from to)
    emu_mutant(conv2d_dgrad_bn_reduce_resident3x3_rows_${name} ${file} conv2d_dgrad_bn_reduce_resident3x3_sm90a conv2d_dgrad_bn_reduce__cuda_resident3x3_rows136 "${from}"
               "${to}")
endfunction()
bn_reduce_rows_mutant(wrong_channel tile/row_bn_reduce.cuh "const int i = j / 2 % 2;" "const int i = j % 2;")
bn_reduce_rows_mutant(no_relu tile/row_bn_reduce.cuh "open <= 0 ? 0 : pair_at" "open < -1e30f ? 0 : pair_at")
bn_reduce_rows_mutant(tail_pixels tile/epilogue_rows.cuh "first + 1 < inside" "first + 1 <= inside + 1")
bn_reduce_rows_mutant(lost_lanes tile/row_bn_reduce.cuh "bits < 4; bits *= 2" "bits < 2; bits *= 2")
bn_reduce_rows_mutant(last_part tile/row_parts.cuh "(own, at.pitch, count)" "(own, at.pitch, count - 1)")
bn_reduce_rows_mutant(early_group tile/row_parts.cuh "at.counters + 1 + group, count, at)"
                  "at.counters + 1 + group, count > 1 ? count - 1 : 1, at)")
bn_reduce_rows_mutant(missing_barrier tile/row_parts.cuh "    named_sync(at.id, 128);\n    return" "    return")
bn_reduce_rows_mutant(wrong_group conv/resident3x3/resident_bn_reduce.cuh "sums.begin(args.sums[range.plane], range.group * RESIDENT_BLOCK" "sums.begin(args.sums[range.plane], 0")
bn_reduce_rows_mutant(one_part conv/resident3x3/resident_rows.cuh "2 * range.share + group," "2 * range.share,")
bn_reduce_rows_mutant(early_r conv/resident3x3/resident_bn_reduce.cuh "            barrier_wait(added, parity);\n" "")
bn_reduce_rows_mutant(early_row conv/resident3x3/resident_bn_reduce.cuh "            tma_wait_read<0>();\n" "")
bn_reduce_rows_mutant(early_store conv/resident3x3/resident_bn_reduce.cuh "named_sync(RESIDENT_BN_REDUCE_READY + group, 160);" "")
bn_reduce_rows_mutant(early_x conv/resident3x3/resident_bn_reduce.cuh "barrier_wait(read_full, (uint32_t)index >> 1 & 1);" "(void)index;")
bn_reduce_rows_mutant(early_reuse conv/resident3x3/resident_bn_reduce.cuh "barrier_wait(at.read_empty, (uint32_t)(unit.index + 1) & 1);" "")
emu_mutant(bn_act_conv2d_border conv/resident3x3/resident_norm.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "column < 0 || column >= width" "column < -1 || column >= width")
emu_mutant(bn_act_conv2d_swizzle conv/resident3x3/resident_norm.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "(pack ^ pixel % 8) << 4" "pack << 4")
emu_mutant(bn_act_conv2d_unwritten_tail conv/resident3x3/resident_norm.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "pixel <= columns &&" "pixel < columns &&")
emu_mutant(bn_act_conv2d_early conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "barrier_wait(at.loaded + stage * BARRIER_BYTES, (uint32_t)i / RESIDENT_ROWS & 1);" "")
emu_mutant(bn_act_conv2d_missing_arrival conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "if (threadIdx.x % 32 == 0) barrier_arrive(at.full" "if (threadIdx.x % 64 == 0) barrier_arrive(at.full")
emu_mutant(bn_act_conv2d_blanked conv/resident3x3/resident_norm.cuh conv2d_fwd_resident3x3_sm90a bn_act_conv2d__cuda_resident3x3_rows136
           "if (row.is_blanked) {" "if (false) {")
emu_mutant(conv2d_scale_bias_act_resident_rows_early_added conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a
           conv2d_scale_bias_act__cuda_resident3x3_rows136 "            parity ^= 1;\n" "")
emu_mutant(conv2d_scale_bias_act_resident_rows_early_staging conv/resident3x3/resident_rows.cuh conv2d_fwd_resident3x3_sm90a
           conv2d_scale_bias_act__cuda_resident3x3_rows136 "    tma_wait_read<0>();\n    barrier_expect(barrier" "    barrier_expect(barrier")
emu_mutant(conv2d_scale_bias_act_resident_stale_chunk conv/resident3x3/resident3x3.cuh conv2d_fwd_resident3x3_sm90a
           conv2d_scale_bias_act__cuda_resident3x3_128x232 "first + (uint32_t)begin + 64);" "first + (uint32_t)begin);")
emu_mutant(conv2d_bwd_data_resident3x3_dropped_kept conv/resident3x3/resident3x3.cuh conv2d_bwd_data_resident3x3_sm90a
           conv2d_bwd_data__cuda_resident3x3_128x232 "if (keeps && target.added)" "if (false)")
