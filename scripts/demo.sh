#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/demo.sh [POINTS]
# Builds sluice on Debian 12, makes an airborne scene of POINTS points (a million) and crops, thins and bins it.
# What is missing is installed from Debian, which needs root or sudo; everything else stays inside build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

points=${1:-1000000}
build=build/demo
out=$build/out

need_build_packages
mapfile -t arguments < <(launcher_arguments; architecture_arguments)
echo "building in $build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_BUILD_TESTS=OFF "${arguments[@]}" >"$build.log" 2>&1 ||
  { mkdir -p build; tail -n 40 "$build.log"; exit 1; }
cmake --build "$build" >>"$build.log" 2>&1 || { tail -n 60 "$build.log"; exit 1; }
program=$(find "$build" -type f -name sluice -perm -u+x | head -n 1)
[[ -n $program ]] || { echo "the build left no program" >&2; exit 1; }

rm -rf "$out"
mkdir -p "$out"
run() {
  echo
  echo "\$ sluice $*"
  "$program" "$@"
}
