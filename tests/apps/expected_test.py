#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real LAS and LAZ files against values that other programs computed (expected.json beside the files)."""

import csv
import hashlib
import json
import unittest

import cli
from cli import CliTest, Las, np

DATA = cli.test_data()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def xyz_hash(las):
    return sha256(las.raw.astype("<i4").tobytes())


def attribute_hash(las):
    packed = np.zeros(las.count, dtype=[("x", "<i4", 3), ("i", "<u2"), ("c", "u1"), ("r", "u1"), ("n", "u1")])
    packed["x"], packed["i"], packed["c"] = las.raw, las.intensity, las.classification
    packed["r"], packed["n"] = las.return_number, las.returns
    return sha256(packed.tobytes())


@unittest.skipIf(DATA is None or not (DATA / "expected.json").is_file(), "no real files: set SLUICE_TEST_DATA")
@cli.needs_numpy
class Expected(CliTest):
    jobs_done = 0

    def files(self):
        files = list(cli.expected_files("las/", "laz/", "copc/"))
        self.assertTrue(files)
        return files

    def kept(self, *arguments):
        """The output of a job, which has to be the same on every backend."""
        outputs = {}
        self.jobs_done += 1
        for backend in cli.in_turn(self.jobs_done, cli.backends()):
            self.result(*arguments, "-o", "out.las", "--overwrite", "--backend", backend)
            outputs[backend] = (self.folder / "out.las").read_bytes()
        self.assertEqual(len(set(outputs.values())), 1, outputs.keys())
        return Las(self.path("out.las"))

    def check(self, las, expected):
        self.assertEqual(las.count, expected["count"])
        self.assertEqual(xyz_hash(las), expected["xyz_sha256"])
        if "attr_sha256" in expected:
            self.assertEqual(attribute_hash(las), expected["attr_sha256"])

    def test_all_points(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                las = self.kept("filter", path)
                self.assertEqual(las.count, expected["point_count"])
                self.assertEqual(xyz_hash(las), expected["xyz_sha256"])
                self.assertEqual(attribute_hash(las), expected["attr_sha256"])
                self.assertEqual(sha256(las.bytes), expected["records_sha256"])

    def test_regions(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                jobs = expected["jobs"]
                for name, job in jobs.items():
                    with self.subTest(job=name):
                        if name.startswith("box_"):
                            low, high = zip(*job["bounds"])
                            self.check(self.kept("filter", path, "--box", ",".join(map(repr, (*low, *high)))), job)
                        elif name in ("circle", "cylinder"):
                            numbers = [*job["center"], job["radius"], *job.get("z", ())]
                            self.check(self.kept("filter", path, "--cylinder", ",".join(map(repr, numbers))), job)
                        elif name == "polygon_hole":
                            self.check(self.kept("filter", path, "--polygon", job["wkt"]), job)

    def test_conditions(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                for name, job in expected["jobs"].items():
                    with self.subTest(job=name):
                        if name == "class_eq_mode":
                            self.check(self.kept("filter", path, "--where", f"classification == {job['keep_class']}"), job)
                        elif name == "class_drop_7_18":
                            self.check(self.kept("filter", path, "--where", "classification in (7,18)", "--invert"), job)
                        elif name == "return_first":
                            self.check(self.kept("filter", path, "--where", "return_number == 1"), job)
                        elif name == "return_last":
                            self.check(self.kept("filter", path, "--where", "return_number == number_of_returns"), job)
                        elif name == "return_single":
                            self.check(self.kept("filter", path, "--where", "number_of_returns == 1"), job)
                        elif name == "intensity_ge":
                            self.check(self.kept("filter", path, "--where", f"intensity >= {job['threshold']}"), job)

    def test_voxels(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                for job in expected["jobs"].get("voxel", ()):
                    with self.subTest(leaf=job["leaf"]):
                        grid = ("--cell", repr(job["leaf"]), "--origin", "min")
                        first = self.kept("thin", path, *grid)
                        self.assertEqual(first.count, job["occupied"])
                        self.assertEqual(xyz_hash(first), job["first_sha256"])
                        # The table: cells, counts, and sums over the points that the binned file has there.
                        binned = self.kept("bin", path, *grid, "--cells", "table.csv")
                        with open(self.path("table.csv"), newline="") as file:
                            rows = [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]
                        self.assertEqual(len(rows), job["occupied"])
                        raw = binned.raw.astype(np.int64)
                        table = np.zeros(len(rows), dtype=[("cell", "<i4", 3), ("count", "<u4"), ("sum", "<i8", 3)])
                        for i, (ix, iy, iz, start, count) in enumerate(sorted(rows)):
                            table[i] = (ix, iy, iz), count, raw[start:start + count].sum(axis=0)
                        self.assertEqual(sha256(table.tobytes()), job["table_sha256"])

    def test_grid_sort(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                job = expected["jobs"].get("grid_sort")
                if job is None:
                    continue
                result = self.result("bin", path, "-o", "sorted.las", "--cells", "t.csv", "--overwrite", "--cell",
                                     repr(job["cell"]), "--dims", "xy", "--origin", "min")
                self.assertEqual(result["cells"], job["occupied"])
                out = self.kept("bin", path, "--cell", repr(job["cell"]), "--dims", "xy", "--origin", "min")
                self.assertEqual(xyz_hash(out), job["xyz_sha256"])
                counts = np.zeros((job["ny"], job["nx"]), "<u4")
                with open(self.path("t.csv"), newline="") as file:
                    for ix, iy, _, _, count in (map(int, row) for row in list(csv.reader(file))[1:]):
                        counts[iy, ix] = count
                self.assertEqual(sha256(counts.tobytes()), job["hist_sha256"])

    def test_info(self):
        for path, expected in self.files():
            with self.subTest(file=path):
                info = json.loads(self.run_program("info", path, "--json", "--stats").stdout)
                self.assertEqual(info["points"], expected["point_count"])
                self.assertEqual(info["version"], expected["version"])
                self.assertEqual(info["point_format"], expected["point_format"])
                self.assertEqual(info["point_record_length"], expected["record_length"])
                self.assertEqual(info["scale"], expected["scale"])
                self.assertEqual(info["offset"], expected["offset"])
                self.assertEqual(info["bounds"]["min"], expected["header_min"])
                self.assertEqual(info["bounds"]["max"], expected["header_max"])
                self.assertEqual([[v["user_id"], v["record_id"], v["bytes"]] for v in info["vlrs"]], expected["vlrs"])
                bounds = list(zip(info["point_bounds"]["min"], info["point_bounds"]["max"]))
                self.assertEqual(bounds, [tuple(pair) for pair in expected["bounds"]])
                self.assertEqual(info["statistics"]["classification"]["counts"], expected["jobs"]["class_histogram"])
                self.assertEqual(info["statistics"]["return_number"]["counts"], expected["jobs"]["return_histogram"])
                mean = info["statistics"]["intensity"]["mean"]
                self.assertEqual(mean, expected["intensity_sum"] / expected["point_count"])

    def test_broken_files_are_refused(self):
        for name in ("1.2-no-points.las", "huge_point_count.las"):
            for command in (("filter",), ("thin", "--cell", "1"), ("bin", "--cell", "1"), ("convert",)):
                self.refused(command[0], DATA / "bad" / name, "-o", "out.las", *command[1:], status=1, says=name)
        self.assertEqual(self.kept("filter", DATA / "bad" / "no-points.las").count, 0)

    def test_laspy_reads_what_was_written(self):
        try:
            import laspy
        except ImportError:
            self.skipTest("laspy is not installed")
        compressed = any(backend.is_available() for backend in laspy.LazBackend)
        for path, _ in self.files():
            if path.endswith(".laz") and not compressed:
                continue
            with self.subTest(file=path):
                self.run_program("filter", path, "-o", "out.las", "--overwrite")
                ours = laspy.read(self.path("out.las"))
                theirs = laspy.read(path)
                records = [(v.user_id, v.record_id) for v in theirs.vlrs if v.user_id not in ("laszip encoded", "copc")]
                self.assertEqual(ours.points.array.tobytes(), theirs.points.array.tobytes())
                self.assertEqual([(v.user_id, v.record_id) for v in ours.vlrs], records)
                self.assertEqual(ours.header.point_count, theirs.header.point_count)
                # Not a number compares false, which would hide a difference.
                if len(theirs):
                    np.testing.assert_array_equal(ours.header.maxs, np.array(theirs.xyz).max(axis=0))


if __name__ == "__main__":
    cli.main()
