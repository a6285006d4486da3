# braid_build.h with BRAID_BUILD_ID: version, compiler and a hash of everything libbraid is made of.
# It is part of the key of all measured choices. The same sources give the same id on every machine and in
# every folder; no path and no time enters it. Made by this same file, run as a script at build time.
#
# SPDX-License-Identifier: MIT

if(CMAKE_SCRIPT_MODE_FILE)
    file(STRINGS "${LIST}" sources)
    set(digests "")
    foreach(source ${sources})
        file(SHA256 "${ROOT}/${source}" digest)
        string(APPEND digests "${source} ${digest}\n")
    endforeach()
    string(SHA256 hash "${digests}")
    string(SUBSTRING "${hash}" 0 16 hash)
    file(WRITE "${HEADER}"
"/* Written by cmake/build_id.cmake. SPDX-License-Identifier: MIT */
#ifndef BRAID_BUILD_H
#define BRAID_BUILD_H

#define BRAID_BUILD_ID \"${PREFIX}-${hash}\"

#endif
")
    return()
endif()

set(BRAID_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# braid_build_id(OUT source...): OUT is the header, remade when a source changes.
function(braid_build_id out)
    set(relative "")
    foreach(source ${ARGN})
        file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${source}")
        list(APPEND relative "${path}")
    endforeach()
    list(SORT relative)
    list(JOIN relative "\n" lines)
    set(list_file "${BRAID_GENERATED_DIR}/build_id_sources.txt")
    file(GENERATE OUTPUT "${list_file}" CONTENT "${lines}\n")
    string(TOLOWER "${PROJECT_VERSION}-${CMAKE_C_COMPILER_ID}${CMAKE_C_COMPILER_VERSION}-${CMAKE_BUILD_TYPE}" prefix)
    set(header "${BRAID_GENERATED_DIR}/braid_build.h")
    add_custom_command(
        OUTPUT "${header}"
        COMMAND "${CMAKE_COMMAND}" "-DLIST=${list_file}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DHEADER=${header}"
                "-DPREFIX=${prefix}" -P "${PROJECT_SOURCE_DIR}/cmake/build_id.cmake"
        DEPENDS ${ARGN} "${list_file}" cmake/build_id.cmake
        COMMENT "Hashing the sources into braid_build.h" VERBATIM)
    set(${out} "${header}" PARENT_SCOPE)
endfunction()
