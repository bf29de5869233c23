# SPDX-License-Identifier: Apache-2.0
# tw_module(NAME runtime FOLDERS base runtime DEPENDS … PRIVATE …)
#
# One static library from every source below the folders. Lists are globbed, so that adding a
# file or an op touches no list. File names decide what a source is:
#   *_test.cpp  a test of this module        *_simd.cpp  compiled once per instruction set
#   *_fuzz.cpp  a fuzz target                *_main.cpp  a program, never part of the library

set(TW_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor)

function(tw_compile_options target)
  target_compile_options(${target} PRIVATE ${TW_WARNINGS} -fno-math-errno)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  if(TW_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${TW_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${TW_SANITIZE})
  endif()
endfunction()

# Instruction sets a *_simd.cpp is compiled for; the code picks one at start (base/cpu.h).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TW_ISAS baseline avx2 avx512)
  set(TW_ISA_FLAGS_baseline -march=x86-64-v2)
  set(TW_ISA_FLAGS_avx2 -march=x86-64-v3)
  set(TW_ISA_FLAGS_avx512 -march=x86-64-v4 -mavx512vnni)
else()
  set(TW_ISAS baseline)
  set(TW_ISA_FLAGS_baseline "")
endif()

# One object library an instruction set: -DTW_ISA=avx2 names the namespace that the source is in.
function(tw_simd_objects target)
  foreach(isa ${TW_ISAS})
    set(objects ${target}_${isa})
    add_library(${objects} OBJECT ${ARGN})
    tw_compile_options(${objects})
    target_compile_options(${objects} PRIVATE ${TW_ISA_FLAGS_${isa}} -ffp-contract=fast)
    target_compile_definitions(${objects} PRIVATE TW_ISA=${isa} HWY_COMPILE_ONLY_STATIC)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

function(tw_module)
  cmake_parse_arguments(M "" "NAME" "FOLDERS;DEPENDS;PRIVATE;SOURCES" ${ARGN})
  set(sources ${M_SOURCES})
  foreach(folder ${M_FOLDERS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(tests ${sources})
  set(simd ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER simd INCLUDE REGEX "_simd\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|simd|fuzz|main)\\.cpp$")

  set(target tilewright_${M_NAME})
  add_library(${target} STATIC ${sources})
  add_library(tilewright::${M_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${M_NAME})
  tw_compile_options(${target})
  target_link_libraries(${target} PUBLIC ${M_DEPENDS})
  foreach(library ${M_PRIVATE})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  if(simd)
    tw_simd_objects(${target} ${simd})
  endif()
  if(TW_BUILD_TESTS AND tests)
    tw_test(${M_NAME}_test SOURCES ${tests} LIBRARIES ${target} ${M_PRIVATE})
  endif()
endfunction()

# A GoogleTest program; every TEST is a ctest of its own. TW_SOURCE_DIR finds fixtures.
function(tw_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBRARIES" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${T_SOURCES})
  tw_compile_options(${name})
  target_compile_definitions(${name} PRIVATE TW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${T_LIBRARIES} GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
