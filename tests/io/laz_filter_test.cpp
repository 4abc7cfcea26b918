// SPDX-License-Identifier: Apache-2.0
/// \file
/// LAZ files filtered: what is not needed is not decoded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "io/laz_bytes.hpp"
#include "sluice/core/error.hpp"
#include "sluice/sluice.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

/// Collects records, and copied runs apart from them.
class Collector final : public ChunkSink {
 public:
  Collector(std::uint64_t record_bytes, std::string coding) : bytes_(record_bytes), coding_(std::move(coding)) {}
  std::uint64_t reserve(std::uint64_t count) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = count_;
    count_ += count;
    records.resize(count_ * bytes_);
    return first;
  }
  void store(std::uint64_t first, const PointView& view) override {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = 0; i < view.count; ++i) {
      std::memcpy(records.data() + (first + i) * bytes_, view.records + i * view.stride, bytes_);
    }
  }
  [[nodiscard]] std::string coding() const override { return coding_; }
  bool reserve_encoded(std::uint64_t points, std::uint64_t& first) override {
    first = reserve(points);
    return true;
  }
  void store_encoded(std::uint64_t first, const EncodedRun& run, const PointView& /*view*/) override {
    const std::lock_guard lock(mutex_);
    runs[first] = std::string(reinterpret_cast<const char*>(run.bytes.data()), run.bytes.size());
  }
  void seal() override {}
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

  std::string records;
  std::map<std::uint64_t, std::string> runs;  ///< by their first place

 private:
  std::uint64_t bytes_;
  std::string coding_;
  std::mutex mutex_;
  std::uint64_t count_ = 0;
};

/// A file of three chunks of 100 points along x; the colour of the second chunk is damaged.
class LazFilter : public ::testing::Test {
 protected:
  LazFilter() {
    las_.scale = {1.0, 1.0, 1.0};
    las_.offset = {0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < 300; ++i) put(las_.records, i * length_, static_cast<std::int32_t>(i));
    bytes_ = way_.build(las_.build());
    // The sizes of the layers follow the first record and the count; the colour is the last layer.
    const std::size_t sizes = way_.chunks_at[1] + length_ + 4;
    const auto colour = get<std::uint32_t>(bytes_, sizes + 4 * std::size_t{laz::layer::kRgb});
    for (std::size_t i = way_.chunks_at[2] - colour; i < way_.chunks_at[2]; ++i) bytes_[i] = '\x55';
  }

  Report crop(double from, double to, Collector& kept, Collector* rejected = nullptr) {
    Selection selection;
    Box box;
    box.min[0] = from;
    box.max[0] = to;
    selection.regions.emplace_back(box);
    const auto source = open_bytes(bytes_);
    ChunkSource* const sources[] = {source.get()};
    Execution execution;
    execution.backend = "cpu";
    execution.threads = 2;
    execution.chunk_points = chunk_points_;
    return filter(sources, selection, kept, rejected, execution);
  }
  [[nodiscard]] std::string records(std::size_t first, std::size_t count) const {
    return las_.records.substr(first * length_, count * length_);
  }
  [[nodiscard]] std::string coding() const { return open_bytes(bytes_)->coding(); }

  LasBytes las_ = scan(7, 300);
  LazBytes way_{.chunk_size = 100};
  std::size_t length_ = static_cast<std::size_t>(las_.record_bytes());
  std::string bytes_;
  std::uint64_t chunk_points_ = 0;
};

TEST_F(LazFilter, DamageOfWhatIsNotNeededDoesNotMatter) {
  for (const std::uint64_t chunk : {100, 200, 0}) {
    chunk_points_ = chunk;
    Collector before(length_, "");
    EXPECT_EQ(crop(20, 99, before).points_read, 300U);
    EXPECT_EQ(before.records, records(20, 80));
    Collector behind(length_, "");
    (void)crop(200, 250, behind);
    EXPECT_EQ(behind.records, records(200, 51));
    Collector nothing(length_, "");
    EXPECT_EQ(crop(1000, 2000, nothing).points_rejected, 300U);
    EXPECT_EQ(nothing.count(), 0U);
  }
}

TEST_F(LazFilter, AChunkThatPassesIsCopiedAsItIs) {
  for (const std::uint64_t chunk : {100, 200, 0}) {
    chunk_points_ = chunk;
    Collector kept(length_, coding());
    Collector rejected(length_, coding());
    const Report report = crop(90, 250, kept, &rejected);
    EXPECT_EQ(report.points_written, 161U);
    EXPECT_EQ(report.points_rejected, 139U);
    EXPECT_EQ(kept.records.substr(0, 10 * length_), records(90, 10));
    EXPECT_EQ(kept.records.substr(110 * length_), records(200, 51));
    ASSERT_EQ(kept.runs.size(), 1U);
    EXPECT_EQ(kept.runs.at(10), bytes_.substr(way_.chunks_at[1], way_.chunks_at[2] - way_.chunks_at[1]));
    EXPECT_EQ(rejected.records, records(0, 90) + records(251, 49));
    EXPECT_TRUE(rejected.runs.empty());

    Collector first(length_, "");
    Collector others(length_, coding());
    (void)crop(0, 99, first, &others);
    EXPECT_EQ(first.records, records(0, 100));
    EXPECT_EQ(others.runs.size(), 1U);  // never the last
  }
}

TEST_F(LazFilter, DamageOfWhatIsNeededIsNamed) {
  for (const std::uint64_t chunk : {100, 0}) {
    chunk_points_ = chunk;
    // One point of the chunk is written as a record; then the whole chunk, to a sink of another coding.
    for (const double from : {199.0, 100.0}) {
      Collector kept(length_, from == 100.0 ? "other" : coding());
      try {
        (void)crop(from, 300, kept);
        ADD_FAILURE() << "nothing was refused";
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("byte " + std::to_string(way_.chunks_at[1]) + ": chunk 1: "));
      }
    }
    Collector kept(length_, "");
    Collector rejected(length_, "");
    EXPECT_THROW((void)crop(0, 50, kept, &rejected), FormatError);
  }
}

}  // namespace
}  // namespace sluice::test
