# SPDX-License-Identifier: Apache-2.0
# usage: cmake -DFAULT=FILE -DBODIES=FOLDER -DTO=FILE -P plant.cmake
# Copies a kernel's source with one piece of text replaced, as a fault's file says. Where the piece is not there the copy
# is as it was, and the test that looks for the fault fails.
include("${FAULT}")
file(READ "${BODIES}/${body}" text)
string(FIND "${text}" "${was}" at)
if(at EQUAL -1)
  message(WARNING "${FAULT}: the text to be replaced is not in ${body}")
else()
  string(LENGTH "${was}" length)
  string(SUBSTRING "${text}" 0 ${at} before)
  math(EXPR end "${at} + ${length}")
  string(SUBSTRING "${text}" ${end} -1 behind)
  set(text "${before}${is}${behind}")
endif()
file(WRITE "${TO}" "${text}")
