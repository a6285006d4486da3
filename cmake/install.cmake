# `make install`: libraries, headers, pkg-config files, the CMake package, the program with its man pages and
# completion, and the suites of its benches. All of it may be moved as a whole: every path in it is relative to where it lies. `make bundle` takes the
# part `runtime`.
#
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

set(installed_libraries braid)
set(installed_headers include/braid.h include/braid_net.h include/braid_train.h)
set(pkgconfig_files braid)
if(TARGET braid_lab)
    list(APPEND installed_libraries braid_lab)
    list(APPEND installed_headers include/braid_lab.h)
    list(APPEND pkgconfig_files braid_lab)
endif()
install(TARGETS ${installed_libraries} EXPORT braid-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
if(TARGET braid_program)
    install(TARGETS braid_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
    # Man pages and the completion for bash, which the program writes from the tables of its options.
    set(pages "${PROJECT_BINARY_DIR}/pages")
    add_custom_command(OUTPUT "${pages}/braid.1" COMMAND braid_program help --pages "${pages}" DEPENDS braid_program
                       COMMENT "Writing the man pages" VERBATIM)
    add_custom_target(braid_pages ALL DEPENDS "${pages}/braid.1")
    install(DIRECTORY "${pages}/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime FILES_MATCHING PATTERN "*.1")
    install(FILES "${pages}/braid.bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME braid
            COMPONENT runtime)
endif()
install(DIRECTORY bench/suites DESTINATION ${CMAKE_INSTALL_DATADIR}/braid COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# What follows is for those who build on braid.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(FILES ${installed_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/braid)
install(EXPORT braid-targets NAMESPACE braid:: DESTINATION ${package_folder})
configure_package_config_file(packaging/braid-config.cmake.in "${PROJECT_BINARY_DIR}/packaging/braid-config.cmake"
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/packaging/braid-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/packaging/braid-config.cmake"
              "${PROJECT_BINARY_DIR}/packaging/braid-config-version.cmake" DESTINATION ${package_folder})

file(RELATIVE_PATH PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PREFIX_FROM_PC "${PREFIX_FROM_PC}")
foreach(name ${pkgconfig_files})
    configure_file(packaging/${name}.pc.in "${PROJECT_BINARY_DIR}/packaging/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/packaging/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
