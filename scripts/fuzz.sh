#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes readers with libFuzzer and the address and undefined-behaviour sanitizers.
#
# usage: fuzz.sh [TARGET [SECONDS]]
#
# TARGET is las (whole LAS and LAZ files), laz_chunk (the decoder), laz_table (chunk tables, and finding chunks without
# them), laz_record (the record about compression), copc (the octree's pages), pcd, ply, text, raw (whole files), or all
# (one after the other; the default).
# SECONDS for each, 60 where not given; 0 only runs what is in the corpus and the seeds, which the project makes itself.
#
# SLUICE_FUZZ_DIR names the folder for build, corpus and findings (build/fuzz where not set); the corpus grows from run
# to run. Exits with 1 if an input was found that breaks the reader; the input is kept and named.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

all=(las laz_chunk laz_table laz_record copc pcd ply text raw)
targets=("${1:-all}")
seconds=${2:-60}
[[ ${targets[0]} == all ]] && targets=("${all[@]}")
[[ " ${all[*]} " == *" ${targets[0]} "* && $seconds =~ ^[0-9]+$ ]] ||
  { echo "usage: fuzz.sh [all|${all[*]} [SECONDS]]" >&2; exit 2; }
folder=${SLUICE_FUZZ_DIR:-build/fuzz}
compiler=${CXX:-clang++-14}
command -v "$compiler" >/dev/null || { echo "$compiler is not installed" >&2; exit 1; }

mkdir -p "$folder"
mapfile -t arguments < <(launcher_arguments)
# The codec's inlined loops take a minute to compile at -O2, and run fast enough at -O1.
cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DCMAKE_CXX_COMPILER="$compiler" \
  -DSLUICE_CUDA=OFF -DSLUICE_BUILD_TESTS=ON -DSLUICE_BUILD_FUZZERS=ON "${arguments[@]}" >"$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log" >&2; exit 1; }
cmake --build "$folder/build" --target sluice_fuzz_seeds "${targets[@]/#/sluice_fuzz_}"

make_seeds() {
  if [[ $1 == las ]]; then
    python3 tests/fuzz/make_seeds.py "$folder/seeds-las"
    "$folder/build/bin/sluice_fuzz_seeds" file "$folder/seeds-las"
  elif [[ $1 == laz_* ]]; then
    "$folder/build/bin/sluice_fuzz_seeds" "${1#laz_}" "$folder/seeds-$1"
  elif [[ $1 =~ ^(pcd|ply|text|raw)$ ]]; then
    python3 tests/fuzz/make_row_seeds.py "$1" "$folder/seeds-$1"
  else
    mkdir -p "$folder/seeds-$1"  # Its inputs are made of numbers that the fuzzer finds soon enough.
  fi
}

for target in "${targets[@]}"; do
  make_seeds "$target"
  mkdir -p "$folder/corpus-$target" "$folder/findings-$target"
  options=(-timeout=10 -rss_limit_mb=1024 -max_len=20000 "-artifact_prefix=$folder/findings-$target/")
  if ((seconds == 0)); then options+=(-runs=0); else options+=("-max_total_time=$seconds"); fi
  if [[ -e tests/fuzz/$target.dict ]]; then options+=("-dict=tests/fuzz/$target.dict"); fi
  echo "== $target"
  "$folder/build/bin/sluice_fuzz_$target" -print_final_stats=1 "${options[@]}" \
    "$folder/corpus-$target" "$folder/seeds-$target" || { echo "fuzz.sh: $target: an input breaks it" >&2; exit 1; }
done
