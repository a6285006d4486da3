# Compiler and linker flags of every target, gcc and clang alike. Products and sums are never contracted behind our
# back (-ffp-contract=off): the reference must round as it is written, and a kernel that wants a fused multiply-add
# says so. The baseline is plain x86-64; kernels ask for more with __attribute__((target)). No build path enters a
# release.
#
# SPDX-License-Identifier: MIT

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wvla
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
                    -ffp-contract=off -fno-math-errno -fvisibility=hidden -fstack-protector-strong)
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
if(CMAKE_C_COMPILER_ID MATCHES "Clang") # which counts `return status;` as a change of sign; gcc looks at the others
    add_compile_options(-Wno-sign-conversion)
endif()
if(BRAID_WERROR)
    add_compile_options(-Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(BRAID_SANITIZE)
    foreach(language C CXX) # faster to build; lines are enough to find a place
        set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O1 -g1")
    endforeach()
    add_compile_options(-fsanitize=${BRAID_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${BRAID_SANITIZE})
endif()
if(BRAID_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()

# Libraries and program find each other by where they lie, in the build folder and where they are installed, and the
# installed files are the ones that were tested.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
file(RELATIVE_PATH libraries_from_program "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set(BRAID_LIBRARY_RPATH "$ORIGIN")
set(BRAID_PROGRAM_RPATH "$ORIGIN:$ORIGIN/${libraries_from_program}")

# braid_no_undefined(TARGET): a library that needs a symbol it does not link fails to link. (clang's
# sanitizers leave their symbols to the program.)
function(braid_no_undefined target)
    if(NOT BRAID_SANITIZE)
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()
