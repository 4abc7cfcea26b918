#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_tidy.sh BUILD_DIR
# Runs clang-tidy with the list in .clang-tidy over the library's and the programs' host sources, as the compilation
# database of BUILD_DIR builds them. Of a source that several targets build only the first build is looked at.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$build/compile_commands.json" "$root" "$work/compile_commands.json" <<'PYTHON'
import json
import os
import re
import sys

database, root, to = sys.argv[1:]
sources = {}
with open(database, encoding="utf-8") as file:
    for entry in json.load(file):
        if re.fullmatch(r"(kernels|engine|io|apps)/.*\.cpp", os.path.relpath(entry["file"], root)):
            sources.setdefault(entry["file"], entry)
if not sources:
    sys.exit(f"{database} holds none of the sources")
with open(to, "w", encoding="utf-8") as file:
    json.dump(list(sources.values()), file)
PYTHON
# The database is of GCC, some of whose options Clang does not know. What Clang takes for an error no NOLINT silences.
if ! run-clang-tidy-14 -quiet -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
  -extra-arg=-Wno-unused-command-line-argument -extra-arg=-Wreserved-identifier \
  -extra-arg=-Wno-error=reserved-identifier -extra-arg=-Wno-error=reserved-macro-identifier \
  -p "$work" >"$work/output" 2>&1; then
  grep -Ev '^(clang-tidy|[0-9]+ warnings? generated)' "$work/output" || true
  exit 1
fi
