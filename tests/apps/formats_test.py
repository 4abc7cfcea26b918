#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PCD, PLY, text and raw files: every command on them, real files, and what other programs read of ours."""

import csv
import functools
import hashlib
import json
import pathlib
import resource
import struct
import unittest

import cli
from cli import CliTest, np

DATA = cli.test_data()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def pcd_header(fields, width, height, data, more=""):
    names, sizes, types = zip(*fields)
    return (f"VERSION 0.7\nFIELDS {' '.join(names)}\nSIZE {' '.join(map(str, sizes))}\nTYPE {' '.join(types)}\n"
            f"COUNT {' '.join('1' for _ in names)}\nWIDTH {width}\nHEIGHT {height}\n{more}POINTS {width * height}\n"
            f"DATA {data}\n").encode()


XYZI = [("x", 4, "F"), ("y", 4, "F"), ("z", 4, "F"), ("i", 2, "U")]


def body_of(data):
    """What follows the header of a binary PCD file."""
    return data[data.index(b"DATA binary\n") + 12:]


class Jobs(CliTest):
    def cloud(self, name="in.pcd", width=4, height=3):
        """Points 0..n-1 on a line, one of them not finite."""
        rows = [struct.pack("<fffH", float("nan") if k == 5 else k, 0.5, -k, k) for k in range(width * height)]
        (self.folder / name).write_bytes(pcd_header(XYZI, width, height, "binary", "VIEWPOINT 1 2 3 1 0 0 0\n") + b"".join(rows))
        return rows

    def test_filter_carries_all_fields(self):
        rows = self.cloud()
        result = self.result("filter", "in.pcd", "-o", "out.pcd", "--rejected", "no.pcd", "--where", "i >= 3", "--where", "x < 9")
        self.assertEqual((result["points_written"], result["points_rejected"], result["points_nonfinite"]), (5, 6, 1))
        self.assertEqual(body_of((self.folder / "out.pcd").read_bytes()), b"".join(rows[k] for k in (3, 4, 6, 7, 8)))
        self.assertEqual(body_of((self.folder / "no.pcd").read_bytes()), b"".join(rows[k] for k in (0, 1, 2, 9, 10, 11)))
        head = (self.folder / "out.pcd").read_bytes()
        self.assertIn(b"\nVIEWPOINT 1 2 3 1 0 0 0\n", head)
        self.assertIn(b"\nWIDTH 5\nHEIGHT 1\n", head)

    def test_not_finite_points_count_whatever_the_selection(self):
        self.cloud()
        for more, kept in (((), 11), (("--box", "0,0,3,1"), 4), (("--box", "0,0,3,1", "--invert"), 7),
                           (("--where", "x != 1"), 10), (("--drop-zero",), 11)):
            with self.subTest(more=more):
                result = self.result("filter", "in.pcd", "-o", "out.pcd", "--overwrite", *more)
                self.assertEqual((result["points_written"], result["points_nonfinite"]), (kept, 1))

    def test_bounds_are_those_of_finite_points(self):
        rows = (("nan", 0, 0), (1, 2, 3), (4, "inf", 6), (-7, 8, 9), (1, 1, "-inf"))
        text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        (self.folder / "a.xyz").write_text(text)
        (self.folder / "b.ply").write_text(f"ply\nformat ascii 1.0\nelement vertex {len(rows)}\nproperty float x\n"
                                           f"property float y\nproperty float z\nend_header\n{text}")
        for data in ("ascii", "binary", "binary_compressed"):
            self.run_program("convert", "a.xyz", "-o", data + ".pcd", "--data", data)
        for name in ("a.xyz", "b.ply", "ascii.pcd", "binary.pcd", "binary_compressed.pcd"):
            with self.subTest(name):
                info = json.loads(self.run_program("info", name, "--json", "--stats").stdout)
                self.assertEqual(info["point_bounds"], {"min": [-7, 2, 3], "max": [1, 8, 9]})
                result = self.result("filter", name, "-o", "out.csv", "--overwrite")
                self.assertEqual((result["points_written"], result["points_nonfinite"]), (2, 3))
                self.run_program("convert", name, "-o", "all.csv", "--overwrite")
                self.assertEqual((self.folder / "all.csv").read_text().count("\n"), 6, "convert keeps them")

    def test_sizes_of_cells_that_are_none(self):
        self.cloud()
        for size in ("0", "-1", "nan", "inf", "1,0,1", "x"):
            for job in ("thin", "bin"):
                self.refused(job, "in.pcd", "-o", "out.pcd", "--cell", size, says="--cell")

    def test_keep_organized(self):
        rows = self.cloud()
        for backend in cli.backends():
            for data in ("binary", "binary_compressed", "ascii"):
                self.run_program("convert", "in.pcd", "-o", "kind.pcd", "--data", data, "--overwrite")
                result = self.result("filter", "kind.pcd", "-o", "out.pcd", "--box", "2,0,8,1", "--keep-organized",
                                     "--backend", backend, "--overwrite")
                self.assertEqual((result["points_written"], result["points_rejected"], result["points_nonfinite"]), (6, 5, 1))
                self.run_program("convert", "out.pcd", "-o", "plain.pcd", "--data", "binary", "--overwrite")
                out = (self.folder / "plain.pcd").read_bytes()
                self.assertIn(b"\nWIDTH 4\nHEIGHT 3\n", out)
                points = list(struct.iter_unpack("<fffH", body_of(out)))
                for k, (x, y, z, i) in enumerate(points):
                    self.assertEqual(i, k)
                    if 2 <= k <= 8 and k != 5:
                        self.assertEqual((x, y, z), (k, 0.5, -k))
                    else:
                        self.assertTrue(x != x and y != y and z != z, k)
        self.assertEqual(len(rows), 12)

    def test_keep_organized_needs_rows(self):
        self.cloud()
        self.cloud("flat.pcd", 12, 1)
        self.scene(points=100)
        for name in ("flat.pcd", "scene.las"):
            self.refused("filter", name, "-o", "out." + name[-3:], "--keep-organized", says="no organized cloud")
        self.refused("filter", "in.pcd", "in.pcd", "-o", "out.pcd", "--keep-organized", says="--keep-organized")

    def test_rows_end_where_points_move(self):
        self.cloud()
        whole = pcd_header(XYZI, 4, 3, "binary") + b"".join(struct.pack("<fffH", k % 4, k, 0, k) for k in range(12))
        (self.folder / "whole.pcd").write_bytes(whole)
        self.run_program("filter", "whole.pcd", "-o", "all.pcd")
        self.assertIn(b"\nWIDTH 4\nHEIGHT 3\n", (self.folder / "all.pcd").read_bytes())
        self.assertEqual(body_of((self.folder / "all.pcd").read_bytes()), body_of(whole))
        # All points stay, and none of these keeps the rows.
        self.run_program("bin", "whole.pcd", "-o", "bin.pcd", "--cell", "1")
        self.run_program("thin", "whole.pcd", "-o", "thin.pcd", "--cell", "0.5")
        self.run_program("filter", "whole.pcd", "whole.pcd", "-o", "two.pcd", "--every", "2")
        for name in ("bin.pcd", "thin.pcd", "two.pcd"):
            self.assertIn(b"\nWIDTH 12\nHEIGHT 1\n", (self.folder / name).read_bytes(), name)

    def test_layouts_of_sensors_keep_every_byte(self):
        """Packed and padded records, values at odd places; conditions on values of every type."""
        layouts = {
            "velodyne": "x:f y:f z:f intensity:f ring:H time:f",
            "velodyne_padded": "x:f y:f z:f _:4 intensity:f ring:H _:2 time:f _:4",
            "ouster": "x:f y:f z:f _:4 intensity:f t:I reflectivity:H ring:H ambient:H _:2 range:I _:12",
            "hesai": "x:f y:f z:f intensity:f _:8 timestamp:d ring:H",
            "livox": "x:f y:f z:f intensity:f tag:B line:B timestamp:d",
            "autoware": "x:f y:f z:f intensity:B return_type:B channel:H",
            "autoware_full": "x:f y:f z:f intensity:B return_type:B channel:H azimuth:f elevation:f distance:f time_stamp:I",
            "odd": "tag:b x:f label:i y:f big:Q z:f",
        }
        letters = {"f": "F", "d": "F", "B": "U", "H": "U", "I": "U", "Q": "U", "b": "I", "i": "I"}
        for name, layout in layouts.items():
            fields = [part.split(":") for part in layout.split()]
            form = "<" + "".join(f"{kind}s" if field == "_" else kind for field, kind in fields)
            rows = []
            for k in range(50):
                rows.append(struct.pack(form, *(bytes((k + i) % 256 for i in range(int(kind))) if field == "_" else
                                                float(k) / 4 if kind in "fd" else k for field, kind in fields)))
            sizes = [1 if field == "_" else struct.calcsize("<" + kind) for field, kind in fields]
            counts = [kind if field == "_" else "1" for field, kind in fields]
            types = ["U" if field == "_" else letters[kind] for field, kind in fields]
            head = (f"FIELDS {' '.join(f for f, _ in fields)}\nSIZE {' '.join(map(str, sizes))}\nTYPE {' '.join(types)}\n"
                    f"COUNT {' '.join(counts)}\nWIDTH 50\nDATA binary\n")
            (self.folder / "in.pcd").write_bytes(head.encode() + b"".join(rows))
            for number, (field, kind) in enumerate(fields):
                if field == "_":
                    continue
                bound = "5.25" if kind in "fd" else "21"
                for backend in cli.in_turn(number, cli.backends()):
                    with self.subTest(layout=name, field=field, backend=backend):
                        self.run_program("filter", "in.pcd", "-o", "out.pcd", "--where", f"{field} >= {bound}", "--overwrite",
                                         "--backend", backend)
                        self.assertEqual(body_of((self.folder / "out.pcd").read_bytes()), b"".join(rows[21:]))

    def test_no_points_at_all(self):
        (self.folder / "a.xyz").write_text("")
        (self.folder / "b.csv").write_text("x,y,z,i\n")
        (self.folder / "c.bin").write_bytes(b"")
        (self.folder / "d.pcd").write_bytes(pcd_header(XYZI, 0, 1, "binary"))
        (self.folder / "e.ply").write_bytes(b"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
                                            b"property float z\nend_header\n")
        jobs = (("filter",), ("thin", "--cell", "1", "--origin", "min"), ("bin", "--cell", "1"), ("convert",))
        for start, name in enumerate(("a.xyz", "b.csv", "c.bin", "d.pcd", "e.ply")):
            for number, extension in enumerate((name[1:], ".las", ".laz", ".pcd", ".ply", ".csv", ".bin"), start):
                for job in cli.in_turn(number, jobs):
                    with self.subTest(name=name, job=job, to=extension):
                        result = self.result(job[0], name, "-o", "out" + extension, *job[1:], "--overwrite")
                        self.assertEqual(result["points_written"], 0)
                        self.assertEqual(json.loads(self.run_program("info", "out" + extension, "--json").stdout)["points"], 0)
            for cell in ("0", "-1", "nan"):
                self.refused("thin", name, "-o", "new" + name[1:], "--cell", cell, says="--cell")

    def test_cells_floor_towards_minus_infinity(self):
        values = (-1.0, -0.4, -0.0, 0.0, 0.4, 1.0, 2.0)
        (self.folder / "in.xyz").write_text("".join(f"{v} 0 0\n" for v in values))
        for backend in cli.backends():
            self.run_program("bin", "in.xyz", "-o", "out.xyz", "--cell", "1", "--cells", "t.csv", "--overwrite",
                             "--backend", backend)
            with open(self.path("t.csv"), newline="") as file:
                cells = [(int(row[0]), int(row[4])) for row in list(csv.reader(file))[1:]]
            self.assertEqual(cells, [(-1, 2), (0, 3), (1, 1), (2, 1)])

    def test_tiny_cells_over_a_large_extent(self):
        rng = list(range(-500, 501, 50))
        (self.folder / "in.xyz").write_text("".join(f"{a} {b} {c}\n" for a in rng for b in rng for c in (-500, 500)))
        result = self.result("thin", "in.xyz", "-o", "out.xyz", "--cell", "0.001")
        self.assertEqual(result["points_written"], result["points_read"])
        self.refused("bin", "in.xyz", "-o", "out2.xyz", "--cell", "1e-9", status=1)

    def test_large_doubles_stay_doubles(self):
        (self.folder / "in.xyz").write_text("206494.123456789 -48000.000000001 40\n206494.123456791 -48000.000000003 40\n")
        self.run_program("thin", "in.xyz", "-o", "out.xyz", "--cell", "1", "--keep", "centroid")
        x, y, z = map(float, (self.folder / "out.xyz").read_text().split())
        self.assertAlmostEqual(x, 206494.12345679, delta=1e-9)
        self.assertAlmostEqual(y, -48000.000000002, delta=1e-9)
        self.assertEqual(z, 40)

    def test_thinning_again_changes_nothing(self):
        self.run_program("synth", "spinning", "--points", "20000", "-o", "in.las")
        self.run_program("convert", "in.las", "-o", "in.pcd")
        for keep in ("first", "center", "lowest", "highest", "random", "nearest-centroid"):
            self.run_program("thin", "in.pcd", "-o", "once.pcd", "--cell", "0.3", "--keep", keep, "--overwrite")
            self.run_program("thin", "once.pcd", "-o", "twice.pcd", "--cell", "0.3", "--keep", keep, "--overwrite")
            self.assertEqual((self.folder / "once.pcd").read_bytes(), (self.folder / "twice.pcd").read_bytes(), keep)

    def test_threads_and_chunks_do_not_matter(self):
        self.run_program("synth", "spinning", "--points", 50000 if cli.QUICK else 150000, "-o", "in.las")
        for name in ("in.pcd", "in.ply", "in.csv", "in.bin"):
            self.run_program("convert", "in.las", "-o", name, "--quiet")
            for job in (("filter", "--sphere", "0,0,0,20"), ("thin", "--cell", "0.2", "--keep", "centroid"), ("bin", "--cell", "1")):
                outputs = set()
                for threads in (1, 2, 7):
                    self.run_program(job[0], name, "-o", "out" + name[2:], *job[1:], "--threads", threads, "--overwrite")
                    outputs.add((self.folder / ("out" + name[2:])).read_bytes())
                self.assertEqual(len(outputs), 1, (name, job))

    def test_any_job_writes_any_format(self):
        self.scene(points=3000)
        self.cloud()
        formats = ("las", "laz", "pcd", "ply", "xyz", "txt", "csv", "bin")
        jobs = (("filter",), ("thin", "--cell", "1e-3"), ("bin", "--cell", "10"))
        for start, (source, kept) in enumerate((("scene.las", 3000), ("in.pcd", 11))):
            for number, extension in enumerate(formats, start):
                for job in cli.in_turn(number, jobs):
                    out = f"{job[0]}.{extension}"
                    result = self.result(job[0], source, "-o", out, *job[1:], "--overwrite")
                    info = json.loads(self.run_program("info", out, "--json").stdout)
                    self.assertEqual(info["points"], result["points_written"])
                    if job[0] == "filter":
                        self.assertEqual(info["points"], kept)

    def test_scenes_of_any_format(self):
        for extension in ("laz", "pcd", "ply", "csv", "bin"):
            self.run_program("synth", "uniform", "--points", "500", "-o", "scene." + extension)
            self.assertEqual(json.loads(self.run_program("info", "scene." + extension, "--json").stdout)["points"], 500)

    def test_several_inputs_and_streams(self):
        self.cloud("a.pcd")
        self.cloud("b.pcd")
        self.run_program("filter", "a.pcd", "b.pcd", "-o", "both.pcd")
        self.assertEqual(len(body_of((self.folder / "both.pcd").read_bytes())), 22 * 14)
        (self.folder / "c.xyz").write_text("1 2 3\n")
        self.refused("filter", "a.pcd", "c.xyz", "-o", "out.pcd", status=1, says="c.xyz")
        (self.folder / "d.xyz").write_text("1 2 3 4\n")
        self.refused("filter", "c.xyz", "d.xyz", "-o", "out.xyz", status=1, says="number of fields")
        for name in ("a.pcd", "c.xyz"):
            data = (self.folder / name).read_bytes()
            done = self.run_program("filter", "-", "-o", "-", input=data)
            self.run_program("filter", name, "-o", "file." + name[-3:])
            self.assertEqual(done.stdout, (self.folder / ("file." + name[-3:])).read_bytes())

    def test_texts_look_as_their_extension_says(self):
        (self.folder / "in.xyz").write_text("1 2 3 4\n5 6 7 18446744073709551615\n")
        for job in (("filter",), ("convert",), ("thin", "--cell", "1"), ("bin", "--cell", "1")):
            with self.subTest(job):
                self.run_program(job[0], "in.xyz", "-o", "out.csv", *job[1:], "--overwrite")
                self.assertEqual((self.folder / "out.csv").read_text(), "x,y,z,c3\n1,2,3,4\n5,6,7,18446744073709551615\n")
                self.run_program(job[0], "out.csv", "-o", "back.xyz", *job[1:], "--overwrite")
                self.assertEqual((self.folder / "back.xyz").read_text(), "//x y z c3\n1 2 3 4\n5 6 7 18446744073709551615\n")

    def test_fields_option(self):
        (self.folder / "in.bin").write_bytes(struct.pack("<10f", *range(10)))
        self.refused("filter", "in.bin", "-o", "out.bin", status=1, says="40 bytes")
        self.run_program("filter", "in.bin", "-o", "out.bin", "--fields", "5", "--where", "ring == 9")
        self.assertEqual((self.folder / "out.bin").read_bytes(), struct.pack("<5f", *range(5, 10)))
        self.run_program("filter", "in.bin", "-o", "named.bin", "--fields", "t,z,_,y,x", "--where", "t == 5")
        self.assertEqual((self.folder / "named.bin").read_bytes(), struct.pack("<5f", *range(5, 10)))
        self.refused("filter", "in.bin", "-o", "o.bin", "--fields", "x,y", says="--fields")
        self.refused("filter", "in.bin", "-o", "o.bin", "--fields", "x,,z", says="--fields")
        self.scene(points=10)
        self.refused("filter", "scene.las", "-o", "o.las", "--fields", "x,y,z", says="--fields")
        (self.folder / "in.csv").write_text("1,2,3,4\n")
        self.run_program("convert", "in.csv", "-o", "out.csv", "--fields", "x,y,z,intensity")
        self.assertEqual((self.folder / "out.csv").read_text(), "x,y,z,intensity\n1,2,3,4\n")

    def test_errors_name_file_and_line_and_leave_nothing(self):
        cases = {"a.xyz": ("1 2 3\n4 5\n", "line 2"), "b.pcd": ("FIELDS x y z\nPOINTS 4000000000\nDATA binary\n", "POINTS"),
                 "c.ply": ("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
                           "end_header\n1 2 3\n", "counts 2 points"), "d.bin": ("\0" * 10, "10 bytes")}
        for name, (text, says) in cases.items():
            (self.folder / name).write_text(text)
            for job in (("filter",), ("thin", "--cell", "1"), ("bin", "--cell", "1"), ("convert",)):
                message = self.refused(job[0], name, "-o", "out" + name[1:], *job[1:], status=1, says=says)
                self.assertIn(name, message)
        self.run_program("info", *cases, status=1)
        for name in ("c.ply", "d.bin"):
            self.run_program("filter", name, "-o", "saved" + name[1:], "--recover", status=4)

    def test_headers_that_lie_cost_no_memory(self):
        """Where the address space has room for the program and little else."""
        pcd = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH {0}\nHEIGHT 1\nPOINTS {0}\nDATA {1}\n"
        ply = ("ply\nformat {1} 1.0\nelement {2} {0}\nproperty list uchar int a\nelement vertex {0}\nproperty float x\n"
               "property float y\nproperty float z\nend_header\n")
        huge = bytes.fromhex("ffffffff")
        cases = {}
        for count in (4000000000, 2**64 - 1):
            for data in ("ascii", "binary", "binary_compressed"):
                cases[f"{count}-{data}.pcd"] = pcd.format(count, data).encode() + huge + huge + b"1 2 3\n" * 20
            for data in ("ascii", "binary_little_endian", "binary_big_endian"):
                for element in ("face", "camera"):
                    cases[f"{count}-{data}-{element}.ply"] = ply.format(count, data, element).encode() + huge * 20
            cases[f"{count}.xyz"] = f"{count}\n1 2 3\n".encode()
        cases["count.pcd"] = b"FIELDS x y z a\nSIZE 4 4 4 8\nTYPE F F F F\nCOUNT 1 1 1 4000000000\nDATA binary\n"
        cases["rows.pcd"] = b"FIELDS x y z\nWIDTH 4294967296\nHEIGHT 4294967296\nDATA binary\n" + huge * 3
        # The address sanitizer takes terabytes of addresses for itself.
        limited = None
        if b"__asan_init" not in pathlib.Path(cli.PROGRAM).read_bytes():
            limited = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (600 << 20, 600 << 20))
        for name, data in cases.items():
            with self.subTest(name):
                (self.folder / name).write_bytes(data)
                message = self.refused("thin", name, "-o", "out" + name[-4:], "--cell", "1", "--threads", "1", status=1,
                                       preexec_fn=limited)
                self.assertIn(name, message)
                self.assertNotIn("memory", message)

    def test_memory_of_unpacked_points_counts(self):
        self.run_program("synth", "spinning", "--points", "200000", "-o", "in.bin")
        self.run_program("convert", "in.bin", "-o", "in.pcd", "--data", "binary_compressed")
        unpacked = 200000 * 16
        for job in (("filter",), ("convert",), ("thin", "--cell", "1"), ("bin", "--cell", "1")):
            with self.subTest(job):
                # What holds the points alone does not hold the buffers of the job, nor a copy of them.
                limit = unpacked + 1024 if job[0] in ("filter", "convert") else 2 * unpacked - 1
                self.refused(job[0], "in.pcd", "-o", "out.bin", *job[1:], "--memory", limit, "--overwrite", status=1,
                             says="--memory")
                self.run_program(job[0], "in.pcd", "-o", "out.bin", *job[1:], "--memory", "64M", "--overwrite")

    def test_inputs_that_do_not_join_say_why(self):
        (self.folder / "a.csv").write_text("x,y,z,intensity\n1,2,3,4\n")
        for name, text, says in (("b.csv", "x,y,z,Intensity\n1,2,3,4\n", "spelling of the column 'Intensity'"),
                                 ("c.csv", "x,y,z,ring\n1,2,3,4\n", "name of field 4"),
                                 ("d.csv", "x,y,z,intensity,ring\n1,2,3,4,5\n", "number of fields")):
            (self.folder / name).write_text(text)
            message = self.refused("filter", "a.csv", name, "-o", "out.csv", status=1, says=says)
            self.assertIn(f"{name} cannot be joined with a.csv", message)

    def test_convert_says_what_is_lost(self):
        self.cloud()
        result = self.result("convert", "in.pcd", "-o", "out.las")
        self.assertEqual((result["points_written"], result["points_nonfinite"]), (11, 1))
        self.assertTrue(any("not finite" in w for w in result["warnings"]), result["warnings"])
        self.assertTrue(any("viewpoint" in w for w in result["warnings"]), result["warnings"])
        self.refused("convert", "in.pcd", "-o", "strict.las", "--strict", status=1, says="--strict")
        self.refused("convert", "in.pcd", "-o", "strict.ply", "--strict", status=1, says="--strict")
        self.refused("convert", "in.pcd", "-o", "a.ply", "--scale", "0.1", says="--scale")
        self.refused("convert", "in.pcd", "-o", "a.pcd", "--data", "zip", says="--data zip")
        self.run_program("convert", "in.pcd", "-o", "dry.las", "--dry-run")
        self.assertNotIn("dry.las", self.names())
        self.refused("convert", "in.pcd", "-o", "big.las", "--offset", "1e9", status=1, says="does not fit 32 bits")


@unittest.skipIf(DATA is None or not (DATA / "expected.json").is_file(), "no real files: set SLUICE_TEST_DATA")
@cli.needs_numpy
class Expected(CliTest):
    jobs_done = 0

    def files(self):
        return cli.expected_files("pcd/", "ply/", "xyz/", "kitti/")

    def positions(self, path):
        """x, y, z of a file, read without this program: it was converted to a text of shortest decimals."""
        self.run_program("convert", path, "-o", "read.csv", "--overwrite", "--quiet")
        with open(self.path("read.csv"), newline="") as file:
            rows = csv.reader(file)
            names = [name.lower() for name in next(rows)]
            at = [names.index(axis) for axis in "xyz"]
            return np.array([[float(row[i]) for i in at] for row in rows]).reshape(-1, 3)

    def check(self, path, job, *arguments):
        outputs = {}
        out = "out" + path[path.rindex("."):]
        self.jobs_done += 1
        for backend in cli.in_turn(self.jobs_done, cli.backends()):
            self.result(*arguments, "-o", out, "--overwrite", "--backend", backend)
            outputs[backend] = (self.folder / out).read_bytes()
        self.assertEqual(len(set(outputs.values())), 1, outputs.keys())
        points = self.positions(self.path(out))
        self.assertEqual(len(points), job.get("count", len(points)))
        if "xyz_f32_sha256" in job:
            self.assertEqual(sha256(points.astype("<f4").tobytes()), job["xyz_f32_sha256"])
        if "xyz_f64_sha256" in job:
            self.assertEqual(sha256(points.astype("<f8").tobytes()), job["xyz_f64_sha256"])
        return points

    def test_jobs(self):
        for path, expected in self.files():
            single = expected["coordinate_type"] == "float32"
            with self.subTest(file=path):
                self.check(path, {k: v for k, v in expected.items() if k.startswith("xyz_")}, "filter", path)
                for name, job in expected["jobs"].items():
                    with self.subTest(job=name):
                        if name.startswith("box_"):
                            low, high = zip(*job["bounds"])
                            self.check(path, job, "filter", path, "--box", ",".join(map(repr, (*low, *high))))
                        elif name in ("circle", "cylinder"):
                            numbers = [*job["center"], job["radius"], *job.get("z", ())]
                            self.check(path, job, "filter", path, "--cylinder", ",".join(map(repr, numbers)))
                        elif name == "polygon_hole":
                            self.check(path, job, "filter", path, "--polygon", job["wkt"])
                        elif name == "voxel":
                            for voxel in job:
                                points = self.check(path, {}, "thin", path, "--cell", repr(voxel["leaf"]), "--origin", "min")
                                self.assertEqual(len(points), voxel["occupied"])
                                self.assertEqual(sha256(points.astype("<f4" if single else "<f8").tobytes()),
                                                 voxel["first_sha256"])
                        elif name == "grid_sort":
                            self.check(path, job, "bin", path, "--cell", repr(job["cell"]), "--dims", "xy", "--origin", "min")


@cli.needs_numpy
class OtherReaders(CliTest):
    """What other programs read of our files, where they read such files at all."""

    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(1)
        self.points = self.rng.normal(size=(5000, 3)).astype("<f4")
        rows = b"".join(p.tobytes() + struct.pack("<H", k) for k, p in enumerate(self.points))
        (self.folder / "in.pcd").write_bytes(pcd_header(XYZI, 5000, 1, "binary") + rows)

    def test_pypcd4(self):
        try:
            from pypcd4 import PointCloud
        except ImportError:
            self.skipTest("pypcd4 is not installed")
        for data in ("ascii", "binary", "binary_compressed"):
            self.run_program("convert", "in.pcd", "-o", data + ".pcd", "--data", data)
            theirs = PointCloud.from_path(self.path(data + ".pcd"))
            np.testing.assert_array_equal(theirs.numpy(("x", "y", "z")).astype("<f4"), self.points)
            np.testing.assert_array_equal(theirs.pc_data["i"], np.arange(5000))
            # And the other way round.
            theirs.save(self.path("theirs.pcd"))
            self.run_program("convert", "theirs.pcd", "-o", "back.pcd", "--data", "binary", "--overwrite")
            self.assertEqual(body_of((self.folder / "back.pcd").read_bytes()), body_of((self.folder / "in.pcd").read_bytes()))

    def test_open3d(self):
        try:
            import open3d
        except (ImportError, OSError):
            self.skipTest("open3d is not installed")
        names = []
        for data in ("ascii", "binary", "binary_compressed"):
            self.run_program("convert", "in.pcd", "-o", data + ".pcd", "--data", data)
            names.append(data + ".pcd")
        for data in ("ascii", "binary_little_endian", "binary_big_endian"):
            self.run_program("convert", "in.pcd", "-o", data + ".ply", "--data", data)
            names.append(data + ".ply")
        self.run_program("convert", "in.pcd", "-o", "in.ply")
        for name in (*names, "in.ply"):
            theirs = np.asarray(open3d.io.read_point_cloud(self.path(name)).points)
            np.testing.assert_array_equal(theirs.astype("<f4"), self.points, name)
        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(self.points.astype("f8")))
        for name, more in (("o.pcd", {}), ("o.ply", {}), ("o.xyz", {}), ("c.pcd", {"compressed": True}),
                           ("a.ply", {"write_ascii": True}), ("a.pcd", {"write_ascii": True})):
            self.assertTrue(open3d.io.write_point_cloud(self.path(name), cloud, **more))
            self.run_program("convert", name, "-o", "read.csv", "--overwrite")
            ours = np.loadtxt(self.path("read.csv"), delimiter=",", skiprows=1)
            # Texts of Open3D have ten digits behind the point, and six digits in PCD and PLY.
            np.testing.assert_allclose(ours, self.points, atol=1e-5 if name.startswith("a.") else 1e-9)

    def test_plyfile(self):
        try:
            import plyfile
        except ImportError:
            self.skipTest("plyfile is not installed")
        for data in ("ascii", "binary_little_endian", "binary_big_endian"):
            self.run_program("convert", "in.pcd", "-o", "out.ply", "--data", data, "--overwrite")
            vertex = plyfile.PlyData.read(self.path("out.ply"))["vertex"]
            np.testing.assert_array_equal(np.stack([vertex[a] for a in "xyz"], axis=1), self.points)
            np.testing.assert_array_equal(vertex["i"], np.arange(5000))


if __name__ == "__main__":
    cli.main()
