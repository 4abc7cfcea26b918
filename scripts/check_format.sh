#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails where a C++ or CUDA source differs from .clang-format. `--fix` rewrites the files instead.
# Versions of clang-format disagree with each other, so the version is part of the rule.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=clang-format-14
command -v "$formatter" >/dev/null || { echo "$formatter is not installed" >&2; exit 1; }
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then mode=(-i); fi

mapfile -d '' -t listed < <(git ls-files -z --cached --others --exclude-standard '*.hpp' '*.cpp' '*.cuh' '*.cu')
files=()
for file in "${listed[@]}"; do
  if [[ -f $file ]]; then files+=("$file"); fi
done
((${#files[@]} > 0)) || { echo "no sources found" >&2; exit 1; }
"$formatter" "${mode[@]}" "${files[@]}"
