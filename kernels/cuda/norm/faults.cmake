# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

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
emu_mutant(bn_bwd_reduce_wrong_row tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "column_at(columns, work, row)" "column_at(columns, work, 0)")
emu_mutant(bn_bwd_reduce_dropped_row tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "other = at + channels;" "other = at + 2 * channels;")
emu_mutant(bn_stats_wrong_count tile/columns.cuh bn_stats bn_stats__cuda_direct
           "(next < work.end ? next : work.end) - pixel" "next - pixel")
emu_mutant(bn_stats_wrong_origin tile/moments.cuh bn_stats bn_stats__cuda_direct
           "mean += load(value) * share;" "mean = 0;")
emu_mutant(bn_bwd_reduce_stuck_barrier tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "    __syncthreads();\n    for" "    if (threadIdx.x == 255) return;\n    __syncthreads();\n    for")
emu_mutant(bn_bwd_reduce_early_stage tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "copy_async_wait<stages - 2>" "copy_async_wait<stages - 1>")
emu_mutant(bn_bwd_reduce_wrong_stage tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "last = here;" "last = here + 1 < stages ? here + 1 : 0;")
emu_mutant(bn_add_act_bwd_weight_early_sums tile/columns.cuh bn_bwd_reduce bn_add_act_bwd_weight__cuda_direct
           "    __syncthreads(); /* nobody reads packs any more */\n" "")
emu_mutant(bn_stats_early_origin tile/moments.cuh bn_stats bn_stats__cuda_direct
           "        __syncwarp();\n" "")
emu_mutant(bn_bwd_reduce_lost_pixel tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "work.begin + work.step - 1) >>" "work.begin) >>")
emu_mutant(bn_bwd_reduce_unsent_pixel tile/columns.cuh bn_bwd_reduce bn_bwd_reduce__cuda_direct
           "left-- > 0" "--left > 0")
emu_mutant(bn_stats_finalize_lost_round tile/columns.cuh bn_stats_finalize bn_stats_finalize__cuda_direct
           "left -= ahead * step)" "left -= (ahead + 1) * step)")
emu_mutant(bn_apply_short_row tile/pixels.cuh bn_apply bn_apply__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bn_apply_beyond_the_end tile/pixels.cuh bn_apply bn_apply__cuda_direct
           "pixel < work.end" "pixel < work.end + 100000")
emu_mutant(bn_bwd_apply_wrong_count tile/bn.cuh bn_bwd_apply bn_bwd_apply__cuda_direct
           "mask_active(plane.mask, args.map.batch)" "args.map.batch")
emu_mutant(bn_stats_finalize_early_count norm/bn_stats_finalize.cu bn_stats_finalize bn_stats_finalize__cuda_direct
           "arrives_last(args.sums.counters + gridDim.x, tiles)" "true")
emu_mutant(bn_stats_finalize_wrong_tiles norm/bn_stats_finalize.cu bn_stats_finalize bn_stats_finalize__cuda_direct
           "(int32_t)gridDim.x / args.sums.columns.parts" "(int32_t)gridDim.x")
emu_mutant(bn_finalize_wrong_channel norm/bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "c -= args.plane[i++].channels" "i++")
emu_mutant(bn_finalize_early_count norm/bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "int64_t c = " "if (args.train) *args.batches = batches + 1;\n    int64_t c = ")
emu_mutant(bn_finalize_unwritten_tail norm/bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "            finalize(all, i, c," "            if (c + 1 < args.plane[i].channels) finalize(all, i, c,")
emu_mutant(bn_act_fwd_wrong_channel norm/bn_apply.cu bn_apply bn_act_fwd__cuda_direct
           "this->plane.shift + c, this->plane.channels" "this->plane.shift, this->plane.channels")
emu_mutant(bn_add_act_fwd_residual norm/bn_apply.cu bn_apply bn_add_act_fwd__cuda_direct
           "this->shift[j] += zshift[j]" "this->shift[j] = zshift[j]")
emu_mutant(bn_add_act_bwd_data_unwritten norm/bn_bwd_apply.cuh bn_bwd_apply bn_add_act_bwd_data__cuda_direct
           "if (this->plane.dz) this->clear(this->plane.dz, at);" ";")
emu_mutant(bn_act_bwd_weight_dropped_part tile/columns.cuh bn_bwd_reduce bn_act_bwd_weight__cuda_direct
           "if (j * step < left)" "if (j * step + 1 < left)")
emu_mutant(bn_act_pool_bwd_data_open_relu tile/bn.cuh bn_bwd_apply bn_act_pool_bwd_data__cuda_direct
           "act_gradient(this->args.activation, x[j] * scale[j]" "act_gradient(BRAID_ACTIVATION_NONE, x[j] * scale[j]")
emu_mutant(bn_act_pool_bwd_data_slide_two_rows tile/slide.cuh bn_bwd_apply bn_act_pool_bwd_data__cuda_direct
           "SLIDE_ROWS 3 " "SLIDE_ROWS 2 ")
emu_mutant(bn_act_pool_bwd_data_slide_padding tile/slide.cuh bn_bwd_apply bn_act_pool_bwd_data__cuda_direct
           "(t < 3 ? below : 0)" "0")
emu_mutant(bn_act_pool_bwd_weight_scale_zero norm/bn_bwd_reduce.cu bn_bwd_reduce bn_act_pool_bwd_weight__cuda_direct
           "some_alike ? (best.at[k] & kept) | (first.at[k] & ~kept) : best.at[k]" "best.at[k]")
emu_mutant(bn_act_pool_bwd_weight_short_part norm/bn_bwd_reduce.cu bn_bwd_reduce bn_act_pool_bwd_weight__cuda_direct
           "begin + share < steps ? begin + share : steps" "begin + share < steps ? begin + share - 1 : steps")
emu_mutant(bn_act_pool_bwd_weight_flipped norm/bn_bwd_reduce.cu bn_bwd_reduce bn_act_pool_bwd_weight__cuda_direct
           "if (is_flipped(j)) center[j]" "if (false) center[j]")
emu_mutant(bn_act_pool_bwd_data_threshold tile/bn.cuh bn_bwd_apply bn_act_pool_bwd_data__cuda_direct
           "* fabsf(scale) + shift <= 0) {" "* scale + shift <= 0) {")
emu_mutant(bn_act_pool_fwd_wrong_order tile/bn.cuh bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "< 0 ? sign : 0" "> 0 ? sign : 0")
emu_mutant(bn_act_pool_fwd_wrong_row tile/window3.cuh bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "window.padding[0] + r, window.size[0]" "window.padding[0] + 1, window.size[0]")
emu_mutant(bn_act_pool_fwd_unwritten_blank norm/bn_act_pool_fwd.cu bn_act_pool_fwd bn_act_pool_fwd__cuda_direct
           "this->clear(this->plane.y, at);" "")
emu_mutant(layernorm_fwd_missing_barrier tile/rows.cuh rows layernorm_fwd__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(layernorm_bwd_data_unwritten_tail norm/rows.cu rows layernorm_bwd_data__cuda_direct
           "c < plane.pitch && work.live" "c < plane.channels && work.live")
emu_mutant(layernorm_bwd_weight_wrong_row norm/layernorm_bwd_weight.cu layernorm_bwd_weight layernorm_bwd_weight__cuda_direct
           "this->plane.var[pixel + p * step]" "this->plane.var[pixel]")
emu_mutant(rownorm_bwd_data_wrong_row norm/rows.cu rows rownorm_bwd_data__cuda_direct
           "(BLOCK_THREADS / lanes) +" "(BLOCK_THREADS / lanes + 1) +")
emu_mutant(layernorm_bwd_weight_rows_dropped_warp norm/layernorm_bwd_weight.cu layernorm_bwd_weight layernorm_bwd_weight__cuda_direct
           "int w = 1; w < warps" "int w = 2; w < warps")
emu_mutant(layernorm_bwd_weight_rows_missing_barrier norm/layernorm_bwd_weight.cu layernorm_bwd_weight
           layernorm_bwd_weight__cuda_direct "= sums[k];\n    __syncthreads();" "= sums[k];")
# Both backward passes of a normalisation in one launch: the plane whose sums are awaited, sums that nobody tells of, an
# item too few and one that is done twice, blocks of a data pass beyond its part, counters that are left, a shared word
# that is written too early, planes that are given or have no data pass.
function(grad_mutant name from to)
    emu_mutant(bn_bwd_${name} norm/bn_bwd.cu bn_bwd bn_bwd__cuda_direct "${from}" "${to}")
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
