# Tests: every tests/<folder>/*.c is a program with its own main (cmocka), linked with the insides of both
# libraries (as an archive: a program takes what it uses). The examples see what a user sees. tests/run runs them all.
#
# SPDX-License-Identifier: MIT

pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
if(NOT cmocka_FOUND)
    message(FATAL_ERROR "cmocka (the test library) is missing. Install libcmocka-dev: tools/setup build")
endif()

# Each test run has its own wisdom, emptied by tests/run. Idle threads sleep: several tests share the cores.
set(test_environment "BRAID_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache" "OMP_WAIT_POLICY=passive")
if(BRAID_SANITIZE MATCHES "address")
    list(APPEND test_environment "ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0" "UBSAN_OPTIONS=print_stacktrace=1"
         "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.txt:print_suppressions=0")
elseif(BRAID_SANITIZE MATCHES "thread")
    # libomp tells ThreadSanitizer about its barriers through archer; without it every parallel region is a race.
    find_library(ARCHER_LIBRARY archer PATHS /usr/lib/llvm-14/lib /usr/lib/llvm-15/lib /usr/lib/llvm-16/lib
                 /usr/lib/llvm-17/lib /usr/lib/llvm-18/lib /usr/lib/llvm-19/lib REQUIRED)
    list(APPEND test_environment "OMP_TOOL_LIBRARIES=${ARCHER_LIBRARY}"
         "TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1")
endif()

# braid_add_test(NAME command...): one row of tests/run.
function(braid_add_test name)
    add_test(NAME "${name}" COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("${name}" PROPERTIES TIMEOUT 600 ENVIRONMENT "${test_environment}")
endfunction()

braid_glob(support_sources tests/support/*.c)
set(support_objects "")
if(support_sources)
    add_library(braid_test_support OBJECT ${support_sources})
    target_include_directories(braid_test_support PRIVATE include src . ${BRAID_GENERATED_DIR})
    target_link_libraries(braid_test_support PRIVATE PkgConfig::jansson PkgConfig::cmocka)
    set(support_objects $<TARGET_OBJECTS:braid_test_support>)
endif()

add_library(braid_insides STATIC ${library_objects} ${lab_objects})
set_target_properties(braid_insides PROPERTIES LINKER_LANGUAGE C)

set(test_programs "")
foreach(folder core data ops nets backend race compile plan train report bench kernels api cli fuzz)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.c")
    foreach(source ${sources})
        get_filename_component(stem "${source}" NAME_WE)
        set(target "test_${folder}_${stem}")
        add_executable(${target} "${source}" ${support_objects})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME "${stem}"
                              RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/${folder}")
        target_include_directories(${target} PRIVATE include src . ${BRAID_GENERATED_DIR})
        target_compile_definitions(${target} PRIVATE ${BRAID_DNNL_DEFINITION})
        if(folder STREQUAL "cli" AND TARGET braid_program)
            target_link_libraries(${target} PRIVATE braid_cli_insides) # it needs what follows
        endif()
        target_link_libraries(${target} PRIVATE braid_insides PkgConfig::cmocka ${BRAID_SYSTEM_LIBRARIES}
                              ${BRAID_LAB_LIBRARIES})
        braid_add_test("${folder}/${stem}" ${target})
        list(APPEND test_programs ${target})
    endforeach()
endforeach()

if(TARGET braid_program)
    add_library(braid_cli_insides STATIC $<TARGET_OBJECTS:braid_cli_objects>)
    set_target_properties(braid_cli_insides PROPERTIES LINKER_LANGUAGE C)
    foreach(target ${test_programs}) # tests of the command line run the program, or call what it is made of
        if(target MATCHES "^test_cli_")
            add_dependencies(${target} braid_program)
            set(program braid_program)
            if(target STREQUAL "test_cli_cuda")
                set(program fake_cuda_braid) # tests/emu/CMakeLists.txt
            endif()
            target_compile_definitions(${target} PRIVATE "BRAID_PROGRAM=\"$<TARGET_FILE:${program}>\"")
        endif()
    endforeach()
endif()

file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
foreach(source ${examples})
    get_filename_component(stem "${source}" NAME_WE)
    add_executable(example_${stem} "${source}")
    set_target_properties(example_${stem} PROPERTIES OUTPUT_NAME "${stem}"
                          RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples" INSTALL_RPATH "$ORIGIN/..")
    target_link_libraries(example_${stem} PRIVATE braid_lab braid m)
    braid_add_test("examples/${stem}" example_${stem})
endforeach()

if(EXISTS "${PROJECT_SOURCE_DIR}/tests/emu/CMakeLists.txt")
    enable_language(CXX)
    add_subdirectory(tests/emu)
endif()

if(NOT BRAID_SANITIZE AND NOT BRAID_COVERAGE) # these look at the finished files, or at a script
    braid_add_test(test_cuda "${PROJECT_SOURCE_DIR}/tests/test_cuda")
    braid_add_test(bench_cuda "${PROJECT_SOURCE_DIR}/tests/bench_cuda")
    foreach(locale de_DE tr_TR)
        braid_add_test(locales/${locale} "${PROJECT_SOURCE_DIR}/tests/locales" "${PROJECT_BINARY_DIR}" ${locale})
    endforeach()
    braid_add_test(exports "${PROJECT_SOURCE_DIR}/tests/exports" "${PROJECT_BINARY_DIR}")
    braid_add_test(instructions "${PROJECT_SOURCE_DIR}/tests/instructions" "${PROJECT_BINARY_DIR}")
    braid_add_test(python/winners "${PROJECT_SOURCE_DIR}/tests/python/winners.py" "${PROJECT_BINARY_DIR}")
    if(TARGET braid_program)
        braid_add_test(python/checkpoint "${PROJECT_SOURCE_DIR}/tests/python/checkpoint.py" "${PROJECT_BINARY_DIR}")
        braid_add_test(install "${PROJECT_SOURCE_DIR}/tests/install/run" "${PROJECT_BINARY_DIR}")
    endif()
endif()
