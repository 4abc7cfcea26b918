// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real LAS files, against values that other programs computed (expected.json).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/las_bytes.hpp"
#include "sluice/core/error.hpp"
#include "support/quick.hpp"
#include "support/test_data.hpp"

namespace sluice::test {
namespace {

class LasData : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1);
    data_ = test_data();
    if (data_.empty()) GTEST_SKIP() << "no test data: set SLUICE_TEST_DATA";
    expected_ = nlohmann::json::parse(read_file(data_ / "expected.json")).at("files");
  }
  /// Names of the sound LAS files, as in expected.json.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, file] : expected_.items()) {
      if (name.ends_with(".las") && !file.value("unreadable", false) && file.contains("point_count"))
        out.push_back(name);
    }
    EXPECT_GE(out.size(), 9u);
    return out;
  }

  std::filesystem::path data_;
  nlohmann::json expected_;
};

TEST_F(LasData, ValuesAreThoseOfOtherReaders) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const nlohmann::json& file = expected_[name];
    const auto source = io::open_source(data_ / name);
    const CloudInfo& info = source->info();
    const io::LasMetadata& metadata = metadata_of(info);
    EXPECT_EQ(info.point_count, file["point_count"]);
    EXPECT_EQ(metadata.header.version(), file["version"]);
    EXPECT_EQ(metadata.header.point_format, file["point_format"]);
    EXPECT_EQ(info.schema.record_bytes, file["record_length"]);
    EXPECT_EQ(metadata.header.header_size, file["header_size"]);
    EXPECT_EQ(metadata.header.offset_to_points, file["offset_to_points"]);
    EXPECT_EQ(metadata.header.global_encoding, file["global_encoding"]);
    EXPECT_EQ(metadata.header.scale, (file["scale"].get<std::array<double, 3>>()));
    EXPECT_EQ(metadata.header.offset, (file["offset"].get<std::array<double, 3>>()));
    ASSERT_EQ(metadata.vlrs.size(), file["vlrs"].size());
    for (std::size_t i = 0; i < metadata.vlrs.size(); ++i) {
      EXPECT_EQ(metadata.vlrs[i].user_text(), file["vlrs"][i][0]);
      EXPECT_EQ(metadata.vlrs[i].record_id, file["vlrs"][i][1]);
      EXPECT_EQ(metadata.vlrs[i].payload.size(), file["vlrs"][i][2]);
    }
    const std::string records = read_all(*source, 100);
    std::array<std::int64_t, 3> low{};
    std::array<std::int64_t, 3> high{};
    std::array<std::int64_t, 3> sum{};
    std::uint64_t intensity = 0;
    std::map<std::string, std::uint64_t> classes;
    std::map<std::string, std::uint64_t> returns;
    const auto* base = reinterpret_cast<const std::byte*>(records.data());
    const std::uint64_t stride = info.schema.record_bytes;
    const char* axes[3] = {"x", "y", "z"};
    for (std::uint64_t i = 0; i < info.point_count; ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t raw = info.schema.find(axes[axis])->column(base, stride).at(i).i;
        low[axis] = i == 0 ? raw : std::min(low[axis], raw);
        high[axis] = i == 0 ? raw : std::max(high[axis], raw);
        sum[axis] += raw;
      }
      intensity += info.schema.find("intensity")->column(base, stride).at(i).u;
      ++classes[std::to_string(info.schema.find("classification")->column(base, stride).at(i).u)];
      ++returns[std::to_string(info.schema.find("return_number")->column(base, stride).at(i).u)];
    }
    EXPECT_EQ(intensity, file["intensity_sum"]);
    if (info.point_count == 0) continue;
    const char* names[3] = {"X", "Y", "Z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(low[axis], file[names[axis]]["min"]);
      EXPECT_EQ(high[axis], file[names[axis]]["max"]);
      EXPECT_EQ(sum[axis], file[names[axis]]["sum"]);
      EXPECT_EQ(to_world(static_cast<std::int32_t>(low[axis]), info.frame.scale[axis], info.frame.offset[axis]),
                file["bounds"][axis][0]);
      EXPECT_EQ(to_world(static_cast<std::int32_t>(high[axis]), info.frame.scale[axis], info.frame.offset[axis]),
                file["bounds"][axis][1]);
    }
    EXPECT_EQ(classes, (file["jobs"]["class_histogram"].get<std::map<std::string, std::uint64_t>>()));
    EXPECT_EQ(returns, (file["jobs"]["return_histogram"].get<std::map<std::string, std::uint64_t>>()));
  }
}

TEST_F(LasData, CopiesDifferOnlyInWhatAWriterMakesAnew) {
  const TemporaryFolder folder;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const auto source = io::open_source(data_ / name);
    copy_to(*source, folder / "out.las", {.overwrite = true});
    std::string wanted = read_file(data_ / name);
    LasBytes::patch_statistics(wanted, source->info().point_count);
    std::string generator = kGenerator;
    generator.resize(32, '\0');
    put_text(wanted, 58, generator);
    put<std::uint16_t>(wanted, 90, 318);
    put<std::uint16_t>(wanted, 92, 2023);
    EXPECT_TRUE(read_file(folder / "out.las") == wanted);
    // What was written is read without a word about counts, bounds or returns.
    const auto again = io::open_source(folder / "out.las");
    EXPECT_FALSE(any_contains(again->info().warnings, "bounds")) << joined(again->info().warnings);
    EXPECT_FALSE(any_contains(again->info().warnings, "counts")) << joined(again->info().warnings);
  }
}

TEST_F(LasData, EveryPrefixIsRefusedOrReadAsFarAsItGoes) {
  std::vector<std::string> files = names();
  files.emplace_back("bad/huge_point_count.las");
  files.emplace_back("bad/1.2-no-points.las");
  for (const std::string& name : files) {
    SCOPED_TRACE(name);
    const std::string bytes = read_file(data_ / name);
    const std::vector<std::byte> all = to_bytes(bytes);
    const std::size_t points_at = get<std::uint32_t>(bytes, 96);
    const std::size_t length = get<std::uint16_t>(bytes, 105);
    // Large files by samples: all of what precedes the points, then a prime step.
    const std::size_t step = bytes.size() > 65536 ? 997 : quick() ? 7 : 1;
    for (std::size_t end = 0; end < bytes.size(); end += end < points_at + 200 ? 1 : step) {
      for (const bool recover : {false, true}) {
        try {
          const auto source = io::open_source_from_memory(
              "prefix.las", {all.begin(), all.begin() + static_cast<long>(end)}, {.recover = recover});
          ASSERT_LE(points_at + source->info().point_count * length, end);
          RecordBuffer buffer;
          ChunkRange range;
          while (source->next(1000, range)) {
            const PointView view = source->load(range, buffer);
            ASSERT_EQ(view.stride, length);
            ASSERT_EQ(std::memcmp(view.records, all.data() + points_at + range.first * length, view.count * length), 0);
          }
        } catch (const FormatError&) {
          // Refused is right as well.
        }
      }
    }
  }
}

TEST_F(LasData, BadFilesAreRefusedByName) {
  const auto refused = [&](const std::string& name, const std::string& part) {
    try {
      (void)io::open_source(data_ / name);
      ADD_FAILURE() << name << " was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("bad/1.2-no-points.las", "1065 are counted, but only 0 are present");
  refused("bad/huge_point_count.las", "4000000000 are counted, but only 1065 are present");
  refused("bad/broken_version.laz", "LASzip items: item POINT10 in version 6");
  refused("bad/autzen_trim_truncated.laz", "32567 of 110000 points can be read");
  refused("bad/missingheader.pcd", "no known point file format");
  EXPECT_EQ(io::open_source(data_ / "bad/no-points.las")->info().point_count, 0u);
  const auto recovered = io::open_source(data_ / "bad/huge_point_count.las", {.recover = true});
  EXPECT_TRUE(io::was_recovered(*recovered));
  EXPECT_EQ(recovered->info().point_count, 1065u);
}

}  // namespace
}  // namespace sluice::test
