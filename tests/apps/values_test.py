#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `info` says and what `convert` writes, against the stored bytes."""

import fractions
import json
import math

import cli
from cli import CliTest, Las, np


@cli.needs_numpy
class Info(CliTest):
    def info(self, *arguments, **more):
        return json.loads(self.run_program("info", "--json", *arguments, **more).stdout)

    def test_header_and_fields(self):
        self.scene("spinning", 3000)
        info = self.info("scene.las")
        las = Las(self.path("scene.las"))
        self.assertEqual((info["format"], info["version"], info["point_format"], info["points"]), ("las", "1.4", 6, 3000))
        self.assertEqual(info["point_record_length"], las.record_length)
        self.assertEqual((tuple(info["scale"]), tuple(info["offset"])), (las.scale, las.offset))
        self.assertEqual(info["bounds"], {"min": las.world.min(axis=0).tolist(), "max": las.world.max(axis=0).tolist()})
        self.assertEqual([(v["user_id"], v["record_id"], v["bytes"]) for v in info["vlrs"]], [("LASF_Spec", 4, 192)])
        self.assertEqual((info["evlrs"], info["crs_wkt"], info["compressed"]), ([], "", False))
        fields = {field["name"]: field for field in info["fields"]}
        self.assertEqual((fields["intensity"]["type"], fields["intensity"]["offset"]), ("uint16", 12))
        self.assertEqual((fields["ring"]["type"], fields["ring"]["offset"]), ("uint8", 30))
        self.assertEqual((fields["number_of_returns"]["bit_shift"], fields["number_of_returns"]["bit_count"]), (4, 4))
        self.assertNotIn("statistics", info)
        for key in ("gps_time_type", "warnings"):
            self.assertIn(key, info)
        text = self.run_program("info", "scene.las").stdout.decode()
        for part in ("scene.las", "point format 6", "3000", "ring", "LASF_Spec/4"):
            self.assertIn(part, text)

    def test_statistics(self):
        self.scene("airborne", 150000)
        las = Las(self.path("scene.las"))
        texts = {self.run_program("info", "--json", "--stats", "scene.las", "--threads", n).stdout for n in (1, 2, 8)}
        self.assertEqual(len(texts), 1)
        info = json.loads(texts.pop())
        world = las.world
        self.assertEqual(info["point_bounds"], {"min": world.min(axis=0).tolist(), "max": world.max(axis=0).tolist()})
        statistics = info["statistics"]
        self.assertEqual(set(statistics), {field["name"] for field in info["fields"]})
        columns = {
            "intensity": las.intensity, "classification": las.classification, "return_number": las.return_number,
            "number_of_returns": las.returns, "point_source_id": las.column(20, "<u2"),
            "scan_direction_flag": las.records[:, 15] >> 6 & 1,
        }
        for name, values in columns.items():
            got = statistics[name]
            self.assertEqual((got["min"], got["max"]), (values.min(), values.max()), name)
            self.assertEqual(got["mean"], int(values.astype(object).sum()) / las.count, name)
            if values.dtype.itemsize == 1:
                unique, counts = np.unique(values, return_counts=True)
                self.assertEqual(got["counts"], {str(v): c for v, c in zip(unique.tolist(), counts.tolist())}, name)
            else:
                self.assertNotIn("counts", got)
        times = las.column(22, "<f8")
        self.assertEqual((statistics["gps_time"]["min"], statistics["gps_time"]["max"]), (times.min(), times.max()))
        exact_mean = sum(map(fractions.Fraction, times.tolist())) / las.count
        self.assertEqual(statistics["gps_time"]["mean"], float(exact_mean))
        for axis, name in enumerate("xyz"):
            self.assertEqual((statistics[name]["min"], statistics[name]["max"]),
                             (world[:, axis].min(), world[:, axis].max()))
            self.assertTrue(math.isclose(statistics[name]["mean"], math.fsum(world[:, axis]) / las.count, rel_tol=1e-14))

    def test_not_a_number_is_counted_and_left_out(self):
        self.scene("uniform", 10)
        las = Las(self.path("scene.las"))
        data = bytearray((self.folder / "scene.las").read_bytes())
        for row, value in ((2, math.nan), (5, math.inf)):
            at = las.offset_to_points + row * las.record_length + 22
            data[at:at + 8] = np.float64(value).tobytes()
        (self.folder / "odd.las").write_bytes(data)
        statistics = self.info("odd.las", "--stats")["statistics"]["gps_time"]
        kept = np.delete(las.column(22, "<f8"), (2, 5))
        self.assertEqual((statistics["nonfinite"], statistics["min"], statistics["max"]), (2, kept.min(), kept.max()))

    def test_several_files(self):
        self.scene("uniform", 10, 1, "a.las")
        self.scene("uniform", 20, 1, "b.las")
        self.assertEqual([entry["points"] for entry in self.info("a.las", "b.las")], [10, 20])
        self.assertIsInstance(self.info("a.las"), dict)
        done = self.run_program("info", "--json", "a.las", "missing.las", "b.las", status=1)
        self.assertEqual([entry["points"] for entry in json.loads(done.stdout)], [10, 20])
        self.assertIn(b"missing.las", done.stderr)


@cli.needs_numpy
class Convert(CliTest):
    def test_there_and_back_keeps_every_byte(self):
        # Formats that hold all that the scene has, so that nothing may change on the way.
        self.scene("uniform", 5000, 1, "scene.las", "--point-format", "7")
        self.run_program("convert", "scene.las", "-o", "8.las", "--point-format", "8")
        self.assertEqual(Las(self.path("8.las")).point_format, 8)
        self.run_program("convert", "8.las", "-o", "back.las", "--point-format", "7")
        self.assertEqual(Las(self.path("back.las")).bytes, Las(self.path("scene.las")).bytes)

    def test_every_pair_of_formats(self):
        for source in range(11):
            self.scene("uniform", 200, 2, f"{source}.las", "--point-format", source)
            before = Las(self.path(f"{source}.las"))
            for target in range(11):
                name = f"{source}-{target}.las"
                result = self.result("convert", f"{source}.las", "-o", name, "--point-format", target)
                self.assertEqual(result["points_written"], 200)
                after = Las(self.path(name))
                self.assertEqual(after.point_format, target)
                self.assertTrue((after.raw == before.raw).all())
                self.assertTrue((after.intensity == before.intensity).all())
                self.assertTrue((after.classification == before.classification).all())
                self.assertTrue((after.returns == before.returns).all())

    def test_scale_and_offset_are_divided_exactly(self):
        self.scene("airborne", 3000)
        before = Las(self.path("scene.las"))
        result = self.result("convert", "scene.las", "-o", "out.las", "--scale", "0.01,0.02,0.005", "--offset",
                             "500000.5,4100000,-3.25")
        self.assertTrue(result["warnings"], "coordinates were rounded")
        after = Las(self.path("out.las"))
        self.assertEqual((after.scale, after.offset), ((0.01, 0.02, 0.005), (500000.5, 4100000.0, -3.25)))
        exact = lambda value: fractions.Fraction(repr(float(value)))
        for axis in range(3):
            expected = [round((int(x) * exact(before.scale[axis]) + exact(before.offset[axis]) -
                               exact(after.offset[axis])) / exact(after.scale[axis])) for x in before.raw[:, axis]]
            self.assertEqual(after.raw[:, axis].tolist(), expected)

    def test_threads_do_not_matter(self):
        self.scene("airborne", 200000)
        contents = set()
        for threads in (1, 2, 8):
            self.run_program("convert", "scene.las", "-o", "out.las", "--overwrite", "--point-format", "3", "--threads",
                             threads)
            contents.add((self.folder / "out.las").read_bytes())
        self.run_program("convert", "scene.las", "-o", "out.las", "--overwrite", "--point-format", "3", "--memory", "2M")
        contents.add((self.folder / "out.las").read_bytes())
        self.assertEqual(len(contents), 1)

    def test_what_does_not_fit_is_refused(self):
        self.scene("airborne", 1000)
        self.refused("convert", "scene.las", "-o", "out.las", "--scale", "1e-9", status=1)
        self.refused("convert", "scene.las", "-o", "out.las", "--point-format", "0", "--strict", status=1)
        self.refused("convert", "scene.las", "-o", "out.las", "--point-format", "6", "--las-version", "1.2")


if __name__ == "__main__":
    cli.main()
