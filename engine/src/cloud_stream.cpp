// SPDX-License-Identifier: Apache-2.0
#include "cloud_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

CloudSink::CloudSink(CloudInfo like, std::uint64_t capacity) : info_(std::move(like)), capacity_(capacity) {
  records_.reserve(capacity * info_.schema.record_bytes);
  base_ = records_.data();
}

std::uint64_t CloudSink::reserve(std::uint64_t count) {
  if (count > capacity_ - count_) throw InvalidArgument("more points are stored than the cloud has room for");
  const std::uint64_t first = count_;
  count_ += count;
  records_.resize(count_ * info_.schema.record_bytes);
  return first;
}

void CloudSink::store(std::uint64_t first, const PointView& view) {
  const std::uint64_t bytes = info_.schema.record_bytes;
  copy_records(view, bytes, base_ + first * bytes);
}

PointCloud CloudSink::take() { return {std::move(info_), std::move(records_)}; }

}  // namespace sluice::detail
