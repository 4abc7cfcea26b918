#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenes that `synth` makes."""

import errno
import hashlib
import json
import os
import re
import resource
import subprocess

import cli
from cli import CliTest, Las, np

# The points of these scenes have the same bytes on every machine. A change of the generator changes them on purpose.
GOLDEN = {
    ("airborne", 50000, 1): "e8aec4773ec88ee3ec29f36918171fc86e629b1d7985c8f0f7e11160cd006dbf",
    ("spinning", 50000, 1): "006264bb4cd9a91668725cc80596fac2d4b633d1b309e5edaf4a20ad699ea8be",
    ("uniform", 50000, 1): "d1c0e9cbab8a067729f290884a4137442a494b6a2969a634cb1de7d95fe1eb1f",
}


def limit_files():
    """Of a child that leaves SIGXFSZ ignored, as Python does: writing more is an error, not a signal."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (128 << 20, 128 << 20))


def peak_memory(process):
    """Bytes that a process has held at most so far; 0 where it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as status:
            return max((1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:")), default=0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


class Scenes(CliTest):
    def test_the_same_options_give_the_same_bytes(self):
        for kind in ("airborne", "spinning", "uniform"):
            contents = set()
            for threads in (1, 2, 8):
                self.run_program("synth", kind, "--points", 150000, "--seed", 3, "-o", "s.las", "--overwrite", "--threads",
                                 threads)
                contents.add((self.folder / "s.las").read_bytes())
            contents.add(self.run_program("synth", kind, "--points", 150000, "--seed", 3, "-o", "-", "--quiet").stdout)
            self.assertEqual(len(contents), 1, kind)
            other = self.run_program("synth", kind, "--points", 150000, "--seed", 4, "-o", "-", "--quiet").stdout
            self.assertNotIn(other, contents)

    def test_golden_bytes(self):
        for (kind, points, seed), expected in GOLDEN.items():
            self.scene(kind, points, seed, f"{kind}.las")
            self.assertEqual(hashlib.sha256(Las(self.path(f"{kind}.las")).bytes).hexdigest(), expected, kind)

    def test_exactly_as_many_points_as_asked_for(self):
        for kind in ("airborne", "spinning", "uniform"):
            for points in (0, 1, 2, 3, 1000, 65535, 65536, 65537):
                result = self.result("synth", kind, "--points", points, "-o", "s.las", "--overwrite")
                self.assertEqual(result["points_written"], points)
                self.assertEqual(Las(self.path("s.las")).count, points)

    def test_dry_run_knows_points_and_bytes(self):
        for kind in ("airborne", "spinning", "uniform"):
            for more in ((), ("--point-format", "1", "--las-version", "1.0"), ("--las-version", "1.5")):
                arguments = ("synth", kind, "--points", "1234", "-o", "s.las", "--overwrite", *more)
                self.run_program(*arguments)
                size = (self.folder / "s.las").stat().st_size
                plan = json.loads(self.run_program(*arguments, "--dry-run", "--json").stdout)
                self.assertEqual((plan["points"], plan["bytes"]), (1234, size))
                self.assertEqual((plan["inputs"], plan["outputs"]), ([], ["s.las"]))
                text = self.run_program(*arguments, "--dry-run").stdout.decode()
                self.assertIn("1234 points", text)
                self.assertIn(f"{size} bytes", text)
        many = json.loads(self.run_program("synth", "airborne", "--points", 10**13, "-o", "t.las", "--dry-run",
                                           "--json").stdout)
        self.assertEqual((many["points"], many["bytes"]), (10**13, 375 + 30 * 10**13))

    def test_dry_run_refuses_what_the_run_refuses(self):
        for what in (("--memory", "4K"), ("--point-format", "1", "--las-version", "1.2", "--points", 2**33),
                     ("-o", "nowhere/s.las")):
            arguments = ["synth", "airborne", *what]
            if "-o" not in what:
                arguments += ["-o", "s.las"]
            if "--points" not in what:
                arguments += ["--points", "1000"]
            message = self.refused(*arguments, status=1)
            self.assertEqual(self.refused(*arguments, "--dry-run", status=1), message)
        self.refused("synth", "airborne", "--points", 9, "-o", "s.las", "--dry-run", says="SOURCE_DATE_EPOCH",
                     env={**cli.ENVIRONMENT, "SOURCE_DATE_EPOCH": "x"})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_memory_is_obeyed(self):
        for kind in ("airborne", "spinning", "uniform"):
            message = self.refused("synth", kind, "--points", "100000", "-o", "s.las", "--memory", "4K", status=1,
                                   says="the limit is 4096 bytes")
            need = int(re.search(r"needs (\d+) bytes", message).group(1))
            self.refused("synth", kind, "--points", "100000", "-o", "s.las", "--memory", need - 1, status=1,
                         says="memory")
            arguments = ("synth", kind, "--points", "100000", "-o", "-", "--quiet")
            self.assertEqual(self.run_program(*arguments, "--memory", need).stdout, self.run_program(*arguments).stdout)

    def test_memory_does_not_grow_with_the_scene(self):
        bound = 100 << 20
        for kind in ("airborne", "spinning", "uniform"):
            # No disk holds such a scene: the file may grow to 128 MB, then writing fails.
            process = subprocess.Popen([cli.PROGRAM, "synth", kind, "--points", str(10**13), "-o", "s.las", "--threads",
                                        "2"], cwd=self.folder, env=cli.ENVIRONMENT, stderr=subprocess.PIPE,
                                       preexec_fn=limit_files, restore_signals=False)
            most = 0
            with process:
                while process.poll() is None:
                    most = max(most, peak_memory(process.pid))
                    if most > bound:
                        process.kill()
                message = process.stderr.read().decode()
            self.assertLess(most, bound, kind)
            self.assertGreater(most, 0, kind)
            self.assertEqual(process.returncode, 1, message)
            self.assertIn(os.strerror(errno.EFBIG), message)
            self.assertEqual(self.names(), [])

    @cli.needs_numpy
    def test_airborne_looks_like_a_survey(self):
        self.scene("airborne", 1000000)
        las = Las(self.path("scene.las"))
        size = np.ptp(las.world, axis=0)
        # Eight points a square metre set the extent.
        self.assertAlmostEqual(las.count / (size[0] * size[1]) / 8.0, 1.0, delta=0.25)
        time = las.column(22, "<f8")
        self.assertTrue((np.diff(time) >= 0).all())
        source = las.column(20, "<u2")
        self.assertTrue((np.diff(source.astype(int)) >= 0).all())
        self.assertTrue({2, 3, 4, 5, 6, 9} <= set(np.unique(las.classification).tolist()))
        self.assertTrue((las.return_number >= 1).all() and (las.return_number <= las.returns).all())
        self.assertGreater((las.returns > 2).sum(), 0.02 * las.count)
        # Ground lies under the trees.
        z = las.world[:, 2]
        last = las.return_number == las.returns
        self.assertGreater((las.classification[last & (las.returns > 1)] == 2).mean(), 0.3)
        self.assertGreater(z[las.classification == 5].mean(), z[las.classification == 2].mean())
        angle = las.column(18, "<i2") * 0.006
        self.assertGreater(angle.max(), 10.0)
        self.assertLess(np.abs(angle).max(), 30.0)

    @cli.needs_numpy
    def test_spinning_looks_like_a_sensor(self):
        for beams in (64, 128):
            self.scene("spinning", 100000, 1, f"{beams}.las", "--beams", beams)
            las = Las(self.path(f"{beams}.las"))
            ring = las.records[:, 30]
            self.assertEqual((ring.min(), ring.max()), (0, beams - 1))
            time = las.column(22, "<f8")
            self.assertTrue((np.diff(time) >= 0).all())
            place = las.world - np.stack([8.0 * time, np.zeros(las.count), np.full(las.count, 1.8)], axis=1)
            distance = np.sqrt((place ** 2).sum(axis=1))
            self.assertGreater(distance.min(), 0.9)
            self.assertLess(distance.max(), 121.0)
            # Firings without a return are left out, so there are fewer points than firings.
            firings = (time[-1] - time[0]) * 10 * 1800 * beams
            self.assertLess(las.count, firings)
            self.assertGreater(las.count, 0.5 * firings)

    @cli.needs_numpy
    def test_uniform_is_uniform(self):
        self.scene("uniform", 200000)
        las = Las(self.path("scene.las"))
        for axis, edge in enumerate((1000.0, 1000.0, 100.0)):
            counts, _ = np.histogram(las.world[:, axis], bins=20, range=(0.0, edge))
            self.assertEqual(counts.sum(), las.count)
            self.assertLess(((counts - 10000) ** 2 / 10000).sum(), 60.0)  # chi squared, 19 degrees of freedom

    def test_every_format_opens_elsewhere(self):
        try:
            import laspy
        except ImportError:
            self.skipTest("laspy is not installed")
        for kind in ("airborne", "spinning", "uniform"):
            for point_format in range(11):
                self.scene(kind, 500, 1, f"{kind}-{point_format}.las", "--point-format", point_format)
                cloud = laspy.read(self.path(f"{kind}-{point_format}.las"))
                self.assertEqual((len(cloud), cloud.header.point_format.id), (500, point_format))
                np.testing.assert_array_equal(cloud.header.mins, np.array(cloud.xyz).min(axis=0))
                if kind == "spinning":
                    self.assertEqual(cloud["ring"].dtype, np.uint8)

    def test_scale_and_version(self):
        self.scene("uniform", 100, 1, "s.las", "--scale", "0.01", "--las-version", "1.5")
        info = json.loads(self.run_program("info", "s.las", "--json").stdout)
        self.assertEqual((info["scale"], info["version"]), ([0.01, 0.01, 0.01], "1.5"))
        self.refused("synth", "uniform", "--points", "100", "-o", "t.las", "--las-version", "1.2")
        for scale in ("0", "-0.01", "nan", "inf", "0.01,0,0.01", "1,2"):
            self.refused("synth", "uniform", "--points", "100", "-o", "t.las", "--scale", scale, says="--scale")
        self.refused("synth", "uniform", "--points", "100", "-o", "t.las", "--scale", "1e-12", status=1)


if __name__ == "__main__":
    cli.main()
