#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/test.sh
# Everything that a change must pass, on Debian 12 with or without nvcc and a GPU: style, clang-tidy, stand-alone
# headers, all tests of the optimised build (with the GPU backends compiled where nvcc is), an installed package used by
# a project outside the tree, the host tests again under the address and undefined-behaviour sanitizers, and the fuzz
# targets for some seconds.
# What is missing is installed: Debian packages as root or through sudo, Python packages into build/venv.
# The last line counts tests and steps; the exit status is 0 only when some passed and none failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

root=$(pwd)
jobs=$(nproc)
results=$root/build/test-results
export CTEST_OUTPUT_ON_FAILURE=1
passed=0
failed=0
skipped=0

# step NAME COMMAND...: runs one command that counts as one test.
step() {
  local name=$1
  shift
  echo "== $name"
  local start=$SECONDS
  if "$@"; then
    passed=$((passed + 1))
    echo "== $name: passed in $((SECONDS - start)) s"
  else
    failed=$((failed + 1))
    echo "== $name: FAILED after $((SECONDS - start)) s"
    return 1
  fi
}

# run_tests BUILD_DIR ARGUMENTS...: runs ctest there and adds up what it counted.
run_tests() {
  local build=$1 report counts status=0
  shift
  report=$results/$(basename "$build").xml
  rm -f "$report"
  echo "== tests in $build"
  ctest --test-dir "$build" --output-junit "$report" --no-tests=error -j "$jobs" "$@" || status=$?
  if [[ ! -s $report ]]; then
    failed=$((failed + 1))
    return 0
  fi
  counts=$(python3 - "$report" <<'PYTHON' || echo "0 1 0"
import sys
import xml.etree.ElementTree

suite = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
total, failed = (int(suite.get(name, "0")) for name in ("tests", "failures"))
skipped = int(suite.get("skipped", "0")) + int(suite.get("disabled", "0"))
print(total - failed - skipped, failed, skipped)
PYTHON
  )
  local p f s
  read -r p f s <<<"$counts"
  # ctest also fails for what is no test's fault, such as a fixture or a test list that could not be made.
  if ((status != 0 && f == 0)); then f=1; fi
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
}

# The Python readers that outputs are checked against. Without one of them the tests that want it skip.
prepare_python() {
  local venv=$root/build/venv package
  [[ -x $venv/bin/python ]] || python3 -m venv "$venv" || return 1
  while read -r package; do
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" </dev/null ||
      echo "$package could not be installed; the tests that use it skip"
  done < <(grep -v '^#' tests/requirements.txt)
}

need_build_packages
need clang-format-14:clang-format-14 run-clang-tidy-14:clang-tidy-14 clang++-14:clang-14 :libclang-rt-14-dev python3:python3 \
  :python3-venv :libgtest-dev :libgmock-dev :libboost-context-dev
rm -rf "$results"
mkdir -p "$results"

if [[ -z ${SLUICE_TEST_DATA:-} && -d $root/../shared/data ]]; then
  SLUICE_TEST_DATA=$(cd "$root/../shared/data" && pwd)
  export SLUICE_TEST_DATA
fi
echo "real point-cloud files: ${SLUICE_TEST_DATA:-none, the tests that read them skip}"
python_arguments=()
if prepare_python; then
  python_arguments=(-DPython3_EXECUTABLE="$root/build/venv/bin/python")
  python_arguments+=(-DPython3_FIND_VIRTUALENV=ONLY)
else
  echo "no virtual environment could be made; the tests that use Python packages skip"
fi
# Without a GPU nothing runs that assembling the kernels, which takes longer than compiling them, would make.
mapfile -t arguments < <(launcher_arguments; architecture_arguments 90-virtual)
arguments+=("${python_arguments[@]}")

# One optimised build with every backend that this machine can compile.
build=build/test
step "configure $build" cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DSLUICE_BUILD_TESTS=ON -DSLUICE_WERROR=ON "${arguments[@]}" &&
  step "build $build" cmake --build "$build" -j "$jobs" &&
  run_tests "$build" || true
step "clang-tidy" bash scripts/check_tidy.sh "$build" || true

# The same host sources under the sanitizers; what does not run host code of the library is left out. Tests are quick
# there: fewer and smaller jobs, as values are compared above. Clouds still take several blocks of every backend.
# -Og takes half the time of -O1 to compile, and quick tests make little of its slower programs.
sanitized=build/test-sanitized
export ASAN_OPTIONS=detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
step "configure $sanitized" cmake -S . -B "$sanitized" -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-Og -g1" \
  -DSLUICE_CUDA=OFF -DSLUICE_SANITIZE=address,undefined -DSLUICE_BUILD_TESTS=ON -DSLUICE_BUILD_BENCH=ON \
  -DSLUICE_WERROR=ON "${arguments[@]}" &&
  step "build $sanitized" cmake --build "$sanitized" -j "$jobs" &&
  SLUICE_TEST_QUICK=1 run_tests "$sanitized" --label-exclude '^(style|headers|install|interop)$' || true

# Long runs happen elsewhere; this keeps the targets compiling and sound on what the project itself encodes.
step "fuzz targets" env SLUICE_FUZZ_DIR=build/test-fuzz CXX=clang++-14 bash scripts/fuzz.sh all 5 || true

echo
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0 && passed > 0))
