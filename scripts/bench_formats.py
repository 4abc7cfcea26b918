#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the readers and writers of PCD, PLY, text and raw files against PCL and Open3D, and whole commands against `cp`.

The points are made by `sluice synth spinning`: x, y, z and intensity, float32; texts have x, y and z. In each round all
programs read the same file and write their own, in turn (A B C A B C ...), so that a machine whose speed drifts treats
them alike; figures are medians. Each program times itself, from the file to all points in memory and back, without its
start: `sluice-bench rows`, `sluice-bench-pcl-io` (where it was built) and open3d.io (where Python finds it, which drops
intensity and so has less to do). Ratios are their seconds by those of sluice; above 1 sluice is faster. What they
read is compared by the number of points and the sum of x.

Commands: `sluice convert` and `sluice filter` (with all points kept) from a binary file to one of the same format, and
`cp` of it, each as a whole process; ratios are the seconds of `cp` by those of the command.

    scripts/bench_formats.py --build build/cpu-release --points 10000000 --threads 2 --json out.json
"""

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench_files import Run, processor

# Name, file, how the points are stored, who else reads and writes it, and whether as text.
FORMATS = (
    ("PCD ascii", "ascii.pcd", "ascii", ("pcl", "open3d"), True),
    ("PLY ascii", "ascii.ply", "ascii", ("pcl", "open3d"), True),
    ("XYZ", "plain.xyz", "", ("open3d",), True),
    ("PCD binary_compressed", "packed.pcd", "binary_compressed", ("pcl", "open3d"), False),
    ("PCD binary", "plain.pcd", "binary", ("pcl", "open3d"), False),
    ("PLY binary", "plain.ply", "binary_little_endian", ("pcl", "open3d"), False),
    ("KITTI", "plain.bin", "", (), False),
)
COMMANDS = ("plain.pcd", "plain.ply", "plain.bin")

OPEN3D_JOB = """
import json, sys, time
import numpy as np, open3d
source, target, data = sys.argv[1:4]
start = time.perf_counter()
cloud = open3d.io.read_point_cloud(source)
read_s = time.perf_counter() - start
start = time.perf_counter()
open3d.io.write_point_cloud(target, cloud, write_ascii=data == "ascii", compressed=data == "binary_compressed")
write_s = time.perf_counter() - start
points = np.asarray(cloud.points)
print(json.dumps({"read_s": read_s, "write_s": write_s, "points": len(points), "sum_of_x": float(points[:, 0].sum())}))
"""


def must(command, **more):
    run = Run(command, **more)
    if run.status != 0:
        sys.exit(f"{command} failed with {run.status}: {run.error}")
    return run


def make_files(options, folder):
    """All formats from the same points."""
    bin_folder = os.path.join(options.build, "bin")
    sluice = os.path.join(bin_folder, "sluice")
    raw = os.path.join(folder, "plain.bin")
    positions = os.path.join(folder, "positions.bin")
    must([sluice, "synth", "spinning", "--points", str(options.points), "--seed", "1", "-o", raw, "--quiet"])
    with open(raw, "rb") as points, open(positions, "wb") as file:
        while block := points.read(16 << 16):
            file.write(b"".join(block[at:at + 12] for at in range(0, len(block), 16)))
    for _, name, data, _, is_text in FORMATS:
        if name == "plain.bin":
            continue
        must([sluice, "convert", positions if is_text else raw, "-o", os.path.join(folder, name), "--quiet",
              *(["--data", data] if data else []), *(["--fields", "x,y,z"] if is_text else [])])
    os.unlink(positions)


def contenders_of(options, folder, name, data, others, with_open3d):
    """Commands by who runs them; each reads the file and writes one like it."""
    bin_folder = os.path.join(options.build, "bin")
    source = os.path.join(folder, name)
    target = os.path.join(folder, "out-" + name)
    commands = {"sluice": [os.path.join(bin_folder, "sluice-bench"), "rows", source, target, "--threads",
                           str(options.threads)]}
    pcl = os.path.join(bin_folder, "sluice-bench-pcl-io")
    if "pcl" in others and os.access(pcl, os.X_OK):
        commands["pcl"] = [pcl, source, target, "--data", data if data in ("ascii", "binary_compressed") else "binary"]
    if "open3d" in others and with_open3d:
        commands["open3d"] = [sys.executable, "-c", OPEN3D_JOB, source, target, data]
    return commands, target


def bench_format(options, folder, form, with_open3d):
    title, name, data, others, is_text = form
    commands, target = contenders_of(options, folder, name, data, others, with_open3d)
    taken = {who: [] for who in commands}
    for number in range(options.runs + 1):
        for who, command in commands.items():
            if who != "sluice" and is_text and not 0 < number <= options.slow_runs:
                continue  # many seconds, whose spread is small against the ratio
            if os.path.exists(target):
                os.unlink(target)
            result = json.loads(must(command).output)
            if number > 0:
                taken[who].append(result)
    os.unlink(target)
    ours = taken["sluice"][0]
    rows = []
    for work in ("read", "write"):
        row = {"format": title, "work": work, "bytes": os.path.getsize(os.path.join(folder, name)), "seconds": {}}
        for who, results in taken.items():
            for result in results:
                close = abs(result["sum_of_x"] - ours["sum_of_x"]) <= 1e-3 * result["points"]
                if result["points"] != ours["points"] or not close:
                    sys.exit(f"{title}: {who} reads other points: {result}, {ours}")
            row["seconds"][who] = statistics.median(result[f"{work}_s"] for result in results)
        row["ratios"] = {who: seconds / row["seconds"]["sluice"] for who, seconds in row["seconds"].items()
                         if who != "sluice"}
        rows.append(row)
    return rows


def bench_commands(options, folder, name):
    source = os.path.join(folder, name)
    target = os.path.join(folder, "out-" + name)
    sluice = os.path.join(options.build, "bin", "sluice")
    more = ["-o", target, "--quiet", "--threads", str(options.threads)]
    commands = {"convert": [sluice, "convert", source, *more],
                "filter": [sluice, "filter", source, *more, "--backend", "cpu"], "cp": ["cp", source, target]}
    taken = {what: [] for what in commands}
    for number in range(options.command_runs + 1):
        for what, command in commands.items():
            if os.path.exists(target):
                os.unlink(target)
            run = must(command)
            if number > 0:
                taken[what].append(run)
    os.unlink(target)
    row = {"file": name, "bytes": os.path.getsize(source)}
    row["seconds"] = {what: statistics.median(run.wall for run in runs) for what, runs in taken.items()}
    row["cpu_seconds"] = {what: statistics.median(run.cpu for run in runs) for what, runs in taken.items()}
    row["ratios"] = {what: row["seconds"]["cp"] / row["seconds"][what] for what in ("convert", "filter")}
    return row


def print_formats(rows):
    print("| format | work | sluice s | PCL s | Open3D s | PCL / sluice | Open3D / sluice |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        seconds = [f"{row['seconds'][who]:.3f}" if who in row["seconds"] else "-" for who in ("sluice", "pcl", "open3d")]
        ratios = [f"{row['ratios'][who]:.2f}" if who in row["ratios"] else "-" for who in ("pcl", "open3d")]
        print(f"| {row['format']} | {row['work']} | {' | '.join(seconds)} | {' | '.join(ratios)} |")


def print_commands(rows):
    print("\n| file | cp s | convert s | cp / convert | filter s | cp / filter | cpu s: cp | convert | filter |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        seconds, cpu, ratios = row["seconds"], row["cpu_seconds"], row["ratios"]
        print(f"| {row['file']} | {seconds['cp']:.3f} | {seconds['convert']:.3f} | {ratios['convert']:.2f} | "
              f"{seconds['filter']:.3f} | {ratios['filter']:.2f} | {cpu['cp']:.3f} | {cpu['convert']:.3f} | "
              f"{cpu['filter']:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/cpu-release", help="the build folder with the programs")
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5, help="counted rounds, after one to warm up")
    parser.add_argument("--slow-runs", type=int, default=2, help="those of the others where files are text, without a warm-up")
    parser.add_argument("--command-runs", type=int, default=11, help="counted rounds of whole commands")
    parser.add_argument("--formats", help="comma-separated; all where not given: " + ", ".join(f[0] for f in FORMATS))
    parser.add_argument("--folder", help="where files are made; a temporary folder by default")
    parser.add_argument("--json", help="write the figures here")
    options = parser.parse_args()
    known = [form[0] for form in FORMATS]
    chosen = options.formats.split(",") if options.formats else known
    if not set(chosen) <= set(known):
        parser.error(f"--formats: one is none of {', '.join(known)}")
    try:
        import open3d  # noqa: F401, PLC0415  only to learn whether the yardstick can run
        with_open3d = open3d.__version__
    except (ImportError, OSError):
        with_open3d = None

    folder = tempfile.mkdtemp(prefix="sluice-bench-", dir=options.folder)
    try:
        make_files(options, folder)
        load = os.getloadavg()[0]
        print(f"{processor()}, {os.cpu_count()} processors, load {load:.1f}; {options.points} points, "
              f"{options.threads} threads; medians of {options.runs}; Open3D {with_open3d or 'is not there'}")
        commands = [bench_commands(options, folder, name) for name in COMMANDS]
        rows = [row for form in FORMATS if form[0] in chosen
                for row in bench_format(options, folder, form, with_open3d)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_formats(rows)
    print_commands(commands)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"date": datetime.date.today().isoformat(), "processor": processor(),
                       "processors": os.cpu_count(), "load": load, "points": options.points, "threads": options.threads,
                       "open3d": with_open3d, "formats": rows, "commands": commands}, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
