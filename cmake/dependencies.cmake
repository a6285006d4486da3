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
