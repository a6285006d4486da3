# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(integrate_fwd_wrong_stride integrate/integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "* source.stride[1]" "* source.stride[0]")
emu_mutant(integrate_fwd_missing_barrier integrate/integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "gemm_add(&sums, slice);\n            __syncthreads();" "gemm_add(&sums, slice);")
emu_mutant(integrate_fwd_unwritten_tail integrate/integrate_fwd.cu integrate_fwd integrate_fwd__cuda_direct
           "if (output >= args.outputs) break;" "if (output + 1 >= args.outputs) break;")
emu_mutant(integrate_fwd_mma_blanked integrate/integrate.cuh integrate_fwd_mma integrate_fwd__cuda_mma
           "c < source.channels && !mask_blanks(source.mask, place.sample)" "c < source.channels")
emu_mutant(integrate_fwd_mma_missing_barrier integrate/integrate_fwd_mma.cu integrate_fwd_mma integrate_fwd__cuda_mma
           "copy_async_wait<ahead - 1>();\n                __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_fwd_mma_wrong_lane tile/quad.cuh integrate_fwd_mma integrate_fwd__cuda_mma
           "upper ? word[j] : word[j + step]" "upper ? word[j + step] : word[j]")
emu_mutant(integrate_fwd_wgmma_early_free integrate/integrate_fwd.cuh integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (k > 0) pipeline_free(before);" "pipeline_free(before);")
emu_mutant(integrate_fwd_wgmma_blanked integrate/integrate_tma.cuh integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (!mask || first >= end) return false;" "if (first >= 0) return false;")
emu_mutant(integrate_fwd_wgmma_unwritten_tail integrate/integrate_fwd_sm90a.cu integrate_fwd_sm90a integrate_fwd__cuda_wgmma
           "if (pixel < all.pixels && column" "if (pixel + 1 < all.pixels && column")
emu_mutant(integrate_bn_stats_tail integrate/integrate_bn_stats_sm90a.cu integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "pixel < all.pixels && !(mask" "!(mask")
emu_mutant(integrate_bn_stats_blanked integrate/integrate_bn_stats_sm90a.cu integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "all, all.source[i].mask, tile.index" "all, NULL, tile.index")
emu_mutant(integrate_bn_stats_not_staged integrate/integrate_bn_stats_sm90a.cu integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "    barrier_wait(at.staged, parity);\n" "")
emu_mutant(integrate_bn_stats_written_over integrate/integrate_bn_stats_sm90a.cu integrate_bn_stats_sm90a
           integrate_bn_stats__cuda_wgmma
           "            barrier_wait(at.read, (round + (uint32_t)(k / squares) + 1) & 1);\n" "")
emu_mutant(integrate_bn_stats_early_free integrate/integrate_bn_stats_sm90a.cu integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "            pipeline_wait(*at);\n" "")
emu_mutant(integrate_bn_stats_swizzle integrate/panel_sums.cuh integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "panel_piece_address(panel, first + 4, piece)" "panel_piece_address(panel, first, piece) + 4 * PANEL_ROW_BYTES")
emu_mutant(integrate_bn_stats_lost_tiles integrate/panel_sums.cuh integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "sums.count += count" "sums.count = count")
emu_mutant(integrate_bn_stats_dropped_group integrate/moments_join.cuh integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "all.group, groups, c" "all.group, groups > 1 ? groups - 1 : 1, c")
emu_mutant(integrate_bn_stats_early_group integrate/moments_join.cuh integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "+ 1 + group, count)" "+ 1 + group, count > 1 ? count - 1 : 1)")
emu_mutant(integrate_bn_stats_early_count integrate/moments_join.cuh integrate_bn_stats_sm90a integrate_bn_stats__cuda_wgmma
           "arrives_last(moments_finished(all), all.columns)" "arrives_last(moments_finished(all), all.columns) && false")
emu_mutant(integrate_bwd_data_mma_wrong_row integrate/panel_mma.cuh integrate_bwd_data_mma integrate_bwd_data__cuda_mma
           "panel_address(b, lane % 16, lane / 16)" "panel_address(b, lane % 8, lane / 16)")
emu_mutant(integrate_bwd_data_mma_missing_barrier integrate/integrate_bwd_data_mma.cu integrate_bwd_data_mma
           integrate_bwd_data__cuda_mma
           "copy_async_wait<ahead - 1>();\n        __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_bwd_data_mma_unwritten_tail integrate/integrate_bwd_data_mma.cu integrate_bwd_data_mma
           integrate_bwd_data__cuda_mma "if (!inside || c >= to.lanes)" "if (!inside || c >= to.channels)")
emu_mutant(integrate_bwd_data_wgmma_no_zeros integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "w < args.stride[1] &&" "w < 1 &&")
emu_mutant(integrate_bwd_data_wgmma_unwritten_tail integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "panel < shape::columns / PANEL_COLUMNS && !skips" "panel < 1 && !skips")
emu_mutant(integrate_bwd_data_wgmma_early_reuse integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "        tma_wait_read<0>();\n" "")
emu_mutant(integrate_bwd_data_wgmma_early_add integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "    pipeline_wait(result);\n" "")
emu_mutant(integrate_bwd_data_wgmma_wrong_weights integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "(column - work.column) * args.panels" "column * args.panels")
emu_mutant(integrate_bwd_data_wgmma_lost_turn integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bwd_data__cuda_wgmma "pipeline_skip(&stage, args.panels)" "pipeline_skip(&stage, 1)")
emu_mutant(integrate_bn_bwd_apply_wgmma_wrong_factors integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "args.stays ? column % args.block_columns : column" "column % args.block_columns")
emu_mutant(integrate_bn_bwd_apply_wgmma_wrong_half integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "piece + (uint32_t)(row / 2) * PANEL_SQUARE_BYTES +" "piece +")
emu_mutant(integrate_bn_bwd_apply_wgmma_blanked integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "if (args.source[i].mask) clear_blanked" "if (false) clear_blanked")
emu_mutant(integrate_bn_bwd_apply_wgmma_wrong_count integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "mask_active(cut.source[i].mask, args.batch)" "args.batch")
emu_mutant(integrate_bn_bwd_apply_wgmma_early_free integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "pipeline_fill(result, norm ? shape::place_bytes :" "pipeline_fill(result,")
emu_mutant(integrate_bn_bwd_apply_wgmma_dropped_factors integrate/integrate_bwd_data_sm90a.cu integrate_bwd_data_sm90a
           integrate_bn_bwd_apply__cuda_wgmma "columns * shape::columns; j +=" "columns * shape::columns - 8; j +=")
emu_mutant(integrate_bwd_weight_mma_dropped_step integrate/integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma "(end - pixel + 63) / 64" "(end - pixel) / 64")
emu_mutant(integrate_bwd_weight_mma_missing_barrier integrate/integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma
           "copy_async_wait<ahead - 1>();\n            __syncthreads();" "copy_async_wait<ahead - 1>();")
emu_mutant(integrate_bwd_weight_mma_unwritten_tail integrate/integrate_bwd_weight_mma.cu integrate_bwd_weight_mma
           integrate_bwd_weight__cuda_mma "if (output + 8 < args.outputs)" "if (output + 16 < args.outputs)")
emu_mutant(integrate_bwd_weight_wgmma_wrong_panel integrate/panel_wgmma.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "turned_a ? 2048 : 32" "32")
emu_mutant(integrate_bwd_weight_wgmma_wrong_join tile/sum_tree.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "(part >> level | 1) << level" "(part >> level << level) | 1")
emu_mutant(integrate_bwd_weight_wgmma_left_sums tile/sum_tree.cuh integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "if (!(come >> level & 1)) return false;" "")
emu_mutant(integrate_bwd_weight_wgmma_wrong_tile integrate/integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "first = work.tile * args.all.parts" "first = 0")
emu_mutant(integrate_bwd_weight_wgmma_wrong_group integrate/integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "slot_elements + group * count" "slot_elements + 0 * count")
emu_mutant(integrate_bwd_weight_wgmma_wrong_run integrate/integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "j % 2 * 32" "j % 2 * 16")
emu_mutant(integrate_bwd_weight_wgmma_unwritten_row integrate/integrate_bwd_weight_sm90a.cu integrate_bwd_weight_sm90a
           integrate_bwd_weight__cuda_wgmma "output + 8 * second < all.outputs" "output + 8 < all.outputs")
