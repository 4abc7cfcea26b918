#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/demo.sh [POINTS]
# Builds sluice on Debian 12, makes an airborne scene of POINTS points (a million), and crops, thins and bins it.
# Installs from Debian what is missing, which needs root or sudo; everything else stays inside build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
export LC_ALL=C

points=${1:-1000000}
build=build/demo
folder=$build/demo
program=$build/bin/sluice
log=$build/build.log

# quietly COMMAND...: keeps the output for the day it fails.
quietly() {
  "$@" >>"$log" 2>&1 || { tail -n 60 "$log" >&2; return 1; }
}

# show ARGUMENTS...: runs sluice and shows the command as one would type it.
show() {
  local argument line='$ sluice'
  for argument in "$@"; do
    if [[ $argument == *[[:space:]]* ]]; then argument="'$argument'"; fi
    line+=" $argument"
  done
  printf '\n%s\n' "$line"
  "$program" "$@"
}

need_build_packages
mapfile -t arguments < <(launcher_arguments; architecture_arguments)
mkdir -p "$build"
: >"$log"
echo "building in $build (details in $log)"
quietly cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLUICE_BUILD_TESTS=OFF "${arguments[@]}"
quietly cmake --build "$build"

rm -rf "$folder"
mkdir -p "$folder"
sample=$folder/sample.las
show devices
show synth airborne --points "$points" --seed 1 -o "$sample"
show info "$sample"

# The middle half of the scene in x and y, from the header's bounds.
box=$("$program" info "$sample" --json | tr -d ' \n' |
  sed -E 's/.*"bounds":\{([^}]*)\}.*/\1/; s/"max":\[([^]]*)\]/max,\1/; s/"min":\[([^]]*)\]/min,\1/' |
  awk -F, '{
    for (i = 1; i <= NF; ++i) if ($i == "min" || $i == "max") { x[$i] = $(i + 1); y[$i] = $(i + 2) }
    w = (x["max"] - x["min"]) / 4; h = (y["max"] - y["min"]) / 4
    printf "%.2f,%.2f,%.2f,%.2f", x["min"] + w, y["min"] + h, x["max"] - w, y["max"] - h
  }')

show filter "$sample" -o "$folder/ground.las" --box "$box" --where 'classification == 2'
show thin "$sample" -o "$folder/thinned.las" --cell 1
show bin "$sample" -o "$folder/binned.las" --cell 25,25,10 --cells "$folder/cells.csv"

printf '\nthe first cells of %s:\n' "$folder/cells.csv"
head -n 5 "$folder/cells.csv"
printf '\nfiles:\n'
ls -l "$folder"
