#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots what `sluice-bench --json` wrote for the GPU, as PNG files; needs matplotlib.

For each work, caches and distribution with several sizes: the time of the others by that of the backend `cuda`, and the
share of a plain copy's bandwidth, over the number of items. For each work, caches and size with several distributions:
the same, over the distribution. Of the contenders of a kind (usual, expert) the fastest is shown. Where files measured
the same, the last one counts.

    scripts/plot_gpu.py --out plots crop.json bin.json
"""

import argparse
import collections
import json
import pathlib
import sys

from plotting import file_name, finish, plt

ROLES = {"ours": "cuda", "expert": "CUB by an expert", "usual": "CUB as usual", "second": "thrust backend"}
COLORS = {"ours": "C0", "expert": "C1", "usual": "C2", "second": "C3"}
ORDER = ["uniform", "scan", "sorted", "one-cell", "zipf"]


def read(paths):
    """Rows of all files, and the names of the devices."""
    rows = {}
    devices = set()
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        if "rows" not in data or "copy_gb_per_s" not in data:
            sys.exit(f"{path}: not a result of the GPU works of sluice-bench")
        devices.add(data["device"])
        for row in data["rows"]:
            if not row["equal"]:
                print(f"{path}: {row['work']}, {row['by']}: another output; left out", file=sys.stderr)
                continue
            rows[row["work"], row["caches"], row["distribution"], row["items"], row["by"]] = row
    return list(rows.values()), ", ".join(sorted(devices))


def fastest(rows, axis):
    """For each role the fastest row at each value of an axis."""
    out = collections.defaultdict(dict)
    for row in rows:
        best = out[row["role"]]
        if row[axis] not in best or row["median_ms"] < best[row[axis]]["median_ms"]:
            best[row[axis]] = row
    return out


def draw(path, title, draw_axes):
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    draw_axes(axes)
    axes[0].axhline(1.0, color="grey", linewidth=0.8)
    axes[0].set_ylabel("time / time of cuda")
    axes[1].set_ylabel("share of a plain copy's bandwidth")
    for one in axes:
        one.set_ylim(bottom=0.0)
    finish(figure, axes, title, path)


def over_sizes(axes, rows):
    for role, best in sorted(fastest(rows, "items").items(), key=lambda one: list(ROLES).index(one[0])):
        sizes = sorted(best)
        for one, value in zip(axes, ("times_ours", "share_of_copy")):
            if value == "times_ours" and role == "ours":
                continue
            one.plot(sizes, [best[size][value] for size in sizes], marker="o", color=COLORS[role], label=ROLES[role])
    for one in axes:
        one.set_xscale("log")
        one.set_xlabel("items")


def over_distributions(axes, rows):
    found = fastest(rows, "distribution")
    names = [name for name in ORDER if any(name in best for best in found.values())]
    roles = [role for role in ROLES if role in found]
    for one, value in zip(axes, ("times_ours", "share_of_copy")):
        shown = [role for role in roles if value != "times_ours" or role != "ours"]
        width = 0.8 / max(1, len(shown))
        for i, role in enumerate(shown):
            at = [k + (i - (len(shown) - 1) / 2) * width for k in range(len(names))]
            heights = [found[role][name][value] if name in found[role] else 0.0 for name in names]
            one.bar(at, heights, width, color=COLORS[role], label=ROLES[role])
        one.set_xticks(range(len(names)), names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="results of sluice-bench --json")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("plots"), help="folder for the plots (plots)")
    options = parser.parse_args()
    rows, devices = read(options.files)
    if not rows:
        sys.exit("no rows to plot")
    options.out.mkdir(parents=True, exist_ok=True)

    by_distribution = collections.defaultdict(list)
    by_size = collections.defaultdict(list)
    for row in rows:
        by_distribution[row["work"], row["caches"], row["distribution"]].append(row)
        by_size[row["work"], row["caches"], row["items"]].append(row)
    for (work, caches, distribution), some in by_distribution.items():
        if len({row["items"] for row in some}) > 1:
            draw(options.out / file_name(work, caches, "over-sizes", distribution, kind="png"),
                 f"{work}, {distribution}, {caches} caches, {devices}", lambda axes, some=some: over_sizes(axes, some))
    for (work, caches, items), some in by_size.items():
        if len({row["distribution"] for row in some}) > 1:
            draw(options.out / file_name(work, caches, "over-distributions", items, kind="png"),
                 f"{work}, {items:,} items, {caches} caches, {devices}",
                 lambda axes, some=some: over_distributions(axes, some))


if __name__ == "__main__":
    main()
