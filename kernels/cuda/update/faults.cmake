# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(sgd_wrong_segment update/update.cu update sgd__cuda_direct
           "args.segments[2 * middle] <= element" "args.segments[2 * middle] > element")
emu_mutant(adam_missing_barrier update/update.cu update adam__cuda_direct
           "    __syncthreads();\n    const update_factors" "    const update_factors")
emu_mutant(adamw_unwritten_tail update/update.cu update adamw__cuda_direct
           "4 * pack >= args.count" "4 * pack + 3 >= args.count")
emu_mutant(rmsprop_frozen update/update.cu update rmsprop__cuda_direct
           "hyper[2] == 0 || " "")
emu_mutant(clip_norm_dropped_pack update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "pack += args.blocks * blockDim.x" "pack += (args.blocks + 1) * blockDim.x")
emu_mutant(clip_norm_halves_dropped_tail update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "at = packs * wide + thread" "at = packs * wide + thread + 1")
emu_mutant(clip_norm_halves_wrong_place update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "(args.y + first, value)" "(args.y, value)")
emu_mutant(clip_norm_halves_alone update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "share_halves<number>(args) + share(args)" "share_halves<number>(args)")
emu_mutant(clip_norm_wrong_arrivals update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "arrives_last(args.counters, (int32_t)args.blocks)" "arrives_last(args.counters, (int32_t)args.blocks - 1)")
emu_mutant(clip_norm_one_batch update/clip_norm.cu clip_norm clip_norm__cuda_direct
           "(double)args.scaling[SCALING_BATCHES]" "1.0")
