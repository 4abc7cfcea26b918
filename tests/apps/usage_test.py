#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses, messages, results."""

import json
import os
import struct
import subprocess

import cli
from cli import CliTest


class Usage(CliTest):
    def test_version_and_help(self):
        self.assertRegex(self.run_program("--version").stdout.decode(), r"^sluice \d+\.\d+\.\d+\n$")
        self.assertIn("thin", self.run_program("--help").stdout.decode())
        for command in ("info", "filter", "thin", "bin", "convert", "synth", "devices"):
            self.assertIn("Usage", self.run_program(command, "--help").stdout.decode())

    def test_wrong_usage_is_2(self):
        self.scene(points=10)
        self.refused()
        commands = "info, filter, thin, bin, convert"
        self.refused(says=commands)
        self.refused("frobnicate", says="'frobnicate' is no command; there are " + commands)
        self.refused("", says="'' is no command")
        self.refused("--no-such-option", says=commands)
        self.refused("filter")
        self.refused("filter", "scene.las")
        self.refused("filter", "scene.las", "-o", "out.las", "--no-such-option")
        self.refused("filter", "scene.las", "-o", "out.las", "--box")
        base = ("scene.las", "-o", "out.las")
        for option, value, says in (
            ("--box", "5,0,4,1", "--box"),
            ("--box", "1,2,3", "3 numbers"),
            ("--box", "0,0,nan,1", "nan"),
            ("--sphere", "0,0,0,-1", "negative"),
            ("--cylinder", "0,0,-3", "negative"),
            ("--halfspace", "0,0,0,1", "normal"),
            ("--range", "5,4", "--range"),
            ("--sector", "0,10,20,10", "--sector"),
            ("--polygon", "POLYGON((0 0,1 1))", "column"),
            ("--where", "classification ==", "--where"),
            ("--where", "no_such_field == 1", "no_such_field"),
            ("--fraction", "2", "between 0 and 1"),
            ("--every", "0", "--every"),
            ("--threads", "0", "--threads"),
            ("--threads", "two", "--threads"),
            ("--memory", "many", "--memory"),
            ("--backend", "gpu", "--backend"),
            ("--progress", "sometimes", "--progress"),
            ("--seed", "-1", "--seed"),
            ("--chunk-size", "1000", "LAZ"),
        ):
            with self.subTest(option=option, value=value):
                self.refused("filter", *base, option, value, says=says)
        self.refused("filter", "scene.las", "-o", "out.xyz9", says=".las")
        self.refused("filter", "scene.las", "-o", "out.laz", "--chunk-size", "0", says="--chunk-size")
        self.refused("filter", "scene.las", "-o", "out.laz", "--chunk-size", "10000001", says="--chunk-size")
        self.refused("filter", "scene.las", "-o", "-", "--chunk-size", "10", says="--chunk-size 10")
        self.refused("filter", "scene.las", "-o", "out.copc.laz", says=".las")
        self.refused("filter", "-", "-", "-o", "out.las", says="once")
        self.refused("info", "-", "-", says="once")
        self.refused("filter", "scene.las", "-o", "-", "--json", says="standard output")
        self.refused("filter", "scene.las", "-o", "out.las", "--rejected", "-", "--json", says="standard output")
        self.refused("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "-", "--json", says="standard output")
        for arguments, says in (
            (("--cell", "0"), "larger than 0"),
            (("--cell", "-1"), "larger than 0"),
            (("--cell", "1,2"), "2 numbers"),
            (("--cell", "1", "--dims", "z"), "--dims"),
            (("--cell", "1", "--origin", "1,2"), "--origin"),
            (("--cell", "1", "--origin", "1,x,2"), "--origin"),
            (("--cell", "1", "--keep", "best"), "--keep"),
            (("--cell", "1", "--keep", "centroid", "--max-per-cell", "2"), "--max-per-cell"),
            (("--cell", "1", "--attribute", "intensity=mean"), "--attribute"),
            (("--cell", "1", "--keep", "centroid", "--attribute", "intensity"), "FIELD=RULE"),
            (("--cell", "1", "--keep", "centroid", "--attribute", "intensity=median"), "median"),
            (("--cell", "1", "--keep", "centroid", "--attribute", "no_such_field=mean"), "no_such_field"),
            ((), "--cell"),
        ):
            with self.subTest(arguments=arguments):
                self.refused("thin", *base, *arguments, says=says)
        self.refused("bin", *base, "--cell", "1", "--order", "zigzag", says="--order")
        self.refused("convert", *base, "--point-format", "11", says="--point-format")
        self.refused("convert", *base, "--las-version", "1.6", says="--las-version")
        self.refused("convert", *base, "--scale", "0", says="--scale")
        self.refused("synth", "lunar", "--points", "1", "-o", "out.las", says="lunar")
        self.refused("synth", "uniform", "--points", "-1", "-o", "out.las", says="--points")
        self.refused("synth", "uniform", "--points", "1", "--beams", "64", "-o", "out.las", says="--beams")

    def test_messages_name_the_option(self):
        self.scene(points=10)
        base = ("scene.las", "-o", "out.las")
        for option in ("--box", "--polygon", "--where", "--every", "--fraction", "--seed", "--backend", "--device",
                       "--threads", "--memory", "--progress", "--rejected"):
            for words in ((option, ""), (option + "=",)):
                with self.subTest(words=words):
                    self.refused("filter", *base, *words, says=option + ": the value is")
        for option in ("--cell", "--dims", "--origin", "--order", "--cells"):
            self.refused("bin", *base, option, "", says=option + ": the value is empty")
        for option in ("--keep", "--max-per-cell", "--attribute"):
            self.refused("thin", *base, "--cell", "1", option, "", says=option + ": the value is empty")
        for option in ("--point-format", "--las-version", "--scale", "--offset"):
            self.refused("convert", *base, option, "", says=option + ": the value is empty")
        self.refused("filter", "scene.las", "-o", "", says="--output: the value is empty")
        self.refused("filter", "", "-o", "out.las", says="the value is empty")
        self.refused("info", "", says="the value is empty")
        self.refused("convert", "", "-o", "out.las", says="the value is empty")
        self.refused("filter", *base, "--box", says="--box: the value is missing")
        self.refused("filter", *base, "-o", "two.las", says="--output: may be given once only")
        self.refused("filter", "-o", "out.las", says="filter: IN")
        self.refused("thin", *base, "--frobnicate", "--cell", "1", says="--frobnicate")

    def test_messages_are_short_lines(self):
        self.scene(points=10)
        base = ("scene.las", "-o", "out.las")
        long = "z > 1\n && " * 500
        for option, value in (("--where", long + "&& z"), ("--box", "1," * 3000), ("--memory", "m" * 5000),
                              ("--backend", "b\n" * 2000), ("--polygon", "p" * 200), ("--every", "1" * 4000)):
            with self.subTest(option=option):
                message = self.refused("filter", *base, option, value, status=1 if option == "--polygon" else 2, says=option)
                self.assertEqual(message.count("\n"), 1)
                self.assertLess(len(message), 250)
        self.assertIn("[here]", self.refused("filter", *base, "--where", long + "&& z"))
        self.assertEqual(self.refused("x\ny" * 100).count("\n"), 1)

    def test_unknown_fields_are_answered_with_those_there_are(self):
        self.scene(points=10)
        base = ("scene.las", "-o", "out.las")
        fields = [field["name"] for field in json.loads(self.run_program("info", "scene.las", "--json").stdout)["fields"]]
        known = ", ".join(fields)
        self.refused("filter", *base, "--where", "colour > 1", says="--where: there is no field 'colour'; fields are " + known)
        self.refused("thin", *base, "--cell", "1", "--keep", "centroid", "--attribute", "colour=mean",
                     says="--attribute: there is no field 'colour'; fields are " + known)

    def test_numbers_beyond_exact_arithmetic_are_named(self):
        self.scene(points=10)
        base = ("scene.las", "-o", "out.las")
        self.refused("bin", *base, "--cell", "1e-40", status=1, says="--cell 1e-40")
        self.refused("thin", *base, "--cell", "1", "--origin", "1e-50,0,0", status=1, says="--origin 1e-50,0,0")
        self.refused("bin", *base, "--cell", "1", "--origin", "1e999,0,0", says="--origin: '1e999'")
        self.refused("bin", *base, "--cell", "1", "--origin", "1" * 50 + ",0,0", says="--origin: '1111")
        self.refused("convert", *base, "--scale", "1e-40", status=1, says="--scale 1e-40")
        self.refused("convert", *base, "--las-version", "1.2", "--point-format", "6",
                     says="--point-format 6 --las-version 1.2")
        self.refused("filter", *base, "--memory", "1K", status=1, says="--memory")

    def test_a_condition_that_is_nested_too_deeply_is_named(self):
        self.scene(points=10)
        text = "z < 1"
        for _ in range(150):
            text = f"z < 1 || (z > 1 && ({text}))"
        self.refused("filter", "scene.las", "-o", "out.las", "--where", text, says="--where: ")

    def test_nothing_to_invert_is_wrong_usage(self):
        self.scene(points=10)
        self.refused("filter", "scene.las", "-o", "out.las", "--invert", says="--invert")
        self.refused("thin", "scene.las", "-o", "out.las", "--cell", "1", "--invert", "--every", "2", says="--invert")
        result = self.result("filter", "scene.las", "-o", "out.las", "--invert", "--where", "z > 1e9")
        self.assertEqual(result["points_written"], 10)

    def test_polygons_come_from_files_that_hold_one(self):
        self.scene(points=10)
        os.mkdir(self.path("area"))
        (self.folder / "empty.json").write_text('{"type":"FeatureCollection","features":[]}')
        (self.folder / "empty.wkt").write_text("")
        base = ("filter", "scene.las", "-o", "out.las", "--polygon")
        done = self.run_program(*base, "area", status=1)
        self.assertIn(b"--polygon: area: is a folder", done.stderr)
        for name in ("empty.json", "empty.wkt"):
            self.assertIn(f"--polygon: {name}: ".encode(), self.run_program(*base, name, status=1).stderr)
        self.assertNotIn("out.las", self.names())

    def test_a_date_beyond_the_header_is_refused(self):
        self.scene(points=10)
        environment = {**cli.ENVIRONMENT, "SOURCE_DATE_EPOCH": "99999999999999"}
        for more in ((), ("--dry-run",)):
            self.refused("filter", "scene.las", "-o", "out.las", *more, env=environment, says="SOURCE_DATE_EPOCH")

    def test_a_crs_in_geotiff_keys_alone_is_warned_of(self):
        raw = [(1, 2, 3), (4, 5, 6)]
        cli.write_las(self.path("plain.las"), raw)
        data = bytearray((self.folder / "plain.las").read_bytes())
        keys = struct.pack("<4H4H", 1, 1, 0, 1, 3072, 0, 1, 32632)
        vlr = struct.pack("<H16sHH32s", 0, b"LASF_Projection", 34735, len(keys), b"GeoTIFF keys") + keys
        struct.pack_into("<II", data, 96, 227 + len(vlr), 1)
        (self.folder / "keys.las").write_bytes(bytes(data[:227]) + vlr + bytes(data[227:]))
        for more in ((), ("--dry-run",)):
            done = self.run_program("convert", "keys.las", "-o", "out.las", "--point-format", "6", *more, "--overwrite")
            self.assertIn(b"warning: ", done.stderr)
            self.assertIn(b"GeoTIFF", done.stderr)
        self.assertEqual((self.folder / "out.las").read_bytes()[6] & 16, 0)
        done = self.run_program("convert", "keys.las", "-o", "three.las", "--point-format", "3")
        self.assertNotIn(b"GeoTIFF", done.stderr)

    def test_bad_input_is_1(self):
        self.scene(points=10)
        (self.folder / "text.las").write_text("this is no point cloud")
        (self.folder / "cut.las").write_bytes((self.folder / "scene.las").read_bytes()[:-7])
        self.refused("filter", "missing.las", "-o", "out.las", status=1, says="missing.las")
        self.refused("filter", "text.las", "-o", "out.las", status=1, says="text.las")
        self.refused("filter", "cut.las", "-o", "out.las", status=1, says="cut.las")
        self.refused("filter", "scene.las", "cut.las", "-o", "out.las", status=1, says="cut.las")
        self.refused("thin", "cut.las", "-o", "out.las", "--cell", "1", status=1)
        self.refused("filter", "scene.las", "-o", "missing/out.las", status=1, says="folder")
        self.refused("filter", "scene.las", "-o", "out.las", "--polygon", "missing.geojson", status=1, says="missing")
        self.refused("info", "missing.las", status=1, says="missing.las")
        self.refused("thin", "scene.las", "-o", "out.las", "--cell", "1", "--memory", "1", status=1, says="memory")

    def test_a_backend_that_is_absent_is_an_error(self):
        self.scene(points=10)
        usable = cli.backends()
        for name in ("cuda", "thrust"):
            if name in usable:
                continue
            for more in ((), ("--dry-run",)):
                self.refused("filter", "scene.las", "-o", "out.las", "--backend", name, *more, status=1, says=name)

    def test_messages_name_the_program_and_results_do_not(self):
        self.scene(points=10)
        done = self.run_program("filter", "scene.las", "-o", "out.las")
        self.assertIn(b"10 of 10 points", done.stdout)
        self.assertEqual(done.stderr, b"")
        quiet = self.run_program("filter", "scene.las", "-o", "out.las", "--quiet", "--overwrite")
        self.assertEqual((quiet.stdout, quiet.stderr), (b"", b""))

    def test_result_object(self):
        self.scene(points=20000)
        result = self.result("filter", "scene.las", "-o", "out.las", "--where", "classification == 2")
        self.assertEqual(list(result), [
            "points_read", "points_written", "points_rejected", "points_nonfinite", "points_merged", "backend",
            "backend_reason", "device", "threads", "seconds", "inputs", "outputs", "warnings"])
        self.assertEqual(list(result["seconds"]), ["total", "read", "compute", "write"])
        self.assertEqual((result["inputs"], result["outputs"]), (["scene.las"], ["out.las"]))
        self.assertEqual(result["points_read"], 20000)
        self.assertGreater(result["points_rejected"], 0)
        result = self.result("bin", "scene.las", "-o", "bin.las", "--cell", "3", "--origin", "0.1,-0.25,1e-3")
        self.assertEqual(list(result)[-3:], ["cells", "origin", "key_bits"])
        self.assertEqual(result["origin"], [0.1, -0.25, 0.001])
        self.assertGreater(result["key_bits"], 0)
        result = self.result("thin", "scene.las", "-o", "thin.las", "--cell", "3")
        self.assertEqual(list(result)[-2:], ["cells", "origin"])
        self.assertEqual(result["cells"], result["points_written"])
        self.assertEqual(self.result("convert", "scene.las", "-o", "c.las")["points_written"], 20000)
        self.assertEqual(self.result("synth", "uniform", "--points", 7, "-o", "u.las")["points_written"], 7)

    def test_an_origin_keeps_digits_that_a_double_lacks(self):
        self.scene(points=10)
        text = self.run_program("bin", "scene.las", "-o", "o.las", "--cell", "100", "--json", "--origin",
                                "0.1000000000000000000001,0,-12345678901.00001").stdout.decode()
        self.assertIn("[0.1000000000000000000001, 0, -12345678901.00001]", text)
        json.loads(text)

    def test_dry_run_writes_nothing_and_still_refuses(self):
        self.scene(points=1000)
        before = self.names()
        for arguments in (("filter", "scene.las", "-o", "out.las", "--rejected", "r.las"),
                          ("thin", "scene.las", "-o", "out.las", "--cell", "1"),
                          ("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "c.csv"),
                          ("convert", "scene.las", "-o", "out.las", "--point-format", "3"),
                          ("synth", "uniform", "--points", "9", "-o", "out.las")):
            done = self.run_program(*arguments, "--dry-run")
            self.assertIn(b"nothing was written", done.stdout)
            planned = json.loads(self.run_program(*arguments, "--dry-run", "--json").stdout)
            self.assertTrue(planned["dry_run"])
            self.assertEqual(planned["outputs"][0], "out.las")
        self.assertEqual(self.names(), before)
        self.refused("filter", "scene.las", "-o", "out.las", "--where", "no_field == 1", "--dry-run")
        self.refused("filter", "missing.las", "-o", "out.las", "--dry-run", status=1)
        self.refused("filter", "scene.las", "-o", "scene.las", "--dry-run")

    def test_a_dry_run_fails_where_the_run_would(self):
        self.scene(points=1000)
        os.mkdir(self.path("folder.las"))
        (self.folder / "old.las").write_bytes(b"old")
        self.scene(points=10, name="finer.las", seed=2)
        self.run_program("convert", "finer.las", "-o", "moved.las", "--offset", "499000,4099000,0")
        usable = cli.backends()
        absent = next((name for name in ("cuda", "thrust") if name not in usable), None)
        unknown = {**cli.ENVIRONMENT, "SLUICE_BACKEND": "abacus"}
        jobs = [("filter",), ("thin", "--cell", "1"), ("bin", "--cell", "1")]
        cases = [(job, ("scene.las", "-o", "out.las", "--memory", "1K"), {}) for job in (*jobs, ("convert",))]
        cases += [(job, ("scene.las", "-o", "out.las"), {"env": unknown}) for job in jobs]
        cases += [(job, ("scene.las", "moved.las", "-o", "out.las"), {}) for job in jobs]
        for output in ("missing/out.las", "folder.las", "old.las", "scene.las", "out.copc.laz", "scene.las/out.las"):
            cases += [(job, ("scene.las", "-o", output), {}) for job in (*jobs, ("convert",))]
        if absent is not None:
            named = {**cli.ENVIRONMENT, "SLUICE_BACKEND": absent}
            cases += [(job, ("scene.las", "-o", "out.las", "--backend", absent), {}) for job in jobs]
            cases += [(job, ("scene.las", "-o", "out.las"), {"env": named}) for job in jobs]
        cases += [
            (("filter",), ("scene.las", "-o", "out.las", "--rejected", "missing/r.las"), {}),
            (("filter",), ("scene.las", "-o", "out.las", "--where", "colour == 1"), {}),
            (("thin", "--cell", "1", "--keep", "centroid"), ("scene.las", "-o", "out.las", "--attribute", "colour=min"), {}),
            (("thin", "--cell", "1", "--keep", "centroid"), ("scene.las", "-o", "out.las", "--attribute", "z=min"), {}),
            (("bin", "--cell", "1e-40"), ("scene.las", "-o", "out.las"), {}),
            (("bin", "--cell", "1"), ("scene.las", "-o", "out.las", "--cells", "folder.las"), {}),
            (("bin", "--cell", "1"), ("scene.las", "-o", "out.las", "--cells", "missing/c.csv"), {}),
            (("convert", "--scale", "1e-40"), ("scene.las", "-o", "out.las"), {}),
            (("convert", "--point-format", "0", "--strict"), ("scene.las", "-o", "out.las"), {}),
        ]
        before = {name: os.stat(self.path(name)).st_mtime_ns for name in self.names()}
        for job, arguments, more in cases:
            with self.subTest(job=job, arguments=arguments, **more):
                real = subprocess.run([cli.PROGRAM, *job, *arguments], capture_output=True, cwd=self.folder,
                                      env=more.get("env", cli.ENVIRONMENT))
                self.assertIn(real.returncode, (1, 2), real.stdout)
                dry = self.run_program(*job, *arguments, "--dry-run", status=real.returncode, **more)
                self.assertEqual(dry.stderr, real.stderr)
                self.assertEqual(dry.stdout, b"")
        self.assertEqual({name: os.stat(self.path(name)).st_mtime_ns for name in self.names()}, before)

    def test_a_dry_run_reads_no_points(self):
        self.scene(points=1000)
        las = cli.Las(self.path("scene.las"))
        # A read of the points would notice that the class does not fit.
        data = bytearray((self.folder / "scene.las").read_bytes())
        data[las.offset_to_points + 16] = 200
        (self.folder / "high.las").write_bytes(data)
        self.run_program("convert", "high.las", "-o", "out.las", "--point-format", "0", "--dry-run")
        self.refused("convert", "high.las", "-o", "out.las", "--point-format", "0", status=1)

    def test_a_dry_run_keeps_standard_output_clean(self):
        self.scene(points=10)
        done = self.run_program("filter", "scene.las", "-o", "-", "--dry-run")
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"nothing was written", done.stderr)

    def test_progress_is_shown_on_demand(self):
        self.scene(points=1000)
        shown = self.run_program("filter", "scene.las", "-o", "a.las", "--progress", "always").stderr
        self.assertIn(b"100 %", shown)
        self.assertIn(b"points/s", shown)
        self.assertEqual(self.run_program("filter", "scene.las", "-o", "b.las").stderr, b"")
        self.assertEqual(self.run_program("filter", "scene.las", "-o", "c.las", "--progress", "never").stderr, b"")

    def test_backend_of_the_environment(self):
        self.scene(points=100)
        environment = {**cli.ENVIRONMENT, "SLUICE_BACKEND": "serial"}
        self.assertEqual(self.result("filter", "scene.las", "-o", "a.las", env=environment)["backend"], "serial")
        self.assertEqual(
            self.result("filter", "scene.las", "-o", "b.las", "--backend", "cpu", env=environment)["backend"], "cpu")
        environment["SLUICE_BACKEND"] = "abacus"
        done = self.run_program("filter", "scene.las", "-o", "c.las", status=2, env=environment)
        self.assertIn(b"abacus", done.stderr)
        self.assertNotIn("c.las", self.names())

    def test_the_locale_does_not_matter(self):
        self.scene(points=1000)
        outputs = []
        for i, locale in enumerate(("C", "de_DE.UTF-8")):
            environment = {**cli.ENVIRONMENT, "LC_ALL": locale, "LANG": locale}
            self.run_program("filter", "scene.las", "-o", f"{i}.las", "--box", "500000.5,4100000.5,500008.25,4100011",
                             env=environment)
            outputs.append((self.folder / f"{i}.las").read_bytes())
        self.assertEqual(*outputs)

    def test_devices(self):
        listing = json.loads(self.run_program("devices", "--json").stdout)
        self.assertEqual([entry["name"] for entry in listing["backends"]], ["serial", "cpu", "cuda", "thrust"])
        self.assertTrue(all(entry["usable"] for entry in listing["backends"][:2]))
        self.assertTrue(all(entry["usable"] or entry["reason"] for entry in listing["backends"]))
        self.assertIn(b"serial", self.run_program("devices").stdout)

    def test_a_result_that_nobody_takes(self):
        self.scene(points=10)
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([cli.PROGRAM, "info", "scene.las"], stdout=full, stderr=subprocess.PIPE,
                                  cwd=self.folder, env=cli.ENVIRONMENT)
            self.assertEqual(done.returncode, 1)
            done = subprocess.run([cli.PROGRAM, "info", "scene.las", "scene.las"], stdout=full, stderr=subprocess.PIPE,
                                  cwd=self.folder, env=cli.ENVIRONMENT)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))
            # The points are in place by then, and stay.
            done = subprocess.run([cli.PROGRAM, "filter", "scene.las", "-o", "out.las"], stdout=full,
                                  stderr=subprocess.PIPE, cwd=self.folder, env=cli.ENVIRONMENT)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"warning", done.stderr)
        self.assertIn("out.las", self.names())


if __name__ == "__main__":
    cli.main()
