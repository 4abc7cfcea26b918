#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes a reader with libFuzzer and the address and undefined-behaviour sanitizers.
#
# usage: fuzz.sh [seconds] [target]      60 seconds of "las" where not given; targets are "las", "laz" (the codec) and
#                                        "copc" (the octree's pages)
#
# SLUICE_FUZZ_DIR names the folder for build, corpus and findings (build/fuzz where not set); the corpus grows from run
# to run. Exits with 1 if an input was found that breaks the reader; the input is kept and named.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
target=${2:-las}
folder=${SLUICE_FUZZ_DIR:-build/fuzz}
compiler=${CXX:-clang++-14}
command -v "$compiler" >/dev/null || { echo "$compiler is not installed" >&2; exit 1; }

mkdir -p "$folder"
cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" \
  -DSLUICE_CUDA=OFF -DSLUICE_BUILD_TESTS=ON -DSLUICE_BUILD_FUZZERS=ON >"$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log" >&2; exit 1; }
cmake --build "$folder/build" --target "sluice_fuzz_$target"
mkdir -p "$folder/corpus-$target" "$folder/findings-$target"
inputs=("$folder/corpus-$target")
options=()
if [[ $target == las ]]; then
  python3 tests/fuzz/make_seeds.py "$folder/seeds-$target"
  inputs+=("$folder/seeds-$target")
  options+=("-dict=tests/fuzz/$target.dict")
fi

"$folder/build/bin/sluice_fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=20000 \
  -artifact_prefix="$folder/findings-$target/" -print_final_stats=1 "${options[@]}" "${inputs[@]}"
