// SPDX-License-Identifier: Apache-2.0
/// \file
/// Filtering of sources that decode fields one by one and whose runs can be copied: what is asked of source and sinks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/backends.hpp"
#include "engine/clouds.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::make_lattice;
using test::RawPoint;

constexpr std::byte kPoison{0xEE};
using Bytes = std::set<std::uint32_t>;  // of a record

Bytes bytes_of(std::span<const ByteRange> ranges) {
  Bytes out;
  for (const ByteRange& range : ranges) {
    for (std::uint32_t k = 0; k < range.bytes; ++k) out.insert(range.at + k);
  }
  return out;
}

Bytes bytes_of(const PointCloud& cloud, const std::vector<std::string>& fields) {
  std::vector<ByteRange> ranges;
  for (const std::string& name : fields) {
    const Field& field = *cloud.info().schema.find(name);
    ranges.push_back({field.offset, field_bytes(field.type)});
  }
  return bytes_of(ranges);
}

/// A cloud in runs, handed out in ranges of whole ones. Bytes that nobody asked for are poisoned until completed. A
/// run's encoded form is its records, each byte inverted.
class RunSource final : public ChunkSource {
 public:
  RunSource(PointCloud cloud, std::vector<std::uint64_t> sizes) : cloud_(std::move(cloud)) {
    std::uint64_t first = 0;
    for (std::size_t i = 0; first < cloud_.count(); ++i) {
      firsts_.push_back(first);
      first += std::min(sizes[i % sizes.size()], cloud_.count() - first);
    }
    firsts_.push_back(cloud_.count());
    for (const std::byte b : cloud_.records()) encoded_.push_back(~b);
    completed.resize(runs());
    whole.resize(runs());
  }

  [[nodiscard]] const CloudInfo& info() const override { return cloud_.info(); }
  [[nodiscard]] std::size_t runs() const { return firsts_.size() - 1; }
  [[nodiscard]] std::uint64_t first_of(std::size_t run) const { return firsts_[run]; }

  bool next(std::uint64_t max_points, ChunkRange& range) override {
    if (run_ == runs()) return false;
    range = {firsts_[run_], 0, run_};
    while (run_ < runs() && range.count + firsts_[run_ + 1] - firsts_[run_] <= max_points) {
      range.count += firsts_[run_ + 1] - firsts_[run_];
      ++run_;
    }
    if (range.count == 0) throw std::logic_error("runs do not fit");
    return true;
  }
  PointView load(const ChunkRange& range, RecordBuffer& buffer) override {
    const ByteRange all{0, cloud_.info().schema.record_bytes};
    for (std::size_t run = range.token; run < runs() && firsts_[run] < range.first + range.count; ++run) {
      if (run == damaged_run) throw FormatError("runs", 0, "run", "is damaged");
      const std::lock_guard lock(mutex_);
      ++whole[run];
    }
    return load_fields(range, std::span(&all, 1), buffer);
  }
  PointView load_fields(const ChunkRange& range, std::span<const ByteRange> fields, RecordBuffer& buffer) override {
    const std::uint64_t bytes = cloud_.info().schema.record_bytes;
    {
      const std::lock_guard lock(mutex_);
      wanted.insert(bytes_of(fields));
    }
    buffer.assign(range.count * bytes, kPoison);
    for (std::uint64_t i = 0; i < range.count; ++i) {
      for (const ByteRange& field : fields) {
        std::memcpy(buffer.data() + i * bytes + field.at, record(range.first + i) + field.at, field.bytes);
      }
    }
    return {buffer.data(), range.count, bytes};
  }
  void complete(const ChunkRange& range, std::uint64_t first, std::uint64_t count, RecordBuffer& buffer) override {
    const std::uint64_t bytes = cloud_.info().schema.record_bytes;
    if (first + count > range.count) throw std::logic_error("points beyond the range");
    for (std::size_t run = range.token; run < runs() && firsts_[run] < range.first + first + count; ++run) {
      if (firsts_[run + 1] <= range.first + first) continue;
      {
        const std::lock_guard lock(mutex_);
        ++completed[run];
      }
      if (run == damaged_run) throw FormatError("runs", 0, "run", "is damaged");
      std::memcpy(buffer.data() + (firsts_[run] - range.first) * bytes, record(firsts_[run]),
                  (firsts_[run + 1] - firsts_[run]) * bytes);
    }
  }
  [[nodiscard]] std::string coding() const override { return named; }
  void encoded_runs(const ChunkRange& range, std::vector<EncodedRun>& out) const override {
    const std::uint64_t bytes = cloud_.info().schema.record_bytes;
    out.clear();
    for (std::size_t run = range.token; run < runs() && firsts_[run] < range.first + range.count; ++run) {
      const std::uint64_t count = firsts_[run + 1] - firsts_[run];
      std::span<const std::byte> all(encoded_);
      out.push_back({count, run == odd_run ? all.first(0) : all.subspan(firsts_[run] * bytes, count * bytes)});
    }
  }
  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override {
    return points * cloud_.info().schema.record_bytes;
  }
  void rewind() override { run_ = 0; }

  std::string named = "inverted";
  std::size_t odd_run = ~std::size_t{0};      ///< cannot be copied
  std::set<Bytes> wanted;                     ///< by any load
  std::vector<int> completed;                 ///< how often, by run
  std::vector<int> whole;                     ///< how often loaded in one step, by run
  std::size_t damaged_run = ~std::size_t{0};  ///< in fields that do not decide

 private:
  [[nodiscard]] const std::byte* record(std::uint64_t i) const {
    return cloud_.records().data() + i * cloud_.info().schema.record_bytes;
  }

  PointCloud cloud_;
  std::vector<std::uint64_t> firsts_;  ///< of each run, and the end
  std::vector<std::byte> encoded_;
  std::mutex mutex_;
  std::size_t run_ = 0;
};

/// Collects records, and remembers which places were filled by runs.
class RunSink final : public ChunkSink {
 public:
  RunSink(std::uint64_t record_bytes, std::string coding) : bytes_(record_bytes), coding_(std::move(coding)) {}

  std::uint64_t reserve(std::uint64_t count) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = stored_.size();
    stored_.resize(first + count);
    records_.resize((first + count) * bytes_);
    return first;
  }
  void store(std::uint64_t first, const PointView& view) override {
    for (std::uint64_t i = 0; i < view.count; ++i) put(first + i, view.records + i * view.stride);
  }
  [[nodiscard]] std::string coding() const override { return coding_; }
  [[nodiscard]] std::span<const ByteRange> fields_of_encoded() const override { return looks_at; }
  bool reserve_encoded(std::uint64_t points, std::uint64_t& first) override {
    if (points < smallest) return false;
    first = reserve(points);
    runs[first] = points;
    return true;
  }
  void store_encoded(std::uint64_t first, const EncodedRun& run, const PointView& view) override {
    if (run.points != view.count || run.bytes.size() != run.points * bytes_) throw std::logic_error("a run of no size");
    std::vector<std::byte> decoded;
    for (const std::byte b : run.bytes) decoded.push_back(~b);
    for (std::uint64_t i = 0; i < run.points; ++i) {
      for (const std::uint32_t k : bytes_of(looks_at)) {
        if (view.records[i * view.stride + k] != decoded[i * bytes_ + k])
          throw std::logic_error("a field is not right");
      }
      put(first + i, decoded.data() + i * bytes_);
    }
  }
  [[nodiscard]] std::uint64_t held_bytes(std::uint64_t points, std::uint64_t /*total*/, int threads) const override {
    return held_per_point * points + (held_per_point == 0 ? 0 : static_cast<std::uint64_t>(threads));
  }
  void seal() override {}
  void finish() override {}
  [[nodiscard]] std::uint64_t count() const override { return stored_.size(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return {}; }

  [[nodiscard]] const std::vector<std::byte>& records() const {
    if (std::find(stored_.begin(), stored_.end(), 0) != stored_.end()) throw std::logic_error("an empty place");
    return records_;
  }

  std::uint64_t smallest = 1;  ///< of the runs that are taken
  std::vector<ByteRange> looks_at;
  std::map<std::uint64_t, std::uint64_t> runs;  ///< copied: first place and points
  std::uint64_t held_per_point = 0;

 private:
  void put(std::uint64_t place, const std::byte* record) {
    const std::lock_guard lock(mutex_);
    if (stored_.at(place)++ != 0) throw std::logic_error("a place was stored twice");
    std::memcpy(records_.data() + place * bytes_, record, bytes_);
  }

  std::uint64_t bytes_;
  std::string coding_;
  std::mutex mutex_;
  std::vector<std::byte> records_;
  std::vector<int> stored_;
};

/// Points whose x grows, so that a box in x takes whole runs.
PointCloud growing_cloud(int count) {
  Dice dice(31);
  std::vector<RawPoint> points;
  for (int i = 0; i < count; ++i) {
    points.push_back(
        {i, static_cast<std::int32_t>(dice.between(-9, 9)), static_cast<std::int32_t>(dice.between(0, 9))});
  }
  return make_lattice(points);
}

/// Keeps x from 4 to 14: raw 400 to 1400.
Selection middle() {
  Selection out;
  Box box;
  box.min[0] = 4.0;
  box.max[0] = 14.0;
  out.regions.emplace_back(box);
  return out;
}

class Encoded : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Execution execution(std::uint64_t chunk, int threads) const {
    Execution out;
    out.backend = GetParam();
    out.threads = threads;
    out.chunk_points = chunk;
    return out;
  }

  const PointCloud cloud_ = growing_cloud(2000);
  const std::uint64_t bytes_ = cloud_.info().schema.record_bytes;
};

INSTANTIATE_TEST_SUITE_P(Backends, Encoded, testing::ValuesIn(test::backend_names()), test::backend_label);

struct Expected {
  std::vector<std::byte> kept, rejected;
  std::map<std::uint64_t, std::uint64_t> kept_runs, rejected_runs;
  std::vector<int> completed;
};

/// What a plain loop over the runs does.
Expected expected_of(const PointCloud& cloud, const RunSource& source, std::uint64_t every, const RunSink& kept,
                     const RunSink* rejected) {
  Expected out;
  const std::uint32_t bytes = cloud.info().schema.record_bytes;
  std::uint64_t passed = 0;
  for (std::size_t run = 0; run < source.runs(); ++run) {
    const std::uint64_t first = source.first_of(run);
    const std::uint64_t count = source.first_of(run + 1) - first;
    std::uint64_t stay = 0;
    const std::uint64_t kept_before = out.kept.size() / bytes;
    const std::uint64_t rejected_before = out.rejected.size() / bytes;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const auto x = test::get_field<std::int32_t>(cloud, "x", i);
      const bool stays = x >= 400 && x <= 1400 && passed++ % every == 0;
      stay += stays ? 1 : 0;
      std::vector<std::byte>& to = stays ? out.kept : out.rejected;
      const auto from = cloud.records().begin() + static_cast<std::ptrdiff_t>(i * bytes);
      to.insert(to.end(), from, from + bytes);
    }
    const auto copied = [&](const RunSink& sink, std::uint64_t points) {
      return sink.coding() == source.coding() && points == count && count >= sink.smallest && run != source.odd_run;
    };
    const bool kept_copied = copied(kept, stay);
    const bool rejected_copied = rejected != nullptr && copied(*rejected, count - stay);
    if (kept_copied) out.kept_runs[kept_before] = count;
    if (rejected_copied) out.rejected_runs[rejected_before] = count;
    const bool as_records = (stay != 0 && !kept_copied) || (rejected != nullptr && stay != count && !rejected_copied);
    out.completed.push_back(as_records ? 1 : 0);
  }
  return out;
}

TEST_P(Encoded, WholeRunsAreCopiedAndOthersCompleted) {
  const std::vector<std::uint64_t> sizes{40, 3, 1, 90, 17};
  for (const bool with_rejected : {true, false}) {
    for (const bool equal : {true, false}) {
      for (const std::uint64_t every : {1U, 3U}) {
        for (const std::uint64_t chunk : {90U, 91U, 400U, 100000U}) {
          for (const int threads : {1, 2, 8}) {
            RunSource source(cloud_, sizes);
            source.odd_run = 40;
            RunSink kept(bytes_, equal ? "inverted" : "otherwise");
            RunSink rejected(bytes_, "inverted");
            kept.smallest = 4;
            kept.looks_at = {{cloud_.info().schema.find("classification")->offset, 1}};
            ChunkSource* const sources[] = {&source};
            Selection selection = middle();
            selection.every = every;
            RunSink* const second = with_rejected ? &rejected : nullptr;
            const Report report = filter(sources, selection, kept, second, execution(chunk, threads));
            const Expected expected = expected_of(cloud_, source, every, kept, second);
            ASSERT_TRUE(kept.records() == expected.kept);
            ASSERT_EQ(kept.runs, expected.kept_runs);
            if (with_rejected) {
              ASSERT_TRUE(rejected.records() == expected.rejected);
              ASSERT_EQ(rejected.runs, expected.rejected_runs);
            }
            for (std::size_t run = 0; run < source.runs(); ++run) {
              // Nothing is left to complete where all was loaded at once.
              ASSERT_EQ(source.completed[run], source.whole[run] != 0 ? 0 : expected.completed[run]) << chunk;
            }
            EXPECT_EQ(report.points_read, cloud_.count());
            EXPECT_EQ(report.points_written * bytes_, expected.kept.size());
            EXPECT_EQ(report.points_rejected * bytes_, expected.rejected.size());
            if (every == 1 && equal) {
              EXPECT_GT(kept.runs.size(), 10U);
            }
          }
        }
      }
    }
  }
}

TEST_P(Encoded, OnlyFieldsThatDecideAreAskedFor) {
  const auto asked = [&](const Selection& selection, RunSink& kept, RunSink* rejected) {
    RunSource source(cloud_, {50});
    ChunkSource* const sources[] = {&source};
    (void)filter(sources, selection, kept, rejected, execution(200, 2));
    EXPECT_EQ(source.wanted.size(), 1U);
    return *source.wanted.begin();
  };
  Selection selection = middle();
  Bytes all;
  for (std::uint32_t k = 0; k < bytes_; ++k) all.insert(k);
  {
    RunSink kept(bytes_, "");
    EXPECT_EQ(asked(selection, kept, nullptr), bytes_of(cloud_, {"x", "y", "z"}));
  }
  selection.where.push_back(parse_where("classification < 5 && gps_time > 0"));
  const Bytes deciding = bytes_of(cloud_, {"x", "y", "z", "classification", "gps_time"});
  {
    // A sink of another coding reads nothing of runs.
    RunSink kept(bytes_, "otherwise");
    kept.looks_at = {{0, static_cast<std::uint32_t>(bytes_)}};
    EXPECT_EQ(asked(selection, kept, nullptr), deciding);
  }
  {
    RunSink kept(bytes_, "inverted");
    const Field& number = *cloud_.info().schema.find("return_number");
    kept.looks_at = {{number.offset, 1}};
    Bytes more = deciding;
    more.insert(number.offset);
    EXPECT_EQ(asked(selection, kept, nullptr), more);
    RunSink other(bytes_, "otherwise");
    RunSink rejected(bytes_, "inverted");
    rejected.looks_at = {{number.offset, 1}};
    EXPECT_EQ(asked(selection, other, &rejected), more);
  }
  {
    // Where every point is stored as a record, it is decoded in one step.
    RunSink kept(bytes_, "");
    RunSink rejected(bytes_, "otherwise");
    EXPECT_EQ(asked(selection, kept, &rejected), all);
    RunSink everything(bytes_, "");
    EXPECT_EQ(asked({}, everything, nullptr), all);
    RunSink copies(bytes_, "inverted");
    EXPECT_EQ(asked({}, copies, nullptr), bytes_of(cloud_, {"x", "y", "z"}));
    EXPECT_EQ(copies.runs.size(), 40U);
  }
}

/// Where most chunks have to be completed, the next ones are decoded in one step; what was not wanted of them still
/// does not matter.
TEST_P(Encoded, GuessesWhatWillBeWanted) {
  const std::uint64_t half = cloud_.count() / 2;
  Selection selection;
  selection.fraction = 0.5;  // some of each
  RunSource all(cloud_, {20});
  ChunkSource* const every[] = {&all};
  RunSink sink(bytes_, "");
  (void)filter(every, selection, sink, nullptr, execution(20, 1));
  EXPECT_GT(std::count(all.whole.begin(), all.whole.end(), 1), static_cast<std::ptrdiff_t>(all.runs()) / 2);
  EXPECT_LT(std::count(all.whole.begin(), all.whole.end(), 1), static_cast<std::ptrdiff_t>(all.runs()));

  // The second half is left out.
  std::vector<std::byte> records(cloud_.records().begin(), cloud_.records().end());
  const std::uint32_t at = cloud_.info().schema.find("classification")->offset;
  for (std::uint64_t i = 0; i < cloud_.count(); ++i) records[i * bytes_ + at] = std::byte(i < half ? i % 2 : 7);
  const PointCloud marked(cloud_.info(), records);
  selection = {};
  selection.where.push_back(parse_where("classification == 1"));
  RunSource source(marked, {20});
  source.damaged_run = static_cast<std::size_t>(half / 20) + 1;
  ChunkSource* const sources[] = {&source};
  RunSink kept(bytes_, "");
  const Report report = filter(sources, selection, kept, nullptr, execution(20, 1));
  EXPECT_EQ(report.points_written, half / 2);
  EXPECT_GT(std::count(source.whole.begin(), source.whole.end(), 1), 0);
  source.damaged_run = 0;
  RunSink other(bytes_, "");
  EXPECT_THROW((void)filter(sources, selection, other, nullptr, execution(20, 1)), FormatError);
}

TEST_P(Encoded, SourcesWithoutACodingAreNotCopied) {
  RunSource source(cloud_, {50});
  source.named.clear();
  RunSink kept(bytes_, "");
  ChunkSource* const sources[] = {&source};
  (void)filter(sources, {}, kept, nullptr, execution(200, 2));
  EXPECT_TRUE(kept.runs.empty());
  EXPECT_TRUE(kept.records() == cloud_.records());
}

TEST_P(Encoded, SourcesOfDifferentCodingsGoToOneSink) {
  RunSource a(cloud_, {50});
  RunSource b(cloud_, {30});
  b.named = "otherwise";
  RunSink kept(bytes_, "inverted");
  ChunkSource* const sources[] = {&a, &b};
  (void)filter(sources, {}, kept, nullptr, execution(200, 2));
  EXPECT_EQ(kept.runs.size(), 40U);
  std::vector<std::byte> twice = cloud_.records();
  twice.insert(twice.end(), cloud_.records().begin(), cloud_.records().end());
  EXPECT_TRUE(kept.records() == twice);
}

/// What the sinks hold counts once, however many chunks are in flight.
TEST_P(Encoded, SinksShareTheMemoryLimit) {
  const auto needed = [&](std::uint64_t held_per_point, bool with_rejected) -> std::uint64_t {
    RunSource source(cloud_, {50});
    ChunkSource* const sources[] = {&source};
    RunSink kept(bytes_, "");
    RunSink rejected(bytes_, "");
    kept.held_per_point = rejected.held_per_point = held_per_point;
    Execution tight = execution(0, 4);
    tight.memory_bytes = 1;
    try {
      (void)filter(sources, middle(), kept, with_rejected ? &rejected : nullptr, tight);
    } catch (const OutOfMemory& error) {
      return error.bytes();
    }
    ADD_FAILURE() << "nothing was refused";
    return 0;
  };
  const std::uint64_t without = needed(0, false);
  const std::uint64_t threads = needed(1, false) - without - cloud_.count();
  EXPECT_EQ(threads, 1U);  // of the four, as many as have a chunk at the end
  EXPECT_EQ(needed(1000, false), without + 1000 * cloud_.count() + threads);
  EXPECT_EQ(needed(1000, true), needed(0, true) + 2 * (1000 * cloud_.count() + threads));
}

}  // namespace
}  // namespace sluice
