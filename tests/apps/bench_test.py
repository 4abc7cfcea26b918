#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sluice-bench on small inputs: variants of the algorithm family, without a look at how long they take."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["SLUICE_BENCH_PROGRAM"]
OF_THE_CPU = {
    "scan": ["serial", "std-par", "tbb"],
    "compact": ["serial", "tbb"],
    "sort": ["std-stable-sort", "tbb-lsd", "tbb-parallel-sort"],
    "histogram": ["serial", "tbb"],
    "reduce": ["serial", "tbb"],
}


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class Variants(unittest.TestCase):
    def test_all_of_the_cpu_are_right(self):
        for work, names in OF_THE_CPU.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "out.json"
                done = run(work, "--variant", "all", "--items", "1k,5000", "--rounds", "2", "--json", str(path))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
            for name in names:
                self.assertIn(name, done.stdout)
                some = [row for row in rows if row["variant"] == name]
                self.assertEqual({row["items"] for row in some}, {1000, 5000}, name)
                self.assertTrue(all(row["right"] and row["on"] == "cpu" and row["ms"] > 0 for row in some), name)

    def test_some_by_name(self):
        done = run("scan", "--variant", "tbb", "--items", "1k", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tbb", done.stdout)
        self.assertNotIn("std-par", done.stdout)

    def test_what_there_is_not(self):
        done = run("scan", "--variant", "quickest", "--items", "1k")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "there is no 'quickest'.*; there are all, serial")

    def test_what_needs_a_gpu(self):
        done = run("scan", "--variant", "lookback", "--items", "1k", "--rounds", "1")
        if "lookback" in done.stdout:
            self.skipTest("there is a GPU")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "'lookback' (needs a GPU: .|in this build, which has none of a GPU)")

    def test_long_sums_of_floats_are_not_taken_for_right(self):
        done = run("scan", "--variant", "tbb", "--items", "10000001", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("not compared"), 4, done.stdout)  # two variants, two types


if __name__ == "__main__":
    unittest.main()
