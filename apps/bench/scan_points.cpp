// SPDX-License-Identifier: Apache-2.0
#include "scan_points.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "region.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "synth/scene.hpp"

namespace sluice::bench {

namespace {

/// Keeps the positions of a scene.
class PositionSink final : public ChunkSink {
 public:
  PositionSink(const CloudInfo& info, std::vector<Record16>& out) : info_(info), out_(out) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::uint64_t first = out_.size();
    out_.resize(first + count);
    return first;
  }
  void store(std::uint64_t first, const PointView& view) override {
    const std::array<const char*, 3> names = {"x", "y", "z"};
    std::array<Column, 3> columns;
    for (std::size_t d = 0; d < 3; ++d) columns[d] = info_.schema.find(names[d])->column(view.records, view.stride);
    const auto at = [&](std::size_t d, std::uint64_t i) { return static_cast<std::int32_t>(columns[d].at(i).i); };
    for (std::uint64_t i = 0; i < view.count; ++i) {
      out_[first + i] = {at(0, i), at(1, i), at(2, i), static_cast<std::uint32_t>(first + i)};
    }
  }
  void seal() override {}
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return out_.size(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

 private:
  const CloudInfo& info_;
  std::vector<Record16>& out_;
};

void stretch(std::vector<Record16>& points, std::int32_t Record16::*axis) {
  const auto by_axis = [axis](const Record16& a, const Record16& b) { return a.*axis < b.*axis; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_axis);
  const std::int64_t least = (*low).*axis;
  const std::int64_t width = std::max<std::int64_t>(1, (*high).*axis - least);
  for (Record16& point : points) {
    point.*axis = static_cast<std::int32_t>((point.*axis - least) * (std::int64_t{kBox} - 1) / width);
  }
}

}  // namespace

const ScanPoints& scan_points(std::uint64_t items) {
  static std::map<std::uint64_t, ScanPoints> made;
  const bool frame = items <= kMostFramePoints;
  const std::uint64_t count = std::min(items, kMostScanPoints);
  const auto [place, fresh] = made.try_emplace(count);
  ScanPoints& out = place->second;
  if (!fresh) return out;
  synth::SceneOptions options;
  options.kind = frame ? synth::SceneKind::kSpinning : synth::SceneKind::kAirborne;
  options.points = count;
  options.beams = 128;
  const synth::Scene scene(options);
  PositionSink sink(scene.info(), out.points);
  static_cast<void>(scene.write(sink, {}));
  for (const auto axis : {&Record16::x, &Record16::y, &Record16::z}) stretch(out.points, axis);
  out.made_by = frame ? "a spinning sensor of 128 beams" : "an airborne scan";
  return out;
}

}  // namespace sluice::bench
