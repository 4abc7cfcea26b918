# SPDX-License-Identifier: Apache-2.0
"""What the tests of the program share: running it, and LAS files read and written without it."""

import functools
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    np = None

PROGRAM = os.environ.get("SLUICE_PROGRAM", "sluice")
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
ENVIRONMENT.pop("SLUICE_BACKEND", None)
# Set where the program is instrumented, which takes most of its time to start.
QUICK = os.environ.get("SLUICE_TEST_QUICK") == "1"

needs_numpy = unittest.skipIf(np is None, "numpy is not installed")


def test_data():
    """The folder of real files, or None."""
    named = os.environ.get("SLUICE_TEST_DATA")
    folder = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
    return folder.resolve() if folder.is_dir() else None


def in_turn(number, items):
    """All items; in quick runs one, which differs from number to number, so that who counts up comes to all of them."""
    return [items[number % len(items)]] if QUICK else items


def expected_files(*folders):
    """Real files in these folders and what other programs computed of them; in quick runs not the largest."""
    with open(test_data() / "expected.json", encoding="utf-8") as file:
        entries = json.load(file)["files"]
    for name, expected in entries.items():
        if name.startswith(folders) and not (QUICK and expected["point_count"] > 200000):
            yield str(test_data() / name), expected


@functools.cache
def backends():
    """Names of the backends that this machine can run."""
    listing = json.loads(subprocess.run([PROGRAM, "devices", "--json"], check=True, capture_output=True).stdout)
    return [entry["name"] for entry in listing["backends"] if entry["usable"]]


class CliTest(unittest.TestCase):
    """Runs the program in a folder of its own, whose name is not plain ASCII without blanks."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="sluice ü ")
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def path(self, name):
        return str(self.folder / name)

    def names(self):
        return sorted(os.listdir(self.folder))

    def run_program(self, *arguments, status=0, **more):
        """Runs the program and checks its exit status; `arguments` may be anything that has a text."""
        more.setdefault("env", ENVIRONMENT)
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, cwd=self.folder, timeout=300, **more)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done

    def result(self, *arguments, **more):
        """The JSON object of a command, whose sums are checked."""
        result = json.loads(self.run_program(*arguments, "--json", **more).stdout)
        self.assertEqual(
            result["points_read"],
            result["points_written"] + result["points_rejected"] + result["points_nonfinite"] + result["points_merged"],
            result)
        return result

    def refused(self, *arguments, status=2, says="", **more):
        """Runs the program, which must fail, say so in one form, and leave the folder as it was."""
        before = {name: (self.folder / name).read_bytes() for name in self.names()}
        done = self.run_program(*arguments, status=status, **more)
        message = done.stderr.decode()
        self.assertTrue(message.startswith("sluice: "), message)
        self.assertIn(says, message)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.names()}, before)
        return message

    def scene(self, kind="airborne", points=20000, seed=1, name="scene.las", *more):
        self.run_program("synth", kind, "--points", points, "--seed", seed, "-o", name, *more)
        return self.path(name)


class Las:
    """A LAS file, read by the offsets of the specification."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        self.version = (data[24], data[25])
        self.header_size, self.offset_to_points, self.vlr_count = struct.unpack_from("<HII", data, 94)
        self.point_format = data[104] & 0x3f
        (self.record_length,) = struct.unpack_from("<H", data, 105)
        (self.count,) = struct.unpack_from("<I", data, 107)
        if self.version >= (1, 4) and self.count == 0:
            (self.count,) = struct.unpack_from("<Q", data, 247)
        self.scale = struct.unpack_from("<3d", data, 131)
        self.offset = struct.unpack_from("<3d", data, 155)
        end = self.offset_to_points + self.count * self.record_length
        self.head = data[:self.offset_to_points]
        self.tail = data[end:]
        self.bytes = data[self.offset_to_points:end]
        if np is not None:
            self.records = np.frombuffer(self.bytes, dtype=np.uint8).reshape(self.count, self.record_length)

    def column(self, offset, kind):
        size = np.dtype(kind).itemsize
        return np.ascontiguousarray(self.records[:, offset:offset + size]).view(kind)[:, 0]

    @property
    def raw(self):
        return np.ascontiguousarray(self.records[:, :12]).view("<i4")

    @property
    def world(self):
        """Rounded twice, as `double(X) * scale + offset` is."""
        return self.raw.astype(np.float64) * np.array(self.scale) + np.array(self.offset)

    @property
    def intensity(self):
        return self.column(12, "<u2")

    @property
    def classification(self):
        return self.records[:, 15] & 31 if self.point_format < 6 else self.records[:, 16]

    @property
    def return_number(self):
        return self.records[:, 14] & (7 if self.point_format < 6 else 15)

    @property
    def returns(self):
        return (self.records[:, 14] >> 3) & 7 if self.point_format < 6 else self.records[:, 14] >> 4


def write_las(path, raw, scale=(0.01, 0.01, 0.01), offset=(0.0, 0.0, 0.0), classification=None):
    """A LAS 1.2 file of point format 0 with these lattice numbers."""
    raw = [tuple(map(int, row)) for row in raw]
    header = bytearray(227)
    header[0:4] = b"LASF"
    header[24:26] = bytes((1, 2))
    struct.pack_into("<HHHII", header, 90, 1, 2020, 227, 227, 0)
    struct.pack_into("<BHI", header, 104, 0, 20, len(raw))
    struct.pack_into("<I", header, 111, len(raw))
    struct.pack_into("<6d", header, 131, *scale, *offset)
    bounds = []
    for axis in range(3):
        values = [row[axis] * scale[axis] + offset[axis] for row in raw] or [0.0]
        bounds += [max(values), min(values)]
    struct.pack_into("<6d", header, 179, *bounds)
    with open(path, "wb") as file:
        file.write(header)
        for i, row in enumerate(raw):
            file.write(struct.pack("<iiiHBBbBH", *row, i % 65536, 0b001001,
                                   0 if classification is None else classification[i], 0, 0, 0))


def main():
    """Runs the tests of the calling script; 77 where all of them skipped."""
    program = unittest.main(exit=False, verbosity=1)
    if not program.result.wasSuccessful():
        sys.exit(1)
    for test, reason in program.result.skipped:
        print(f"skipped: {test}: {reason}")
    sys.exit(77 if program.result.testsRun == len(program.result.skipped) else 0)
