# SPDX-License-Identifier: Apache-2.0
# sluice::core: the headers that every layer shares. The version lives in the project() call alone; core/version.hpp is
# made from it.

configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in"
               "${PROJECT_BINARY_DIR}/generated/include/sluice/core/version.hpp" @ONLY)

add_library(sluice_core INTERFACE)
add_library(sluice::core ALIAS sluice_core)
target_include_directories(
  sluice_core
  INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/include>"
            "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/include>"
            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(sluice_core INTERFACE cxx_std_20)
# The arithmetic in these headers must round in a consumer's code as it does in the library.
target_compile_options(sluice_core INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-ffp-contract=off>")
