#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every region and condition against numpy over the stored integers."""

import json
import math

import cli
from cli import CliTest, Las, np


def box(las, low, high):
    """Decided on the lattice: bounds to the next lattice number inside, unless one is within 1/100 of a step."""
    inside = np.ones(las.count, bool)
    for axis in range(3):
        raw = las.raw[:, axis].astype(np.int64)
        for bound, upper in ((low[axis], False), (high[axis], True)):
            if math.isinf(bound):
                continue
            place = (bound - las.offset[axis]) / las.scale[axis]
            near = round(place)
            if abs(place - near) <= 0.01:
                limit = near
            else:
                limit = math.floor(place) if upper else math.ceil(place)
            inside &= raw <= limit if upper else raw >= limit
    return inside


def distance2(las, center):
    d = las.world - np.array(center)
    return (d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1]) + d[:, 2] * d[:, 2]


def polygon(las, rings):
    """Even-odd by ray casting with exact integers: vertices are multiples of the scale here."""
    px = las.raw[:, 0].astype(object)
    py = las.raw[:, 1].astype(object)
    inside = np.zeros(las.count, bool)
    for ring in rings:
        vertices = [(round((x - las.offset[0]) / las.scale[0]), round((y - las.offset[1]) / las.scale[1])) for x, y in ring]
        for (x0, y0), (x1, y1) in zip(vertices, vertices[1:] + vertices[:1]):
            if y0 == y1:
                continue
            if y0 > y1:
                x0, y0, x1, y1 = x1, y1, x0, y0
            spans = (py >= y0) & (py < y1)
            left = (px - x0) * (y1 - y0) < (x1 - x0) * (py - y0)
            inside ^= (spans & left).astype(bool)
    return inside


@cli.needs_numpy
class Regions(CliTest):
    def setUp(self):
        super().setUp()
        self.scene("airborne", 12000, 4)
        self.las = Las(self.path("scene.las"))
        self.low = self.las.world.min(axis=0)
        self.size = self.las.world.max(axis=0) - self.low
        self.middle = self.low + 0.5 * self.size
        self.middle[2] = self.height(50)  # where points are, whatever flies above

    def height(self, percent):
        return float(np.percentile(self.las.world[:, 2], percent))

    def check(self, inside, *options):
        """The program keeps the points that numpy keeps, in their order, and rejects the others."""
        self.run_program("filter", "scene.las", "-o", "out.las", "--rejected", "rest.las", "--overwrite", *options)
        self.assertGreater(inside.sum(), 0, "the test must select something")
        self.assertLess(inside.sum(), self.las.count, "and not everything")
        self.assertEqual(Las(self.path("out.las")).bytes, self.las.records[inside].tobytes(), options)
        self.assertEqual(Las(self.path("rest.las")).bytes, self.las.records[~inside].tobytes(), options)
        self.run_program("filter", "scene.las", "-o", "inverse.las", "--invert", "--overwrite", *options)
        self.assertEqual(Las(self.path("inverse.las")).bytes, Las(self.path("rest.las")).bytes)

    def listed(self, *numbers):
        return ",".join(repr(float(n)) for n in numbers)

    def test_box(self):
        low = self.low + 0.2 * self.size
        high = self.low + 0.7 * self.size
        low[2], high[2] = self.height(20), self.height(70)
        infinite = float("inf")
        self.check(box(self.las, (low[0], low[1], -infinite), (high[0], high[1], infinite)), "--box",
                   self.listed(low[0], low[1], high[0], high[1]))
        self.check(box(self.las, low, high), "--box=" + self.listed(*low, *high))
        # Faces that are coordinates of points keep those points, typed or as doubles print.
        corners = np.sort(self.las.world[[100, 9000]], axis=0)
        expected = box(self.las, (corners[0][0], corners[0][1], -infinite), (corners[1][0], corners[1][1], infinite))
        self.assertTrue(expected[100] and expected[9000])
        self.check(expected, "--box", self.listed(*corners[0][:2], *corners[1][:2]))
        typed = [f"{v:.3f}" for v in (*corners[0][:2], *corners[1][:2])]
        self.check(expected, "--box", ",".join(typed))
        self.check(box(self.las, (-infinite, low[1], -infinite), (high[0], infinite, infinite)), "--box",
                   f"-inf,{float(low[1])!r},{float(high[0])!r},inf")

    def test_several_regions_are_joined(self):
        a = self.low + 0.3 * self.size
        b = self.low + 0.6 * self.size
        a[2] = b[2] = self.middle[2]
        expected = (distance2(self.las, a) <= 36.0) | (distance2(self.las, b) <= 49.0)
        self.check(expected, "--sphere", self.listed(*a, 6), "--sphere", self.listed(*b, 7))

    def test_sphere_and_range(self):
        radius = 0.3 * self.size[0]
        self.check(distance2(self.las, self.middle) <= radius * radius, "--sphere", self.listed(*self.middle, radius))
        d2 = distance2(self.las, self.middle)
        self.check((d2 >= 25.0) & (d2 <= 144.0), "--range", self.listed(5, 12, *self.middle))
        self.check(d2 >= 100.0, "--range", "10,inf," + self.listed(*self.middle))

    def test_a_point_at_exactly_the_radius_is_inside(self):
        cli.write_las(self.path("exact.las"), [(0, 0, 0), (300, 400, 0), (300, 401, 0), (0, 0, 500), (0, 0, 501)],
                      scale=(0.01, 0.01, 0.01))
        self.run_program("filter", "exact.las", "-o", "e.las", "--sphere", "0,0,0,5")
        self.assertEqual([tuple(row) for row in Las(self.path("e.las")).raw.tolist()],
                         [(0, 0, 0), (300, 400, 0), (0, 0, 500)])
        self.run_program("filter", "exact.las", "-o", "e.las", "--cylinder", "0,0,5,0,5", "--overwrite")
        self.assertEqual(Las(self.path("e.las")).count, 3)

    def test_cylinder(self):
        d = self.las.world[:, :2] - self.middle[:2]
        disc = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] <= 121.0
        self.check(disc, "--cylinder", self.listed(*self.middle[:2], 11))
        z = (self.height(10), self.height(60))
        infinite = float("inf")
        heights = box(self.las, (-infinite, -infinite, z[0]), (infinite, infinite, z[1]))
        self.check(disc & heights, "--cylinder", self.listed(*self.middle[:2], 11, *z))

    def test_turned_box(self):
        yaw, pitch, roll = 30.0, -10.0, 5.0
        lengths = (20.3, 14.2, 30.1)
        c, s = np.cos(np.radians([yaw, pitch, roll])), np.sin(np.radians([yaw, pitch, roll]))
        about_z = np.array([[c[0], -s[0], 0], [s[0], c[0], 0], [0, 0, 1]])
        about_y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
        about_x = np.array([[1, 0, 0], [0, c[2], -s[2]], [0, s[2], c[2]]])
        for turned, angles in ((about_z, (yaw,)), (about_z @ about_y @ about_x, (yaw, pitch, roll))):
            local = (self.las.world - self.middle) @ turned
            self.assertGreater(np.abs(np.abs(local) - 0.5 * np.array(lengths)).min(), 1e-9, "no point may be on a face")
            self.check((np.abs(local) <= 0.5 * np.array(lengths)).all(axis=1), "--obb",
                       self.listed(*self.middle, *lengths, *angles))

    def test_half_space(self):
        n = (0.6, -0.8, 0.3)
        offset = -float(np.dot(n, self.middle))
        w = self.las.world
        value = ((n[0] * w[:, 0] + n[1] * w[:, 1]) + n[2] * w[:, 2]) + offset
        self.check(value >= 0.0, "--halfspace", self.listed(*n, offset))

    def test_sector(self):
        d = self.las.world - self.middle
        azimuth = np.degrees(np.arctan2(d[:, 1], d[:, 0])) % 360.0
        elevation = np.degrees(np.arctan2(d[:, 2], np.hypot(d[:, 0], d[:, 1])))
        center = self.listed(*self.middle)
        self.check((azimuth >= 20.1) & (azimuth <= 100.3), "--sector", f"20.1,100.3,-90,90,{center}")
        self.check((azimuth >= 300.2) | (azimuth <= 45.7), "--sector", f"300.2,45.7,-90,90,{center}")
        self.check((azimuth >= 10.1) & (azimuth <= 290.9), "--sector", f"10.1,290.9,-90,90,{center}")
        self.check((elevation >= -20.3) & (elevation <= 15.1), "--sector", f"0,360,-20.3,15.1,{center}")
        self.check((azimuth >= 20.1) & (azimuth <= 100.3) & (elevation >= -10.3) & (elevation <= 5.1), "--sector",
                   f"20.1,100.3,-10.3,5.1,{center}")

    def test_polygons(self):
        def at(*shares):
            return [tuple(np.round((self.low[:2] + np.array(share) * self.size[:2]), 3)) for share in shares]

        outer = at((0.1, 0.1), (0.9, 0.2), (0.8, 0.9), (0.5, 0.5), (0.2, 0.8))
        hole = at((0.3, 0.2), (0.6, 0.3), (0.4, 0.4))
        other = at((0.85, 0.6), (0.99, 0.6), (0.99, 0.9))
        crossing = at((0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9))

        def wkt_ring(ring):
            return "(" + ", ".join(f"{x} {y}" for x, y in [*ring, ring[0]]) + ")"

        def json_ring(ring):
            return [[float(x), float(y)] for x, y in [*ring, ring[0]]]

        holed = f"POLYGON ({wkt_ring(outer)}, {wkt_ring(hole)})"
        self.check(polygon(self.las, [outer, hole]), "--polygon", holed)
        self.check(polygon(self.las, [crossing]), "--polygon", f"polygon({wkt_ring(crossing)})")
        self.check(polygon(self.las, [outer, hole, other]), "--polygon",
                   f"MULTIPOLYGON(({wkt_ring(outer)},{wkt_ring(hole)}),({wkt_ring(other)}))")
        (self.folder / "parcel.wkt").write_text(holed + "\n")
        self.check(polygon(self.las, [outer, hole]), "--polygon", "parcel.wkt")
        geometry = {"type": "Polygon", "coordinates": [json_ring(outer), json_ring(hole)]}
        feature = {"type": "Feature", "properties": {}, "geometry": geometry}
        (self.folder / "parcel.geojson").write_text(json.dumps(feature))
        self.check(polygon(self.las, [outer, hole]), "--polygon", "parcel.geojson")
        collection = {"type": "FeatureCollection", "features": [
            feature, {"type": "Feature", "properties": None, "geometry": {"type": "Polygon", "coordinates": [json_ring(crossing)]}}]}
        (self.folder / "parcels.json").write_text(json.dumps(collection))
        self.check(polygon(self.las, [outer, hole]) | polygon(self.las, [crossing]), "--polygon", "parcels.json")
        # Vertices that are points, and edges through them.
        a, b, c, d = (tuple(self.las.world[i][:2]) for i in (10, 4000, 8000, 11900))
        for triangle in ((a, b, c), (a, c, d)):
            expected = polygon(self.las, [list(triangle)])
            self.check(expected, "--polygon", f"POLYGON({wkt_ring([tuple(map(float, v)) for v in triangle])})")
        self.run_program("filter", "scene.las", "-o", "none.las", "--polygon", "POLYGON EMPTY")
        self.assertEqual(Las(self.path("none.las")).count, 0)

    def test_where(self):
        las = self.las
        height = round(self.height(40), 3)
        z = box(las, (-math.inf, -math.inf, height), (math.inf, math.inf, math.inf))
        for text, expected in (
            ("classification in (2,6)", np.isin(las.classification, (2, 6))),
            ("Classification == 2 || INTENSITY > 30000", (las.classification == 2) | (las.intensity > 30000)),
            ("return_number == number_of_returns", las.return_number == las.returns),
            ("!(return_number != 1) && intensity <= 20000", (las.return_number == 1) & (las.intensity <= 20000)),
            (f"100.5 < intensity && z >= {height}", (las.intensity > 100) & z),
            ("scan_angle > -0.3", las.column(18, "<i2") * 0.006 > -0.3),
            ("edge_of_flight_line == 1", las.records[:, 15] >> 7 == 1),
            ("gps_time < 300000000.01", las.column(22, "<f8") < 300000000.01),
        ):
            with self.subTest(text=text):
                self.check(expected, "--where", text)
        self.check((las.classification == 2) & (las.intensity > 24000), "--where", "classification == 2", "--where",
                   "intensity > 24000")
        radius = 0.3 * self.size[0]
        self.check((distance2(las, self.middle) <= radius * radius) & (las.classification == 2), "--sphere",
                   self.listed(*self.middle, radius), "--where", "classification == 2")

    def test_every_and_fraction(self):
        self.run_program("filter", "scene.las", "-o", "every.las", "--where", "classification == 2", "--every", "7")
        ground = self.las.records[self.las.classification == 2]
        self.assertEqual(Las(self.path("every.las")).bytes, ground[::7].tobytes())
        result = self.result("filter", "scene.las", "-o", "half.las", "--fraction", "0.5")
        self.assertAlmostEqual(result["points_written"] / self.las.count, 0.5, delta=0.03)
        self.run_program("filter", "scene.las", "-o", "again.las", "--fraction", "0.5", "--seed", "0")
        self.assertEqual((self.folder / "half.las").read_bytes(), (self.folder / "again.las").read_bytes())
        self.run_program("filter", "scene.las", "-o", "other.las", "--fraction", "0.5", "--seed", "1")
        self.assertNotEqual((self.folder / "half.las").read_bytes(), (self.folder / "other.las").read_bytes())
        self.assertEqual(self.result("filter", "scene.las", "-o", "n.las", "--fraction", "0")["points_written"], 0)
        self.assertEqual(self.result("filter", "scene.las", "-o", "a.las", "--fraction", "1")["points_written"],
                         self.las.count)

    def test_zeros_are_dropped_on_demand(self):
        cli.write_las(self.path("zeros.las"), [(1, 2, 3), (0, 0, 0), (0, 0, 1), (0, 0, 0)])
        kept = self.result("filter", "zeros.las", "-o", "kept.las")
        self.assertEqual((kept["points_written"], kept["points_nonfinite"]), (4, 0))
        for more in ((), ("--invert", "--where", "x > 5")):
            dropped = self.result("filter", "zeros.las", "-o", "d.las", "--rejected", "r.las", "--drop-zero",
                                  "--overwrite", *more)
            self.assertEqual((dropped["points_written"], dropped["points_nonfinite"], dropped["points_rejected"]), (2, 2, 0))
            self.assertEqual(Las(self.path("r.las")).count, 0)

    def test_metadata_is_kept(self):
        self.run_program("filter", "scene.las", "-o", "out.las", "--where", "classification == 2")
        out = Las(self.path("out.las"))
        self.assertEqual((out.version, out.point_format, out.record_length), ((1, 4), 6, 30))
        self.assertEqual((out.scale, out.offset), (self.las.scale, self.las.offset))
        self.assertEqual(out.head[26:58], self.las.head[26:58])  # system identifier


if __name__ == "__main__":
    cli.main()
