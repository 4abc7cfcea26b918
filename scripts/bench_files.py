#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole commands on one LAS file, warm cache, against named yardsticks in the same run.

For each job and thread count the command and its yardsticks run in turn (A B A B ...), so that a machine whose speed
drifts treats them alike; the table gives medians. Yardsticks: `cp` of the input (what moving the bytes costs); bare
writes of as many bytes as the output has, by as many threads, to one new file and to a new file for each thread (kernels
let one thread at a time write to a file, so the first is a floor that more threads do not lower); and, where laspy is
installed, the same job written with laspy and numpy, as people do in Python.

    scripts/bench_files.py --sluice build/bin/sluice --points 10000000 --threads 1,2 --json out.json
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LASPY_JOB = """
import sys, laspy, numpy as np
job, path, out = sys.argv[1:4]
las = laspy.read(path)
if job == "filter --box":
    lo_x, lo_y, hi_x, hi_y = map(float, sys.argv[4].split(","))
    x, y = np.asarray(las.x), np.asarray(las.y)
    keep = (x >= lo_x) & (x <= hi_x) & (y >= lo_y) & (y <= hi_y)
elif job == "filter --where":
    keep = np.asarray(las.classification) == 2
else:
    size = float(sys.argv[4])
    cells = [np.floor(np.asarray(c) / size).astype(np.int64) for c in (las.x, las.y, las.z)]
    cells = [c - c.min() for c in cells]
    nx, ny = (int(c.max()) + 1 for c in cells[:2])
    _, first = np.unique((cells[2] * ny + cells[1]) * nx + cells[0], return_index=True)
    keep = np.sort(first)
new = laspy.LasData(las.header)
new.points = las.points[keep]
new.write(out)
"""


class Run:
    """A command that was run: its output, wall seconds, processor seconds and peak resident MiB."""

    def __init__(self, command, env=None):
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.output = child.stdout.read()
        self.error = child.stderr.read().decode(errors="replace").strip()
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.perf_counter() - start
        child.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak_mib = usage.ru_maxrss / 1024


def measure(command):
    """Runs a command; its wall seconds, processor seconds, peak resident MiB and the seconds of the job inside it."""
    run = Run(command)
    if run.status != 0:
        sys.exit(f"{command} failed with {run.status}: {run.error}")
    inside = json.loads(run.output)["seconds"]["total"] if run.output.startswith(b"{") else run.wall
    return run.wall, run.cpu, run.peak_mib, inside


def seconds_to_write(folder, total, threads, files):
    """Seconds that `threads` threads take to write `total` bytes, each its own part, to `files` new files."""
    block = memoryview(bytes(2 << 20))
    paths = [os.path.join(folder, f"bare{number}") for number in range(files)]
    descriptors = [os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY) for path in paths]

    def write(part):
        at, end = part * total // threads, (part + 1) * total // threads
        while at < end:
            at += os.pwrite(descriptors[part % files], block[: end - at], at)

    workers = [threading.Thread(target=write, args=(part,)) for part in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - start
    for descriptor, path in zip(descriptors, paths):
        os.close(descriptor)
        os.unlink(path)
    return seconds


def median_of(runs, column):
    return statistics.median(run[column] for run in runs)


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default="build/cpu-release/bin/sluice", help="the program to time")
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--point-format", type=int, default=3)
    parser.add_argument("--threads", default="1,2", help="comma-separated")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command, after one to warm up")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--cell", default="1")
    parser.add_argument("--folder", help="where files are made; a temporary folder by default")
    parser.add_argument("--no-laspy", action="store_true", help="leave the laspy yardstick out")
    parser.add_argument("--json", help="write the figures here")
    options = parser.parse_args()

    folder = tempfile.mkdtemp(prefix="sluice-bench-", dir=options.folder)
    try:
        run(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(options, folder):
    source = os.path.join(folder, "in.las")
    subprocess.run([options.sluice, "synth", "airborne", "--points", str(options.points), "--seed", "1", "--point-format",
                    str(options.point_format), "-o", source, "--quiet"], check=True)
    info = json.loads(subprocess.run([options.sluice, "info", "--json", source], check=True, capture_output=True).stdout)
    info = info[0] if isinstance(info, list) else info
    low, high = info["bounds"]["min"], info["bounds"]["max"]
    # The middle half of the width and of the height: a quarter of the area.
    box = ",".join(str(low[d] + (high[d] - low[d]) * part) for part in (0.25, 0.75) for d in (0, 1))

    try:
        import laspy  # noqa: F401, PLC0415  only to learn whether the yardstick can run
        with_laspy = not options.no_laspy
    except ImportError:
        with_laspy = False

    jobs = {
        "filter --box": (["filter", f"--box={box}"], box),
        "filter --where": (["filter", "--where", "classification == 2"], ""),
        f"thin --cell {options.cell}": (["thin", "--cell", options.cell], options.cell),
    }
    rows = []
    for name, (arguments, detail) in jobs.items():
        for threads in [int(t) for t in options.threads.split(",")]:
            target = os.path.join(folder, "out.las")
            contenders = {
                "sluice": [options.sluice, arguments[0], source, "-o", target, *arguments[1:], "--threads", str(threads),
                           "--backend", options.backend, "--json"],
                "cp": ["cp", source, os.path.join(folder, "copy.las")],
            }
            if with_laspy and threads == 1:
                contenders["laspy"] = [sys.executable, "-c", LASPY_JOB, name, source,
                                       os.path.join(folder, "laspy.las"), detail]
            taken = {key: [] for key in contenders}
            to_one, to_many = [], []
            for round_number in range(options.runs + 1):
                for key, command in contenders.items():
                    if key == "laspy" and round_number > 2:
                        continue  # slow, and its spread is small against the ratio
                    # Freeing an old output is no part of a command that makes a new one.
                    for stale in ("out.las", "copy.las", "laspy.las"):
                        if os.path.exists(os.path.join(folder, stale)):
                            os.unlink(os.path.join(folder, stale))
                    result = measure(command)
                    if round_number > 0:
                        taken[key].append(result)
                    if key == "sluice":
                        written = os.path.getsize(target)
                        to_one.append(seconds_to_write(folder, written, threads, 1))
                        to_many.append(seconds_to_write(folder, written, threads, threads))
            wall = median_of(taken["sluice"], 0)
            row = {
                "job": name, "threads": threads, "seconds": wall, "cpu_seconds": median_of(taken["sluice"], 1),
                "peak_mib": max(run[2] for run in taken["sluice"]), "mpoints_per_s": options.points / wall / 1e6,
                "cp_seconds": median_of(taken["cp"], 0), "job_seconds": median_of(taken["sluice"], 3),
                "bytes_written": written, "write_one_seconds": statistics.median(to_one[1:]),
                "write_many_seconds": statistics.median(to_many[1:]),
            }
            if "laspy" in taken:
                row["laspy_seconds"] = median_of(taken["laspy"], 0)
                row["laspy_ratio"] = row["laspy_seconds"] / wall
            rows.append(row)

    first = {row["job"]: row["seconds"] for row in reversed(rows)}
    print(f"{processor()}, {os.cpu_count()} processors; {options.points} points, format {options.point_format}, "
          f"{os.path.getsize(source)} bytes; medians of {options.runs}")
    print("| job | threads | s | M points/s | speed-up | job s | cpu s | peak MiB | cp s | write s: 1 file "
          "| write s: file a thread | laspy s | laspy / sluice |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        row["speedup"] = first[row["job"]] / row["seconds"]
        laspy_part = (f"{row['laspy_seconds']:.2f} | {row['laspy_ratio']:.1f}" if "laspy_seconds" in row else "- | -")
        print(f"| {row['job']} | {row['threads']} | {row['seconds']:.3f} | {row['mpoints_per_s']:.1f} | "
              f"{row['speedup']:.2f} | {row['job_seconds']:.3f} | {row['cpu_seconds']:.3f} | {row['peak_mib']:.0f} | {row['cp_seconds']:.3f} | "
              f"{row['write_one_seconds']:.3f} | {row['write_many_seconds']:.3f} | {laspy_part} |")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"date": datetime.date.today().isoformat(), "processor": processor(),
                       "processors": os.cpu_count(), "points": options.points, "rows": rows}, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
