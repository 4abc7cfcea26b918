#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_tidy.sh BUILD_DIR
# Runs clang-tidy with the list in .clang-tidy over the library's and the programs' host sources, as the compilation
# database of BUILD_DIR builds them.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$(pwd)
output=$(mktemp)
# The database is of GCC, some of whose options Clang does not know.
trap 'rm -f "$output"' EXIT
if ! run-clang-tidy-14 -quiet -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
  -extra-arg=-Wno-unused-command-line-argument -p "$build" "^$root/(kernels|engine|io|apps)/.*\.cpp\$" >"$output" 2>&1; then
  grep -Ev '^(clang-tidy|[0-9]+ warnings? generated)' "$output" || true
  exit 1
fi
