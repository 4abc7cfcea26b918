// SPDX-License-Identifier: Apache-2.0
#include "cloud_stream.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::detail {

bool CloudSource::next(std::uint64_t max_points, ChunkRange& range) {
  if (next_ == cloud_.count()) return false;
  range.first = next_;
  range.count = std::min(max_points, cloud_.count() - next_);
  next_ += range.count;
  return true;
}

PointView CloudSource::load(const ChunkRange& range, RecordBuffer& /*buffer*/) {
  const PointView all = cloud_.view();
  return PointView{all.records + range.first * all.stride, range.count, all.stride};
}

std::uint64_t CloudSink::reserve(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = count_;
  if (count != 0) {
    auto part = std::make_unique<Part>();
    part->first = first;
    part->records.resize(count * info_.schema.record_bytes);
    parts_.push_back(std::move(part));
    count_ += count;
  }
  return first;
}

void CloudSink::store(std::uint64_t first, const PointView& view) {
  const std::uint64_t bytes = info_.schema.record_bytes;
  for (std::uint64_t i = 0; i < view.count;) {
    Part* part = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto after = std::upper_bound(parts_.begin(), parts_.end(), first + i,
                                          [](std::uint64_t at, const auto& p) { return at < p->first; });
      part = std::prev(after)->get();
    }
    const std::uint64_t begin = first + i - part->first;
    const std::uint64_t fits = std::min(view.count - i, part->records.size() / bytes - begin);
    std::byte* to = part->records.data() + begin * bytes;
    const std::byte* from = view.records + i * view.stride;
    if (view.stride == bytes) {
      std::memcpy(to, from, fits * bytes);
    } else {
      for (std::uint64_t k = 0; k < fits; ++k) std::memcpy(to + k * bytes, from + k * view.stride, bytes);
    }
    i += fits;
  }
}

PointCloud CloudSink::take() {
  if (parts_.size() == 1) return PointCloud(std::move(info_), std::move(parts_.front()->records));
  std::vector<std::byte> all;
  all.reserve(count_ * info_.schema.record_bytes);
  for (auto& part : parts_) {
    all.insert(all.end(), part->records.begin(), part->records.end());
    part.reset();
  }
  parts_.clear();
  return PointCloud(std::move(info_), std::move(all));
}

}  // namespace sluice::detail
