#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of scans as a user runs them: texts in, lines and exit statuses out."""

import os
import pathlib
import subprocess
import tempfile
import unittest


def run(example, text, *arguments):
    done = subprocess.run([os.environ["SLUICE_EXAMPLES"] + "/example_" + example, *arguments], input=text,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Brackets(unittest.TestCase):
    def test_that_match(self):
        self.assertEqual(run("brackets", "f(a, g(b))")[:2], (0, ["deepest: 2", "all match"]))
        self.assertEqual(run("brackets", "")[:2], (0, ["deepest: 0", "all match"]))

    def test_without_a_partner(self):
        status, lines, _ = run("brackets", "(a)\n(b))\n")
        self.assertEqual((status, lines[1]), (1, "unmatched ')' at byte 7, line 2, column 4"))
        status, lines, _ = run("brackets", "((")
        self.assertEqual((status, lines[1]), (1, "unmatched '(' at byte 0, line 1, column 1"))

    def test_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text"
            path.write_text("(" * 100000 + ")" * 100000)
            self.assertEqual(run("brackets", "", str(path))[:2], (0, ["deepest: 100000", "all match"]))
            status, _, error = run("brackets", "", folder + "/none")
            self.assertEqual(status, 2)
            self.assertIn("cannot be read", error)


class SegmentedScan(unittest.TestCase):
    def test_sums_start_anew(self):
        status, lines, _ = run("segmented_scan", "a 1\na 2\nb 5\nb -7\na 3\n")
        self.assertEqual((status, lines), (0, ["a\t1\t1", "a\t2\t3", "b\t5\t5", "b\t-7\t-2", "a\t3\t3"]))
        self.assertEqual(run("segmented_scan", "")[:2], (0, []))

    def test_what_is_no_number(self):
        for text in ("a 1\nb x\n", "a 1\nb"):
            status, _, error = run("segmented_scan", text)
            self.assertEqual(status, 2)
            self.assertIn("line 2", error)


class SoftmaxRows(unittest.TestCase):
    def test_rows(self):
        status, lines, _ = run("softmax_rows", "0 0\n10000 10000 -inf -10000\n5\n\n-inf -inf\n")
        self.assertEqual((status, lines), (0, ["0.5 0.5", "0.5 0.5 0 0", "1", "", "0 0"]))

    def test_what_is_no_number(self):
        for text in ("1 2\n1 x\n", "1\nnan\n", "1\ninf\n"):
            status, _, error = run("softmax_rows", text)
            self.assertEqual(status, 2)
            self.assertIn("line 2", error)


if __name__ == "__main__":
    unittest.main()
