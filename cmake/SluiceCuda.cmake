# SPDX-License-Identifier: Apache-2.0
# Decides whether the GPU backends are built, and sets SLUICE_WITH_CUDA for the rest of the build.

set(SLUICE_WITH_CUDA OFF)
if(NOT SLUICE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SLUICE_CUDA is '${SLUICE_CUDA}'; it must be AUTO, ON or OFF")
endif()

if(NOT SLUICE_CUDA STREQUAL "OFF")
  # nvcc often lies outside PATH.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(SLUICE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(SLUICE_NVCC)
    if(SLUICE_NVCC)
      set(CMAKE_CUDA_COMPILER "${SLUICE_NVCC}")
    endif()
  endif()
  # Chosen before the language is enabled; afterwards CMake has its own default.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES "75;80;86;89;90" CACHE STRING "GPU architectures to build for")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(SLUICE_WITH_CUDA ON)
  elseif(SLUICE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SLUICE_CUDA is ON and no CUDA compiler was found; set CMAKE_CUDA_COMPILER or CUDACXX")
  endif()
endif()

if(SLUICE_WITH_CUDA)
  # CMake before 3.26 does not know that nvcc has C++20 and would drop the request without a word.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  message(STATUS "sluice: GPU backends on, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "sluice: GPU backends off")
endif()
