// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real PCD, PLY, text and raw files, against values that other programs computed (expected.json).
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/rows.hpp"
#include "support/sha256.hpp"
#include "support/test_data.hpp"

namespace sluice::test {
namespace {

class RowsData : public ::testing::Test {
 protected:
  void SetUp() override {
    data_ = test_data();
    if (data_.empty()) GTEST_SKIP() << "no test data: set SLUICE_TEST_DATA";
    expected_ = nlohmann::json::parse(read_file(data_ / "expected.json")).at("files");
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, file] : expected_.items()) {
      for (const char* folder : {"pcd/", "ply/", "xyz/", "kitti/"}) {
        if (name.starts_with(folder)) out.push_back(name);
      }
    }
    EXPECT_GE(out.size(), 8u);
    return out;
  }

  std::filesystem::path data_;
  nlohmann::json expected_;
};

/// The coordinates of the finite points as they are in memory.
std::string finite_positions(ChunkSource& source) {
  const CloudInfo& info = source.info();
  const std::size_t bytes = info.frame.kind == CoordinateKind::kFloat32 ? 4 : 8;
  source.rewind();
  const std::string records = read_all(source, 1000);
  std::string out;
  for (std::size_t at = 0; at < records.size(); at += info.schema.record_bytes) {
    const auto* record = reinterpret_cast<const std::byte*>(records.data()) + at;
    const Position p = load_position(info.frame.positions(record, 0), 0);
    if (!is_finite(p.world[0]) || !is_finite(p.world[1]) || !is_finite(p.world[2])) continue;
    for (const std::uint32_t axis : info.frame.at) out += records.substr(at + axis, bytes);
  }
  return out;
}

TEST_F(RowsData, ValuesAreThoseOfOtherReaders) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const nlohmann::json& file = expected_[name];
    const auto source = io::open_source(data_ / name);
    EXPECT_EQ(source->info().point_count, file["point_count"]);
    std::vector<std::string> fields = file["fields"];
    for (std::string& field : fields) {
      std::transform(field.begin(), field.end(), field.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    EXPECT_EQ(field_names(source->info()), fields);
    const bool single = source->info().frame.kind == CoordinateKind::kFloat32;
    EXPECT_EQ(single ? "float32" : "float64", file["coordinate_type"]);
    const std::string positions = finite_positions(*source);
    EXPECT_EQ(positions.size() / (single ? 12 : 24), file["finite_points"]);
    EXPECT_EQ(sha256(to_bytes(positions)), file[single ? "xyz_f32_sha256" : "xyz_f64_sha256"]);
  }
}

TEST_F(RowsData, WhatIsWrittenHasTheSameRecords) {
  const TemporaryFolder folder;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const auto source = io::open_source(data_ / name);
    const std::string path = folder / name.substr(name.find('/') + 1);
    (void)copy_to(*source, path);
    const auto again = io::open_source(path);
    EXPECT_TRUE(again->info().warnings.empty());
    source->rewind();
    EXPECT_TRUE(read_all(*source, 1000) == read_all(*again, 777));
    EXPECT_EQ(io::layout_difference(source->info(), again->info()), std::nullopt);
  }
}

TEST_F(RowsData, ATextCalledPcdIsRefused) {
  EXPECT_THROW((void)io::open_source(data_ / "bad" / "missingheader.pcd"), FormatError);
}

}  // namespace
}  // namespace sluice::test
