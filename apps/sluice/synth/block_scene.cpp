// SPDX-License-Identifier: Apache-2.0
#include "block_scene.hpp"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::synth {

namespace {

// Enough for the threads of any machine to share, few enough that a small scene does not count far beyond its end.
constexpr std::uint64_t kBlocksAtOnce = 512;

}  // namespace

/// A maker and memory for each thread.
struct BlockScene::Makers {
  struct Local {
    std::unique_ptr<BlockMaker> maker;
    std::vector<Sample> samples;
  };
  explicit Makers(const std::function<std::unique_ptr<BlockMaker>()>& make)
      : locals([make] {
          return Local{make(), {}};
        }) {}
  tbb::enumerable_thread_specific<Local> locals;
};

/// Writes samples as records of one layout; fields that it lacks are left out.
class BlockScene::Writer {
 public:
  explicit Writer(const CloudInfo& info) : info_(info) {
    static constexpr const char* kNames[] = {"intensity",
                                             "return_number",
                                             "number_of_returns",
                                             "scan_direction_flag",
                                             "edge_of_flight_line",
                                             "classification",
                                             "scan_angle",
                                             "point_source_id",
                                             "gps_time",
                                             "red",
                                             "green",
                                             "blue",
                                             "nir",
                                             "ring"};
    for (const char* name : kNames) {
      const Field* field = info.schema.find(name);
      fields_.push_back(field == nullptr ? std::nullopt : std::optional<Field>(*field));
    }
  }

  void write(const Sample& sample, std::byte* record) const {
    const double world[3] = {sample.x, sample.y, sample.z};
    for (int d = 0; d < 3; ++d) {
      const double raw = std::nearbyint((world[d] - info_.frame.offset[d]) / info_.frame.scale[d]);
      if (!(raw >= -2147483648.0 && raw <= 2147483647.0)) {
        throw Unsupported("the scene is too large for coordinates in steps of this scale");
      }
      store_unaligned(record + info_.frame.at[d], static_cast<std::int32_t>(raw));
    }
    const double values[] = {static_cast<double>(sample.intensity),
                             static_cast<double>(sample.return_number),
                             static_cast<double>(sample.returns),
                             sample.scan_direction ? 1.0 : 0.0,
                             sample.edge ? 1.0 : 0.0,
                             static_cast<double>(sample.classification),
                             sample.scan_angle,
                             static_cast<double>(sample.source_id),
                             sample.gps_time,
                             static_cast<double>(sample.color[0]),
                             static_cast<double>(sample.color[1]),
                             static_cast<double>(sample.color[2]),
                             static_cast<double>(sample.color[3]),
                             static_cast<double>(sample.ring)};
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i]) store(*fields_[i], values[i], record);
    }
  }

 private:
  static void store(const Field& field, double value, std::byte* record) {
    std::byte* at = record + field.offset;
    if (field.scaled) value = (value - field.shift) / field.scale;
    if (field.type == FieldType::kFloat64) return store_unaligned(at, value);
    const auto whole = static_cast<std::int64_t>(std::nearbyint(value));
    if (field.bit_count != 0) {
      // Bit fields share a byte that starts out as zero.
      const auto bits = static_cast<std::uint8_t>(whole << field.bit_shift);
      return store_unaligned(at, static_cast<std::uint8_t>(load_unaligned<std::uint8_t>(at) | bits));
    }
    if (field_bytes(field.type) == 1) return store_unaligned(at, static_cast<std::uint8_t>(whole));
    store_unaligned(at, static_cast<std::uint16_t>(whole));
  }

  const CloudInfo& info_;
  std::vector<std::optional<Field>> fields_;
};

BlockScene::BlockScene(CloudInfo info, std::uint64_t points,
                       const std::function<std::unique_ptr<BlockMaker>()>& make_maker)
    : info_(std::move(info)), makers_(std::make_unique<Makers>(make_maker)), writer_(std::make_unique<Writer>(info_)) {
  info_.point_count = points;
  first_.push_back(0);
  std::vector<std::uint64_t> counts;
  std::uint64_t at_once = 1;
  while (first_.back() < points) {
    const std::uint64_t from = first_.size() - 1;
    counts.assign(at_once, 0);
    tbb::parallel_for(std::uint64_t{0}, at_once, [&](std::uint64_t i) {
      Makers::Local& local = makers_->locals.local();
      counts[i] = local.maker->count(from + i, local.samples);
    });
    for (const std::uint64_t count : counts) {
      if (first_.back() < points) first_.push_back(first_.back() + count);
    }
    at_once = std::min(2 * at_once, kBlocksAtOnce);
  }
  first_.back() = points;
}

BlockScene::~BlockScene() = default;

bool BlockScene::next(std::uint64_t max_points, ChunkRange& range) {
  if (next_ >= info_.point_count || max_points == 0) return false;
  range = ChunkRange{next_, std::min(max_points, info_.point_count - next_), 0};
  next_ += range.count;
  return true;
}

PointView BlockScene::load(const ChunkRange& range, RecordBuffer& buffer) {
  const std::uint64_t stride = info_.schema.record_bytes;
  buffer.assign(range.count * stride, std::byte{0});
  Makers::Local& local = makers_->locals.local();
  std::byte* record = buffer.data();
  const std::uint64_t end = range.first + range.count;
  auto block =
      static_cast<std::uint64_t>(std::upper_bound(first_.begin(), first_.end(), range.first) - first_.begin() - 1);
  for (; block + 1 < first_.size() && first_[block] < end; ++block) {
    local.maker->make(block, first_[block + 1] - first_[block], local.samples);
    const std::uint64_t from = std::max(range.first, first_[block]) - first_[block];
    const std::uint64_t to = std::min(end, first_[block + 1]) - first_[block];
    for (std::uint64_t i = from; i < to; ++i, record += stride) writer_->write(local.samples[i], record);
  }
  return PointView{buffer.data(), range.count, stride};
}

void BlockScene::release(const ChunkRange& /*range*/) {}

std::uint64_t BlockScene::chunk_bytes(std::uint64_t points) const { return points * info_.schema.record_bytes; }

}  // namespace sluice::synth
