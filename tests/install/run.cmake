# SPDX-License-Identifier: Apache-2.0
# usage: cmake -DBUILD= -DCONSUMER= -DWORK= -DGENERATOR= -DCOMPILER= -DVERSION= -P run.cmake
# The consumer is copied out of the tree first, and the prefix is moved after installing: neither may matter.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK}/staged" "${WORK}/prefix" "${WORK}/consumer" "${WORK}/consumer-build")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/staged")
file(RENAME "${WORK}/staged" "${WORK}/prefix")
file(COPY "${CONSUMER}" DESTINATION "${WORK}")

run("${CMAKE_COMMAND}" -S "${WORK}/consumer" -B "${WORK}/consumer-build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DWANTED_VERSION=${VERSION}")
run("${CMAKE_COMMAND}" --build "${WORK}/consumer-build")
run("${WORK}/prefix/bin/sluice" synth uniform --points 5000 --seed 3 -o "${WORK}/in.las" --overwrite)
file(REMOVE "${WORK}/out.las")
run("${WORK}/consumer-build/consumer" "${WORK}/in.las" "${WORK}/out.las")

execute_process(
  COMMAND "${WORK}/prefix/bin/sluice" --version
  OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${printed}" "${VERSION}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the installed program says '${printed}', not ${VERSION}")
endif()
