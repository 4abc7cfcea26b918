#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""COPC files against the same files with nothing that tells where their points are."""

import itertools
import json
import lzma
import struct
import unittest

import cli
from cli import CliTest

DATA = cli.test_data()
INFO = 375  # of the VLR about the octree


@unittest.skipIf(DATA is None or not (DATA / "copc").is_dir(), "no real files: set SLUICE_TEST_DATA")
class Copc(CliTest):
    def setUp(self):
        super().setUp()
        self.files = [DATA / "copc" / "ellipsoid.copc.laz", DATA / "laz-vectors" / "copc-pf07-3k.laz"]

    def each(self):
        """A COPC file and a copy of it that is none, with the middle and half the size of its cube."""
        for path in self.files:
            data = bytearray(path.read_bytes())
            self.assertEqual(data[INFO + 2:INFO + 6], b"copc")
            cube = struct.unpack_from("<4d", data, INFO + 54)
            data[INFO + 2:INFO + 6] = b"none"
            (self.folder / "plain.laz").write_bytes(data)
            with self.subTest(file=path.name):
                yield path, self.path("plain.laz"), cube

    def output(self, command, path, *arguments):
        """Records and counts of a job."""
        result = self.result(command, path, *arguments, "-o", "out.las", "--overwrite")
        return cli.Las(self.path("out.las")).bytes, {
            key: value for key, value in result.items() if key.startswith("points_") or key in ("cells", "origin")}

    def test_regions_and_commands(self):
        number = itertools.count()
        for copc, plain, (x, y, z, half) in self.each():
            part = half / 5
            regions = [
                ("--box", f"{x - half},{y - half},{x - part},{y - part}"),
                ("--box", f"{x},{y},{z - half},{x + part},{y + part},{z + half}"),
                ("--sphere", f"{x - part},{y + part},{z},{part}"),
                ("--cylinder", f"{x + part},{y},{part}"),
                ("--polygon", f"POLYGON (({x - half} {y},{x} {y - part},{x + part} {y},{x - half} {y}))"),
                ("--box", f"{x + 2 * half},{y},{x + 3 * half},{y + 1}"),
            ]
            cell = ("--cell", str(part / 9))
            commands = (("filter",), ("filter", "--every", "3"), ("filter", "--fraction", "0.5"), ("filter", "--invert"),
                        ("filter", "--drop-zero"), ("thin", *cell), ("thin", *cell, "--keep", "random"),
                        ("thin", *cell, "--keep", "centroid"), ("thin", *cell, "--fraction", "0.5"),
                        ("bin", *cell, "--order", "hilbert"), ("bin", *cell, "--origin", "min"))
            kept = 0
            for option, value in regions:
                region = (f"{option}={value}",)
                for command in cli.in_turn(next(number), commands):
                    name, *more = command
                    expected = self.output(name, plain, *region, *more)
                    self.assertEqual(self.output(name, copc, *region, *more), expected, (command, region))
                    kept += len(expected[0])
            self.assertGreater(kept, 0)

    def test_rejected_points_are_all_there(self):
        for copc, plain, (x, y, _, half) in self.each():
            rejected = []
            for path in (plain, copc):
                self.run_program("filter", path, f"--box={x},{y},{x + half},{y + half}", "-o", "out.las", "--rejected",
                                 "rest.las", "--overwrite")
                rejected.append(cli.Las(self.path("rest.las")).bytes)
            self.assertEqual(*rejected)
            self.assertGreater(len(rejected[0]), 0)

    def test_several_inputs(self):
        for copc, plain, (x, y, _, half) in self.each():
            options = (f"--box={x - half},{y - half},{x},{y}", "--fraction", "0.3", "--seed", "4")
            expected = self.output("filter", plain, plain, *options)
            for one, other in ((copc, copc), (plain, copc), (copc, plain)):
                self.assertEqual(self.output("filter", one, other, *options), expected)

    def test_the_decompressed_file(self):
        content = lzma.decompress((DATA / "laz-vectors" / "copc-pf07-3k.las.xz").read_bytes())
        (self.folder / "twin.las").write_bytes(content)
        box = "--box=20,30,90,150"
        expected = self.output("filter", "twin.las", box)
        self.assertGreater(len(expected[0]), 0)
        self.assertEqual(self.output("filter", self.files[1], box), expected)

    def test_a_dry_run_needs_no_more_memory_than_a_run(self):
        nowhere = "--box=0,0,1,1"
        command = ("thin", self.files[0], nowhere, "--cell", "5", "--memory", "5500K", "-o", "out.las")
        self.run_program(*command, "--dry-run")
        self.run_program(*command)
        everywhere = ("thin", self.files[0], "--cell", "5", "--memory", "5500K", "-o", "new.las")
        for more in ((), ("--dry-run",)):
            self.refused(*everywhere, *more, status=1, says="holds all 100000 points")

    def test_info(self):
        facts = json.loads(self.run_program("info", self.files[0], "--json").stdout)
        self.assertEqual(facts["format"], "laz")
        self.assertEqual(facts["copc"], {
            "center": [-8242596.0, 4966656.0, 100.0],
            "halfsize": 150.0,
            "spacing": 2.34375,
            "root_hierarchy": {"offset": 630580, "bytes": 160},
            "nodes": 5,
            "levels": 2,
            "gps_time": {"min": 42.0, "max": 42.0},
        })
        text = self.run_program("info", self.files[0]).stdout.decode()
        self.assertIn("5 nodes in 2 levels, spacing 2.34375 at the root", text)
        self.assertIn("centre -8242596, 4966656, 100, half size 150", text)
        for _, plain, _ in self.each():
            self.assertNotIn("copc", json.loads(self.run_program("info", plain, "--json").stdout))

    def test_a_damaged_octree(self):
        data = bytearray(self.files[0].read_bytes())
        struct.pack_into("<i", data, 630580 + 32 + 28, 12122)  # points of the second node
        (self.folder / "damaged.laz").write_bytes(data)
        done = self.run_program("info", "damaged.laz", "--json")
        self.assertNotIn("copc", json.loads(done.stdout))
        box = "--box=-8242746,4966506,-8242700,4966560"
        done = self.run_program("filter", "damaged.laz", box, "-o", "out.las")
        self.assertIn(b"the file is read as plain LAZ", done.stderr)
        damaged = cli.Las(self.path("out.las")).bytes
        self.assertEqual(damaged, self.output("filter", self.files[0], box)[0])

    def test_a_damaged_cube(self):
        for copc, _, cube in self.each():
            x, y, z, half = cube
            boxes = [f"--box={x - 0.96 * half},{y - 0.97 * half},{x - 0.2 * half},{y - 0.3 * half}",
                     f"--box={x + 0.1 * half},{y + 0.1 * half},{x + 0.9 * half},{y + 0.3 * half}"]
            expected = [self.output("filter", copc, box)[0] for box in boxes]
            self.assertGreater(min(map(len, expected)), 1000)
            # Twice the size may be as good: where no node lies deeper than its middle, each holds what it held.
            cubes = [((x, y, z, 2 * half), False), ((x, y, z, 0.0), True), ((x, y, z, half / 2), True)]
            for axis in range(3):
                for part in (-0.5, 0.1, 0.5):
                    moved = list(cube)
                    moved[axis] += part * half
                    cubes.append((moved, True))
            for damage, noticed in cubes:
                data = bytearray(copc.read_bytes())
                struct.pack_into("<4d", data, INFO + 54, *damage)
                (self.folder / "damaged.laz").write_bytes(data)
                with self.subTest(cube=damage):
                    for box, records in zip(boxes, expected):
                        done = self.run_program("filter", "damaged.laz", box, "-o", "out.las", "--overwrite")
                        self.assertEqual(cli.Las(self.path("out.las")).bytes, records)
                        if noticed:
                            self.assertIn(b"the file is read as plain LAZ", done.stderr)


if __name__ == "__main__":
    cli.main()
