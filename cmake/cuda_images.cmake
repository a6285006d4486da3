# CUDA kernels become fatbins, embedded in libbraid and listed in one table (src/backend/cuda/images.h).
# nvcc is called as a plain tool; where there is none the table is empty and the build goes on.
# Every kernels/cuda/**/*.cu outside tile/ is one image, named by its path without ".cu": code for
# sm_80 and sm_90a, and compute_80 PTX for everything newer. A file named *_sm90a.cu (it uses wgmma) is
# built for sm_90a alone.
#
# SPDX-License-Identifier: MIT

set(BRAID_CUDA_MINIMUM 12.0) # the first nvcc that knows sm_90a

# Sets BRAID_NVCC, or leaves it empty and says why.
function(braid_find_nvcc)
    set(BRAID_NVCC "" PARENT_SCOPE)
    if(BRAID_CUDA STREQUAL "OFF")
        message(STATUS "CUDA: off (BRAID_CUDA=OFF)")
        return()
    endif()
    find_program(BRAID_NVCC_PROGRAM nvcc HINTS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
    set(reason "no nvcc on PATH, in $CUDA_HOME or in /usr/local/cuda")
    if(BRAID_NVCC_PROGRAM)
        execute_process(COMMAND "${BRAID_NVCC_PROGRAM}" --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
        string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" match "${text}")
        if(failed OR NOT match)
            set(reason "${BRAID_NVCC_PROGRAM} does not run")
        elseif(CMAKE_MATCH_1 VERSION_LESS BRAID_CUDA_MINIMUM)
            set(reason "${BRAID_NVCC_PROGRAM} is ${CMAKE_MATCH_1}, and ${BRAID_CUDA_MINIMUM} or newer is needed")
        else()
            message(STATUS "CUDA: kernels are built with nvcc ${CMAKE_MATCH_1}")
            set(BRAID_NVCC "${BRAID_NVCC_PROGRAM}" PARENT_SCOPE)
            return()
        endif()
    endif()
    if(BRAID_CUDA STREQUAL "ON")
        message(FATAL_ERROR "BRAID_CUDA=ON, but ${reason}. Install the CUDA toolkit or configure with -DBRAID_CUDA=AUTO")
    endif()
    message(STATUS "CUDA: ${reason}; this build has no CUDA kernels and runs on the CPU")
endfunction()

# braid_fatbin(OUT source stem): compiles one kernel file.
function(braid_fatbin out source stem)
    set(fatbin "${PROJECT_BINARY_DIR}/cuda/${stem}.fatbin")
    set(targets -gencode arch=compute_90a,code=sm_90a)
    if(NOT stem MATCHES "_sm90a$")
        list(PREPEND targets -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80)
    endif()
    get_filename_component(folder "${fatbin}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
        OUTPUT "${fatbin}"
        COMMAND "${BRAID_NVCC}" -fatbin ${targets} -std=c++17 -O3 "-I${PROJECT_SOURCE_DIR}"
                "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/src"
                -MD -MT "${fatbin}" -MF "${fatbin}.d" -o "${fatbin}" "${source}"
        DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/cmake/cuda_images.cmake" DEPFILE "${fatbin}.d"
        COMMENT "Compiling kernels/cuda/${stem}.cu for the GPU" VERBATIM)
    set(${out} "${fatbin}" PARENT_SCOPE)
endfunction()

# braid_cuda_images(OUT): OUT is the C source that embeds every fatbin and defines the table.
function(braid_cuda_images out)
    braid_find_nvcc()
    set(declarations "")
    set(rows "")
    set(fatbins "")
    set(count 0)
    if(BRAID_NVCC)
        braid_glob(sources kernels/cuda/*.cu)
        list(FILTER sources EXCLUDE REGEX "/kernels/cuda/tile/")
        list(SORT sources)
        foreach(source ${sources})
            file(RELATIVE_PATH stem "${PROJECT_SOURCE_DIR}/kernels/cuda" "${source}")
            string(REGEX REPLACE "\\.cu$" "" stem "${stem}")
            braid_fatbin(fatbin "${source}" "${stem}")
            list(APPEND fatbins "${fatbin}")
            string(APPEND declarations "EMBED(${count}, \"${fatbin}\")\n")
            string(APPEND rows "    {\"${stem}\", cuda_image_${count}_begin, cuda_image_${count}_end},\n")
            math(EXPR count "${count} + 1")
        endforeach()
    endif()
    set(file "${BRAID_GENERATED_DIR}/cuda_images.c")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/cuda_images.c.in" "${file}" @ONLY)
    set_source_files_properties("${file}" PROPERTIES OBJECT_DEPENDS "${fatbins}")
    set(${out} "${file}" ${fatbins} PARENT_SCOPE)
endfunction()
