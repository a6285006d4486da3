# Faults planted in the kernels of this folder (tests/emu/faults.cmake says how).
#
# SPDX-License-Identifier: MIT

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
emu_mutant(add_wrong_input elementwise/add.cu add add__cuda_direct
           "this->take(this->plane.z, at)" "this->take(this->plane.x, at)")
emu_mutant(add_unwritten_tail tile/pixels.cuh add add__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bias_fwd_wrong_channel elementwise/bias.cu bias bias_fwd__cuda_direct
           "(const number *)this->plane.z + c" "(const number *)this->plane.z")
emu_mutant(bias_fwd_unwritten_tail tile/pixels.cuh bias bias_fwd__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(bias_fwd_blanked elementwise/bias.cu bias bias_fwd__cuda_direct
           "this->clear(this->plane.y, at)" "")
emu_mutant(bias_bwd_weight_blanked tile/columns.cuh bias bias_bwd_weight__cuda_direct
           "!masked || !column_blanks(from, pixel);" "true;")
emu_mutant(bias_bwd_weight_dropped_part elementwise/bias.cu bias bias_bwd_weight__cuda_direct
           "both.dy = a.dy + b.dy" "both.dy = a.dy")
emu_mutant(bias_bwd_weight_early_sums tile/columns.cuh bias bias_bwd_weight__cuda_direct
           "    __syncthreads(); /* nobody reads packs any more */\n" "")
emu_mutant(cast_wrong_format elementwise/cast.cu cast cast__cuda_direct
           "pack_write((bf16 *)y" "pack_write((f16 *)y")
emu_mutant(cast_wide_packs tile/pixels.cuh cast cast__cuda_direct
           "args.map.vector[work.plane] == 4" "args.map.vector[work.plane] == 3")
emu_mutant(cast_unwritten_tail tile/pixels.cuh cast cast__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(dropout_shared_block elementwise/dropout.cu dropout dropout_fwd__cuda_direct
           "j > 0 && number_at % 4 == 0" "j > 0 && number_at % 8 == 0")
emu_mutant(dropout_wrong_stream elementwise/dropout.cu dropout dropout_bwd_data__cuda_direct
           "* 16 + (uint64_t)i" "* 16")
emu_mutant(dropout_whole_blocks elementwise/dropout.cu dropout dropout_fwd__cuda_direct
           "plane.channels == plane.pitch &&" "plane.channels <= plane.pitch &&")
emu_mutant(dropout_full_tail tile/pack.cuh dropout dropout_fwd__cuda_direct
           "if (inside < width) {" "if (inside < -width) {")
emu_mutant(dropout_keeps_at_the_limit elementwise/dropout.cu dropout dropout_fwd__cuda_direct
           "all.limit >> BITS ? 0 :" "all.limit < 0 ? 0 :")
emu_mutant(act_fwd_wrong_tile tile/pixels.cuh act_fwd act_fwd__cuda_direct
           "block % tiles * lanes" "0")
emu_mutant(fuse_fwd_wrong_column elementwise/fuse.cu fuse fuse_fwd__cuda_direct
           "this->args.column[this->index] + c;\n        float" "c;\n        float")
emu_mutant(fuse_bwd_data_wrong_sample elementwise/fuse.cu fuse fuse_bwd_data__cuda_direct
           "(const number *)this->args.dy + sample * this->args.width" "(const number *)this->args.dy")
emu_mutant(fuse_fwd_unwritten_tail elementwise/fuse.cu fuse fuse_fwd__cuda_direct
           "if (c + j < this->plane.channels) store" "if (c + j + 1 < this->plane.channels) store")
emu_mutant(fuse_bwd_weight_dropped_sample elementwise/fuse_bwd_weight.cu fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "sum += args.products[sample" "sum = args.products[sample")
emu_mutant(fuse_bwd_weight_missing_barrier tile/rows.cuh fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "/ 32] = mine;\n    __syncthreads();" "/ 32] = mine;")
emu_mutant(fuse_bwd_weight_unwritten_tail elementwise/fuse_bwd_weight.cu fuse_bwd_weight fuse_bwd_weight__cuda_direct
           "i < args.planes; i++) {\n        const double value"
           "i + 1 < args.planes; i++) {\n        const double value")
emu_mutant(normalize_wrong_byte elementwise/normalize.cu normalize normalize__cuda_direct
           "pixel * this->plane.channels + c" "pixel * this->plane.pitch + c")
emu_mutant(normalize_wrong_channel elementwise/normalize.cu normalize normalize__cuda_direct
           "(int32_t)(c + j) % folded" "j % folded")
emu_mutant(normalize_unwritten_tail tile/pixels.cuh normalize normalize__cuda_direct
           "c < pitch;" "c < of.plane.channels;")
emu_mutant(act_fwd_odd_addresses tile/pixels.cuh act_fwd act_fwd__cuda_direct
           "args.map.vector[work.plane]" "args.map.vector[work.plane] || args.map.sample_pixels == 15")
emu_mutant(augment_wrong_corner elementwise/augment.cu augment augment__cuda_direct
           "s.d.source.left + column" "column")
emu_mutant(augment_unwritten_tail elementwise/augment.cu augment augment__cuda_direct
           "c < s.plane.pitch" "c < s.plane.channels")
emu_mutant(augment_lost_part elementwise/augment.cu augment augment__cuda_direct
           "args.sums[s.image * args.parts + s.part] = mine" "args.sums[s.image * args.parts] = mine")
emu_mutant(augment_other_noise elementwise/augment.cu augment augment__cuda_direct
           "numbers.index = 2 * (uint64_t)element" "numbers.index = (uint64_t)element")
