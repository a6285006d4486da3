# Planted faults: each is one kernel whose source has one passage replaced, as a module that the emulator loads in place of
# its own. The test passes when the check catches it. A passage that is no longer in the source stops the configuration, and
# so does a .cu file with fewer than three faults: a wrong index, a missing barrier, an unwritten tail, or what comes nearest
# to them in a kernel that has none.
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
        message(FATAL_ERROR "faults.cmake: ${name}: kernels/cuda/${file} does not hold: ${from}")
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
    emu_library(emu_mutant_${name} MODULE "${folder}" "${CMAKE_CURRENT_BINARY_DIR}/wrapped/${stem}.cpp")
    target_compile_options(emu_mutant_${name} PRIVATE -Wno-unused -Wno-unused-parameter)
    set_target_properties(emu_mutant_${name} PROPERTIES PREFIX "" OUTPUT_NAME "${name}"
                          LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/mutants")
    target_link_libraries(emu_mutant_${name} PRIVATE braid_core m) # conversions between number formats
    emu_test(mutant_${name} kernels --kernel ${kernel} --cases 100 --fault $<TARGET_FILE:emu_mutant_${name}>)
endfunction()

file(GLOB_RECURSE faults CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels/cuda/faults.cmake")
foreach(list ${faults})
    include("${list}")
endforeach()

foreach(stem ${cuda_stems})
    get_property(faults DIRECTORY PROPERTY emu_faults_${stem})
    list(LENGTH faults count)
    if(count LESS 3)
        message(FATAL_ERROR "tests/emu/faults.cmake: ${stem}.cu has ${count} planted faults, not three")
    endif()
endforeach()
