// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "engine/streams.hpp"

namespace sluice::app {
namespace {

constexpr std::uint64_t kPoints = 150001;

/// Numbers of very different size, each with its opposite somewhere, and one more.
template <typename T>
std::vector<T> cancelling(T remainder, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out{remainder};
  while (out.size() < kPoints) {
    const auto value = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60)));
    out.push_back(value);
    out.push_back(-value);
  }
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

/// Points with x, y, z as floats and `w` as double; z and w cancel but for 3 and 0.7.
PointCloud cancelling_cloud() {
  CloudInfo info;
  const auto add = [&info](const char* name, FieldType type) {
    Field field;
    field.name = name;
    field.type = type;
    field.offset = info.schema.record_bytes;
    info.schema.record_bytes += field_bytes(type);
    info.schema.fields.push_back(field);
  };
  for (const char* name : {"x", "y", "z"}) add(name, FieldType::kFloat32);
  add("w", FieldType::kFloat64);
  info.frame.kind = CoordinateKind::kFloat32;
  for (std::size_t axis = 0; axis < 3; ++axis) info.frame.at[axis] = info.schema.fields[axis].offset;

  const std::vector<float> z = cancelling(3.0F, 1);
  const std::vector<double> w = cancelling(0.7, 2);
  std::vector<std::byte> records(kPoints * info.schema.record_bytes);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const std::array<float, 3> position = {0.0F, 0.0F, z[i]};
    std::byte* const record = records.data() + i * info.schema.record_bytes;
    std::memcpy(record, position.data(), sizeof position);
    std::memcpy(record + sizeof position, &w[i], sizeof w[i]);
  }
  return {std::move(info), std::move(records)};
}

TEST(Statistics, MeansDoNotDependOnChunks) {
  test::PiecewiseSource source(cancelling_cloud());
  for (const std::uint64_t most : {0, 777, 4096, 50000}) {
    for (const int threads : {1, 4}) {
      source.most_per_chunk = most;
      source.rewind();
      const CloudStatistics statistics = compute_statistics(source, threads);
      ASSERT_EQ(statistics.fields.size(), 4U);
      EXPECT_EQ(statistics.fields[2].count, kPoints);
      EXPECT_EQ(statistics.fields[2].mean, 3.0 / kPoints) << most;
      EXPECT_EQ(statistics.fields[3].mean, 0.7 / kPoints) << most;
    }
  }
}

}  // namespace
}  // namespace sluice::app
