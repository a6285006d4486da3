# What the build needs from the distribution, each with what to type when it is missing. The vendor
# libraries (oneDNN, OpenBLAS, CUDA) are opened at run time: of oneDNN only the header is used here.
#
# SPDX-License-Identifier: MIT

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
    message(FATAL_ERROR "OpenMP does not work with ${CMAKE_C_COMPILER}. For gcc it comes with gcc itself, "
                        "for clang install libomp-dev: tools/setup lint")
endif()
pkg_check_modules(jansson IMPORTED_TARGET jansson)
if(NOT jansson_FOUND)
    message(FATAL_ERROR "jansson (the JSON library) is missing. Install libjansson-dev: tools/setup build")
endif()
# braid_find_module(PREFIX module "what it is" package): a library that the lab needs, by pkg-config.
macro(braid_find_module prefix module what package)
    pkg_check_modules(${prefix} IMPORTED_TARGET ${module})
    if(NOT ${prefix}_FOUND)
        message(FATAL_ERROR "${module} (${what}) is missing. Install ${package}: tools/setup build")
    endif()
endmacro()
braid_find_module(png libpng "which reads PNG" libpng-dev)
braid_find_module(jpeg libjpeg "which reads JPEG" libjpeg-dev)
braid_find_module(sndfile sndfile "which reads sound" libsndfile1-dev)
braid_find_module(kissfft kissfft-float "the Fourier transform" libkissfft-dev)
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
    message(FATAL_ERROR "xxhash.h is missing. Install libxxhash-dev: tools/setup build")
endif()
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
if(DNNL_INCLUDE_DIR)
    set(BRAID_DNNL_DEFINITION BRAID_HAVE_DNNL_H)
else()
    set(BRAID_DNNL_DEFINITION "")
    message(STATUS "oneDNN: no dnnl.h, so it will not be a candidate (Debian: libdnnl-dev)")
endif()

# All that libbraid.so may need; tests/exports holds the list against the finished file.
set(BRAID_SYSTEM_LIBRARIES PkgConfig::jansson OpenMP::OpenMP_C ${CMAKE_DL_LIBS} m)
# What libbraid_lab needs on top of libbraid.
set(BRAID_LAB_LIBRARIES PkgConfig::jansson PkgConfig::png PkgConfig::jpeg PkgConfig::sndfile PkgConfig::kissfft
                        Threads::Threads m)
