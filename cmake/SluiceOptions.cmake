# SPDX-License-Identifier: Apache-2.0
# How this project's own targets are compiled. Nothing here reaches a consumer; see SluiceCore for what must.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

find_package(Threads REQUIRED)

# sluice_target_options(<target>...)
#
# Gives targets of this project their language level, warnings, rounding rules and instrumentation.
#
# Contraction of a multiply and an add into one operation is off for host and device: results must have the same bits
# on every backend. -Wpedantic stays away from CUDA sources because it complains about what nvcc generates.
function(sluice_target_options)
  set(host_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor)
  # GCC 12 takes the copy inside std::string's operator+ for an overlapping one (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND host_warnings -Wno-restrict)
  endif()
  foreach(target IN LISTS ARGN)
    set_target_properties(
      ${target}
      PROPERTIES CXX_STANDARD 20
                 CXX_STANDARD_REQUIRED ON
                 CXX_EXTENSIONS OFF
                 POSITION_INDEPENDENT_CODE ON)
    target_compile_options(
      ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;${host_warnings}>"
                        "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SLUICE_WERROR}>>:-Werror>")
    if(SLUICE_SANITIZE)
      target_compile_options(
        ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SLUICE_SANITIZE};-fno-sanitize-recover=all>"
                          "$<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>")
      target_link_options(${target} PRIVATE "-fsanitize=${SLUICE_SANITIZE}")
    endif()
    if(SLUICE_COVERAGE)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:--coverage>")
      target_link_options(${target} PRIVATE --coverage)
    endif()
    if(SLUICE_WITH_CUDA)
      set_target_properties(
        ${target}
        PROPERTIES CUDA_STANDARD 20
                   CUDA_STANDARD_REQUIRED ON
                   CUDA_EXTENSIONS OFF
                   CUDA_RUNTIME_LIBRARY Static)
      target_compile_options(
        ${target}
        PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;--expt-relaxed-constexpr>"
                "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off,-Wall,-Wextra>"
                "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${SLUICE_WERROR}>>:-Werror=all-warnings;-Xcompiler=-Werror>")
    endif()
  endforeach()
endfunction()
