// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "makers.hpp"
#include "scene_math.hpp"

namespace sluice::synth {

namespace {

// The survey. Lengths in metres, times in seconds.
constexpr double kDensity = 8.0;           // points a square metre
constexpr double kReturnsPerPulse = 1.23;  // what the land gives over many kilometres
constexpr double kFlyingHeight = 800.0;
constexpr double kWidestSwath = 500.0;
constexpr double kOverlap = 0.2;  // of a swath with the next
constexpr double kPulseRate = 400e3;
constexpr double kFirstTime = 300e6;  // adjusted standard GPS time
constexpr double kTurn = 120.0;       // from the end of a line to the start of the next
constexpr std::size_t kMostReturns = 5;

// The land.
constexpr double kWaterLevel = 88.0;
constexpr double kLowest = 50.0;  // with noise
constexpr double kHighest = 300.0;
constexpr double kLot = 40.0;         // one building at most on each
constexpr double kTreeCell = 7.0;     // one tree at most on each; crowns stay inside
constexpr double kNoiseShare = 5e-5;  // of pulses that hit a bird or come from nowhere

enum Class : std::uint8_t {
  kGround = 2,
  kLowVegetation = 3,
  kMediumVegetation = 4,
  kHighVegetation = 5,
  kBuilding = 6,
  kLowNoise = 7,
  kWater = 9,
  kHighNoise = 18,
};

struct Building {
  bool there = false;
  double x = 0, y = 0;              // centre
  double along_x = 1, along_y = 0;  // unit vector of the ridge
  double half_length = 0, half_width = 0;
  double eaves = 0;  // height of the roof's edge above zero
  double slope = 0;  // rise of the roof from the edge to the ridge; 0 is flat
};

struct Tree {
  bool there = false;
  double x = 0, y = 0, radius = 1, height = 0, ground = 0;
};

/// What is remembered of a place is a function of the place, so that it does not matter what was asked before.
template <typename T>
class PlaceCache {
 public:
  static constexpr std::uint64_t held_bytes() { return kEntries * sizeof(Entry); }

  template <typename Make>
  const T& at(std::int64_t x, std::int64_t y, const Make& make) {
    Entry& entry = entries_[static_cast<std::size_t>(((x & 31) << 5) | (y & 31))];
    if (!entry.known || entry.x != x || entry.y != y) entry = Entry{true, x, y, make(x, y)};
    return entry.value;
  }

 private:
  struct Entry {
    bool known = false;
    std::int64_t x = 0, y = 0;
    T value;
  };
  static constexpr std::size_t kEntries = 32 * 32;
  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

class Land {
 public:
  explicit Land(std::uint64_t seed)
      : seed_(seed),
        hills_{{{mix64(seed + 1), 430.0},
                {mix64(seed + 2), 170.0},
                {mix64(seed + 3), 61.0},
                {mix64(seed + 4), 23.0},
                {mix64(seed + 5), 6.0}}},
        town_(mix64(seed + 6), 300.0),
        wood_(mix64(seed + 7), 110.0),
        meadow_(mix64(seed + 8), 17.0) {}

  static constexpr std::uint64_t held_bytes() {
    return PlaceCache<Building>::held_bytes() + PlaceCache<Tree>::held_bytes();
  }

  double ground(double x, double y) {
    static constexpr double kHeights[] = {18.0, 7.0, 2.5, 0.7, 0.12};
    double z = 100.0;
    for (std::size_t i = 0; i < hills_.size(); ++i) z += kHeights[i] * hills_[i].at(x, y);
    return std::max(z, kWaterLevel);
  }

  const Building& building(double x, double y) {
    const auto ix = static_cast<std::int64_t>(std::floor(x / kLot));
    const auto iy = static_cast<std::int64_t>(std::floor(y / kLot));
    return buildings_.at(ix, iy, [&](std::int64_t lx, std::int64_t ly) { return build(lx, ly); });
  }

  const Tree& tree(double x, double y) {
    const auto ix = static_cast<std::int64_t>(std::floor(x / kTreeCell));
    const auto iy = static_cast<std::int64_t>(std::floor(y / kTreeCell));
    return trees_.at(ix, iy, [&](std::int64_t tx, std::int64_t ty) { return plant(tx, ty); });
  }

  /// Height of grass and bushes above the ground; 0 where there are none.
  double undergrowth(double x, double y) { return std::max(0.0, 2.4 * meadow_.at(x, y) - 0.9); }

 private:
  Building build(std::int64_t ix, std::int64_t iy) {
    Dice dice(mix64(seed_ + 9), place_key(ix, iy));
    Building out;
    out.x = (static_cast<double>(ix) + dice.between(0.4, 0.6)) * kLot;
    out.y = (static_cast<double>(iy) + dice.between(0.4, 0.6)) * kLot;
    const double ground_there = ground(out.x, out.y);
    out.there = dice.chance(0.15 + 0.7 * town_.at(out.x, out.y)) && ground_there > kWaterLevel + 0.5;
    // Rational points of the circle: no angle is needed.
    const double t = dice.between(-1.0, 1.0);
    out.along_x = (1.0 - t * t) / (1.0 + t * t);
    out.along_y = 2.0 * t / (1.0 + t * t);
    out.half_length = dice.between(5.0, 11.0);
    out.half_width = dice.between(4.0, 7.0);
    out.eaves = ground_there + dice.between(3.0, 12.0);
    out.slope = dice.chance(0.35) ? 0.0 : dice.between(1.5, 4.0);
    return out;
  }

  Tree plant(std::int64_t ix, std::int64_t iy) {
    Dice dice(mix64(seed_ + 10), place_key(ix, iy));
    Tree out;
    out.radius = dice.between(1.2, 0.5 * kTreeCell);
    out.x = static_cast<double>(ix) * kTreeCell + dice.between(out.radius, kTreeCell - out.radius);
    out.y = static_cast<double>(iy) * kTreeCell + dice.between(out.radius, kTreeCell - out.radius);
    out.height = out.radius * dice.between(3.5, 6.5);
    out.ground = ground(out.x, out.y);
    out.there = dice.chance(0.25 + 0.9 * wood_.at(out.x, out.y)) && out.ground > kWaterLevel + 0.2;
    return out;
  }

  std::uint64_t seed_;
  std::array<ValueNoise, 5> hills_;
  ValueNoise town_, wood_, meadow_;
  PlaceCache<Building> buildings_;
  PlaceCache<Tree> trees_;
};

struct Hit {
  double z;
  std::uint8_t classification;
};

/// One scan is one block: a sweep of the mirror from side to side.
class AirborneMaker final : public BlockMaker {
 public:
  AirborneMaker(std::uint64_t points, std::uint64_t seed, int most_class)
      : seed_(seed), most_class_(most_class), land_(seed) {
    const double area = std::max(1.0, static_cast<double>(points) / kDensity);
    side_ = std::sqrt(area);
    swath_ = std::min(kWidestSwath, side_);
    lines_ = static_cast<std::uint64_t>(std::max(1.0, std::floor(side_ / (swath_ * (1.0 - kOverlap)) + 0.5)));
    line_step_ = side_ / static_cast<double>(lines_);
    const double spacing = std::sqrt(kReturnsPerPulse / kDensity * (swath_ / line_step_));
    pulses_ = static_cast<std::uint64_t>(std::max(1.0, std::floor(swath_ / spacing + 0.5)));
    scan_step_ = spacing * spacing * static_cast<double>(pulses_) / swath_;
    scans_ = static_cast<std::uint64_t>(std::max(1.0, std::floor(side_ / scan_step_ + 0.5)));
  }

  void make(std::uint64_t block, std::uint64_t limit, std::vector<Sample>& out) override {
    out.clear();
    const std::uint64_t line = block / scans_;
    const std::uint64_t scan = block % scans_;
    const bool west = (line & 1) != 0;
    const bool back = (scan & 1) != 0;
    // Lines are flown again where the land gives fewer returns than its extent was made for.
    const double center = (static_cast<double>(line % lines_) + 0.5) * line_step_;
    for (std::uint64_t k = 0; k < pulses_ && out.size() < limit; ++k) {
      const std::uint64_t number = block * pulses_ + k;
      Dice dice(seed_, number);
      const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(pulses_);
      const double across = (back ? 0.5 - share : share - 0.5) * swath_ + 0.1 * (dice.unit() - 0.5);
      const double forward = (static_cast<double>(scan) + share) * scan_step_ + 0.1 * (dice.unit() - 0.5);
      const double along = west ? side_ - forward : forward;

      Sample pulse;
      pulse.gps_time = kFirstTime + static_cast<double>(line) * kTurn + static_cast<double>(number) / kPulseRate;
      // Positive to the right of the flight.
      const double slope = across / kFlyingHeight;
      pulse.scan_angle = arc_tangent_degrees(west ? slope : -slope);
      pulse.source_id = static_cast<std::uint16_t>(1 + line % 65535);
      pulse.scan_direction = !back;
      pulse.edge = k + 1 == pulses_;
      fire(along, center + across, slope, dice, pulse, limit - out.size(), out);
    }
  }

  [[nodiscard]] std::uint64_t most_points() const override { return pulses_ * kMostReturns; }
  [[nodiscard]] std::uint64_t held_bytes() const override { return Land::held_bytes(); }

  [[nodiscard]] Extent extent() const override {
    // Jitter; and a beam slants by less than a third, so noise of at most 150 m moves a hit by less than 50 m.
    const double around = scan_step_ + 1.0;
    const double beside = 0.5 * (swath_ - std::min(swath_, line_step_)) + 50.0 + 1.0;
    return {{kEasting - around, kNorthing - beside, kLowest},
            {kEasting + side_ + around, kNorthing + side_ + beside, kHighest}};
  }

 private:
  /// Adds the returns of a pulse whose footprint at a height of 100 m is `x`, `y`.
  void fire(double x, double y, double slope, Dice& dice, const Sample& pulse, std::uint64_t limit,
            std::vector<Sample>& out) {
    const double ground = land_.ground(x, y);
    std::array<Hit, kMostReturns> hits{};
    std::size_t count = 0;
    const auto add = [&](double z, std::uint8_t classification) {
      if (count < hits.size()) hits[count++] = Hit{z, classification};
    };

    if (dice.chance(kNoiseShare)) {
      const bool high = dice.chance(0.5);
      add(high ? ground + dice.between(40.0, 150.0) : ground - dice.between(5.0, 30.0),
          high && most_class_ >= kHighNoise ? kHighNoise : kLowNoise);
    } else if (ground <= kWaterLevel) {
      add(kWaterLevel + 0.02 * dice.normal(), kWater);
    } else if (const std::optional<double> roof = roof_at(x, y)) {
      add(*roof + 0.02 * dice.normal(), kBuilding);
    } else {
      through_crown(x, y, ground, dice, add);
      const double bush = land_.undergrowth(x, y);
      const bool reaches_ground = count == 0 || dice.chance(0.75);
      if (bush > 0.2 && reaches_ground && dice.chance(0.5)) {
        const double height = bush * dice.between(0.3, 1.0);
        add(ground + height, vegetation_class(height));
      }
      if (reaches_ground && (count == 0 || dice.chance(0.9))) add(ground + 0.03 * dice.normal(), kGround);
    }

    // Not std::sort: GCC 12 takes its threshold of 16 for an index into these few.
    const auto end = hits.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(hits.begin(), end, end, [](const Hit& a, const Hit& b) { return a.z > b.z; });
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, limit));
    for (std::size_t i = 0; i < count; ++i) {
      Sample sample = pulse;
      sample.x = kEasting + x;
      // The beam slants away from the line of flight, so a higher hit is nearer to it.
      sample.y = kNorthing + y - slope * (hits[i].z - ground);
      sample.z = hits[i].z;
      sample.classification = hits[i].classification;
      sample.return_number = static_cast<std::uint8_t>(i + 1);
      sample.returns = static_cast<std::uint8_t>(count);
      paint(sample, dice);
      out.push_back(sample);
    }
  }

  std::optional<double> roof_at(double x, double y) {
    const Building& building = land_.building(x, y);
    if (!building.there) return std::nullopt;
    const double dx = x - building.x;
    const double dy = y - building.y;
    const double u = std::abs(dx * building.along_x + dy * building.along_y);
    const double v = std::abs(dy * building.along_x - dx * building.along_y);
    if (u > building.half_length || v > building.half_width) return std::nullopt;
    return building.eaves + building.slope * (1.0 - v / building.half_width);
  }

  template <typename Add>
  void through_crown(double x, double y, double ground, Dice& dice, const Add& add) {
    const Tree& tree = land_.tree(x, y);
    if (!tree.there) return;
    const double dx = x - tree.x;
    const double dy = y - tree.y;
    const double share = (dx * dx + dy * dy) / (tree.radius * tree.radius);
    if (share >= 1.0) return;
    const double depth = 0.6 * tree.height * std::sqrt(1.0 - share);
    const double top = tree.ground + 0.4 * tree.height + depth;
    double z = top - 0.05 * depth * dice.unit();
    for (int i = 0; i < 3; ++i) {
      if (z < ground + 0.5) return;
      add(z, vegetation_class(z - ground));
      if (!dice.chance(0.55)) return;
      z -= (0.25 + 0.5 * dice.unit()) * depth + 0.3;
    }
  }

  static std::uint8_t vegetation_class(double height) {
    return height < 0.5 ? kLowVegetation : height < 3.0 ? kMediumVegetation : kHighVegetation;
  }

  static void paint(Sample& sample, Dice& dice) {
    struct Paint {
      double intensity, red, green, blue, infrared;
    };
    const auto paint_of = [](std::uint8_t classification) -> Paint {
      switch (classification) {
        case kGround:
          return {24000, 30000, 27000, 20000, 33000};
        case kLowVegetation:
          return {21000, 17000, 29000, 13000, 46000};
        case kMediumVegetation:
          return {18000, 14000, 26000, 11000, 48000};
        case kHighVegetation:
          return {15000, 11000, 23000, 9000, 50000};
        case kBuilding:
          return {34000, 38000, 26000, 23000, 28000};
        case kWater:
          return {2500, 6000, 12000, 18000, 2000};
        default:
          return {500, 20000, 20000, 20000, 20000};
      }
    };
    const Paint paint = paint_of(sample.classification);
    const auto vary = [&dice](double value) {
      return static_cast<std::uint16_t>(std::clamp(value * (1.0 + 0.15 * dice.normal()), 0.0, 65535.0));
    };
    // A pulse shares its energy among its returns.
    sample.intensity = vary(paint.intensity / static_cast<double>(sample.returns));
    sample.color = {vary(paint.red), vary(paint.green), vary(paint.blue), vary(paint.infrared)};
  }

  std::uint64_t seed_;
  int most_class_;
  Land land_;
  double side_ = 1, swath_ = 1, line_step_ = 1, scan_step_ = 1;
  std::uint64_t lines_ = 1, scans_ = 1, pulses_ = 1;
};

}  // namespace

std::unique_ptr<BlockMaker> make_airborne(std::uint64_t points, std::uint64_t seed, int most_class) {
  return std::make_unique<AirborneMaker>(points, seed, most_class);
}

}  // namespace sluice::synth
