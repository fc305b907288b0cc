# Finds hiredis 0.14.1 or newer, and hiredis_ssl beside it.
#
#   find_package(Hiredis 0.14.1 REQUIRED OPTIONAL_COMPONENTS ssl)
#
# Looks in HIREDIS_ROOT alone when that is set (variable or environment), otherwise where CMake looks (CMAKE_PREFIX_PATH,
# the system). Sets Hiredis_FOUND, Hiredis_VERSION, Hiredis_ssl_FOUND and, without it, the reason in Hiredis_ssl_REASON.
# Targets: Hiredis::hiredis, Hiredis::ssl. Both are included as <hiredis/...>.

if(NOT HIREDIS_ROOT AND DEFINED ENV{HIREDIS_ROOT})
  set(HIREDIS_ROOT "$ENV{HIREDIS_ROOT}")
endif()

set(_hiredis_where "")
if(HIREDIS_ROOT)
  set(_hiredis_where HINTS "${HIREDIS_ROOT}" NO_DEFAULT_PATH)
endif()
set(_hiredis_lib_suffixes lib lib64)
if(CMAKE_LIBRARY_ARCHITECTURE)
  list(PREPEND _hiredis_lib_suffixes lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

# Another root than last time: look again.
if(NOT "${HIREDIS_ROOT}" STREQUAL "${_HIREDIS_LAST_ROOT}")
  unset(HIREDIS_INCLUDE_DIR CACHE)
  unset(HIREDIS_LIBRARY CACHE)
  unset(HIREDIS_SSL_LIBRARY CACHE)
  set(_HIREDIS_LAST_ROOT "${HIREDIS_ROOT}" CACHE INTERNAL "")
endif()

find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h ${_hiredis_where} PATH_SUFFIXES include
          DOC "Folder that holds hiredis/hiredis.h")
find_library(HIREDIS_LIBRARY hiredis ${_hiredis_where} PATH_SUFFIXES ${_hiredis_lib_suffixes} DOC "hiredis")
find_library(HIREDIS_SSL_LIBRARY hiredis_ssl ${_hiredis_where} PATH_SUFFIXES ${_hiredis_lib_suffixes}
             DOC "hiredis_ssl (hiredis 1.0 or newer)")
mark_as_advanced(HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY HIREDIS_SSL_LIBRARY)

set(Hiredis_VERSION "")
if(HIREDIS_INCLUDE_DIR)
  foreach(_hiredis_part MAJOR MINOR PATCH)
    set(_hiredis_line "")
    file(STRINGS "${HIREDIS_INCLUDE_DIR}/hiredis/hiredis.h" _hiredis_line
         REGEX "^#define[ \t]+HIREDIS_${_hiredis_part}[ \t]+[0-9]+")
    string(REGEX MATCH "[0-9]+" _hiredis_number "${_hiredis_line}")
    string(APPEND Hiredis_VERSION "${_hiredis_number}.")
  endforeach()
  string(REGEX REPLACE "\\.$" "" Hiredis_VERSION "${Hiredis_VERSION}")
endif()

# hiredis_ssl: header, library and OpenSSL, or the reason why not.
set(Hiredis_ssl_FOUND FALSE)
set(Hiredis_ssl_REASON "")
if(NOT HIREDIS_SSL_LIBRARY OR NOT EXISTS "${HIREDIS_INCLUDE_DIR}/hiredis/hiredis_ssl.h")
  set(Hiredis_ssl_REASON "this hiredis, ${Hiredis_VERSION}, comes without hiredis_ssl")
else()
  find_package(OpenSSL QUIET)
  if(OpenSSL_FOUND)
    set(Hiredis_ssl_FOUND TRUE)
  else()
    set(Hiredis_ssl_REASON "hiredis_ssl is there but OpenSSL is not; Debian package: libssl-dev")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Hiredis
  REQUIRED_VARS HIREDIS_LIBRARY HIREDIS_INCLUDE_DIR
  VERSION_VAR Hiredis_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "hiredis 0.14.1 or newer is needed. Debian, Ubuntu: install the package libhiredis-dev. Elsewhere: set HIREDIS_ROOT to the prefix that holds include/hiredis/hiredis.h.")

if(Hiredis_FOUND AND NOT TARGET Hiredis::hiredis)
  add_library(Hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(Hiredis::hiredis PROPERTIES IMPORTED_LOCATION "${HIREDIS_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${HIREDIS_INCLUDE_DIR}")
endif()
if(Hiredis_FOUND AND Hiredis_ssl_FOUND AND NOT TARGET Hiredis::ssl)
  add_library(Hiredis::ssl UNKNOWN IMPORTED)
  set_target_properties(
    Hiredis::ssl
    PROPERTIES IMPORTED_LOCATION "${HIREDIS_SSL_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${HIREDIS_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES "Hiredis::hiredis;OpenSSL::SSL;OpenSSL::Crypto")
endif()

unset(_hiredis_where)
unset(_hiredis_lib_suffixes)
unset(_hiredis_part)
unset(_hiredis_line)
unset(_hiredis_number)
