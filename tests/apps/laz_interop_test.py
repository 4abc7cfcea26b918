#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LAZ files of laspy's backends lazrs and laszip are read, and those that are written here are read by both."""

import importlib.util
import io
import pathlib
import struct
import unittest

import cli
from cli import CliTest, Las, np

try:
    import laspy
except ImportError:
    laspy = None
try:
    import lazrs
except ImportError:
    lazrs = None

has_laszip = importlib.util.find_spec("laszip") is not None

FORMATS = range(11)
KINDS = ("scan", "wild", "still", "times", "channels")
# Points of a file and of its chunks.
CHUNKS = ((1, 1), (2, 1), (3000, 1), (7, 2), (3001, 7), (3000, 1000), (50_000, 50_000), (50_001, 50_000),
          (70_000, 65_536), (1, 1_000_000), (120_000, 1_000_000))


def needs(*packages):
    """Skips a test case without these packages, by name."""
    present = {"numpy": np, "laspy": laspy, "lazrs": lazrs, "laszip": has_laszip or None}
    missing = [name for name in packages if present[name] is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Cloud:
    """Records of a point format with extra bytes, and files of them."""

    def __init__(self, point_format, records, extra=0):
        self.header = laspy.LasHeader(version="1.4" if point_format > 5 else "1.3", point_format=point_format)
        self.header.scales = (0.01, 0.001, 0.5)
        for number in range(extra):
            self.header.add_extra_dim(laspy.ExtraBytesParams(name=f"extra{number}", type="uint8"))
        self.format = self.header.point_format
        self.extra = extra
        self.records = records
        self.bytes = records.tobytes()

    def write(self, path, backend=None):
        """As LAS, or as LAZ by one of laspy's backends in chunks of 50,000."""
        with laspy.open(path, mode="w", header=self.header, do_compress=backend is not None,
                        laz_backend=backend and laspy.LazBackend[backend]) as writer:
            if len(self.records):
                writer.write_points(laspy.PackedPointRecord(self.records, self.format))

    def chunked(self, path, chunk_size, sizes=None):
        """As LAZ by lazrs in chunks of one size, or of any sizes, in turn."""
        self.write(path, "Lazrs")
        whole = pathlib.Path(path).read_bytes()
        front = bytearray(whole[:struct.unpack_from("<I", whole, 96)[0]])
        record = front.index(b"laszip encoded") + 52
        struct.pack_into("<I", front, record + 12, 0xFFFFFFFF if sizes else chunk_size)
        (length,) = struct.unpack_from("<H", front, record - 34)
        target = io.BytesIO(front)
        target.seek(0, io.SEEK_END)
        compressor = lazrs.LasZipCompressor(target, lazrs.LazVlr(bytes(front[record:record + length])))
        at, turn = 0, 0
        while at < len(self.records):
            size = sizes[turn % len(sizes)] if sizes else len(self.records)
            compressor.compress_many(np.frombuffer(self.records[at:at + size].tobytes(), np.uint8))
            at, turn = at + size, turn + 1
            if sizes and at < len(self.records):
                compressor.finish_current_chunk()
        compressor.done()
        pathlib.Path(path).write_bytes(target.getvalue())


def layout(point_format, extra):
    header = laspy.LasHeader(version="1.4", point_format=point_format)
    for number in range(extra):
        header.add_extra_dim(laspy.ExtraBytesParams(name=f"extra{number}", type="uint8"))
    return header.point_format.dtype()


def wild(dtype, count, random):
    """All bits at random, with runs in which some fields stay as they are."""
    raw = random.integers(0, 256, (count, dtype.itemsize), dtype=np.uint8)
    stays = random.random((count, dtype.itemsize // 2 + 1)) < 0.4
    for i in range(1, count):
        keep = np.repeat(stays[i], 2)[: dtype.itemsize]
        raw[i, keep] = raw[i - 1, keep]
    records = raw.view(dtype)[:, 0]
    for axis in "XYZ":
        edge = random.random(count) < 0.1
        records[axis][edge] = random.choice([-(2**31), 2**31 - 1, 0, -1], int(edge.sum()))
    return records


def make_cloud(kind, point_format, count, extra=0, seed=1):
    random = np.random.default_rng(seed)
    dtype = layout(point_format, extra)
    if kind == "wild":
        return Cloud(point_format, wild(dtype, count, random), extra)
    records = np.zeros(count, dtype)
    names = dtype.names
    steps = random.integers(20, 30, count)
    records["X"] = 1_000_000 + np.cumsum(np.where(random.random(count) < 0.002, -50_000, steps))
    records["Y"] = 2_000_000 + np.cumsum(random.integers(-20, 21, count))
    records["Z"] = 5000 + random.integers(0, 3000, count) * (random.random(count) < 0.2)
    records["intensity"] = random.integers(0, 10, count) * 100
    returns = random.integers(1, 4, count)
    number = 1 + random.integers(0, 3, count) % returns
    shift = 4 if point_format > 5 else 3
    records["bit_fields"] = number | returns << shift
    records["user_data"] = np.arange(count) // 100 % 3
    records["point_source_id"] = 7 + np.arange(count) // 5000
    if point_format > 5:
        records["classification"] = np.where(random.random(count) < 0.05, random.integers(0, 256, count), 2)
        records["classification_flags"] = (np.arange(count) // 300 % 2) << 6
        records["scan_angle"] = np.arange(count) // 40 % 2000 - 1000
    else:
        records["raw_classification"] = random.integers(0, 32, count)
        records["scan_angle_rank"] = np.arange(count) // 40 % 30
    if "gps_time" in names:
        records["gps_time"] = 3e5 + np.cumsum((number == 1) * 1e-5)
    if "red" in names:
        for name in ("red", "green", "blue"):
            records[name] = random.integers(0, 256, count) * (257 if name != "blue" else 1)
    if "nir" in names:
        records["nir"] = random.integers(0, 4, count) * 300
    if "wavepacket_size" in names:
        records["wavepacket_index"] = random.integers(0, 3, count)
        records["wavepacket_offset"] = 60 + np.cumsum(random.integers(0, 2, count) * 256)
        records["wavepacket_size"] = 256
        records["x_t"] = random.random(count)
    for number in range(extra):
        records[f"extra{number}"] = random.integers(0, 2 + 60 * number, count)
    if kind == "still":
        # One point for longer than any model keeps count of, then something else, and the same again.
        records[: count * 3 // 4] = records[0]
        records[count * 7 // 8:] = records[0]
    if kind == "times" and "gps_time" in names:
        # Jumps between clocks, long pauses, times that are no numbers.
        clocks = np.array([3e5, 3e5 + 4096, -1.0, 0.0, 2.5e9, np.nan, -np.inf, 5e-324])
        jump = random.random(count) < 0.1
        records["gps_time"] += random.integers(0, 500, count) ** 3 * 1e-6
        records["gps_time"][jump] = clocks[random.integers(0, len(clocks), int(jump.sum()))]
    if kind == "channels" and point_format > 5:
        records["classification_flags"] |= (random.integers(0, 4, count) << 4).astype(np.uint8)
        records["gps_time"] += random.integers(0, 4, count) * 1000.0
    return Cloud(point_format, records, extra)


def longest_run(chunk, value):
    """Length of the longest run of a byte."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (chunk == value).view(np.int8), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def long_carries(point_format, chunk_size):
    """Points whose chunks were searched for: those with the longest runs of bytes that a carry runs through (0xFF where
    none came, 0 where one did)."""
    vlr = lazrs.LazVlr.new_for_compression(point_format, 0)
    dtype = layout(point_format, 0)
    found = []
    for seed in range(120):
        random = np.random.default_rng(1000 + seed)
        raw = random.integers(0, 256, (chunk_size, dtype.itemsize), dtype=np.uint8)
        chunk = np.frombuffer(lazrs.compress_points(vlr, raw.reshape(-1), False), np.uint8)[8:-16]
        found.append((max(longest_run(chunk, 0xFF), longest_run(chunk[100:], 0)), seed, raw))
    found.sort(key=lambda entry: entry[:2])
    return Cloud(point_format, np.concatenate([raw for _, _, raw in found[-12:]]).view(dtype)[:, 0])


class Interop(CliTest):
    def records_of(self, path, *more):
        self.run_program("convert", path, "-o", "read.las", "--overwrite", *more)
        return Las(self.path("read.las"))

    def check_read(self, cloud, path, *more):
        read = self.records_of(path, *more)
        self.assertEqual(read.count, len(cloud.records))
        self.assertEqual(read.point_format, cloud.format.id)
        self.check_same(read.bytes, cloud.bytes)

    def check_same(self, records, expected):
        """Not assertEqual, which would print them."""
        self.assertTrue(records == expected, "the records differ")

    def read_by(self, backend, path):
        return laspy.read(self.path(path), laz_backend=laspy.LazBackend[backend])

    def clouds(self):
        """Every point format with every kind of data, by name."""
        for point_format in FORMATS:
            for kind in KINDS:
                for extra in (0, 3):
                    count = 90_000 if kind == "still" and point_format in (1, 3, 6, 7) and extra == 0 else 2500
                    cloud = make_cloud(kind, point_format, count, extra)
                    yield f"format {point_format}, {kind}, {extra} extra bytes", cloud

    def check_backend_is_read(self, backend, refusals):
        done = set()
        for name, cloud in self.clouds():
            with self.subTest(cloud=name):
                try:
                    cloud.write(self.path("theirs.laz"), backend)
                except refusals as error:
                    print(f"{backend} refuses {name}: {error}")
                    continue
                done.add(cloud.format.id)
                if backend == "Lazrs" and cloud.format.id in (9, 10):
                    # lazrs 0.8 mixes up the wave packets of several scanner channels; what it reads back counts.
                    cloud.bytes = self.read_by(backend, "theirs.laz").points.array.tobytes()
                self.check_read(cloud, "theirs.laz")
        self.assertLessEqual({0, 1, 2, 3, 6, 7, 8}, done)
        for points in (0, 1, 2, 50_000, 50_001, 100_000):
            for point_format in (1, 7):
                with self.subTest(points=points, point_format=point_format):
                    cloud = make_cloud("scan", point_format, points)
                    cloud.write(self.path("theirs.laz"), backend)
                    for threads in (1, 2):
                        self.check_read(cloud, "theirs.laz", "--threads", threads)


@needs("numpy", "laspy", "lazrs")
class OfLazrs(Interop):
    def test_its_files_are_read(self):
        self.check_backend_is_read("Lazrs", lazrs.LazrsError)

    def test_chunks_of_any_size_are_read(self):
        for point_format in (1, 3, 6, 7):
            for points, size in CHUNKS:
                with self.subTest(point_format=point_format, points=points, size=size):
                    cloud = make_cloud("scan", point_format, points, 1)
                    cloud.chunked(self.path("theirs.laz"), size)
                    self.check_read(cloud, "theirs.laz", "--threads", 2)

    def test_chunks_of_changing_size_are_read(self):
        for point_format in (0, 3, 6, 8):
            cloud = make_cloud("scan", point_format, 3000)
            for sizes in ((1,), (1, 700, 2), (5000,), (2999, 1)):
                with self.subTest(point_format=point_format, sizes=sizes):
                    cloud.chunked(self.path("theirs.laz"), 0, sizes)
                    self.check_read(cloud, "theirs.laz")

    def test_long_carries_are_read(self):
        for point_format in (0, 3, 6):
            with self.subTest(point_format=point_format):
                cloud = long_carries(point_format, 2000)
                cloud.chunked(self.path("theirs.laz"), 2000)
                self.check_read(cloud, "theirs.laz")


@needs("numpy", "laspy", "laszip")
class OfLaszip(Interop):
    def test_its_files_are_read(self):
        self.check_backend_is_read("Laszip", laspy.errors.LaspyException)


class Written:
    """What is written here, read by a backend; joined with Interop by the classes that name one."""

    BACKEND = ""

    def check_written(self, cloud, path):
        theirs = self.read_by(self.BACKEND, path)
        self.assertEqual(len(theirs.points), len(cloud.records))
        self.assertEqual(theirs.header.point_format.id, cloud.format.id)
        self.check_same(theirs.points.array.tobytes(), cloud.bytes)

    def check_both_ways(self, cloud, *more):
        cloud.write(self.path("in.las"))
        self.run_program("convert", "in.las", "-o", "ours.laz", "--overwrite", *more)
        self.check_written(cloud, "ours.laz")
        self.check_read(cloud, "ours.laz")

    def test_every_format(self):
        for name, cloud in self.clouds():
            with self.subTest(cloud=name):
                self.check_both_ways(cloud)

    def test_chunks_of_any_size(self):
        for point_format in (1, 3, 6, 7):
            for points, size in ((0, 50_000), *CHUNKS):
                with self.subTest(point_format=point_format, points=points, size=size):
                    self.check_both_ways(make_cloud("scan", point_format, points, 1), "--chunk-size", size)

    def test_filtered_points(self):
        for point_format in (1, 7):
            cloud = make_cloud("scan", point_format, 130_000, 2)
            cloud.write(self.path("in.las"))
            for arguments in (("--every", "3"), ("--where", "return_number == 1"), ("--where", "intensity > 60000")):
                self.run_program("filter", "in.las", "-o", "kept.las", "--overwrite", *arguments)
                kept = Cloud(point_format, np.frombuffer(Las(self.path("kept.las")).bytes, cloud.records.dtype), 2)
                content = set()
                for threads in (1, 2):
                    with self.subTest(point_format=point_format, arguments=arguments, threads=threads):
                        self.run_program("filter", "in.las", "-o", "ours.laz", "--overwrite", "--threads", threads,
                                         "--chunk-size", 20_000, *arguments)
                        content.add((self.folder / "ours.laz").read_bytes())
                        self.check_written(kept, "ours.laz")
                self.assertEqual(len(content), 1)

    def test_copied_chunks(self):
        """Chunks that are kept whole are copied, and those between them shorter, so that each has a size of its own."""
        for point_format in (1, 7):
            cloud = make_cloud("scan", point_format, 130_000, 2)
            cloud.write(self.path("in.las"))
            self.run_program("convert", "in.las", "-o", "in.laz", "--overwrite", "--chunk-size", 10_000)
            times = cloud.records["gps_time"]
            first, last = times[27_000], times[95_000]
            condition = f"gps_time >= {float(first)!r} && gps_time < {float(last)!r}"
            kept = Cloud(point_format, cloud.records[(times >= first) & (times < last)], 2)
            content = set()
            for threads in (1, 2):
                self.run_program("filter", "in.laz", "-o", "ours.laz", "--overwrite", "--threads", threads, "--where",
                                 condition)
                content.add((self.folder / "ours.laz").read_bytes())
                self.check_written(kept, "ours.laz")
            self.assertEqual(len(content), 1)
            bytes_ = content.pop()
            self.assertEqual(struct.unpack_from("<I", bytes_, bytes_.index(b"laszip encoded") + 52 + 12)[0], 0xFFFFFFFF)


@needs("numpy", "laspy", "lazrs")
class ForLazrs(Written, Interop):
    BACKEND = "Lazrs"

    def test_long_carries(self):
        for point_format in (0, 3, 6):
            with self.subTest(point_format=point_format):
                self.check_both_ways(long_carries(point_format, 2000), "--chunk-size", 2000)


@needs("numpy", "laspy", "laszip")
class ForLaszip(Written, Interop):
    BACKEND = "Laszip"


if __name__ == "__main__":
    cli.main()
