#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown of what `sluice-bench --variant all --json` wrote.

For each work and type a row for every variant: milliseconds, GB/s, how many times as fast as the first variant and as
`cub`, and the largest error of floats.

    scripts/family_tables.py family.json small.json > tables.md
"""

import argparse
import json
import pathlib
import sys


def read(paths):
    """Rows by (work, type, variant, on) and number of items; where files measured the same, the first one counts."""
    out = {}
    left_out = {}
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        if "rows" not in data or "crossovers" not in data:
            sys.exit(f"{path}: not a result of the variants of sluice-bench")
        for name, to in (("rows", out), ("left_out", left_out)):
            for row in data[name]:
                key = row["work"], row["type"], row["variant"], row["on"]
                to.setdefault(key, {}).setdefault(row["items"], row)
    return out, left_out


def count(items):
    for unit, name in ((1_000_000, "M"), (1000, "k")):
        if items % unit == 0:
            return f"{items // unit} {name}"
    return str(items)


def short(value):
    """Three digits, without an exponent where it is large."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def cell(row, missing):
    if row is None:
        return missing["reason"].removeprefix("would take ") if missing else ""
    text = f"{row['ms']:.4g} ms, {short(row['gb_per_s'])} GB/s, {short(row['times_serial'])}"
    if "times_cub" in row:
        text += f", {short(row['times_cub'])}"
    if "largest_error" in row:
        text += f"; {row['largest_error']:.1e}"
    return text


def print_tables(rows, left_out, sizes):
    for what in sorted({key[:2] for key in rows}):
        print(f"\n### {what[0]} of {what[1]}\n")
        print("| variant | " + " | ".join(count(n) for n in sizes) + " |")
        print("| --- |" + " --- |" * len(sizes))
        for key, found in rows.items():
            if key[:2] == what:
                cells = (cell(found.get(n), left_out.get(key, {}).get(n)) for n in sizes)
                print(f"| {key[2]} ({key[3]}) | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--sizes", default="1000,100000,1000000,10000000,100000000", help="columns of the tables")
    options = parser.parse_args()
    rows, left_out = read(options.files)
    print_tables(rows, left_out, [int(size) for size in options.sizes.split(",")])


if __name__ == "__main__":
    main()
