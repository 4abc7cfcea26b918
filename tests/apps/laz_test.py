#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LAZ files against LAS files with the same points, and damaged ones."""

import json
import lzma
import struct
import unittest

import cli
from cli import CliTest

DATA = cli.test_data()


def vectors():
    """Pairs of names: a LAZ file and the LAS file with its points."""
    for line in (DATA / "laz-vectors" / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" `") for cell in line.split("|")]
        if len(cells) > 12 and len(cells[-2]) == 64:
            yield cells[1], cells[2]


@unittest.skipIf(DATA is None or not (DATA / "laz-vectors").is_dir(), "no real files: set SLUICE_TEST_DATA")
class Laz(CliTest):
    def pairs(self):
        found = 0
        for name, twin in vectors():
            content = (DATA / "laz-vectors" / twin).read_bytes()
            (self.folder / "twin.las").write_bytes(lzma.decompress(content) if twin.endswith(".xz") else content)
            found += 1
            with self.subTest(file=name):
                yield str(DATA / "laz-vectors" / f"{name}.laz"), self.path("twin.las")
        self.assertGreaterEqual(found, 50)

    def output(self, command, *arguments):
        self.run_program(command, *arguments, "-o", "out.las", "--overwrite")
        return (self.folder / "out.las").read_bytes()

    def test_every_command_gives_what_it_gives_for_las(self):
        commands = (("filter",), ("filter", "--every", "3"), ("filter", "--where", "return_number == 1"),
                    ("thin", "--cell", "3000"), ("bin", "--cell", "3000", "--order", "hilbert"),
                    ("convert", "--scale", "10"))
        for number, (laz, las) in enumerate(self.pairs()):
            for command in cli.in_turn(number, commands):
                expected = self.output(command[0], las, *command[1:])
                for threads in (1, 2):
                    self.assertEqual(self.output(command[0], laz, *command[1:], "--threads", threads), expected, command)

    def test_little_memory(self):
        commands = (("filter",), ("convert", "--scale", "10"), ("thin", "--cell", "3000"))
        for number, (laz, las) in enumerate(self.pairs()):
            for command in cli.in_turn(number, commands):
                expected = self.output(command[0], las, *command[1:])
                self.assertEqual(self.output(command[0], laz, *command[1:], "--memory", "12M"), expected, command)

    def test_info(self):
        for laz, las in self.pairs():
            one, other = (json.loads(self.run_program("info", path, "--json", "--stats").stdout) for path in (laz, las))
            self.assertEqual((one["format"], other["format"]), ("laz", "las"))
            self.assertEqual((one["compressed"], other["compressed"]), (True, False))
            for key in ("points", "bounds", "fields", "statistics", "point_bounds", "scale", "offset", "point_format"):
                self.assertEqual(one[key], other[key], key)
            self.assertEqual([v for v in one["vlrs"] if v["user_id"] != "laszip encoded"], other["vlrs"])

    def test_every_command_writes_what_it_writes_as_las(self):
        commands = (("filter",), ("filter", "--where", "return_number == 1"), ("thin", "--cell", "3000"),
                    ("thin", "--cell", "3000", "--keep", "centroid"), ("bin", "--cell", "3000"), ("convert",))
        for number, (laz, las) in enumerate(self.pairs()):
            # Other readers and the writer's own tests see all of them.
            if number % 4 != 0:
                continue
            for command in cli.in_turn(number // 4, commands):
                expected = self.output(command[0], las, *command[1:])
                made = []
                for source, threads in ((las, 1), (las, 2), (laz, 1), (laz, 2)):
                    # One size, so that the chunks do not depend on those of the input.
                    self.run_program(command[0], source, *command[1:], "--threads", threads, "--chunk-size", "1000",
                                     "-o", "out.laz", "--overwrite")
                    made.append((self.folder / "out.laz").read_bytes())
                self.assertEqual(made[0], made[1])
                self.assertEqual(made[2], made[3])
                for compressed in (made[0], made[2]):
                    (self.folder / "made.laz").write_bytes(compressed)
                    self.assertEqual(self.output("convert", "made.laz"), expected, command)

    def test_standard_output_is_compressed_where_the_input_is(self):
        name = str(DATA / "laz-vectors" / "pf03-small.laz")
        self.run_program("filter", name, "-o", "out.laz")
        self.assertEqual(self.run_program("filter", name, "-o", "-").stdout, (self.folder / "out.laz").read_bytes())
        self.run_program("filter", name, "-o", "out.las")
        self.assertEqual(self.run_program("filter", "out.las", "-o", "-").stdout,
                         (self.folder / "out.las").read_bytes())

    def test_standard_input_and_several_inputs(self):
        folder = DATA / "laz-vectors"
        laz = folder / "pf03-small.laz"
        expected = self.output("filter", folder / "pf03-small.las")
        self.assertEqual(self.piped(laz), expected)
        both = [folder / "pf03-small.las", folder / "pf03-small.las"]
        expected = self.output("filter", *both)
        self.assertEqual(self.output("filter", laz, both[1]), expected)
        self.assertEqual(self.output("filter", both[0], laz), expected)
        self.assertEqual(self.output("thin", laz, laz, "--cell", "0.001"), self.output("thin", *both, "--cell", "0.001"))

    def piped(self, path):
        self.run_program("filter", "-", "-o", "out.las", "--overwrite", input=path.read_bytes())
        return (self.folder / "out.las").read_bytes()

    def test_damage(self):
        whole = (DATA / "laz-vectors" / "pf03-eb4-6k-c3000.laz").read_bytes()
        expected = self.output("filter", DATA / "laz-vectors" / "pf03-eb4-6k-c3000.laz")
        (offset,) = struct.unpack_from("<I", whole, 96)
        # The table's position is lost: nothing is missing.
        (self.folder / "table.laz").write_bytes(whole[:offset] + bytes(8) + whole[offset + 8:])
        for more in ((), ("--recover",)):
            done = self.run_program("filter", "table.laz", "-o", "out.las", "--overwrite", *more)
            self.assertIn(b"the chunks are found without the table", done.stderr)
            self.assertEqual((self.folder / "out.las").read_bytes(), expected)
        # The second chunk is cut.
        (self.folder / "cut.laz").write_bytes(whole[:offset + 3 * (len(whole) - offset) // 4])
        for command in (("filter",), ("thin", "--cell", "9000"), ("bin", "--cell", "9000"), ("convert",)):
            message = self.refused(command[0], "cut.laz", "-o", "new.las", *command[1:], status=1, says="chunk 1")
            self.assertIn("of 6000 points can be read", message)
        self.assertEqual(self.run_program("info", "cut.laz", status=1).stdout, b"")
        self.run_program("filter", "cut.laz", "-o", "out.las", "--overwrite", "--recover", status=4)
        cut = cli.Las(self.path("out.las"))
        self.assertGreater(cut.count, 3000)
        self.assertLess(cut.count, 6000)
        (self.folder / "whole.las").write_bytes(expected)
        self.assertEqual(cut.bytes, cli.Las(self.path("whole.las")).bytes[:len(cut.bytes)])

    def test_a_header_that_counts_fewer_points(self):
        """What only decoding shows is said all the same, by jobs and by info --stats."""
        whole = bytearray((DATA / "laz-vectors" / "pf01-60k.laz").read_bytes())
        struct.pack_into("<I", whole, 107, 59000)
        (self.folder / "fewer.laz").write_bytes(whole)
        said = "more points are stored than the header counts (59000)"
        for command in ("filter", "convert"):
            done = self.run_program(command, "fewer.laz", "-o", "out.las", "--overwrite")
            self.assertIn(said, done.stderr.decode())
            self.assertEqual(cli.Las(self.path("out.las")).count, 59000)
        facts = json.loads(self.run_program("info", "fewer.laz", "--json", "--stats").stdout)
        self.assertTrue(any(said in warning for warning in facts["warnings"]), facts["warnings"])

    def test_bad_files(self):
        bad = DATA / "bad" / "autzen_trim_truncated.laz"
        self.refused("filter", bad, "-o", "out.las", status=1, says="chunk 0: it is cut short behind 32567 points")
        self.run_program("filter", bad, "-o", "out.las", "--recover", status=4)
        cut = cli.Las(self.path("out.las"))
        self.assertEqual(cut.count, 32567)
        self.run_program("filter", DATA / "laz" / "autzen_trim.laz", "-o", "all.las")
        self.assertEqual(cut.bytes, cli.Las(self.path("all.las")).bytes[:len(cut.bytes)])
        self.refused("filter", DATA / "bad" / "broken_version.laz", "-o", "new.las", status=1, says="version 6")


if __name__ == "__main__":
    cli.main()
