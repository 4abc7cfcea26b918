#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots what `sluice-bench ... --variant ... --json` and its studies wrote, as SVG files; needs matplotlib.

For each work and type of items with several sizes: the time and the bandwidth of every variant over the number of items,
those of the CPU dashed, quadratic ones up to where they were stopped. For `divergence` the time of each form by that
without a branch taken by others, for `occupancy` the bandwidth over resident warps. Where files measured the same, the
last one counts.

    scripts/plot_family.py --out plots family-small.json family.json divergence.json occupancy.json
"""

import argparse
import collections
import json
import pathlib
import sys

from plotting import file_name, finish, plt


def read(paths):
    """Rows of variants by what they measured, those of the studies by file, and the name of the device of each."""
    family = {}
    studies = []
    devices = set()
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = data.get("rows", [])
        device = data.get("device", "CPU")
        if rows and "variant" in rows[0]:
            devices.add(device)
            for row in rows:
                if not row.get("right", True):
                    print(f"{path}: {row['work']}, {row['variant']}: another output; left out", file=sys.stderr)
                    continue
                family[row["work"], row["type"], row["items"], row["variant"]] = row
        elif rows and ("resident_warps" in rows[0] or "ratio" in rows[0]):
            studies.append((rows, device))
        else:
            sys.exit(f"{path}: neither variants nor a study of sluice-bench")
    return list(family.values()), ", ".join(sorted(devices)), studies


def draw_variants(path, title, rows):
    by_variant = collections.defaultdict(list)
    for row in rows:
        by_variant[row["on"], row["variant"]].append(row)
    figure, axes = plt.subplots(1, 2, figsize=(15, 5.5))
    for i, ((on, variant), some) in enumerate(by_variant.items()):
        some.sort(key=lambda row: row["items"])
        sizes = [row["items"] for row in some]
        look = {"color": f"C{i % 10}", "marker": "o" if i < 10 else "s", "markersize": 3,
                "linestyle": "--" if on == "cpu" else "-"}
        axes[0].plot(sizes, [row["ms"] for row in some], **look)
        axes[1].plot(sizes, [row["gb_per_s"] for row in some], **look, label=f"{variant} ({on})")
    for one, label in zip(axes, ("milliseconds", "GB/s of the bytes that must move")):
        one.set_xscale("log")
        one.set_yscale("log")
        one.set_xlabel("items")
        one.set_ylabel(label)
    # One for both, beside the lines.
    axes[1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.02, 0.5))
    finish(figure, axes, title, path)


def draw_occupancy(path, title, rows):
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.plot([row["resident_warps"] for row in rows], [row["gb_per_s"] for row in rows], marker="o")
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("resident warps of a multiprocessor")
    axes.set_ylabel("GB/s read and written")
    finish(figure, [axes], title, path)


def draw_divergence(path, title, rows):
    figure, axes = plt.subplots(figsize=(9, 3.5))
    axes.barh([row["what"] for row in rows], [row["ratio"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("time, by that of the first")
    finish(figure, [axes], title, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="results of sluice-bench --json")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("plots"), help="folder for the plots (plots)")
    options = parser.parse_args()
    rows, devices, studies = read(options.files)
    options.out.mkdir(parents=True, exist_ok=True)
    drawn = 0

    by_task = collections.defaultdict(list)
    for row in rows:
        by_task[row["work"], row["type"]].append(row)
    for (work, kind), some in by_task.items():
        if len({row["items"] for row in some}) > 1:
            draw_variants(options.out / file_name("variants", work, kind, kind="svg"), f"{work}, {kind}, {devices}", some)
            drawn += 1
    for some, device in studies:
        name, draw = ("occupancy", draw_occupancy) if "resident_warps" in some[0] else ("divergence", draw_divergence)
        draw(options.out / file_name(name, kind="svg"), f"{name}, {device}", some)
        drawn += 1
    if drawn == 0:
        sys.exit("nothing to plot: variants need several sizes")


if __name__ == "__main__":
    main()
