# Puts src/lua/*.lua into a C++ header: NAME.lua becomes `tranca::lua::NAME`, a std::string_view.
#
# Included: defines tranca_embed_lua(target folder), which builds lua_scripts.hpp into a private include folder of the
# target. Run with cmake -P: writes that header; -D OUTPUT=file -D FOLDER=folder -D NAMES="a.lua b.lua".
# The comment lines at the top of a script (line 1 says KEYS, ARGV and reply) stay out of what is sent to the server. Any of
# them may say `-- after: OTHER.lua`: then that file stands in front, once, without its own top comment. A file whose line 1
# begins with `-- A fragment` is for that only, and no script of its own.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(tranca_embed_lua target folder)
    file(GLOB scripts CONFIGURE_DEPENDS "${folder}/*.lua")
    list(SORT scripts)
    set(names ${scripts})
    list(TRANSFORM names REPLACE "^.*/" "")
    list(JOIN names " " names)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/generated/lua_scripts.hpp")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFOLDER=${folder}" "-DNAMES=${names}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      DEPENDS ${scripts} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      COMMENT "Embedding the Lua scripts"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}")
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated")
  endfunction()

  return()
endif()

cmake_minimum_required(VERSION 3.25)
set(max_lines 40)

set(header "// Generated from src/lua by cmake/embed_lua.cmake.\n#pragma once\n\n#include <string_view>\n\n")
string(APPEND header "namespace tranca::lua {\n\n")

# Reads a file, checks it, and leaves its text in `result`, with what stands in front of it and without the top comment.
function(read_lua file_name result)
  set(script "${FOLDER}/${file_name}")
  get_filename_component(name "${script}" NAME_WE)
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR NOT file_name STREQUAL "${name}.lua")
    message(FATAL_ERROR "${script}: the name must be a C++ identifier in snake_case")
  endif()
  if(NOT EXISTS "${script}")
    message(FATAL_ERROR "${script}: there is no such file")
  endif()

  file(READ "${script}" text)
  if(NOT text MATCHES "^--[^[]")
    message(FATAL_ERROR "${script}:1: line 1 must be a comment that says KEYS, ARGV and reply")
  endif()
  if(text MATCHES "\\)lua\"")
    message(FATAL_ERROR "${script}: the text holds )lua\", which ends the C++ literal")
  endif()
  string(REGEX REPLACE "\n$" "" counted "${text}")
  string(REGEX REPLACE "[^\n]" "" counted "${counted}")
  string(LENGTH "${counted}x" lines)
  if(lines GREATER max_lines)
    message(FATAL_ERROR "${script}: ${lines} lines; a script has at most ${max_lines}")
  endif()

  set(front "")
  string(REGEX MATCHALL "\n-- after: [a-z0-9_]+[.]lua" mentions "${text}")
  foreach(mention IN LISTS mentions)
    string(REPLACE "\n-- after: " "" fragment "${mention}")
    get_property(in_front GLOBAL PROPERTY tranca_lua_in_front)
    if(NOT fragment IN_LIST in_front)
      set_property(GLOBAL APPEND PROPERTY tranca_lua_in_front "${fragment}")
      read_lua("${fragment}" before)
      string(APPEND front "${before}")
    endif()
  endforeach()
  while(text MATCHES "^[ \t]*(--[^\n]*)?\n")
    string(REGEX REPLACE "^[ \t]*(--[^\n]*)?\n" "" text "${text}")
  endwhile()
  if(text MATCHES "^[ \t]*(--[^\n]*)?$")
    message(FATAL_ERROR "${script}: nothing but comments")
  endif()
  set(${result} "${front}${text}" PARENT_SCOPE)
endfunction()

string(REPLACE " " ";" names "${NAMES}")
foreach(file_name IN LISTS names)
  file(STRINGS "${FOLDER}/${file_name}" first_line LIMIT_COUNT 1)
  if(first_line MATCHES "^-- A fragment")
    continue()
  endif()
  set_property(GLOBAL PROPERTY tranca_lua_in_front "")
  read_lua("${file_name}" text)
  get_filename_component(name "${file_name}" NAME_WE)
  string(APPEND header "inline constexpr std::string_view ${name} = R\"lua(${text})lua\";\n\n")
endforeach()

string(APPEND header "}  // namespace tranca::lua\n")
file(WRITE "${OUTPUT}" "${header}")
