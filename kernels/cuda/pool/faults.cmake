# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

emu_mutant(maxpool_fwd_wrong_tap tile/window.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "left + s * window.dilation[1]" "left + s")
emu_mutant(maxpool_bwd_data_last_of_equals tile/window.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "!(value[j] > best.value[j])" "!(value[j] >= best.value[j])")
emu_mutant(maxpool_bwd_data_missing_window tile/window.cuh maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "r = window.filter[0] - 1; r >= 0" "r = window.filter[0] - 1; r > 0")
emu_mutant(avgpool_fwd_missing_barrier tile/columns.cuh avgpool_fwd avgpool_fwd__cuda_direct
           "            }\n        }\n        __syncthreads();" "            }\n        }")
emu_mutant(avgpool_fwd_early_pack pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "copy_async_wait<STAGES - 2>();" "copy_async_wait<STAGES - 1>();")
emu_mutant(avgpool_fwd_early_sums pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "__syncthreads(); /* nobody reads packs any more */" "")
emu_mutant(avgpool_fwd_lost_part pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "part < of.parts; part++" "part < of.parts - 1; part++")
emu_mutant(avgpool_fwd_wrong_arrivals pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "(uint32_t)of.parts, of.parts)" "(uint32_t)of.parts, of.parts + 1)")
emu_mutant(avgpool_fwd_other_part pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "sums[of.part * WINDOW_SUMS +" "sums[of.part % 2 * WINDOW_SUMS +")
emu_mutant(avgpool_fwd_wrong_line pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "at / across * line" "at / across * across")
emu_mutant(avgpool_fwd_unwritten_tail pool/avgpool_fwd.cu avgpool_fwd avgpool_fwd__cuda_direct
           "lanes || c >= plane.pitch" "lanes || c >= plane.channels")
emu_mutant(avgpool_bwd_data_wrong_window tile/window.cuh avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "(at + 1) * of + size - 1" "(at + 1) * of")
emu_mutant(avgpool_bwd_data_wrong_sample pool/avgpool_bwd_data.cu avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "this->in_sample * this->plane.pitch + c" "c")
emu_mutant(avgpool_bwd_data_unwritten_tail tile/pixels.cuh avgpool_bwd_data avgpool_bwd_data__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
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
emu_mutant(maxpool_bwd_data_apart_last_places pool/maxpool_bwd_data.cu maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "if (at == window.out_size[axis] || first" "if (first")
emu_mutant(maxpool_bwd_data_2x2_all_of_equals pool/maxpool_bwd_data.cu maxpool_bwd_data maxpool_bwd_data__cuda_direct
           "best) & ~taken;" "best);")
emu_mutant(maxpool_fwd_2x2_wrong_row pool/window2.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "2 * line * window.size[1]" "line * window.size[1]")
emu_mutant(maxpool_fwd_next_row tile/window.cuh maxpool_fwd maxpool_fwd__cuda_direct
           "if (++s < window.filter[1]) continue;" "if (++s <= window.filter[1]) continue;")
