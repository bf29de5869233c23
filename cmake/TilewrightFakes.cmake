# SPDX-License-Identifier: Apache-2.0
# tw_fakes(test FOLDER): each <name>.cc of the folder becomes <name>.so, a stand-in for a vendor's
# library, and the test knows where they lie as TW_FAKES.
function(tw_fakes test folder)
  if(NOT TARGET ${test})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  set(place ${CMAKE_CURRENT_BINARY_DIR}/fakes)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_library(${name} MODULE ${source})
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so"
                          LIBRARY_OUTPUT_DIRECTORY ${place})
    add_dependencies(${test} ${name})
  endforeach()
  target_compile_definitions(${test} PRIVATE TW_FAKES="${place}")
endfunction()
