# Install rules: library, headers, find_package(tranca), pkg-config. Relocatable.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(tranca_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tranca")
get_target_property(tranca_type tranca TYPE)

install(
  TARGETS tranca
  EXPORT tranca_targets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(
  EXPORT tranca_targets
  NAMESPACE tranca::
  FILE tranca-targets.cmake
  DESTINATION "${tranca_package_dir}")

# A static library's users link hiredis and fmt too, so they find them with our module.
set(TRANCA_STATIC FALSE)
set(TRANCA_HIREDIS_COMPONENTS "")
if(tranca_type STREQUAL "STATIC_LIBRARY")
  set(TRANCA_STATIC TRUE)
endif()
if(TRANCA_WITH_TLS)
  set(TRANCA_HIREDIS_COMPONENTS "COMPONENTS ssl")
endif()

configure_package_config_file(cmake/tranca-config.cmake.in "${PROJECT_BINARY_DIR}/package/tranca-config.cmake"
                              INSTALL_DESTINATION "${tranca_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/tranca-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/package/tranca-config.cmake"
        "${PROJECT_BINARY_DIR}/package/tranca-config-version.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindHiredis.cmake"
  DESTINATION "${tranca_package_dir}")

# pkg-config: paths are relative to the .pc file, so that the tree may be moved.
set(TRANCA_PC_REQUIRES "hiredis >= 0.14.1, fmt")
if(TRANCA_WITH_TLS)
  string(APPEND TRANCA_PC_REQUIRES ", hiredis_ssl, openssl")
endif()
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(TRANCA_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(TRANCA_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(TRANCA_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH tranca_pc_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
  string(REGEX REPLACE "/$" "" tranca_pc_up "${tranca_pc_up}")
  set(TRANCA_PC_PREFIX "\${pcfiledir}/${tranca_pc_up}")
endif()
configure_file(cmake/tranca.pc.in "${PROJECT_BINARY_DIR}/package/tranca.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/tranca.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
