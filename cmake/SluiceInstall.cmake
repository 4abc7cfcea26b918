# SPDX-License-Identifier: Apache-2.0
# Headers, libraries, program, and the package config that finds them again.

include(CMakePackageConfigHelpers)

set(SLUICE_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/sluice" CACHE STRING "Where the package config goes")
mark_as_advanced(SLUICE_INSTALL_CMAKEDIR)

set(sluice_parts core kernels engine io sluice)
foreach(part IN LISTS sluice_parts)
  set_target_properties(sluice_${part} PROPERTIES EXPORT_NAME ${part})
  install(TARGETS sluice_${part} EXPORT sluice-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

foreach(folder kernels engine io)
  install(
    DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/include/"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING
    PATTERN "*.hpp"
    PATTERN "*.cuh")
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/generated/include/" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

install(
  EXPORT sluice-targets
  NAMESPACE sluice::
  DESTINATION ${SLUICE_INSTALL_CMAKEDIR})
configure_package_config_file("${PROJECT_SOURCE_DIR}/engine/cmake/sluice-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/sluice-config.cmake" INSTALL_DESTINATION ${SLUICE_INSTALL_CMAKEDIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sluice-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sluice-config.cmake" "${PROJECT_BINARY_DIR}/sluice-config-version.cmake"
        DESTINATION ${SLUICE_INSTALL_CMAKEDIR})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/sluice)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR sluice)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
include(CPack)
