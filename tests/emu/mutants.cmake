# Planted faults: each mutant is the emulator with one kernel whose source has one passage replaced. The test
# passes when the check catches it. A passage that is no longer in the source stops the configuration.
#
# SPDX-License-Identifier: MIT

# emu_mutant(NAME file stem kernel from to): `file` is below kernels/cuda and part of <stem>.cu.
function(emu_mutant name file stem kernel from to)
    set(source "${PROJECT_SOURCE_DIR}/kernels/cuda/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(READ "${source}" text)
    string(FIND "${text}" "${from}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "tests/emu/mutants.cmake: ${name}: kernels/cuda/${file} does not hold: ${from}")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}")
    file(CONFIGURE OUTPUT "${folder}/kernels/cuda/${file}" CONTENT "${text}" @ONLY)
    set(others ${emu_kernels})
    list(REMOVE_ITEM others emu_kernel_${stem})
    emu_objects(emu_mutant_${name}_kernel "${folder}" "${CMAKE_CURRENT_BINARY_DIR}/wrapped/${stem}.cpp")
    emu_program(emu_mutant_${name} emu_runtime emu_mutant_${name}_kernel ${others})
    target_compile_options(emu_mutant_${name}_kernel PRIVATE -Wno-unused -Wno-unused-parameter)
    braid_add_test("emu/mutant_${name}" emu_mutant_${name} --kernel ${kernel} --cases 100 --caught)
endfunction()

emu_mutant(conv2d_fwd_wrong_tap conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "pixel[j].h + r * args.dilation[0]" "pixel[j].h + s * args.dilation[0]")
emu_mutant(conv2d_fwd_missing_barrier conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "gemm_add(&sums, slice);\n        __syncthreads();" "gemm_add(&sums, slice);")
emu_mutant(conv2d_fwd_unwritten_tail conv2d_fwd.cu conv2d_fwd conv2d_fwd__cuda_direct
           "if (n >= columns) break;" "if (n >= filters) break;")
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
emu_mutant(linear_bwd_weight_dropped_part weight_sum.cu weight_sum linear_bwd_weight__cuda_direct
           "part < args.parts" "part + 1 < args.parts")
emu_mutant(bn_stats_dropped_pixel tile/columns.cuh bn_stats bn_stats__cuda_direct
           "last < columns.pixels ? last : columns.pixels" "last < columns.pixels ? last : columns.pixels - 1")
emu_mutant(bn_stats_missing_barrier tile/columns.cuh bn_stats bn_stats__cuda_direct
           "shared[threadIdx.x + half]);\n        __syncthreads();" "shared[threadIdx.x + half]);")
emu_mutant(bn_sums_stuck_barrier tile/columns.cuh bn_sums bn_sums__cuda_direct
           "shared[threadIdx.x] = mine;" "if (threadIdx.x == 255) return mine;\n    shared[threadIdx.x] = mine;")
emu_mutant(bn_apply_unwritten_tail bn_apply.cu bn_apply bn_apply__cuda_direct
           "c < plane.pitch" "c < plane.channels")
emu_mutant(bn_apply_out_of_range bn_apply.cu bn_apply bn_apply__cuda_direct
           "pixel < work.end" "pixel < work.end + 100000")
emu_mutant(bn_dapply_wrong_count bn_dapply.cu bn_dapply bn_dapply__cuda_direct
           "mask_active(plane.mask, args.pixels.batch, shared)" "args.pixels.batch")
emu_mutant(bn_finalize_early_count bn_finalize.cu bn_finalize bn_finalize__cuda_direct
           "const float factor" "if (args.train) *args.batches = batches + 1;\n    const float factor")
