#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/simt_matrix.sh [WIDTH...]
# Runs the kernels on the emulated device with warps of every width (8 16 32 64 128, or those given) under many
# schedules: what tests/simt checks under 8 of them in an ordinary run, and the suites of all backends. It takes some
# twenty hours of processor time, which all processors share.
#
# SEEDS says how many schedules the tests of tests/simt have (200), SUITE_SEEDS how many the suites have (4). Exits with 1
# if anything failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
need_build_packages
need :libgtest-dev :libgmock-dev :libboost-context-dev

widths=("$@")
if ((${#widths[@]} == 0)); then widths=(8 16 32 64 128); fi
seeds=${SEEDS:-200}
suite_seeds=${SUITE_SEEDS:-4}
mapfile -t arguments < <(launcher_arguments)
failed=0
jobs=$(nproc)

# run_shards COMMAND...: as many processes as there are processors, each with its share of the tests.
run_shards() {
  local shard processes=() process status=0
  for ((shard = 0; shard < jobs; ++shard)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard "$@" &
    processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process" || status=1; done
  return "$status"
}

for width in "${widths[@]}"; do
  build=build/simt-$width
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_CUDA=OFF -DSLUICE_BUILD_TESTS=ON \
    -DSLUICE_SIMT_WARP_WIDTH="$width" "${arguments[@]}" >/dev/null
  programs=(simt_broken_test simt_widths_test simt_family_test simt_kernels_test simt_replays_test simt_suites)
  cmake --build "$build" --target "${programs[@]}" >/dev/null
  for program in "${programs[@]}"; do
    rounds=1
    if [[ $program == simt_suites ]]; then rounds=$suite_seeds; fi
    for ((round = 1; round <= rounds; ++round)); do
      echo "== width $width: $program $round"
      SLUICE_SIMT_SEEDS=$seeds SLUICE_SIMT_SEED=$round SLUICE_TEST_QUICK=1 run_shards "$build/bin/$program" \
        --gtest_brief=1 --gtest_filter='-*/serial:*/cpu:*ScratchForManyItems*' || failed=1
    done
  done
done
exit $failed
