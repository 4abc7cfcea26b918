#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thinning and binning against whole-number arithmetic in Python."""

import collections
import csv
import fractions

import cli
from cli import CliTest, Las, np

Fraction = fractions.Fraction
MASK = (1 << 64) - 1


def exact(value):
    """The decimal number that a double prints as, or that a text says."""
    return Fraction(value if isinstance(value, str) else repr(float(value)))


def cells_of(las, sizes, origin, dims):
    """Cell of every point: floor((X * scale + offset - origin) / size) in rational numbers."""
    columns = []
    for axis in range(3):
        if axis == 2 and dims == "xy":
            columns.append([0] * las.count)
            continue
        size = exact(sizes[axis])
        step = exact(las.scale[axis]) / size
        shift = (exact(las.offset[axis]) - origin[axis]) / size
        columns.append([(step * int(x) + shift).__floor__() for x in las.raw[:, axis]])
    return list(zip(*columns))


def members_of(cells):
    """Indices of the points of each cell, cells in the order of their first point."""
    members = collections.OrderedDict()
    for index, cell in enumerate(cells):
        members.setdefault(cell, []).append(index)
    return members


def mix64(x):
    x = (x + 0x9e3779b97f4a7c15) & MASK
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & MASK
    return x ^ (x >> 31)


def cell_random(seed, cell, index):
    key = mix64(seed)
    for place in cell:
        key = mix64(key ^ (place & MASK))
    return mix64(mix64(key) ^ mix64((index + 0x632be59bd9b4e019) & MASK))


def half_even(total, count):
    return round(Fraction(int(total), count))


def row_major(cells):
    return [(iz, iy, ix) for ix, iy, iz in cells]


def morton(cells, dims):
    axes = 3 if dims == "xyz" else 2
    low = [min(cell[d] for cell in cells) for d in range(3)]
    bits = [(max(cell[d] for cell in cells) - low[d]).bit_length() for d in range(3)]
    keys = []
    for cell in cells:
        key = place = 0
        for level in range(max(bits[:axes])):
            for d in range(axes):
                if level < bits[d]:
                    key |= ((cell[d] - low[d]) >> level & 1) << place
                    place += 1
        keys.append(key)
    return keys


GRIDS = (
    (("1.5",), ("0", "0", "0"), "xyz"),
    (("0.7", "2", "0.35"), ("0.1", "-0.2", "100.003"), "xyz"),
    (("3",), "min", "xyz"),
    (("2.5",), ("0", "0", "0"), "xy"),
    (("4",), "min", "xy"),
)


@cli.needs_numpy
class Cells(CliTest):
    def setUp(self):
        super().setUp()
        self.scene("airborne", 6000, 11)
        self.las = Las(self.path("scene.las"))

    def grids(self):
        """Options of each grid, and the cells of the points in it."""
        for sizes, origin, dims in GRIDS:
            if origin == "min":
                lowest = self.las.raw.min(axis=0)
                corner = [exact(self.las.scale[d]) * int(lowest[d]) + exact(self.las.offset[d]) for d in range(3)]
            else:
                corner = [exact(value) for value in origin]
            cells = cells_of(self.las, sizes * 3 if len(sizes) == 1 else sizes, corner, dims)
            options = ("--cell", ",".join(sizes), "--dims", dims, "--origin",
                       origin if origin == "min" else ",".join(origin))
            yield options, cells, dims, corner

    def distance2_to_center(self, index, cell, options, dims, corner):
        sizes = options[1].split(",")
        total = Fraction(0)
        for d in range(3 if dims == "xyz" else 2):
            size = exact(sizes[d if len(sizes) > 1 else 0])
            world = exact(self.las.scale[d]) * int(self.las.raw[index, d]) + exact(self.las.offset[d])
            total += (world - (corner[d] + (cell[d] + Fraction(1, 2)) * size)) ** 2
        return total

    def distance2_to_mean(self, index, points, dims):
        """Of a point to the mean of `points`, times a constant, in columns level; the three scales are the same here."""
        axes = range(3 if dims == "xyz" else 2)
        sums = [int(self.las.raw[points, d].astype(object).sum()) for d in axes]
        return sum((len(points) * int(self.las.raw[index, d]) - sums[d]) ** 2 for d in axes)

    def expect_kept(self, name, kept):
        self.assertEqual(Las(self.path(name)).bytes, self.las.records[sorted(kept)].tobytes())

    def test_thin_keeps_whole_records(self):
        z = self.las.raw[:, 2]
        for options, cells, dims, corner in self.grids():
            with self.subTest(grid=options):
                members = members_of(cells)
                scores = {
                    "first": lambda i, cell: 0,
                    "lowest": lambda i, cell: int(z[i]),
                    "highest": lambda i, cell: -int(z[i]),
                    "center": lambda i, cell: self.distance2_to_center(i, cell, options, dims, corner),
                    "nearest-centroid": lambda i, cell: self.distance2_to_mean(i, members[cell], dims),
                    "random": lambda i, cell: cell_random(5, cell, i),
                }
                for policy, score in scores.items():
                    ranked = {cell: sorted(points, key=lambda i: (score(i, cell), i)) for cell, points in members.items()}
                    for most in (1, 3):
                        result = self.result("thin", "scene.las", "-o", "out.las", "--overwrite", "--keep", policy, "--seed",
                                             5, "--max-per-cell", most, *options)
                        self.assertEqual(result["cells"], len(members))
                        with self.subTest(policy=policy, most=most):
                            self.expect_kept("out.las", [i for points in ranked.values() for i in points[:most]])

    def test_centroids(self):
        for options, cells, dims, corner in self.grids():
            with self.subTest(grid=options):
                members = members_of(cells)
                result = self.result("thin", "scene.las", "-o", "out.las", "--overwrite", "--keep", "centroid", *options,
                                     "--attribute", "intensity=mean", "--attribute", "classification=mode", "--attribute",
                                     "gps_time=max", "--attribute", "return_number=min")
                self.assertEqual(result["points_merged"], self.las.count - len(members))
                out = Las(self.path("out.las"))
                self.assertEqual(out.count, len(members))
                intensity, classes, times, numbers = (self.las.intensity, self.las.classification,
                                                      self.las.column(22, "<f8"), self.las.return_number)
                for row, points in enumerate(members.values()):
                    mean = [half_even(self.las.raw[points, d].astype(object).sum(), len(points)) for d in range(3)]
                    self.assertEqual(out.raw[row].tolist(), mean)
                    self.assertEqual(int(out.intensity[row]), half_even(intensity[points].astype(object).sum(), len(points)))
                    counts = collections.Counter(classes[points].tolist())
                    self.assertEqual(int(out.classification[row]), min(counts, key=lambda c: (-counts[c], c)))
                    self.assertEqual(out.column(22, "<f8")[row], times[points].max())
                    self.assertEqual(int(out.return_number[row]), int(numbers[points].min()))
                    # What no rule is for comes from the record nearest to the centroid.
                    nearest = min(points, key=lambda i: (self.distance2_to_mean(i, points, dims), i))
                    self.assertEqual(out.column(18, "<i2")[row], self.las.column(18, "<i2")[nearest])

    def test_bin(self):
        for options, cells, dims, _ in self.grids():
            with self.subTest(grid=options):
                keys = {"row-major": row_major(cells), "morton": morton(cells, dims)}
                for order in ("row-major", "morton", "hilbert"):
                    result = self.result("bin", "scene.las", "-o", "out.las", "--cells", "table.csv", "--overwrite", "--order",
                                         order, *options)
                    out = Las(self.path("out.las"))
                    with open(self.path("table.csv"), newline="") as file:
                        rows = list(csv.reader(file))
                    self.assertEqual(rows[0], ["ix", "iy", "iz", "first", "count"])
                    table = [tuple(map(int, row)) for row in rows[1:]]
                    self.assertEqual(len(table), result["cells"])
                    self.assertEqual(collections.Counter(cells), {row[:3]: row[4] for row in table})
                    self.assertEqual([row[3] for row in table],
                                     np.concatenate(([0], np.cumsum([row[4] for row in table])[:-1])).tolist())
                    members = members_of(cells)
                    self.assertEqual(out.bytes, self.las.records[[i for row in table for i in members[row[:3]]]].tobytes())
                    if order in keys:
                        permutation = sorted(range(self.las.count), key=lambda i: (keys[order][i], i))
                        self.assertEqual(out.bytes, self.las.records[permutation].tobytes())

    def test_reported_origin(self):
        lowest = self.las.raw.min(axis=0)
        done = self.run_program("bin", "scene.las", "-o", "o.las", "--cell", "5", "--origin", "min", "--json", "--where",
                                "classification == 2").stdout.decode()
        expected = [exact(self.las.scale[d]) * int(lowest[d]) + exact(self.las.offset[d]) for d in range(3)]
        line = next(line for line in done.splitlines() if '"origin"' in line)
        numbers = line[line.index("[") + 1:line.index("]")].split(",")
        self.assertEqual([Fraction(number.strip()) for number in numbers], expected)

    def test_doubles_would_go_wrong(self):
        # 5.300 m at 0.1 m is cell 53; in doubles 5.3 / 0.1 is 52.99999999999999.
        cli.write_las(self.path("p.las"), [(5300, 0, 0), (5299, 0, 0), (-100, -1, 0)], scale=(0.001, 0.001, 0.001))
        self.run_program("bin", "p.las", "-o", "o.las", "--cell", "0.1", "--cells", "-", "--quiet")
        table = self.run_program("bin", "p.las", "-o", "o.las", "--cell", "0.1", "--cells", "-", "--quiet", "--overwrite")
        self.assertEqual(table.stdout.decode().split(),
                         ["ix,iy,iz,first,count", "-1,-1,0,0,1", "52,0,0,1,1", "53,0,0,2,1"])

    def test_thinning_twice_changes_nothing(self):
        for policy in ("first", "lowest", "highest", "center", "random", "centroid", "nearest-centroid"):
            for more in ((), ("--max-per-cell", "2")):
                if policy == "centroid" and more:
                    continue
                self.run_program("thin", "scene.las", "-o", "once.las", "--cell", "1", "--keep", policy, "--overwrite",
                                 *more)
                self.run_program("thin", "once.las", "-o", "twice.las", "--cell", "1", "--keep", policy, "--overwrite",
                                 *more)
                # Random choices are keyed by the index in the input, so of several points others may come.
                if policy == "centroid" or not (policy == "random" and more):
                    self.assertEqual((self.folder / "once.las").read_bytes(), (self.folder / "twice.las").read_bytes(),
                                     policy)

    def test_cropping_and_binning_commute(self):
        w = self.las.world
        crop = ("--box", ",".join(repr(float(v)) for v in (*np.percentile(w, 30, axis=0)[:2], *np.percentile(w, 70, axis=0)[:2])))
        bins = ("--cell", "2", "--origin", "0.5,0,0")
        self.run_program("filter", "scene.las", "-o", "crop.las", *crop)
        self.run_program("bin", "crop.las", "-o", "crop-bin.las", *bins)
        self.run_program("bin", "scene.las", "-o", "bin.las", *bins)
        self.run_program("filter", "bin.las", "-o", "bin-crop.las", *crop)
        self.run_program("bin", "scene.las", "-o", "both.las", *bins, *crop)
        self.assertGreater(Las(self.path("crop.las")).count, 100)
        contents = {(self.folder / name).read_bytes() for name in ("crop-bin.las", "bin-crop.las", "both.las")}
        self.assertEqual(len(contents), 1)

    def test_cells_beyond_64_bits_are_refused(self):
        big = 2**31 - 1
        cli.write_las(self.path("wide.las"), [(-big, -big, -big), (big, big, big)], scale=(1.0, 1.0, 1.0))
        for order in ("row-major", "morton", "hilbert"):
            message = self.refused("bin", "wide.las", "-o", "out.las", "--cell", "0.5", "--order", order, status=1)
            self.assertIn("64", message)
        self.run_program("bin", "wide.las", "-o", "out.las", "--cell", "4096")

    def test_two_inputs_are_one_cloud(self):
        self.scene("airborne", 6000, 12, "other.las")
        self.run_program("filter", "scene.las", "other.las", "-o", "joined.las")
        for command in (("thin", "--cell", "2", "--keep", "random", "--max-per-cell", "2"),
                        ("bin", "--cell", "2", "--origin", "min")):
            self.run_program(*command, "scene.las", "other.las", "-o", "a.las", "--overwrite")
            self.run_program(*command, "joined.las", "-o", "b.las", "--overwrite")
            self.assertEqual(Las(self.path("a.las")).bytes, Las(self.path("b.las")).bytes)


if __name__ == "__main__":
    cli.main()
