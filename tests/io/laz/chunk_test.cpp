// SPDX-License-Identifier: Apache-2.0
/// \file
/// Whole chunks: what is encoded decodes to itself, in parts and by layers too, and damage never does harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "io/laz/laz_file.hpp"
#include "io/laz/point_clouds.hpp"

namespace sluice::laz {
namespace {

void expect_survives(const RecordLayout& layout, Kind kind, std::uint64_t count) {
  SCOPED_TRACE(name_of(layout) + ", kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(count) +
               " points");
  const auto records = make_records(layout, kind, count, static_cast<std::uint32_t>(count));
  const auto bytes = encode_chunk(layout, records.data(), count);
  const Decoded decoded = decode_chunk(layout, bytes, count);
  EXPECT_EQ(decoded.status, Status::kOk);
  EXPECT_EQ(decoded.points, count);
  EXPECT_TRUE(decoded.records == records);
}

TEST(LazChunk, DecodesWhatWasEncoded) {
  for (const RecordLayout& layout : all_layouts()) {
    for (const Kind kind : all_kinds()) {
      for (const std::uint64_t count : {1U, 2U, 3U, 257U, 513U, 5000U}) expect_survives(layout, kind, count);
    }
  }
}

TEST(LazChunk, DecodesLongChunks) {
  for (const std::uint32_t format : {1U, 3U, 6U, 8U}) {
    const RecordLayout layout = layout_of(items_of(format, 0));
    for (const Kind kind : all_kinds()) {
      for (const std::uint64_t count : {50000U, 50001U}) expect_survives(layout, kind, count);
    }
  }
  expect_survives(layout_of(items_of(7, 0)), Kind::kScan, 1000000);
}

TEST(LazChunk, ManyExtraBytes) {
  for (const std::uint32_t format : {0U, 6U}) expect_survives(layout_of(items_of(format, 300)), Kind::kExtreme, 50);
}

TEST(LazChunk, ConstantPointsTakeNoRoom) {
  for (const RecordLayout& layout : all_layouts()) {
    if (layout.wave_packet_version != 0) continue;  // its descriptor is coded without a prediction
    const auto records = make_records(layout, Kind::kConstant, 5000, 1);
    EXPECT_LT(encode_chunk(layout, records.data(), 5000).size(), layout.record_bytes + 4 * layout.layers() + 1600U);
  }
}

TEST(LazChunk, RecordsMayLieApart) {
  for (const RecordLayout& layout : all_layouts()) {
    SCOPED_TRACE(name_of(layout));
    constexpr std::uint64_t kCount = 700;
    const std::uint64_t stride = layout.record_bytes + 5;
    const auto records = make_records(layout, Kind::kScan, kCount, 2);
    std::vector<std::byte> apart(kCount * stride, std::byte{0x77});
    for (std::uint64_t i = 0; i < kCount; ++i)
      std::copy_n(records.data() + i * layout.record_bytes, layout.record_bytes, apart.data() + i * stride);
    Buffer out;
    std::vector<std::byte> back(apart.size(), std::byte{0x77});
    if (layout.layered) {
      LayeredWorkspace workspace;
      const std::byte* from = apart.data();
      encode_layered_chunk(workspace, layout, fields_of_records(layout, from, stride), kCount, out);
      EXPECT_EQ(decode_layered_chunk(workspace, layout, out.bytes(), layer::kAll,
                                     fields_of_records(layout, back.data(), stride), kCount)
                    .status,
                Status::kOk);
    } else {
      PointwiseWorkspace workspace;
      encode_pointwise_chunk(workspace, layout, apart.data(), stride, kCount, out);
      EXPECT_EQ(decode_pointwise_chunk(workspace, layout, out.bytes(), back.data(), stride, kCount).status,
                Status::kOk);
    }
    EXPECT_TRUE(back == apart);
    EXPECT_TRUE(std::ranges::equal(out.bytes(), encode_chunk(layout, records.data(), kCount)));
  }
}

TEST(LazChunk, LayersFillColumns) {
  const RecordLayout layout = layout_of(items_of(8, 2));
  constexpr std::uint64_t kCount = 3000;
  const auto records = make_records(layout, Kind::kChannels, kCount, 3);
  const auto bytes = encode_chunk(layout, records.data(), kCount);
  std::vector<std::uint32_t> x(kCount), y(kCount), z(kCount);
  std::vector<std::byte> returns(kCount), flags(kCount);
  std::vector<std::uint64_t> time(kCount);
  std::vector<std::uint16_t> nir(kCount);
  const auto column = [](auto& values) {
    return Field<std::byte>{reinterpret_cast<std::byte*>(values.data()), sizeof(values[0])};
  };
  LayeredFields<std::byte> fields;
  fields.x = column(x);
  fields.y = column(y);
  fields.z = column(z);
  fields.returns = column(returns);
  fields.flags = column(flags);
  fields.gps_time = column(time);
  fields.nir = column(nir);
  LayeredWorkspace workspace;
  const auto result = decode_layered_chunk(workspace, layout, bytes, layer::kAll, fields, kCount);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.points, kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const std::byte* p = records.data() + i * layout.record_bytes;
    ASSERT_EQ(x[i], load_unaligned<std::uint32_t>(p));
    ASSERT_EQ(y[i], load_unaligned<std::uint32_t>(p + 4));
    ASSERT_EQ(z[i], load_unaligned<std::uint32_t>(p + 8));
    ASSERT_EQ(returns[i], p[14]);
    ASSERT_EQ(flags[i], p[15]);
    ASSERT_EQ(time[i], load_unaligned<std::uint64_t>(p + 22));
    ASSERT_EQ(nir[i], load_unaligned<std::uint16_t>(p + layout.nir_at));
  }
}

TEST(LazChunk, LayersCanFollowLater) {
  std::mt19937_64 random(11);
  for (const RecordLayout& layout : all_layouts()) {
    if (!layout.layered) continue;
    for (const Kind kind : all_kinds()) {
      for (const std::uint64_t count : {1U, 2U, 600U}) {
        const auto records = make_records(layout, kind, count, 14);
        const auto bytes = encode_chunk(layout, records.data(), count);
        for (int round = 0; round < 8; ++round) {
          // The first round wants nothing at first, the second all.
          const std::uint64_t first = round == 0 ? 0 : round == 1 ? layer::kAll : random();
          const std::uint64_t second = random();
          const Decoded decoded = decode_by_layers(layout, bytes, count, {first, second, ~(first | second)});
          ASSERT_EQ(decoded.status, Status::kOk) << name_of(layout);
          ASSERT_EQ(decoded.points, count);
          ASSERT_TRUE(decoded.records == records) << name_of(layout) << ": " << first << " and then " << second;
        }
        // Of fewer points than the chunk has.
        const Decoded part = decode_by_layers(layout, bytes, (count + 1) / 2, {layer::bit(layer::kZ), layer::kAll});
        ASSERT_EQ(part.status, Status::kOk);
        ASSERT_TRUE(std::equal(part.records.begin(), part.records.end(), records.begin()));
      }
    }
  }
}

TEST(LazChunk, KnowsTheLayersOfBytes) {
  const RecordLayout layout = layout_of(items_of(10, 60));
  EXPECT_EQ(layers_of(layout, 0, 8), 0U);
  EXPECT_EQ(layers_of(layout, 14, 1), 0U);
  EXPECT_EQ(layers_of(layout, 0, 12), layer::bit(layer::kZ));
  EXPECT_EQ(layers_of(layout, 11, 2), layer::bit(layer::kZ) | layer::bit(layer::kIntensity));
  EXPECT_EQ(layers_of(layout, 15, 1), layer::bit(layer::kFlags));
  EXPECT_EQ(layers_of(layout, 16, 0), 0U);
  EXPECT_EQ(layers_of(layout, 16, 1), layer::bit(layer::kClassification));
  EXPECT_EQ(layers_of(layout, 17, 1), layer::bit(layer::kUserData));
  EXPECT_EQ(layers_of(layout, 19, 1), layer::bit(layer::kScanAngle));
  EXPECT_EQ(layers_of(layout, 20, 2), layer::bit(layer::kSource));
  EXPECT_EQ(layers_of(layout, 29, 1), layer::bit(layer::kGpsTime));
  EXPECT_EQ(layers_of(layout, 30, 6), layer::bit(layer::kRgb));
  EXPECT_EQ(layers_of(layout, 36, 3), layer::bit(layer::kNir) | layer::bit(layer::kWavePacket));
  EXPECT_EQ(layers_of(layout, 67, 1), layer::bit(layer::kExtra));
  EXPECT_EQ(layers_of(layout, 68, 2), layer::bit(layer::kExtra + 1) | layer::bit(layer::kExtra + 2));
  EXPECT_EQ(layers_of(layout, 67 + 55, 1), layer::bit(63));
  EXPECT_EQ(layers_of(layout, 0, layout.record_bytes), layer::kAll ^ layer::bit(layer::kMain));
}

TEST(LazChunk, PointwiseInParts) {
  const RecordLayout layout = layout_of(items_of(5, 3));
  constexpr std::uint64_t kCount = 2000;
  const auto records = make_records(layout, Kind::kScan, kCount, 4);
  const auto bytes = encode_chunk(layout, records.data(), kCount);
  PointwiseWorkspace workspace;
  PointwiseDecoder decoder(workspace, layout, bytes);
  std::uint64_t done = 0;
  for (const std::uint64_t part : {1U, 1U, 0U, 700U, 5U, 1293U}) {
    std::vector<std::byte> out(part * layout.record_bytes);  // each part elsewhere
    const auto result = decoder.decode(out.data(), layout.record_bytes, part);
    ASSERT_EQ(result.status, Status::kOk);
    ASSERT_EQ(result.points, part);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), records.data() + done * layout.record_bytes));
    done += part;
    EXPECT_EQ(result.consumed == bytes.size(), done == kCount);
  }
}

/// Cut anywhere, a pointwise chunk yields points that are right, and says that it is cut.
TEST(LazDamage, PrefixesOfPointwiseChunks) {
  for (const RecordLayout& layout : all_layouts()) {
    if (layout.layered) continue;
    constexpr std::uint64_t kCount = 30;
    const auto records = make_records(layout, Kind::kScan, kCount, 5);
    const auto bytes = encode_chunk(layout, records.data(), kCount);
    std::uint64_t most = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const Decoded decoded = decode_chunk(layout, cut, kCount);
      EXPECT_EQ(decoded.status, Status::kTruncated) << size;
      ASSERT_GE(decoded.points, most) << "fewer points from more bytes";
      most = decoded.points;
      ASSERT_TRUE(std::equal(records.data(), records.data() + most * layout.record_bytes, decoded.records.data()));
    }
    EXPECT_GE(most, kCount - 5);
  }
}

/// Cut anywhere, a layered chunk yields the layers that are complete.
TEST(LazDamage, PrefixesOfLayeredChunks) {
  for (const RecordLayout& layout : all_layouts()) {
    if (!layout.layered) continue;
    constexpr std::uint64_t kCount = 30;
    const auto records = make_records(layout, Kind::kChannels, kCount, 6);
    const auto bytes = encode_chunk(layout, records.data(), kCount);
    LayeredWorkspace workspace;
    bool partial = false;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      std::vector<std::byte> out(records.size());
      const auto result = decode_layered_chunk(workspace, layout, cut, layer::kAll,
                                               fields_of_records(layout, out.data(), layout.record_bytes), kCount);
      EXPECT_EQ(result.status, Status::kTruncated) << size;
      ASSERT_TRUE(std::equal(out.data(), out.data() + result.points * layout.record_bytes, records.data())) << size;
      if (result.main != kCount) continue;
      const auto sound = [&](std::uint32_t which, std::uint32_t at, std::uint32_t length) {
        if ((result.damaged & layer::bit(which)) != 0) return;
        for (std::uint64_t i = 0; i < kCount * layout.record_bytes; i += layout.record_bytes)
          ASSERT_TRUE(std::equal(&records[i + at], &records[i + at] + length, &out[i + at])) << which;
      };
      sound(layer::kMain, 0, 8);
      sound(layer::kZ, 8, 4);
      sound(layer::kIntensity, 12, 2);
      sound(layer::kGpsTime, 22, 8);
      partial = partial || (result.damaged & layer::bit(layer::kZ)) == 0;
    }
    EXPECT_TRUE(partial);
  }
}

/// Whatever the bytes are, decoding ends; the sanitizers watch how.
TEST(LazDamage, ChangedBytes) {
  std::mt19937 random(7);
  for (const RecordLayout& layout : all_layouts()) {
    for (const Kind kind : {Kind::kScan, Kind::kExtreme, Kind::kTimeJumps}) {
      constexpr std::uint64_t kCount = 200;
      const auto records = make_records(layout, kind, kCount, 8);
      const auto bytes = encode_chunk(layout, records.data(), kCount);
      for (int round = 0; round < 60; ++round) {
        auto changed = bytes;
        for (int i = 0; i <= round / 10; ++i)
          changed[random() % changed.size()] ^= static_cast<std::byte>(1U << random() % 8);
        if (round % 20 == 0) std::ranges::generate(changed, [&] { return static_cast<std::byte>(random()); });
        const Decoded decoded = decode_chunk(layout, changed, kCount);
        EXPECT_LE(decoded.points, kCount);
      }
    }
  }
}

TEST(LazDamage, VersionOneWithChangedBytes) {
  std::mt19937 random(9);
  auto items = items_of(3, 4);
  for (Item& item : items) item.version = 1;
  const RecordLayout layout = layout_of(items);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes(2000);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
    EXPECT_LE(decode_chunk(layout, bytes, 500).points, 500U);
  }
}

TEST(LazDamage, LayersThatLayerZeroPromisesMustBeThere) {
  const RecordLayout layout = layout_of(items_of(6, 0));
  constexpr std::uint64_t kCount = 500;
  const auto records = make_records(layout, Kind::kScan, kCount, 10);
  auto bytes = encode_chunk(layout, records.data(), kCount);
  // The gps times are the last layer: taken away as if they had never changed.
  std::byte* size = bytes.data() + layout.record_bytes + 4 + 4 * layer::kGpsTime;
  ASSERT_NE(load_unaligned<std::uint32_t>(size), 0U);
  bytes.resize(bytes.size() - load_unaligned<std::uint32_t>(size));
  store_unaligned(bytes.data() + layout.record_bytes + 4 + 4 * layer::kGpsTime, 0U);
  std::vector<std::byte> out(records.size());
  LayeredWorkspace workspace;
  const auto fields = fields_of_records(layout, out.data(), layout.record_bytes);
  auto result = decode_layered_chunk(workspace, layout, bytes, layer::kAll, fields, kCount);
  EXPECT_EQ(result.status, Status::kCorrupt);
  EXPECT_EQ(result.damaged, layer::bit(layer::kGpsTime));
  EXPECT_EQ(result.main, kCount);
  result = decode_layered_chunk(workspace, layout, bytes, ~layer::bit(layer::kGpsTime), fields, kCount);
  EXPECT_EQ(result.status, Status::kOk);
}

/// Damage in a layer shows when that layer is decoded, and only then.
TEST(LazDamage, LayersThatFollowLaterAreChecked) {
  std::mt19937 random(13);
  const RecordLayout layout = layout_of(items_of(10, 2));
  constexpr std::uint64_t kCount = 400;
  const auto records = make_records(layout, Kind::kChannels, kCount, 15);
  const auto sound = encode_chunk(layout, records.data(), kCount);
  std::uint64_t at = layout.record_bytes + 4 + 4 * std::uint64_t{layout.layers()};
  for (std::uint32_t which = layer::kMain; which < layout.layers(); ++which) {
    SCOPED_TRACE("layer " + std::to_string(which));
    const auto size = load_unaligned<std::uint32_t>(sound.data() + layout.record_bytes + 4 + 4 * which);
    const std::uint64_t begin = at;
    at += size;
    if (which == layer::kMain || size == 0) continue;
    auto damaged = sound;
    // Now and then other bytes of a short layer are as good.
    do {
      for (std::uint64_t i = begin; i < at; ++i) damaged[i] = static_cast<std::byte>(random());
    } while (decode_by_layers(layout, damaged, kCount, {layer::kAll}).status == Status::kOk);
    const std::uint64_t bit = layer::bit(which);
    const Decoded others = decode_by_layers(layout, damaged, kCount, {~bit});
    EXPECT_EQ(others.status, Status::kOk);
    EXPECT_EQ(others.points, kCount);
    EXPECT_EQ(decode_by_layers(layout, damaged, kCount, {~bit, 0}).status, Status::kOk);
    const Decoded later = decode_by_layers(layout, damaged, kCount, {0, ~bit, bit});
    EXPECT_NE(later.status, Status::kOk);
    EXPECT_LE(later.points, kCount);
  }
  EXPECT_EQ(at, sound.size());
}

TEST(LazItems, TheirCodingHasAName) {
  std::vector<std::string> names;
  for (std::uint32_t format = 0; format <= 10; ++format) {
    for (const std::uint32_t extra : {0U, 1U, 3U}) names.push_back(coding_of(layout_of(items_of(format, extra))));
  }
  EXPECT_EQ(names.back(), "layered point:30/3 rgb:6/3 nir:2/3 wave:29/3 extra:3/3");
  EXPECT_EQ(names[3], "pointwise point:20/2 gps:8/2");
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());

  const auto of_version = [](std::uint32_t format, std::uint16_t version) {
    auto items = items_of(format, 0);
    for (Item& item : items) item.version = version;
    return coding_of(layout_of(items));
  };
  // Version 2 is another label of 3, and version 4 differs from it behind the first item only.
  EXPECT_EQ(of_version(8, 2), of_version(8, 3));
  EXPECT_EQ(of_version(6, 4), of_version(6, 3));
  EXPECT_NE(of_version(8, 4), of_version(8, 3));
  EXPECT_EQ(of_version(1, 1), "");
}

TEST(LazDamage, CountsThatDoNotAgree) {
  const RecordLayout layered = layout_of(items_of(7, 0));
  const RecordLayout pointwise = layout_of(items_of(1, 0));
  constexpr std::uint64_t kCount = 500;
  for (const RecordLayout& layout : {layered, pointwise}) {
    const auto records = make_records(layout, Kind::kScan, kCount, 11);
    auto bytes = encode_chunk(layout, records.data(), kCount);
    const Decoded fewer = decode_chunk(layout, bytes, kCount - 10);
    EXPECT_EQ(fewer.points, kCount - 10);
    EXPECT_EQ(fewer.status, layout.layered ? Status::kOk : Status::kLeftOver);
    EXPECT_TRUE(std::equal(fewer.records.begin(), fewer.records.end(), records.begin()));
    const Decoded more = decode_chunk(layout, bytes, kCount + 40);
    EXPECT_NE(more.status, Status::kOk);
    EXPECT_GE(more.points, kCount);
    EXPECT_LT(more.points, kCount + 40);
    bytes.push_back(std::byte{0});
    EXPECT_EQ(decode_chunk(layout, bytes, kCount).status, Status::kLeftOver);
  }
}

}  // namespace
}  // namespace sluice::laz
