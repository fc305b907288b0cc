# tranca_warnings(target): our warnings, as errors, for a target of ours. Does nothing when tranca is a guest.
# `cmake --compile-no-warning-as-error` keeps the warnings and drops the errors.
function(tranca_warnings target)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  target_compile_options(
    ${target}
    PRIVATE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            -Wshadow
            -Wcast-align
            -Wcast-qual
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Woverloaded-virtual
            -Wunused
            -Wdouble-promotion
            -Wformat=2
            -Wimplicit-fallthrough
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-branches
            -Wduplicated-cond
            -Wextra-semi
            -Wsuggest-override>)
  # What gcc 12 says of the standard library's own code once a sanitizer is in it (its bug 105562).
  if(TRANCA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ON)
endfunction()
