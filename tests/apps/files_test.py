#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files: outputs that all appear or none, several inputs, standard input and output, signals."""

import os
import signal
import stat
import subprocess
import time
import unittest

import cli
from cli import CliTest, Las


class Outputs(CliTest):
    def test_an_existing_output_stays(self):
        self.scene(points=100)
        (self.folder / "old.las").write_bytes(b"old")
        (self.folder / "old.csv").write_bytes(b"old")
        self.refused("filter", "scene.las", "-o", "old.las", status=1, says="--overwrite")
        self.refused("filter", "scene.las", "-o", "new.las", "--rejected", "old.las", status=1, says="--overwrite")
        self.refused("bin", "scene.las", "-o", "new.las", "--cell", "1", "--cells", "old.csv", status=1)
        self.refused("filter", "missing.las", "-o", "old.las", "--overwrite", status=1)
        self.refused("synth", "uniform", "--points", "10", "-o", "old.las", status=1)
        self.run_program("filter", "scene.las", "-o", "old.las", "--overwrite")
        self.assertEqual(Las(self.path("old.las")).count, 100)

    def test_an_output_is_no_input_and_no_other_output(self):
        self.scene(points=100)
        os.symlink("scene.las", self.path("link.las"))
        os.link(self.path("scene.las"), self.path("hard.las"))
        for output in ("scene.las", "./scene.las", self.path("scene.las"), "link.las", "hard.las"):
            self.refused("filter", "scene.las", "-o", output, "--overwrite", says="input")
        self.refused("filter", "scene.las", "-o", "out.las", "--rejected", "./out.las", says="one file")
        self.refused("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "out.las", says="one file")

    def test_an_output_is_no_file_that_an_option_reads(self):
        self.scene(points=100)
        (self.folder / "area.csv").write_text("POLYGON((0 0,1 0,1 1,0 0))")
        (self.folder / "area.las").write_text("POLYGON((0 0,1 0,1 1,0 0))")
        os.symlink("area.csv", self.path("link.csv"))
        for table in ("area.csv", "./area.csv", "link.csv"):
            self.refused("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", table, "--polygon", "area.csv",
                         "--overwrite", says="area.csv")
        for command in (("filter",), ("thin", "--cell", "1"), ("bin", "--cell", "1")):
            self.refused(*command, "scene.las", "-o", "area.las", "--polygon", "area.las", "--overwrite", says="area.las")
        self.refused("filter", "scene.las", "-o", "out.las", "--rejected", "area.las", "--polygon", "area.las",
                     "--overwrite", says="area.las")

    @unittest.skipUnless(os.geteuid() == 0, "needs to act as two users")
    def test_what_another_user_may_not_replace_is_refused_first(self):
        self.scene(points=100)
        os.chmod(self.folder, 0o1777)
        (self.folder / "old.las").write_bytes(b"old")
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        (self.folder / "open" / "old.las").write_bytes(b"old")

        def as_nobody(*arguments):
            return subprocess.run([cli.PROGRAM, "filter", "scene.las", "--overwrite", *arguments], user=65534,
                                  capture_output=True, cwd=self.folder, env=cli.ENVIRONMENT)

        try:
            as_nobody("--help")
        except PermissionError:
            self.skipTest("nobody may not run the program where it lies")
        for more in ((), ("--dry-run",)):
            done = as_nobody("-o", "old.las", *more)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"old.las: belongs to somebody else", done.stderr)
        self.assertEqual(self.names(), ["old.las", "open", "scene.las"])
        self.assertEqual((self.folder / "old.las").read_bytes(), b"old")
        # Here it may, though it may not link to the old file.
        self.assertEqual(as_nobody("-o", "open/old.las").returncode, 0)
        self.assertEqual(os.listdir(self.path("open")), ["old.las"])
        self.assertEqual(Las(self.path("open/old.las")).count, 100)

    def test_what_was_replaced_comes_back_where_standard_output_fails(self):
        self.scene(points=1000)
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        (self.folder / "old.las").write_bytes(b"old")
        before = self.names()
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [cli.PROGRAM, "bin", "scene.las", "-o", "old.las", "--cell", "1", "--cells", "-", "--overwrite"],
                stdout=full, stderr=subprocess.PIPE, cwd=self.folder, env=cli.ENVIRONMENT)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((self.folder / "old.las").read_bytes(), b"old")
        self.assertEqual(self.names(), before)

    def test_a_pipe_is_not_replaced_and_needs_no_overwrite(self):
        self.scene(points=1000)
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE) as reader:
            try:
                self.run_program("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "pipe")
            except AssertionError:
                reader.kill()
                raise
            self.assertTrue(reader.communicate(timeout=60)[0].startswith(b"ix,iy,iz"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_a_failure_midway_leaves_nothing(self):
        self.scene(points=1000)
        # What format 0 cannot hold is found when the points are converted.
        data = bytearray((self.folder / "scene.las").read_bytes())
        las = Las(self.path("scene.las"))
        at = las.offset_to_points + 700 * las.record_length + 16
        data[at] = 200  # class; those formats hold 31 at most
        (self.folder / "high.las").write_bytes(data)
        self.refused("convert", "high.las", "-o", "out.las", "--point-format", "0", status=1, says="700")

    def test_a_table_that_cannot_be_written_takes_the_points_with_it(self):
        self.scene(points=1000)
        os.mkdir(self.path("folder"))
        before = self.names()
        done = self.run_program("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "missing/c.csv", status=1)
        self.assertIn(b"missing/c.csv", done.stderr)
        self.run_program("bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "folder", "--overwrite", status=1)
        self.assertEqual(self.names(), before)
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_a_table_that_is_a_folder_does_not_cost_the_old_points(self):
        self.scene(points=1000)
        os.mkdir(self.path("folder"))
        (self.folder / "old.las").write_bytes(b"old")
        self.run_program("bin", "scene.las", "-o", "old.las", "--cell", "1", "--cells", "folder", "--overwrite", status=1)
        self.assertEqual((self.folder / "old.las").read_bytes(), b"old")

    def test_a_table_goes_where_points_would(self):
        self.scene(points=1000)
        arguments = ("bin", "scene.las", "-o", "out.las", "--cell", "1", "--overwrite", "--cells")
        self.run_program(*arguments, "plain.csv")
        expected = (self.folder / "plain.csv").read_bytes()
        # A link is followed, and the file behind it keeps its permissions.
        (self.folder / "real.csv").write_bytes(b"old")
        os.chmod(self.path("real.csv"), 0o600)
        os.symlink("real.csv", self.path("link.csv"))
        self.run_program(*arguments, "link.csv")
        self.assertTrue(os.path.islink(self.path("link.csv")))
        self.assertEqual((self.folder / "real.csv").read_bytes(), expected)
        self.assertEqual(os.stat(self.path("real.csv")).st_mode & 0o777, 0o600)
        # A pipe stays a pipe and carries the table.
        os.mkfifo(self.path("pipe"))
        with subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE) as reader:
            self.run_program(*arguments, "pipe")
            self.assertEqual(reader.communicate(timeout=60)[0], expected)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.run_program(*arguments, "a" * 251 + ".csv")

    def test_signals_leave_nothing(self):
        self.scene("uniform", 400000)
        (self.folder / "old.las").write_bytes(b"old")
        (self.folder / "old.csv").write_bytes(b"old")
        before = self.names()
        # Jobs that would run for minutes: one is stopped while it counts, one while it writes.
        jobs = (
            (signal.SIGINT, 130, ("synth", "airborne", "--points", "2000000000", "-o", "big.las")),
            (signal.SIGHUP, 129, ("synth", "uniform", "--points", "2000000000", "-o", "old.las", "--overwrite")),
            (signal.SIGTERM, 143, ("synth", "uniform", "--points", "2000000000", "-o", "old.las", "--overwrite")),
        )
        for number, status, arguments in jobs:
            with self.subTest(arguments=arguments):
                process = subprocess.Popen([cli.PROGRAM, *arguments], cwd=self.folder, env=cli.ENVIRONMENT,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                deadline = time.monotonic() + 60
                while arguments[1] == "uniform" and self.names() == before and time.monotonic() < deadline:
                    time.sleep(0.02)
                time.sleep(0.1)
                process.send_signal(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, status)
                self.assertEqual(self.names(), before)
                self.assertEqual((self.folder / "old.las").read_bytes(), b"old")

    def test_signals_while_points_and_a_table_are_written(self):
        self.scene("uniform", 400000)
        before = self.names()
        delays = [0.02 * i for i in range(10)]
        for delay in delays:
            process = subprocess.Popen(
                [cli.PROGRAM, "bin", "scene.las", "-o", "out.las", "--cell", "1", "--cells", "c.csv"], cwd=self.folder,
                env=cli.ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            # Before the handler is there the signal itself ends the program.
            self.assertIn(process.returncode, (0, 130, -signal.SIGINT))
            if process.returncode == 0:
                self.assertEqual(self.names(), sorted([*before, "c.csv", "out.las"]))
                os.remove(self.path("out.las"))
                os.remove(self.path("c.csv"))
            self.assertEqual(self.names(), before)

    def test_messages_never_go_into_an_output(self):
        self.scene("uniform", 100000)
        arguments = ("bin", "scene.las", "--cell", "10", "--progress", "always", "--overwrite")
        self.run_program(*arguments, "-o", "plain.las", "--cells", "plain.csv")
        for closed in ((1,), (2,), (1, 2), (0, 1, 2)):
            with self.subTest(closed=closed):
                # The numbers of closed streams would be given to the files that are opened next.
                subprocess.run([cli.PROGRAM, *arguments, "-o", "out.las", "--cells", "out.csv"], cwd=self.folder,
                               env=cli.ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                               preexec_fn=lambda: [os.close(fd) for fd in closed])
                for name in ("las", "csv"):
                    self.assertEqual((self.folder / f"out.{name}").read_bytes(),
                                     (self.folder / f"plain.{name}").read_bytes())

    def test_names_of_any_kind(self):
        self.scene(points=100)
        for name in ("ein Name mit Leerzeichen.las", "点群.las", "-dash.las", "a'b\"c$(x).las", "UPPER.LAS"):
            with self.subTest(name=name):
                self.run_program("filter", "scene.las", f"--output=./{name}")
                self.run_program("info", f"./{name}")
                self.assertEqual(Las(self.path(name)).count, 100)

    def test_bytes_of_outputs_do_not_depend_on_backend_and_threads(self):
        self.scene(points=60000)
        jobs = {
            "filter": ("--where", "classification in (2,6) && intensity > 100", "--fraction", "0.5", "--seed", "3"),
            "thin": ("--cell", "0.7", "--keep", "random", "--max-per-cell", "2", "--seed", "4"),
            "bin": ("--cell", "5,5,2", "--order", "hilbert"),
        }
        for job, options in jobs.items():
            outputs = {}
            for backend in cli.backends():
                for threads in (1, 2, 8):
                    name = f"{job}-{backend}-{threads}.las"
                    result = self.result(job, "scene.las", "-o", name, *options, "--backend", backend, "--threads", threads)
                    self.assertEqual(result["backend"], backend)
                    outputs[name] = (self.folder / name).read_bytes()
            self.assertEqual(len(set(outputs.values())), 1, sorted(outputs))


class Inputs(CliTest):
    def test_several_inputs_count_in_their_order(self):
        for i in range(3):
            self.scene("uniform", 1000, i, f"{i}.las")
        result = self.result("filter", "2.las", "0.las", "1.las", "0.las", "-o", "all.las")
        self.assertEqual(result["points_written"], 4000)
        self.assertEqual(Las(self.path("all.las")).bytes,
                         b"".join(Las(self.path(f"{i}.las")).bytes for i in (2, 0, 1, 0)))

    def test_layouts_that_differ_are_refused_by_name(self):
        self.scene("uniform", 10, 1, "a.las")
        for name, more in (("format.las", ("--point-format", "7")), ("scale.las", ("--scale", "0.01"))):
            self.scene("uniform", 10, 1, name, *more)
            self.refused("filter", "a.las", name, "-o", "out.las", status=1, says=name)
            self.refused("thin", "a.las", name, "-o", "out.las", "--cell", "1", status=1, says=name)
        self.run_program("convert", "a.las", "-o", "offset.las", "--offset", "10,0,0")
        self.assertIn("offset", self.refused("bin", "a.las", "offset.las", "-o", "out.las", "--cell", "1", status=1,
                                             says="offset.las"))

    def test_standard_input_and_output(self):
        self.scene("uniform", 5000)
        plain = self.run_program("filter", "scene.las", "-o", "out.las", "--box", "0,0,500,500")
        self.assertIn(b"points", plain.stdout)
        data = (self.folder / "scene.las").read_bytes()
        piped = self.run_program("filter", "-", "-o", "-", "--box", "0,0,500,500", input=data)
        self.assertEqual(piped.stdout, (self.folder / "out.las").read_bytes())
        self.assertIn(b"points", piped.stderr)
        self.assertEqual(self.run_program("filter", "-", "-o", "-", "--quiet", input=data[:1000], status=1).stdout, b"")
        self.assertEqual(self.names(), ["out.las", "scene.las"])
        table = self.run_program("bin", "scene.las", "-o", "b.las", "--cell", "500", "--cells", "-", "--quiet").stdout
        self.run_program("bin", "scene.las", "-o", "b2.las", "--cell", "500", "--cells", "b.csv")
        self.assertEqual(table, (self.folder / "b.csv").read_bytes())

    def test_a_reader_that_goes_away(self):
        self.scene("uniform", 200000)
        command = subprocess.Popen([cli.PROGRAM, "filter", "scene.las", "-o", "-"], cwd=self.folder, env=cli.ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        command.stdout.read(10)
        command.stdout.close()
        with command.stderr:
            message = command.stderr.read()
        self.assertEqual(command.wait(60), 1, message)
        self.assertTrue(message.startswith(b"sluice: "))

    def test_recovery_is_said_by_the_exit_status(self):
        self.scene(points=1000)
        las = Las(self.path("scene.las"))
        data = (self.folder / "scene.las").read_bytes()
        (self.folder / "cut.las").write_bytes(data[:las.offset_to_points + 600 * las.record_length + 5])
        self.refused("filter", "cut.las", "-o", "out.las", status=1)
        done = self.run_program("filter", "cut.las", "-o", "out.las", "--recover", status=4)
        self.assertIn(b"warning", done.stderr)
        self.assertEqual(Las(self.path("out.las")).bytes, las.bytes[:600 * las.record_length])
        self.run_program("filter", "scene.las", "-o", "sound.las", "--recover")
        self.run_program("info", "cut.las", "--recover", status=4)

    def test_no_points(self):
        self.scene("uniform", 0)
        for command in (("filter",), ("thin", "--cell", "1"), ("thin", "--cell", "1", "--keep", "centroid"),
                        ("bin", "--cell", "1", "--origin", "min"), ("convert", "--point-format", "1")):
            name = "-".join(command).replace(" ", "") + ".las"
            result = self.result(command[0], "scene.las", "-o", name, *command[1:])
            self.assertEqual(result["points_read"], 0)
            self.assertEqual(Las(self.path(name)).count, 0)
        self.run_program("info", "scene.las", "--stats")


if __name__ == "__main__":
    cli.main()
