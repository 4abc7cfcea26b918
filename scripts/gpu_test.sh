#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the GPU tests of a build on this machine's GPU, then small ones under compute-sanitizer.
#
# usage: scripts/gpu_test.sh [FOLDER]     the build folder, or a folder with its test programs (default: build/cuda-ci)
#
# A test that finds no GPU fails here instead of being skipped. SANITIZERS names the tools to run (default: memcheck
# racecheck); LOGS, a folder for the logs. Exits with 1 if anything failed.
set -u

folder="${1:-build/cuda-ci}"
sanitizers="${SANITIZERS-memcheck racecheck}"
logs="${LOGS:-$(mktemp -d)}"
mkdir -p "$logs"
[ -d "$folder/bin" ] && folder="$folder/bin"
export SLUICE_REQUIRE_GPU=1
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

shopt -s nullglob
programs=("$folder"/kernels*_test)
if [ ${#programs[@]} -eq 0 ]; then
  echo "gpu_test: no kernels*_test in $folder" >&2
  exit 2
fi

summary=()
failed=0
# run NAME COMMAND...: keeps the log, notes the outcome, shows the end of what failed.
run() {
  local name="$1" log="$logs/$1.log" start=$SECONDS status outcome
  shift
  "$@" >"$log" 2>&1
  status=$?
  if [ $status -eq 0 ]; then
    outcome=passed
  else
    outcome="FAILED ($status)"
    failed=1
    tail -n 40 "$log"
  fi
  summary+=("$(printf '%-44s %-13s %4d s  %s' "$name" "$outcome" $((SECONDS - start)) \
    "$(grep -aE '^\[  (PASSED|SKIPPED|FAILED)  ?\] [0-9]+ test|ERROR SUMMARY|RACECHECK SUMMARY' "$log" |
      sed 's/^========= //' | tr '\n' ' ')")")
}

for program in "${programs[@]}"; do
  run "$(basename "$program")" "$program" --gtest_brief=1
done

checker="$(command -v compute-sanitizer || true)"
[ -n "$checker" ] || [ ! -x /usr/local/cuda/bin/compute-sanitizer ] || checker=/usr/local/cuda/bin/compute-sanitizer
if [ -n "$sanitizers" ] && [ -z "$checker" ]; then
  echo "gpu_test: compute-sanitizer was not found" >&2
  failed=1
else
  for tool in $sanitizers; do
    for program in "${programs[@]}"; do
      # This project's kernels: those of CUB are another project's to check, and take longest. Refused allocations are
      # part of the tests, not errors.
      run "$tool-$(basename "$program")" env SLUICE_TEST_QUICK=1 "$checker" --tool "$tool" --error-exitcode 9 \
        --report-api-errors no "$program" --gtest_brief=1 --gtest_filter='*cuda*'
    done
  done
fi

printf '%s\n' "${summary[@]}"
exit $failed
