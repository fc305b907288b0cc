# Conveniences of our own build; a guest project never sees them.

get_property(tranca_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT tranca_multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TRANCA_CCACHE ccache)
  mark_as_advanced(TRANCA_CCACHE)
  if(TRANCA_CCACHE)
    # As its manual says for precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${TRANCA_CCACHE}")
  endif()
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
