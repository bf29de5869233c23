# SPDX-License-Identifier: Apache-2.0
# Install components: runtime, ops, llm (and emu, once it is there), each with its headers, its
# static library and its export, and cli. `cmake --install … --component runtime` takes one alone.
include(CMakePackageConfigHelpers)

set(TW_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)

# tw_install(ops FOLDERS ops): the library tilewright_ops, and the headers below tilewright/ops.
function(tw_install component)
  cmake_parse_arguments(I "" "" "FOLDERS" ${ARGN})
  set(target tilewright_${component})
  if(NOT TARGET ${target})
    return()
  endif()
  foreach(folder ${I_FOLDERS})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tilewright/${folder}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilewright COMPONENT ${component}
            FILES_MATCHING PATTERN *.h PATTERN *.cuh
            PATTERN *_internal.h EXCLUDE PATTERN *simd.h EXCLUDE PATTERN *_cases.h EXCLUDE PATTERN bench_*.h EXCLUDE
            PATTERN *_corpus EXCLUDE)
  endforeach()
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  install(TARGETS ${target} EXPORT ${target}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  install(EXPORT ${target} FILE ${component}-targets.cmake NAMESPACE tilewright::
          DESTINATION ${TW_CONFIG_FOLDER} COMPONENT ${component})
endfunction()

tw_install(runtime FOLDERS base device runtime)
tw_install(ops FOLDERS ops)
tw_install(emu FOLDERS emu)
tw_install(llm FOLDERS llm)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tilewright-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/tilewright-config.cmake
  INSTALL_DESTINATION ${TW_CONFIG_FOLDER})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/tilewright-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/tilewright-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/tilewright-config-version.cmake
        DESTINATION ${TW_CONFIG_FOLDER} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
