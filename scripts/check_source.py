#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks rules that the compiler does not know, on every file that git tracks or would track.

usage: check_source.py [--root DIR] RULE...
rules: licence, includes, printing, paths, leftovers

Prints one line for each finding and exits with 1 if there was any, 2 on wrong usage or if there is nothing to check.
"""

import argparse
import pathlib
import re
import subprocess
import sys

CODE = {".hpp", ".cpp", ".cuh", ".cu"}
LICENSED = CODE | {".py", ".sh", ".cmake", ".in", ".supp"}
LICENSED_NAMES = {"CMakeLists.txt", ".clang-format", ".clang-tidy", "run"}
SPDX = "SPDX-License-" + "Identifier: Apache-2.0"

CUDA = r"(cuda|cub/|thrust/|cooperative_groups|nv/|curand|nvtx)"
TBB = r"(oneapi/)?tbb/"
EIGEN = r"Eigen/"
PCL = r"pcl/"
KERNELS = r"(sluice/kernels/|kernels/)"
ENGINE = r"(sluice/[a-z0-9_]+\.hpp|sluice/engine/|engine/)"
IO = r"(sluice/io/|io/)"
NON_STANDARD = r"(?!sluice/core/).*[./]"  # a standard header has neither a dot nor a slash in its name

# (folder, what it must not include); a file obeys every row whose folder holds it.
INCLUDE_RULES = [
    ("kernels/include/sluice/core/", [NON_STANDARD]),
    ("kernels/include/", [CUDA, TBB]),
    ("kernels/", [EIGEN, PCL, ENGINE, IO]),
    ("kernels/cpu/", [CUDA]),
    ("kernels/cuda/", [TBB]),
    ("engine/", [IO, PCL]),
    ("engine/include/", [CUDA, TBB]),
    ("io/", [KERNELS, ENGINE, CUDA, EIGEN]),
    ("io/include/", [TBB, PCL]),
]
PCL_HOME = "io/src/pcl/"

LIBRARY = ("kernels/", "engine/", "io/")
PRINTING = re.compile(
    r"\bstd::(cout|cerr|clog|wcout|wcerr|abort|exit|_Exit|quick_exit|terminate)\b|<iostream>|\bspdlog\b"
    r"|(?<![\w:.>])(std::)?(v?f?printf|puts|putchar|perror|abort|exit|_exit)\s*\("
    r"|\bfmt::print\b"
)
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(home|root|Users|work|tmp/build)/")
LEFTOVERS = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")


def files_of(root):
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True)
    names = sorted(set(listing.stdout.decode().split("\0")) - {""})
    return [name for name in names if (root / name).is_file()]


def text_of(root, name):
    try:
        return (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None  # binary


def without_comments(text):
    """Blanks comments, leaving every line where it was. String literals are kept: one that holds '//' would lose its
    end, which can hide a finding on that line but never make one up."""
    blank = lambda match: "\n" * match.group(0).count("\n")
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def check_licence(name, text):
    path = pathlib.PurePath(name)
    if path.suffix not in LICENSED and path.name not in LICENSED_NAMES:
        return
    lines = text.splitlines()
    line = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) <= line or SPDX not in lines[line]:
        yield line + 1, f"the line '{SPDX}' is missing here"


def check_includes(name, text):
    if pathlib.PurePath(name).suffix not in CODE:
        return
    refused = [pattern for folder, patterns in INCLUDE_RULES if name.startswith(folder) for pattern in patterns]
    if name.startswith("io/") and not name.startswith(PCL_HOME):
        refused.append(PCL)
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match and any(re.match(pattern, match.group(1)) for pattern in refused):
            yield number, f"{match.group(1)} must not be included here"


def check_printing(name, text):
    if pathlib.PurePath(name).suffix not in CODE or not name.startswith(LIBRARY):
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = PRINTING.search(line)
        if match:
            yield number, f"the library never prints, aborts or exits: {match.group(0).strip()}"


def check_paths(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        match = MACHINE_PATHS.search(line)
        if match:
            yield number, f"path of one machine: {match.group(0)}"


def check_leftovers(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        match = LEFTOVERS.search(line)
        if match:
            yield number, f"unfinished: {match.group(0)}"


RULES = {
    "licence": check_licence,
    "includes": check_includes,
    "printing": check_printing,
    "paths": check_paths,
    "leftovers": check_leftovers,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("rules", nargs="+", choices=sorted(RULES), metavar="RULE")
    arguments = parser.parse_args()
    checked = 0
    findings = 0
    for name in files_of(arguments.root):
        text = text_of(arguments.root, name)
        if text is None:
            continue
        checked += 1
        for rule in arguments.rules:
            for number, message in RULES[rule](name, text):
                print(f"{name}:{number}: {message}")
                findings += 1
    if checked == 0:
        print(f"nothing to check in {arguments.root}", file=sys.stderr)
        return 2
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
