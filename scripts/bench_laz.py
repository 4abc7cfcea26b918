#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the LAZ codec against the Python packages lazrs and laszip, its scaling, and whole commands on LAZ files.

Codec: for each block of points, sluice-bench, lazrs and laszip decode and encode the same chunks of 50,000 points in
memory on one thread, in turn (A B C A B C ...), so that a machine whose speed drifts treats them alike. Ratios are
seconds of the faster of the two packages by seconds of sluice; above 1 sluice is faster. Blocks: for the point formats
1, 3, 6 and 7 a made scene, and the largest real file of the format in the folder of test data (SLUICE_TEST_DATA),
repeated until it has --points points; or the LAZ files that are given. What everybody decodes and encodes is compared
first.

Scaling: sluice-bench on a file of --chunks chunks with each number of threads, in turn; linear is as many times the
speed of the first number as there are times as many threads. The yardstick is as many processes of one thread each at
the same time, which share nothing but the machine: what they lose against one process alone, threads must lose too.

Commands: `sluice filter --box` from that file to LAZ and to LAS, with the seconds inside its parts; yardsticks are
`cp`, and the same job with laspy, on one thread (lazrs) and on as many as the command has (lazrs, parallel).

    scripts/bench_laz.py --build build/cpu-release --threads 1,2,16 --json out.json
"""

import argparse
import datetime
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata

from bench_files import Run, processor

missing = []
try:
    import numpy as np
except ImportError:
    missing.append("numpy")
try:
    import laspy
except ImportError:
    missing.append("laspy")
try:
    import lazrs
except ImportError:
    missing.append("lazrs")
try:
    import laszip
except ImportError:
    missing.append("laszip")

FORMATS = (1, 3, 6, 7)
CHUNK = 50_000

LASPY_JOB = """
import sys, laspy, numpy as np
source, target, box, backend = sys.argv[1:5]
low_x, low_y, high_x, high_y = map(float, box.split(","))
las = laspy.read(source, laz_backend=laspy.LazBackend[backend])
x, y = np.asarray(las.x), np.asarray(las.y)
new = laspy.LasData(las.header)
new.points = las.points[(x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)]
new.write(target, laz_backend=laspy.LazBackend[backend])
"""


class Block:
    """Points of one format, and a LAZ file of them, whose chunks lazrs has encoded."""

    def __init__(self, name, points, folder):
        """`points` is a laspy point record."""
        self.name = name
        self.format = points.point_format
        self.count = len(points)
        self.records = np.frombuffer(points.array.tobytes(), np.uint8)
        header = laspy.LasHeader(version="1.4", point_format=self.format.id)
        for number in range(self.format.num_extra_bytes):
            header.add_extra_dim(laspy.ExtraBytesParams(name=f"extra{number}", type="uint8"))
        with io.BytesIO() as plain:
            header.write_to(plain)
            self.plain_header = plain.getvalue()
        self.path = os.path.join(folder, f"{name}-{self.format.id}.laz")
        with laspy.open(self.path, mode="w", header=header, laz_backend=laspy.LazBackend.LazrsParallel) as writer:
            bare = self.records.view(header.point_format.dtype())
            writer.write_points(laspy.PackedPointRecord(bare, header.point_format))
        self.file = pathlib.Path(self.path).read_bytes()
        self.vlr = lazrs.LazVlr.new_for_compression(self.format.id, self.format.num_extra_bytes)
        self.chunks = lazrs.compress_points(self.vlr, self.records, True)

    def lazrs_decode(self, out):
        lazrs.decompress_points(self.chunks, self.vlr.record_data(), out, False)

    def lazrs_encode(self):
        return lazrs.compress_points(self.vlr, self.records, False)

    def laszip_decode(self, out):
        laszip.LasUnZipper(io.BytesIO(self.file)).decompress_into(out)

    def laszip_encode(self):
        out = io.BytesIO()
        zipper = laszip.LasZipper(out, self.plain_header)
        zipper.compress(self.records)
        zipper.done()
        return out

    def check(self):
        """Both packages read the block, and each other."""
        out = np.empty_like(self.records)
        of_lazrs, of_laszip = self.lazrs_encode(), self.laszip_encode().getvalue()
        for name, decode in (
            ("lazrs", self.lazrs_decode),
            ("laszip", self.laszip_decode),
            ("laszip of laszip", lambda to: laszip.LasUnZipper(io.BytesIO(of_laszip)).decompress_into(to)),
            ("lazrs of lazrs", lambda to: lazrs.decompress_points(of_lazrs, self.vlr.record_data(), to, False)),
        ):
            out[:] = 0
            decode(out)
            if not np.array_equal(out, self.records):
                sys.exit(f"{self.path}: {name} does not decode the points that were encoded")


def seconds_of(work, *arguments):
    """Wall and processor seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    work(*arguments)
    return time.perf_counter() - wall, time.process_time() - cpu


def codec_times(options, path, threads, folder):
    """What sluice-bench measures in one timed run, which follows one that compares."""
    result = os.path.join(folder, "codec.json")
    run = Run([options.sluice_bench, "laz", path, "--runs", "1", "--threads", str(threads), "--json", result])
    if run.status != 0:
        sys.exit(f"sluice-bench laz {path} failed with {run.status}: {run.error}")
    with open(result, encoding="utf-8") as file:
        return json.load(file)["files"][0]


def processes_times(options, path, count, folder):
    """Mean seconds of so many processes that work at the same time on one thread each."""
    results = [os.path.join(folder, f"process{number}.json") for number in range(count)]
    running = [subprocess.Popen([options.sluice_bench, "laz", path, "--runs", "7", "--threads", "1", "--json", result],
                                stdout=subprocess.DEVNULL) for result in results]
    if any([process.wait() for process in running]):
        sys.exit(f"sluice-bench laz {path} failed in one of {count} processes")
    files = [json.loads(pathlib.Path(result).read_text(encoding="utf-8"))["files"][0] for result in results]
    return {what: statistics.fmean(file[what]["median_s"] for file in files) for what in ("decode", "encode")}


def bench_codec(options, block, folder):
    block.check()
    taken = {(who, what): [] for who in ("sluice", "lazrs", "laszip") for what in ("decode", "encode")}
    out = np.zeros_like(block.records)
    for number in range(options.runs + 1):
        ours = codec_times(options, block.path, 1, folder)
        if ours["points"] != block.count:
            sys.exit(f"{block.path}: sluice-bench finds {ours['points']} points of {block.count}")
        now = {("sluice", what): (ours[what]["median_s"], ours[what]["cpu_median_s"]) for what in ("decode", "encode")}
        now["lazrs", "decode"] = seconds_of(block.lazrs_decode, out)
        now["laszip", "decode"] = seconds_of(block.laszip_decode, out)
        now["lazrs", "encode"] = seconds_of(block.lazrs_encode)
        now["laszip", "encode"] = seconds_of(block.laszip_encode)
        if number == 0:
            continue  # to warm up
        for key, seconds in now.items():
            taken[key].append(seconds)
    rows = []
    for what in ("decode", "encode"):
        row = {"block": block.name, "point_format": block.format.id, "points": block.count, "work": what,
               "chunks": ours["chunks"], "identical_chunks": ours["identical_chunks"]}
        for who in ("sluice", "lazrs", "laszip"):
            runs = taken[who, what]
            row[who] = {"wall_s": statistics.median(run[0] for run in runs),
                        "cpu_s": statistics.median(run[1] for run in runs), "best_s": min(run[0] for run in runs)}
        for figure in ("wall_s", "cpu_s", "best_s"):
            row[f"ratio_{figure}"] = min(row["lazrs"][figure], row["laszip"][figure]) / row["sluice"][figure]
        rows.append(row)
    return rows


def print_codec(rows):
    print("| points | format | work | sluice M/s | lazrs M/s | laszip M/s | faster / sluice, wall | cpu | best "
          "| same chunks |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        speeds = " | ".join(f"{row['points'] / row[who]['wall_s'] / 1e6:.2f}" for who in ("sluice", "lazrs", "laszip"))
        print(f"| {row['block']} | {row['point_format']} | {row['work']} | {speeds} | {row['ratio_wall_s']:.2f} | "
              f"{row['ratio_cpu_s']:.2f} | {row['ratio_best_s']:.2f} | {row['identical_chunks']} of {row['chunks']} |")


def bench_scaling(options, path, part, folder):
    """`part` is the file of a process."""
    taken = {threads: [] for threads in options.threads}
    apart = {threads: [] for threads in options.threads}
    for _ in range(options.runs):
        for threads in options.threads:
            taken[threads].append(codec_times(options, path, threads, folder))
            apart[threads].append(processes_times(options, part, threads, folder))
    alone = processes_times(options, part, 1, folder) if 1 not in apart else {
        what: statistics.median(run[what] for run in apart[1]) for what in ("decode", "encode")}
    rows = []
    for threads, runs in taken.items():
        row = {"threads": threads, "points": runs[0]["points"], "chunks": runs[0]["chunks"]}
        for what in ("decode", "encode"):
            row[f"{what}_s"] = statistics.median(run[what]["median_s"] for run in runs)
            row[f"{what}_cpu_s"] = statistics.median(run[what]["cpu_median_s"] for run in runs)
            row[f"{what}_processes_of_linear"] = alone[what] / statistics.median(run[what] for run in apart[threads])
        rows.append(row)
    first = rows[0]
    for row in rows:
        for what in ("decode", "encode"):
            row[f"{what}_of_linear"] = (first[f"{what}_s"] * first["threads"]) / (row[f"{what}_s"] * row["threads"])
    # Where the same work takes more processor seconds, the processors are slower together than alone.
    print("\n| threads | decode s | cpu s | of linear | processes | encode s | cpu s | of linear | processes |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        cells = [str(row["threads"])]
        for what in ("decode", "encode"):
            cells += [f"{row[f'{what}_s']:.3f}", f"{row[f'{what}_cpu_s']:.3f}", f"{row[f'{what}_of_linear']:.2f}",
                      f"{row[f'{what}_processes_of_linear']:.2f}"]
        print(f"| {' | '.join(cells)} |")
    return rows


def middle_box(options, path):
    """The middle half of width and height: a quarter of the area."""
    run = Run([options.sluice, "info", "--json", path])
    if run.status != 0:
        sys.exit(f"sluice info {path} failed with {run.status}: {run.error}")
    info = json.loads(run.output)
    low, high = ((info[0] if isinstance(info, list) else info)["bounds"][end] for end in ("min", "max"))
    return ",".join(str(low[d] + (high[d] - low[d]) * part) for part in (0.25, 0.75) for d in (0, 1))


def bench_commands(options, path, folder):
    box = middle_box(options, path)
    contenders = {}
    for threads in options.threads:
        for kind in ("laz", "las"):
            contenders[f"sluice to {kind}", threads] = ([
                options.sluice, "filter", f"--box={box}", path, "-o", os.path.join(folder, f"out.{kind}"), "--threads",
                str(threads), "--backend", "cpu", "--json"], None)
        backend = "Lazrs" if threads == 1 else "LazrsParallel"
        contenders[f"laspy, {backend}, to laz", threads] = (
            [sys.executable, "-c", LASPY_JOB, path, os.path.join(folder, "out.laz"), box, backend],
            {**os.environ, "RAYON_NUM_THREADS": str(threads)})
    contenders["cp", 1] = (["cp", path, os.path.join(folder, "copy.laz")], None)
    taken = {key: [] for key in contenders}
    refused = {}
    for number in range(options.runs + 1):
        for key, (command, env) in contenders.items():
            if key in refused or key[0].startswith("laspy") and number > 2:
                continue  # laspy is slow, and its spread is small against the ratio
            for stale in ("out.laz", "out.las", "copy.laz"):
                pathlib.Path(folder, stale).unlink(missing_ok=True)
            run = Run(command, env)
            if run.status != 0:
                refused[key] = run.error.splitlines()[-1] if run.error else f"exit status {run.status}"
            elif number > 0:
                taken[key].append(run)
    rows = []
    print("\n| filter --box | threads | s | M points/s | cpu s | read s | compute s | write s | total s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (name, threads), runs in taken.items():
        row = {"job": name, "threads": threads}
        rows.append(row)
        if not runs:
            row["refused"] = refused[name, threads]
            print(f"| {name} | {threads} | refused: {row['refused']} | - | - | - | - | - | - |")
            continue
        row.update(seconds=statistics.median(run.wall for run in runs),
                   cpu_seconds=statistics.median(run.cpu for run in runs))
        speed, parts = "-", "- | - | - | -"
        if runs[0].output.startswith(b"{"):
            results = [json.loads(run.output) for run in runs]
            speed = f"{results[0]['points_read'] / row['seconds'] / 1e6:.2f}"
            row["inside"] = {part: statistics.median(result["seconds"][part] for result in results)
                             for part in ("read", "compute", "write", "total")}
            row["points_read"], row["points_written"] = results[0]["points_read"], results[0]["points_written"]
            parts = " | ".join(f"{seconds:.3f}" for seconds in row["inside"].values())
        print(f"| {name} | {threads} | {row['seconds']:.3f} | {speed} | {row['cpu_seconds']:.3f} | {parts} |")
    return rows


def repeated(points, count):
    """A point record of `count` points that starts over at its end."""
    array = np.tile(points.array, -(-count // len(points.array)))[:count]
    return laspy.PackedPointRecord(array, points.point_format)


def scene(options, point_format, count, folder):
    path = os.path.join(folder, "scene.las")
    run = Run([options.sluice, "synth", "airborne", "--points", str(count), "--seed", "1", "--point-format",
               str(point_format), "-o", path, "--overwrite", "--quiet"])
    if run.status != 0:
        sys.exit(f"sluice synth failed with {run.status}: {run.error}")
    las = laspy.read(path)
    os.unlink(path)
    return las


def largest_real(folder):
    """The largest file of each point format."""
    found = {}
    for path in sorted([*folder.glob("las/*.las"), *folder.glob("laz/*.laz")]):
        with laspy.open(path) as reader:
            key, count = reader.header.point_format.id, reader.header.point_count
        if count > found.get(key, (0, None))[0]:
            found[key] = (count, path)
    return {key: path for key, (_, path) in found.items()}


def blocks(options, folder):
    """One block at a time: they are large."""
    for path in options.files:
        yield Block(pathlib.Path(path).stem, laspy.read(path).points, folder)
    if options.files:
        return
    real = largest_real(pathlib.Path(options.data)) if options.data else {}
    for point_format in FORMATS:
        if point_format in real:
            points = laspy.read(real[point_format]).points
            yield Block(real[point_format].stem, repeated(points, options.points), folder)
        yield Block("airborne", scene(options, point_format, options.points, folder).points, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="LAZ files for the codec, in place of made and real ones")
    parser.add_argument("--build", default="build/cpu-release", help="where sluice and sluice-bench were built")
    parser.add_argument("--data", default=os.environ.get("SLUICE_TEST_DATA"), help="folder of real files")
    parser.add_argument("--points", type=int, default=1_000_000, help="of each block")
    parser.add_argument("--chunks", type=int, default=200, help="of 50,000 points, for scaling and commands")
    parser.add_argument("--point-format", type=int, default=6, help="for scaling and commands")
    parser.add_argument("--threads", default="1,2", help="comma-separated, for scaling and commands")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each contender, after one to warm up")
    parser.add_argument("--parts", default="codec,scaling,commands", help="comma-separated, what to measure")
    parser.add_argument("--folder", help="where files are made; a temporary folder by default")
    parser.add_argument("--json", help="write the figures here")
    options = parser.parse_args()
    if missing:
        sys.exit(f"bench_laz.py needs the Python packages {', '.join(missing)}; tests/requirements.txt names them all")
    options.threads = [int(threads) for threads in options.threads.split(",")]
    options.parts = options.parts.split(",")
    options.sluice = os.path.join(options.build, "bin", "sluice")
    options.sluice_bench = os.path.join(options.build, "bin", "sluice-bench")
    for program in (options.sluice, options.sluice_bench):
        if not os.access(program, os.X_OK):
            sys.exit(f"{program} is not there: build with -DSLUICE_BUILD_BENCH=ON, and name the folder by --build")

    folder = tempfile.mkdtemp(prefix="sluice-bench-", dir=options.folder)
    try:
        run(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(options, folder):
    result = {"date": datetime.date.today().isoformat(), "processor": processor(), "processors": os.cpu_count(),
              "runs": options.runs, **{name: metadata.version(name) for name in ("laspy", "lazrs", "laszip")}}
    print(f"{processor()}, {os.cpu_count()} processors; lazrs {result['lazrs']}, laszip {result['laszip']}; medians of "
          f"{options.runs}\n")
    if "codec" in options.parts:
        result["codec"] = []
        for block in blocks(options, folder):
            result["codec"] += bench_codec(options, block, folder)
            os.unlink(block.path)
        print_codec(result["codec"])
    if "scaling" in options.parts or "commands" in options.parts:
        path = os.path.join(folder, "many.laz")
        las = scene(options, options.point_format, options.chunks * CHUNK, folder)
        las.write(path, laz_backend=laspy.LazBackend.LazrsParallel)
        result["many"] = {"points": len(las.points), "point_format": options.point_format,
                          "bytes": os.path.getsize(path)}
        if "scaling" in options.parts:
            part = os.path.join(folder, "part.laz")
            las.points = las.points[:max(1, options.chunks // max(options.threads)) * CHUNK]
            las.write(part, laz_backend=laspy.LazBackend.LazrsParallel)
            result["scaling"] = bench_scaling(options, path, part, folder)
        del las
    if "commands" in options.parts:
        result["commands"] = bench_commands(options, path, folder)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(result, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
