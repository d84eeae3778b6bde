# Rules for `cmake --install`, in two components:
#   runtime      libkith.so.0, the plug-ins in LIBDIR/kith, the programs that were built
#   development  headers, libkith.so, the CMake package kith::kith, kith.pc
# The installed tree can be moved as a whole, since no file contains an absolute path.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kith)

install(TARGETS kith EXPORT kith_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS kith_ask_driver RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/kith COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/include/kith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def")
install(EXPORT kith_targets FILE kithTargets.cmake NAMESPACE kith:: DESTINATION ${package_dir}
  COMPONENT development)

# The component mpi has an export set of its own. Otherwise every user of kith would need MPI.
if(TARGET kith_mpi)
  install(TARGETS kith_mpi EXPORT kith_mpi_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/lib/mpi/include/kith/mpi.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kith
    COMPONENT development)
  install(EXPORT kith_mpi_targets FILE kithMpiTargets.cmake NAMESPACE kith:: DESTINATION ${package_dir}
    COMPONENT development)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kithConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kithConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kithConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)  # until 1.0, a minor version may break
install(FILES ${PROJECT_BINARY_DIR}/kithConfig.cmake ${PROJECT_BINARY_DIR}/kithConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libdir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH includedir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/kith.pc.in ${PROJECT_BINARY_DIR}/kith.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kith.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

# Pages to read. documents.cmake writes them during installation.
set(documents ${PROJECT_BINARY_DIR}/documents)
file(RELATIVE_PATH to_headers ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR}/kith)
install(CODE "
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(documents \"${documents}\")
  set(to_headers \"${to_headers}\")" COMPONENT development)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/documents.cmake COMPONENT development)
install(DIRECTORY ${documents}/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/charts DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
