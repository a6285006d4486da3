# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(softmax_xent_fwd_missing_barrier tile/rows.cuh class_loss softmax_xent_fwd__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(softmax_xent_bwd_data_partial_weight loss/class_loss.cu class_loss softmax_xent_bwd_data__cuda_direct
           "    weight = row_sum(shared, weight, BLOCK_THREADS);\n" "")
emu_mutant(softmax_xent_bwd_data_unwritten_tail loss/class_loss.cu class_loss softmax_xent_bwd_data__cuda_direct
           "c < args.pitch; c += args.lanes" "c < args.classes; c += args.lanes")
emu_mutant(focal_fwd_wrong_row loss/class_loss.cu class_loss focal_fwd__cuda_direct
           "(int32_t)threadIdx.x / args.lanes;" "(int32_t)threadIdx.x % args.lanes;")
emu_mutant(focal_bwd_data_ignored loss/class_loss.cu class_loss focal_bwd_data__cuda_direct
           "if (label >= 0) weight +=" "weight +=")
emu_mutant(mse_fwd_dropped_block loss/totals.cu totals mse_fwd__cuda_direct
           "args.map.first_block[i] + (int32_t)threadIdx.x" "args.map.first_block[i] + 1 + (int32_t)threadIdx.x")
emu_mutant(mse_bwd_data_wrong_count loss/mse_bwd_data.cu mse_bwd_data mse_bwd_data__cuda_direct
           "(double)this->plane.channels" "(double)this->plane.pitch")
emu_mutant(mse_bwd_data_wrong_target loss/mse_bwd_data.cu mse_bwd_data mse_bwd_data__cuda_direct
           "this->take(this->plane.t, at)" "this->take(this->plane.t, at % this->plane.pitch)")
emu_mutant(mse_bwd_data_unwritten_tail tile/pixels.cuh mse_bwd_data mse_bwd_data__cuda_direct
           "last : map.sample_pixels)" "last : map.sample_pixels - 1)")
emu_mutant(balance_fwd_dropped_warp tile/rows.cuh totals balance_fwd__cuda_direct
           "j < warps; j++" "j + 1 < warps; j++")
emu_mutant(balance_bwd_data_wrong_norm loss/balance_bwd_data.cu balance_bwd_data balance_bwd_data__cuda_direct
           "all.norms[i]" "all.norms[0]")
emu_mutant(balance_bwd_data_dropped_stream loss/balance_bwd_data.cu balance_bwd_data balance_bwd_data__cuda_direct
           "int k = 0; k < all.planes" "int k = 1; k < all.planes")
emu_mutant(balance_bwd_data_unwritten_tail tile/pixels.cuh balance_bwd_data balance_bwd_data__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(mse_fwd_never_last loss/totals.cu totals mse_fwd__cuda_direct
           "(int32_t)gridDim.x" "(int32_t)gridDim.x + 1")
emu_mutant(softmax_xent_fwd_dropped_rows loss/class_loss.cu class_loss softmax_xent_fwd__cuda_direct
           "block * rows < args.batch" "block * rows + rows < args.batch")
