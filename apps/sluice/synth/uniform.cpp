// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "makers.hpp"
#include "scene_math.hpp"

namespace sluice::synth {

namespace {

constexpr std::uint64_t kBlockPoints = 4096;
constexpr double kEdges[3] = {1000.0, 1000.0, 100.0};
constexpr double kPointsPerSecond = 1e6;

class UniformMaker final : public BlockMaker {
 public:
  explicit UniformMaker(std::uint64_t seed) : seed_(seed) {}

  void make(std::uint64_t block, std::uint64_t limit, std::vector<Sample>& out) override {
    out.resize(std::min(limit, kBlockPoints));
    for (std::uint64_t i = 0; i < out.size(); ++i) {
      const std::uint64_t index = block * kBlockPoints + i;
      Dice dice(seed_, index);
      Sample& sample = out[i];
      sample = Sample{};
      sample.x = kEdges[0] * dice.unit();
      sample.y = kEdges[1] * dice.unit();
      sample.z = kEdges[2] * dice.unit();
      sample.intensity = static_cast<std::uint16_t>(65536.0 * dice.unit());
      sample.classification = static_cast<std::uint8_t>(1.0 + 6.0 * dice.unit());
      for (std::uint16_t& band : sample.color) band = static_cast<std::uint16_t>(65536.0 * dice.unit());
      sample.gps_time = static_cast<double>(index) / kPointsPerSecond;
    }
  }

  [[nodiscard]] std::uint64_t most_points() const override { return kBlockPoints; }
  [[nodiscard]] Extent extent() const override { return {{0.0, 0.0, 0.0}, {kEdges[0], kEdges[1], kEdges[2]}}; }

 private:
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<BlockMaker> make_uniform(std::uint64_t seed) { return std::make_unique<UniformMaker>(seed); }

}  // namespace sluice::synth
