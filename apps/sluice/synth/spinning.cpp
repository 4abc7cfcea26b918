// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "makers.hpp"
#include "scene_math.hpp"

namespace sluice::synth {

namespace {

constexpr std::uint64_t kColumnsPerTurn = 1800;
constexpr std::uint64_t kColumnsPerBlock = 60;
constexpr double kTurnsPerSecond = 10.0;
constexpr double kColumnsPerSecond = static_cast<double>(kColumnsPerTurn) * kTurnsPerSecond;
constexpr double kSpeed = 8.0;       // of the car along the street, +x first, metres a second
constexpr double kStreet = 1000e3;   // the car turns back at its ends
constexpr double kLeastShare = 0.5;  // of firings that return
constexpr double kSensorHeight = 1.8;
constexpr double kNearest = 1.0;
constexpr double kFarthest = 120.0;
constexpr double kRangeNoise = 0.015;

// The street, on both sides: houses from 12 m on, one lot each kLot metres, poles and parked cars before them.
constexpr double kLot = 16.0;
constexpr double kHouseLine = 12.0;

enum Class : std::uint8_t { kGround = 2, kVegetation = 5, kBuilding = 6, kPole = 15, kVehicle = 1 };

struct Box {
  double min[3], max[3];
  std::uint8_t classification;
};

struct Hit {
  double range = std::numeric_limits<double>::infinity();
  std::uint8_t classification = kGround;
};

/// A few columns of a turn are a block.
class SpinningMaker final : public BlockMaker {
 public:
  SpinningMaker(std::uint64_t points, std::uint64_t seed, int beams) : points_(points), seed_(seed) {
    const double lowest = beams == 64 ? -24.8 : -25.0;
    const double highest = beams == 64 ? 2.0 : 15.0;
    for (int beam = 0; beam < beams; ++beam) {
      beams_.push_back(sin_cos_degrees(lowest + (highest - lowest) * beam / (beams - 1)));
      elevations_.push_back(lowest + (highest - lowest) * beam / (beams - 1));
    }
  }

  void make(std::uint64_t block, std::uint64_t limit, std::vector<Sample>& out) override {
    out.clear();
    for (std::uint64_t i = 0; i < kColumnsPerBlock; ++i) {
      const std::uint64_t column = block * kColumnsPerBlock + i;
      const double time = static_cast<double>(column) / kColumnsPerSecond;
      const double at[3] = {place_at(time), 0.0, kSensorHeight};
      const double azimuth =
          -360.0 * static_cast<double>(column % kColumnsPerTurn) / static_cast<double>(kColumnsPerTurn);
      const SinCos heading = sin_cos_degrees(azimuth);
      // What a whole block may see changes by centimetres, so the boxes are looked up once.
      if (i == 0) gather_boxes(at[0]);
      for (std::size_t beam = 0; beam < beams_.size() && out.size() < limit; ++beam) {
        const double direction[3] = {beams_[beam].cos * heading.cos, beams_[beam].cos * heading.sin, beams_[beam].sin};
        const Hit hit = cast(at, direction);
        Dice dice(seed_, column * beams_.size() + beam);
        // The farther and the darker, the more firings come back without a return.
        const double lost = 0.01 + 0.25 * (hit.range / kFarthest) * (hit.range / kFarthest);
        if (hit.range > kFarthest || dice.chance(lost)) continue;
        const double range = hit.range + kRangeNoise * dice.normal();
        Sample sample;
        sample.x = at[0] + range * direction[0];
        sample.y = at[1] + range * direction[1];
        sample.z = at[2] + range * direction[2];
        sample.gps_time = time;
        sample.scan_angle = elevations_[beam];
        sample.ring = static_cast<std::uint8_t>(beam);
        sample.classification = hit.classification;
        sample.source_id = 1;
        const double brightness = hit.classification == kPole     ? 50000.0
                                  : hit.classification == kGround ? 9000.0
                                                                  : 20000.0;
        sample.intensity = static_cast<std::uint16_t>(
            std::clamp(brightness * (1.0 + 0.2 * dice.normal()) / (1.0 + range / 40.0), 0.0, 65535.0));
        sample.color.fill(sample.intensity);
        out.push_back(sample);
      }
    }
  }

  [[nodiscard]] std::uint64_t most_points() const override { return kColumnsPerBlock * beams_.size(); }

  [[nodiscard]] Extent extent() const override {
    const double firings = static_cast<double>(points_) / kLeastShare + static_cast<double>(most_points());
    const double way = kSpeed * firings / (kColumnsPerSecond * static_cast<double>(beams_.size()));
    const double around = kFarthest + 1.0;
    return {{-around, -around, -1.0}, {std::min(way, kStreet) + around, around, around}};
  }

 private:
  static double place_at(double time) {
    const double way = kSpeed * time;
    const double trip = std::floor(way / kStreet);
    const double gone = way - trip * kStreet;
    return std::fmod(trip, 2.0) == 0.0 ? gone : kStreet - gone;
  }

  void gather_boxes(double x) {
    boxes_.clear();
    const auto from = static_cast<std::int64_t>(std::floor((x - kFarthest) / kLot));
    const auto to = static_cast<std::int64_t>(std::floor((x + kFarthest) / kLot));
    for (std::int64_t lot = from; lot <= to; ++lot) {
      for (const int side : {-1, 1}) {
        Dice dice(mix64(seed_ + 1), place_key(lot, side));
        const double start = static_cast<double>(lot) * kLot;
        const auto add = [&](double x0, double x1, double near_y, double far_y, double z0, double z1,
                             std::uint8_t classification) {
          const double a = side * near_y;
          const double b = side * far_y;
          boxes_.push_back(Box{{start + x0, std::min(a, b), z0}, {start + x1, std::max(a, b), z1}, classification});
        };
        if (dice.chance(0.8)) {
          const double width = dice.between(8.0, kLot);
          const double setback = dice.between(0.0, 4.0);
          add(0.0, width, kHouseLine + setback, kHouseLine + setback + dice.between(6.0, 12.0), 0.0,
              dice.between(4.0, 14.0), kBuilding);
        }
        if (dice.chance(0.5)) {
          const double length = dice.between(3.6, 4.9);
          const double place = dice.between(0.0, kLot - length);
          add(place, place + length, 5.5, 7.3, 0.15, dice.between(1.4, 1.9), kVehicle);
        }
        if (dice.chance(0.35)) {
          const double place = dice.between(0.0, kLot - 0.2);
          add(place, place + 0.2, 8.5, 8.7, 0.0, dice.between(5.0, 8.0), kPole);
        }
        if (dice.chance(0.3)) {
          const double place = dice.between(0.0, kLot - 4.0);
          add(place, place + dice.between(2.0, 4.0), 9.0, 11.5, dice.between(1.8, 2.5), dice.between(4.0, 8.0),
              kVegetation);
        }
      }
    }
  }

  [[nodiscard]] Hit cast(const double at[3], const double direction[3]) const {
    Hit hit;
    if (direction[2] < 0.0) hit = Hit{-at[2] / direction[2], kGround};
    for (const Box& box : boxes_) {
      double enter = kNearest;
      double leave = hit.range;
      for (int d = 0; d < 3 && enter < leave; ++d) {
        if (direction[d] == 0.0) {
          if (at[d] < box.min[d] || at[d] > box.max[d]) leave = -1.0;
          continue;
        }
        const double a = (box.min[d] - at[d]) / direction[d];
        const double b = (box.max[d] - at[d]) / direction[d];
        enter = std::max(enter, std::min(a, b));
        leave = std::min(leave, std::max(a, b));
      }
      if (enter < leave) hit = Hit{enter, box.classification};
    }
    return hit;
  }

  std::uint64_t points_;
  std::uint64_t seed_;
  std::vector<SinCos> beams_;
  std::vector<double> elevations_;
  std::vector<Box> boxes_;
};

}  // namespace

std::unique_ptr<BlockMaker> make_spinning(std::uint64_t points, std::uint64_t seed, int beams) {
  return std::make_unique<SpinningMaker>(points, seed, beams);
}

}  // namespace sluice::synth
