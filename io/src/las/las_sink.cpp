// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "las_file.hpp"
#include "las_writer.hpp"

namespace sluice::io::las {
namespace {

constexpr std::uint64_t kGatherBytes = std::uint64_t{1} << 20;

/// Writes a LAS file: records go straight to their place.
class LasSink final : public ChunkSink {
 public:
  LasSink(const std::string& path, const CloudInfo& like, const WriteOptions& options)
      : writer_(path, like, options, nullptr) {}

  std::uint64_t reserve(std::uint64_t count) override { return writer_.reserve(count); }

  void store(std::uint64_t first, const PointView& view) override {
    if (view.count == 0) return;
    writer_.add(first, view);
    const std::uint64_t to = writer_.points_at() + first * writer_.record_bytes();
    if (view.stride == writer_.record_bytes()) {
      writer_.write_at(to, view.records, view.count * view.stride);
    } else {
      write_gathered(to, view);
    }
  }

  void seal() override { writer_.seal(writer_.points_at() + writer_.reserved() * writer_.record_bytes()); }
  void finish() override { writer_.finish(); }
  [[nodiscard]] std::uint64_t count() const override { return writer_.reserved(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return writer_.warnings(); }

 private:
  void write_gathered(std::uint64_t to, const PointView& view) const {
    const std::uint64_t bytes = writer_.record_bytes();
    const std::uint64_t step = std::max<std::uint64_t>(1, kGatherBytes / bytes);
    std::vector<std::byte> buffer(std::min(step, view.count) * bytes);
    for (std::uint64_t first = 0; first < view.count; first += step) {
      const std::uint64_t count = std::min(step, view.count - first);
      copy_records({view.records + first * view.stride, count, view.stride}, bytes, buffer.data());
      writer_.write_at(to + first * bytes, buffer.data(), count * bytes);
    }
  }

  LasWriter writer_;
};

}  // namespace

std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  return std::make_unique<LasSink>(path, like, options);
}

}  // namespace sluice::io::las
