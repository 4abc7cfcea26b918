// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/region_reach.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/clouds.hpp"

namespace sluice {
namespace {

using test::Dice;

CoordinateFrame world_frame() { return {}; }

CoordinateFrame lattice_frame(double scale, double offset) {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  for (int d = 0; d < 3; ++d) {
    frame.scale[d] = d == 1 ? -scale : scale;
    frame.offset[d] = offset;
  }
  return frame;
}

/// Whether the evaluator keeps a point; on a lattice the one nearest to it, which `point` becomes.
class Judge {
 public:
  Judge(const std::vector<Region>& regions, const CoordinateFrame& frame) : frame_(frame) {
    Selection selection;
    selection.regions = regions;
    program_ = build_predicate(selection, Schema{}, frame);
  }
  bool keeps(double (&point)[3]) const {
    Positions positions = frame_.positions(nullptr, 0);
    Position position{};
    for (int d = 0; d < 3; ++d) {
      position.world[d] = point[d];
      if (frame_.kind != CoordinateKind::kLattice) continue;
      position.raw[d] = static_cast<std::int32_t>(std::lround((point[d] - frame_.offset[d]) / frame_.scale[d]));
      point[d] = to_world(position.raw[d], frame_.scale[d], frame_.offset[d]);
    }
    return evaluate(program_.view(nullptr), positions, position, 0, 0) == Verdict::kKept;
  }

 private:
  CoordinateFrame frame_;
  PredicateProgram program_;
};

double within(Dice& dice, double low, double high) { return low + (high - low) * dice.unit(); }

/// A box of any size around a place within 60 of `middle`, often flat.
Box random_box(Dice& dice, double middle) {
  Box box;
  const double size = std::ldexp(1.0, static_cast<int>(dice.between(-6, 6)));
  for (int d = 0; d < 3; ++d) {
    box.min[d] = middle + within(dice, -60.0, 60.0);
    box.max[d] = box.min[d] + (dice.between(0, 7) == 0 ? 0.0 : size * dice.unit());
  }
  return box;
}

/// Places where it is close: corners, faces, and just anywhere.
void random_point(Dice& dice, const Box& box, double (&point)[3]) {
  for (int d = 0; d < 3; ++d) {
    const auto choice = dice.between(0, 3);
    point[d] = choice == 0 ? box.min[d] : choice == 1 ? box.max[d] : within(dice, box.min[d], box.max[d]);
  }
}

Polygon random_polygon(Dice& dice, double middle) {
  Polygon polygon;
  for (std::int64_t rings = dice.between(1, 3); rings > 0; --rings) {
    auto& ring = polygon.rings.emplace_back();
    // Whole numbers make level edges and vertices at the same height.
    const bool whole = dice.between(0, 1) == 0;
    for (std::int64_t n = dice.between(3, 9); n > 0; --n) {
      const double x = within(dice, -50.0, 50.0);
      const double y = within(dice, -50.0, 50.0);
      ring.push_back(
          {middle + (whole ? std::round(x / 10.0) * 10.0 : x), middle + (whole ? std::round(y / 10.0) * 10.0 : y)});
    }
  }
  return polygon;
}

struct Maker {
  const char* name;
  std::function<Region(Dice&, double middle)> make;
};

const std::vector<Maker>& makers() {
  const auto place = [](Dice& dice, double middle, double(&out)[3]) {
    for (double& c : out) c = middle + within(dice, -50.0, 50.0);
  };
  static const std::vector<Maker> all = {
      {"box",
       [=](Dice& dice, double middle) {
         Box box;
         place(dice, middle, box.min);
         for (int d = 0; d < 3; ++d) box.max[d] = box.min[d] + within(dice, 0.0, 30.0);
         if (dice.between(0, 3) == 0) box.max[dice.between(0, 2)] = kInfinity;
         return Region(box);
       }},
      {"oriented box",
       [=](Dice& dice, double middle) {
         OrientedBox box;
         place(dice, middle, box.center);
         for (double& length : box.length) length = within(dice, 0.0, 50.0);
         box.yaw = within(dice, -180.0, 180.0);
         box.pitch = within(dice, -90.0, 90.0);
         box.roll = within(dice, -180.0, 180.0);
         return Region(box);
       }},
      {"sphere",
       [=](Dice& dice, double middle) {
         Sphere sphere;
         place(dice, middle, sphere.center);
         sphere.radius = within(dice, 0.0, 30.0);
         return Region(sphere);
       }},
      {"cylinder",
       [=](Dice& dice, double middle) {
         Cylinder cylinder;
         double at[3];
         place(dice, middle, at);
         cylinder.center[0] = at[0];
         cylinder.center[1] = at[1];
         cylinder.radius = within(dice, 0.0, 30.0);
         if (dice.between(0, 1) == 0) {
           cylinder.z_min = at[2];
           cylinder.z_max = at[2] + 20.0;
         }
         return Region(cylinder);
       }},
      {"polygon", [](Dice& dice, double middle) { return Region(random_polygon(dice, middle)); }},
      {"half-space",
       [=](Dice& dice, double middle) {
         HalfSpace plane;
         double at[3];
         place(dice, middle, at);
         plane.offset = 0.0;
         for (int d = 0; d < 3; ++d) {
           plane.normal[d] = dice.between(0, 4) == 0 ? 0.0 : within(dice, -1.0, 1.0);
           plane.offset -= plane.normal[d] * at[d];
         }
         return Region(plane);
       }},
      {"frustum",
       [=](Dice& dice, double middle) {
         Frustum frustum;
         double at[3];
         place(dice, middle, at);
         for (int i = 0; i < 4; ++i) {
           HalfSpace plane;
           plane.offset = within(dice, 0.0, 20.0);
           for (int d = 0; d < 3; ++d) {
             plane.normal[d] = within(dice, -1.0, 1.0);
             plane.offset -= plane.normal[d] * at[d];
           }
           frustum.planes.push_back(plane);
         }
         return Region(frustum);
       }},
      {"range",
       [=](Dice& dice, double middle) {
         RangeRing ring;
         place(dice, middle, ring.center);
         ring.min = within(dice, 0.0, 40.0);
         ring.max = dice.between(0, 3) == 0 ? kInfinity : ring.min + within(dice, 0.0, 20.0);
         return Region(ring);
       }},
      {"sector",
       [=](Dice& dice, double middle) {
         Sector sector;
         place(dice, middle, sector.center);
         const double width[] = {0.0, 20.0, 89.0, 90.0, 170.0, 180.0, 200.0, 359.0};
         sector.az0 = std::round(within(dice, -36.0, 36.0)) * 10.0;
         sector.az1 = sector.az0 + width[dice.between(0, 7)];
         if (dice.between(0, 1) == 0) {
           sector.el0 = within(dice, -90.0, 60.0);
           sector.el1 = sector.el0 + within(dice, 0.0, 30.0);
         }
         return Region(sector);
       }},
  };
  return all;
}

TEST(RegionReach, WhateverIsKeptIsReached) {
  const std::vector<CoordinateFrame> frames = {world_frame(), lattice_frame(0.01, 3.0), lattice_frame(0.5, 0.0),
                                               lattice_frame(0.001, 6543210.0)};
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    Dice dice(7);
    std::uint64_t kept = 0;
    std::uint64_t missed = 0;
    for (int round = 0; round < 6000; ++round) {
      const CoordinateFrame& frame = frames[static_cast<std::size_t>(round) % frames.size()];
      const double middle = frame.offset[0];
      std::vector<Region> regions{maker.make(dice, middle)};
      if (round % 5 == 0) regions.push_back(maker.make(dice, middle));
      const Judge judge(regions, frame);
      const RegionReach reach(regions, frame);
      for (int boxes = 0; boxes < 4; ++boxes) {
        Box box = random_box(dice, middle);
        double points[12][3];
        bool keeps = false;
        for (auto& point : points) {
          random_point(dice, box, point);
          keeps = judge.keeps(point) || keeps;
        }
        for (const auto& point : points) {
          // On a lattice they moved.
          for (int d = 0; d < 3; ++d) {
            box.min[d] = std::min(box.min[d], point[d]);
            box.max[d] = std::max(box.max[d], point[d]);
          }
        }
        const bool reached = reach.reaches(box);
        ASSERT_TRUE(reached || !keeps) << "round " << round;
        kept += keeps ? 1 : 0;
        missed += reached ? 0 : 1;
      }
    }
    EXPECT_GT(kept, 100U);
    EXPECT_GT(missed, 3000U);
  }
}

/// A kept point right at the border, and boxes that touch it with a corner from outside.
TEST(RegionReach, BordersAreReached) {
  const std::vector<CoordinateFrame> frames = {world_frame(), lattice_frame(0.01, 3.0),
                                               lattice_frame(0.001, 6543210.0)};
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    Dice dice(13);
    int found = 0;
    for (int round = 0; round < 60000 && found < 3000; ++round) {
      const CoordinateFrame& frame = frames[static_cast<std::size_t>(round) % frames.size()];
      const double middle = frame.offset[0];
      const std::vector<Region> regions{maker.make(dice, middle)};
      const Judge judge(regions, frame);
      double inside[3];
      double outside[3];
      for (int d = 0; d < 3; ++d) {
        inside[d] = middle + within(dice, -60.0, 60.0);
        outside[d] = middle + within(dice, -60.0, 60.0);
      }
      // One that differs in some coordinates only, so that faces are met too.
      for (int d = 0; d < 3; ++d) outside[d] = dice.between(0, 1) == 0 ? inside[d] : outside[d];
      if (!judge.keeps(inside) || judge.keeps(outside)) continue;
      ++found;
      for (int i = 0; i < 64; ++i) {
        double half[3];
        for (int d = 0; d < 3; ++d) half[d] = 0.5 * inside[d] + 0.5 * outside[d];
        std::copy_n(half, 3, judge.keeps(half) ? inside : outside);
      }
      const RegionReach reach(regions, frame);
      Box box;
      Box point;
      for (int d = 0; d < 3; ++d) {
        const double away = outside[d] + (outside[d] - inside[d]) * 1e6;
        point.min[d] = point.max[d] = inside[d];
        box.min[d] = std::min(inside[d], away);
        box.max[d] = std::max(inside[d], away);
      }
      ASSERT_TRUE(reach.reaches(point)) << round;
      ASSERT_TRUE(reach.reaches(box)) << round;
    }
    EXPECT_GT(found, 100);
  }
}

/// How many small boxes that hold no kept point are said to be reached, of all such.
TEST(RegionReach, FewBoxesAreReachedInVain) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    Dice dice(11);
    int empty = 0;
    int in_vain = 0;
    for (int round = 0; round < 300; ++round) {
      const std::vector<Region> regions{maker.make(dice, 0.0)};
      const Judge judge(regions, world_frame());
      const RegionReach reach(regions, world_frame());
      for (int boxes = 0; boxes < 10; ++boxes) {
        Box box;
        for (int d = 0; d < 3; ++d) {
          box.min[d] = within(dice, -60.0, 60.0);
          box.max[d] = box.min[d] + 2.0;
        }
        bool keeps = false;
        for (int i = 0; i < 9 * 9 * 9 && !keeps; ++i) {
          double point[3] = {box.min[0] + 0.25 * (i % 9), box.min[1] + 0.25 * (i / 9 % 9),
                             box.min[2] + 0.25 * (i / 81)};
          keeps = judge.keeps(point);
        }
        if (keeps) continue;
        ++empty;
        in_vain += reach.reaches(box) ? 1 : 0;
      }
    }
    EXPECT_GT(empty, 300);
    EXPECT_LT(in_vain * 25, empty) << in_vain << " of " << empty;
  }
}

Box cube(double low, double high) { return {{low, low, low}, {high, high, high}}; }

bool reached(const Region& region, const Box& box, const CoordinateFrame& frame = world_frame()) {
  return RegionReach({region}, frame).reaches(box);
}

TEST(RegionReach, FacesThatTouchAreReached) {
  EXPECT_TRUE(reached(cube(0.0, 1.0), cube(1.0, 2.0)));
  EXPECT_FALSE(reached(cube(0.0, 1.0), cube(1.0 + 1e-9, 2.0)));
  EXPECT_TRUE(reached(Sphere{{0.0, 0.0, 0.0}, 1.0}, Box{{1.0, -1.0, -1.0}, {2.0, 1.0, 1.0}}));
  EXPECT_FALSE(reached(Sphere{{0.0, 0.0, 0.0}, 1.0}, cube(0.6, 1.0)));
  // Within 1/100 of a step a bound means the step.
  const CoordinateFrame frame = lattice_frame(0.01, 0.0);
  EXPECT_TRUE(reached(cube(0.0, 0.9999), cube(1.0, 2.0), frame));
  EXPECT_FALSE(reached(cube(0.0, 0.98), cube(1.0, 2.0), frame));
}

TEST(RegionReach, InsidesOfPolygons) {
  // A square with a hole, and a comb of level edges to the right.
  const Polygon polygon{{{{0, 0}, {100, 0}, {100, 100}, {0, 100}},
                         {{40, 40}, {60, 40}, {60, 60}, {40, 60}},
                         {{200, 0}, {210, 0}, {210, 10}, {200, 10}}}};
  EXPECT_TRUE(reached(polygon, cube(10, 20)));
  EXPECT_FALSE(reached(polygon, cube(45, 55)));
  EXPECT_TRUE(reached(polygon, cube(35, 45)));
  EXPECT_TRUE(reached(polygon, cube(-50, 300)));
  EXPECT_FALSE(reached(polygon, Box{{120, 1, 0}, {180, 9, 0}}));
  EXPECT_FALSE(reached(polygon, Box{{-20, 0, 0}, {-1, 100, 0}}));
  // Only level edges meet the box, and its corners are all outside.
  const Polygon strip{{{{-1000, 4}, {1000, 4}, {1000, 6}, {-1000, 6}}}};
  EXPECT_TRUE(reached(strip, cube(0, 10)));
  EXPECT_FALSE(reached(strip, cube(7, 10)));
  EXPECT_FALSE(reached(Polygon{}, cube(0, 1)));
}

TEST(RegionReach, PolygonsOfManyVertices) {
  Polygon circle;
  auto& ring = circle.rings.emplace_back();
  for (int i = 0; i < 1000; ++i) {
    const double turn = i * 2.0 * 3.14159265358979323846 / 1000;
    ring.push_back({100.0 * std::cos(turn), 100.0 * std::sin(turn)});
  }
  const RegionReach reach({circle}, world_frame());
  Dice dice(3);
  for (int i = 0; i < 20000; ++i) {
    Box box = cube(0.0, 0.0);
    double nearest = 0.0;
    for (int d = 0; d < 2; ++d) {
      box.min[d] = within(dice, -130.0, 130.0);
      box.max[d] = box.min[d] + 5.0 * dice.unit();
      const double gap = std::max({box.min[d], -box.max[d], 0.0});
      nearest += gap * gap;
    }
    // Between the circle and the polygon in it either answer is right.
    if (std::sqrt(nearest) > 99.99 && std::sqrt(nearest) < 100.01) continue;
    ASSERT_EQ(reach.reaches(box), std::sqrt(nearest) < 100.0);
  }
}

TEST(RegionReach, AnyNumbersAtAll) {
  EXPECT_TRUE(RegionReach({}, world_frame()).reaches(cube(0.0, 1.0)));
  const double odd[] = {0.0,
                        -0.0,
                        1e-320,
                        1e300,
                        -1e300,
                        std::numeric_limits<double>::max(),
                        -1e140,
                        1e140,
                        kInfinity,
                        -kInfinity,
                        std::numeric_limits<double>::quiet_NaN()};
  Dice dice(5);
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.name);
    for (int round = 0; round < 2000; ++round) {
      const std::vector<Region> regions{maker.make(dice, round % 3 == 0 ? 1e130 : 0.0)};
      const RegionReach reach(regions, world_frame());
      const Judge judge(regions, world_frame());
      Box box;
      bool finite = true;
      for (int d = 0; d < 3; ++d) {
        box.min[d] = odd[dice.between(0, 10)];
        box.max[d] = odd[dice.between(0, 10)];
        finite = finite && std::isfinite(box.min[d]) && std::isfinite(box.max[d]);
        if (box.min[d] > box.max[d]) std::swap(box.min[d], box.max[d]);
      }
      const bool reached = reach.reaches(box);
      if (!finite) {
        ASSERT_TRUE(reached);
        continue;
      }
      for (int i = 0; i < 8; ++i) {
        double point[3];
        random_point(dice, box, point);
        ASSERT_TRUE(reached || !judge.keeps(point)) << round;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
