// SPDX-License-Identifier: Apache-2.0
/// \file
/// COPC files: the same points as in any LAZ file, and parts of them left out by their place.
#include "io/src/las/copc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "io/copc_bytes.hpp"
#include "sluice/core/region_reach.hpp"
#include "support/test_data.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Points that a source hands out, by their number in the file.
struct Visit {
  std::map<std::uint64_t, std::string> records;
  std::uint64_t ranges = 0;
};

Visit visit(ChunkSource& source, std::uint64_t step) {
  Visit out;
  RecordBuffer buffer;
  const std::uint64_t bytes = source.info().schema.record_bytes;
  std::uint64_t next = 0;
  for (ChunkRange range; source.next(step, range);) {
    EXPECT_GE(range.first, next);
    EXPECT_LE(range.count, step);
    next = range.first + range.count;
    const PointView view = source.load(range, buffer);
    for (std::uint64_t i = 0; i < view.count; ++i) {
      const auto* record = reinterpret_cast<const char*>(view.records + i * view.stride);
      out.records[range.first + i].assign(record, bytes);
    }
    source.release(range);
    ++out.ranges;
  }
  EXPECT_LE(next, source.info().point_count);
  return out;
}

/// Which of some records a selection keeps.
std::vector<std::uint64_t> kept_of(const std::map<std::uint64_t, std::string>& records, const CloudInfo& info,
                                   const std::vector<Region>& regions) {
  Selection selection;
  selection.regions = regions;
  const PredicateProgram program = build_predicate(selection, info.schema, info.frame);
  std::vector<std::uint64_t> out;
  for (const auto& [i, record] : records) {
    const Positions positions = info.frame.positions(reinterpret_cast<const std::byte*>(record.data()), record.size());
    if (evaluate(program.view(nullptr), positions, 0, i) == Verdict::kKept) out.push_back(i);
  }
  return out;
}

/// Regions of every kind, in a cube of side `size` around a place.
std::vector<Region> some_regions(const std::array<double, 3>& at, double size) {
  const double half = size / 2.0;
  const double slope[3] = {1.0, 2.0, -1.0};
  const auto plane = [&](double sign, double shift) {
    return HalfSpace{{sign * slope[0], sign * slope[1], sign * slope[2]},
                     shift - sign * (slope[0] * at[0] + slope[1] * at[1] + slope[2] * at[2])};
  };
  Sector sector{10.0, 60.0, -30.0, 50.0, {at[0], at[1], at[2]}};
  return {
      Box{{at[0] - half, at[1] - half, at[2] - half}, {at[0] + half, at[1] + half, at[2] + half}},
      OrientedBox{{at[0], at[1], at[2]}, {size, half, half}, 30.0, 20.0, 10.0},
      Sphere{{at[0], at[1], at[2]}, half},
      Cylinder{{at[0], at[1]}, half, at[2] - half, kInfinity},
      Polygon{{{{at[0] - size, at[1]}, {at[0], at[1] - half}, {at[0] + half, at[1]}, {at[0], at[1] + size}}}},
      plane(1.0, -3.0 * size),
      Frustum{{plane(1.0, half), plane(-1.0, half)}},
      RangeRing{half, size, {at[0], at[1], at[2]}},
      sector,
  };
}

std::function<bool(const Box&)> reach_of(const RegionReach& reach) {
  return [&reach](const Box& box) { return reach.reaches(box); };
}

/// For every kind of region in turn, at several places: exactly the kept points are found, whatever is left out.
/// \return points left out, of all that were asked for
std::pair<std::uint64_t, std::uint64_t> expect_nothing_is_lost(ChunkSource& source, const io::CopcInfo& copc,
                                                               std::uint64_t step, std::uint64_t places = 4) {
  source.rewind();
  const Visit all = visit(source, step);
  EXPECT_EQ(all.records.size(), source.info().point_count);
  std::uint64_t left_out = 0;
  std::uint64_t asked = 0;
  for (std::uint64_t place = 0; place < places; ++place) {
    std::array<double, 3> at{};
    for (std::size_t d = 0; d < 3; ++d) {
      const double unit = static_cast<double>(counter_random(9, 3 * place + d) >> 11) * 0x1p-53;
      at[d] = copc.center[d] + copc.halfsize * (2.0 * unit - 1.0);
    }
    for (const double size : {0.05, 0.3}) {
      for (const Region& region : some_regions(at, size * 2.0 * copc.halfsize)) {
        SCOPED_TRACE("region " + std::to_string(region.index()) + ", place " + std::to_string(place));
        const RegionReach reach({region}, source.info().frame);
        const std::uint64_t skipped = source.skip_unwanted(reach_of(reach));
        source.rewind();
        const Visit some = visit(source, step);
        EXPECT_EQ(some.records.size() + skipped, all.records.size());
        EXPECT_TRUE(std::includes(all.records.begin(), all.records.end(), some.records.begin(), some.records.end()));
        EXPECT_EQ(kept_of(some.records, source.info(), {region}), kept_of(all.records, source.info(), {region}));
        left_out += skipped;
        asked += all.records.size();
      }
    }
  }
  EXPECT_EQ(source.skip_unwanted({}), 0U);
  source.rewind();
  return {left_out, asked};
}

TEST(Copc, IsTheLazFileThatItIs) {
  for (const int format : {6, 7, 8}) {
    for (const std::int32_t levels_per_page : {1, 2, 9}) {
      CopcBytes way{.format = format, .points = 800, .levels_per_page = levels_per_page};
      const std::string bytes = way.build();
      EXPECT_EQ(way.pages > 5, levels_per_page < 9);
      const auto source = open_bytes(bytes);
      EXPECT_THAT(source->info().warnings, IsEmpty());
      const io::LasMetadata& metadata = metadata_of(source->info());
      EXPECT_EQ(metadata.format(), "laz");
      ASSERT_TRUE(metadata.copc);
      EXPECT_EQ(metadata.copc->center, (std::array<double, 3>{100.0, 100.0, 100.0}));
      EXPECT_EQ(metadata.copc->halfsize, 100.0);
      EXPECT_EQ(metadata.copc->spacing, 6.25);
      EXPECT_EQ(metadata.copc->root_offset, get<std::uint64_t>(bytes, CopcBytes::kInfoAt + 40));
      EXPECT_EQ(metadata.copc->root_bytes, get<std::uint64_t>(bytes, CopcBytes::kInfoAt + 48));
      EXPECT_EQ(metadata.copc->min_gps_time, 1.5);
      EXPECT_EQ(metadata.copc->max_gps_time, 2.5);
      EXPECT_EQ(metadata.copc->nodes, way.nodes.size());
      EXPECT_EQ(metadata.copc->levels, 4U);
      for (const std::uint64_t step : {1, 10, 100000}) {
        source->rewind();
        EXPECT_EQ(read_all(*source, step), read_all(*open_bytes(way.las), step));
      }
    }
  }
}

TEST(Copc, NoKeptPointIsLeftOut) {
  for (const std::array<double, 3>& scale :
       {std::array<double, 3>{0.01, 0.01, 0.01}, {0.001, -0.01, 0.5}, {0.25, 0.25, 4.0}}) {
    CopcBytes way{.points = 2000, .scale = scale};
    const auto source = open_bytes(way.build());
    ASSERT_TRUE(metadata_of(source->info()).copc) << joined(source->info().warnings);
    for (const std::uint64_t step : {3, 50, 100000}) {
      const auto [left_out, asked] = expect_nothing_is_lost(*source, *metadata_of(source->info()).copc, step);
      EXPECT_GT(left_out * 4, asked);
    }
  }
}

TEST(Copc, ASmallBoxNeedsFewChunks) {
  CopcBytes way{.points = 20000, .levels = 5};
  const auto source = open_bytes(way.build());
  ASSERT_GT(way.chunk_count, 3000U);
  const RegionReach reach({Box{{53.0, 53.0, 53.0}, {54.0, 54.0, 54.0}}}, source->info().frame);
  std::uint64_t asked = 0;
  const std::uint64_t skipped = source->skip_unwanted([&](const Box& box) {
    ++asked;
    return reach.reaches(box);
  });
  EXPECT_EQ(asked, way.chunk_count);
  source->rewind();
  // At most one of each level.
  const Visit some = visit(*source, 100000);
  EXPECT_GE(some.ranges, 1U);
  EXPECT_LE(some.ranges, 5U);
  EXPECT_EQ(some.records.size() + skipped, 20000U);
}

TEST(Copc, RangesDoNotSpanWhatIsLeftOut) {
  CopcBytes way{.points = 500, .levels = 2};
  const auto source = open_bytes(way.build());
  const auto left_half = [](const Box& box) { return box.min[0] < 50.0; };
  const auto nothing = [](const Box&) { return false; };
  EXPECT_EQ(source->skip_unwanted(nothing), 500U);
  // It takes effect when the source is rewound, and holds from then on.
  EXPECT_EQ(visit(*source, 100).records.size(), 500U);
  source->rewind();
  EXPECT_EQ(visit(*source, 100).records.size(), 0U);
  source->rewind();
  EXPECT_EQ(visit(*source, 100).records.size(), 0U);
  const std::uint64_t skipped = source->skip_unwanted(left_half);
  EXPECT_GT(skipped, 0U);
  for (const std::uint64_t step : {1, 7, 100, 1000}) {
    source->rewind();
    EXPECT_EQ(visit(*source, step).records.size(), 500U - skipped);
  }
  source->rewind();
  std::vector<std::uint64_t> ends{0};
  for (const std::uint64_t points : way.chunk_points) ends.push_back(ends.back() + points);
  for (ChunkRange range; source->next(1000, range);) {
    EXPECT_TRUE(std::binary_search(ends.begin(), ends.end(), range.first));
    EXPECT_TRUE(std::binary_search(ends.begin(), ends.end(), range.first + range.count));
  }
  EXPECT_EQ(source->skip_unwanted({}), 0U);
  source->rewind();
  EXPECT_EQ(visit(*source, 1000).records.size(), 500U);
}

TEST(Copc, PlainLazLeavesNothingOut) {
  LasBytes las = scan(7, 300);
  const auto source = open_bytes(LazBytes{.variable = {100}}.build(las.build()));
  EXPECT_EQ(source->skip_unwanted([](const Box&) { return false; }), 0U);
  source->rewind();
  EXPECT_EQ(visit(*source, 100).records.size(), 300U);
}

class CopcDamage : public ::testing::Test {
 protected:
  void SetUp() override { bytes_ = way_.build(); }

  /// The points are all there, in order, and nothing is left out.
  void expect_plain(const std::string& damaged, const std::string& says) {
    for (const bool recover : {false, true}) {
      const auto source = open_bytes(damaged, recover);
      EXPECT_FALSE(io::was_recovered(*source));
      EXPECT_FALSE(metadata_of(source->info()).copc);
      EXPECT_THAT(joined(source->info().warnings), HasSubstr(says));
      EXPECT_THAT(joined(source->info().warnings), HasSubstr("; the file is read as plain LAZ"));
      EXPECT_EQ(source->skip_unwanted([](const Box&) { return false; }), 0U);
      source->rewind();
      EXPECT_EQ(read_all(*source, 1000), read_all(*open_bytes(way_.las), 1000));
    }
  }
  /// The first entry with this many points, or with some.
  [[nodiscard]] std::size_t entry_with(std::int32_t points) const {
    for (const std::size_t at : way_.entries_at) {
      const auto there = get<std::int32_t>(bytes_, at + 28);
      if (points > 0 ? there > 0 : there == points) return at;
    }
    ADD_FAILURE() << "no such entry";
    return 0;
  }
  template <typename T>
  [[nodiscard]] std::string with(std::size_t at, T value) const {
    std::string out = bytes_;
    put(out, at, value);
    return out;
  }

  CopcBytes way_{.points = 400, .levels = 4};
  std::string bytes_;
};

TEST_F(CopcDamage, OfTheRecordAboutTheOctree) {
  const std::size_t info = CopcBytes::kInfoAt;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t at = info; at < info + 32; at += 8) {
    expect_plain(with(at, nan), "COPC info: centre and half size are no cube");
    expect_plain(with(at, kInfinity), "COPC info: centre and half size are no cube");
  }
  expect_plain(with(info + 24, -1.0), "no cube");
  expect_plain(with(info + 40, bytes_.size() - 16), "byte 469: COPC hierarchy: a page of");
  expect_plain(with(info + 40, ~std::uint64_t{0}), "and the file ends");
  expect_plain(with(info + 48, ~std::uint64_t{0}), "and the file ends");
  expect_plain(with(info + 48, get<std::uint64_t>(bytes_, info + 48) - 1), "and an entry has 32");
  // A record of another size moves what follows.
  std::string longer = bytes_;
  longer.insert(info + 160, 8, '\0');
  put<std::uint16_t>(longer, 375 + 20, 168);
  put(longer, 96, get<std::uint32_t>(longer, 96) + 8);
  put(longer, 235, get<std::uint64_t>(longer, 235) + 8);
  const std::size_t points_at = get<std::uint32_t>(longer, 96);
  put(longer, points_at, get<std::uint64_t>(longer, points_at) + 8);
  expect_plain(longer, "COPC info: 168 bytes, not 160");
}

TEST_F(CopcDamage, OfTheCube) {
  constexpr std::size_t info = CopcBytes::kInfoAt;
  constexpr double half = CopcBytes::kHalf;
  ASSERT_GT(way_.chunk_count, 2 * std::size_t{64});
  const std::string outside = "byte 429: COPC info: the cube does not hold the bounds that the header tells";
  expect_plain(with(info + 24, 0.0), outside);
  expect_plain(with(info + 24, half / 2.0), outside);
  expect_plain(with(info + 24, std::numeric_limits<double>::max()), outside);
  const std::string elsewhere = "does not hold the first point of its chunk";
  expect_plain(with(info + 24, 2.0 * half), elsewhere);
  for (std::size_t d = 0; d < 3; ++d) {
    for (const double part : {-0.5, -0.1, 0.1, 0.5}) {
      SCOPED_TRACE("axis " + std::to_string(d) + ", moved by " + std::to_string(part));
      std::string moved = with(info + 8 * d, half + part * half);
      expect_plain(moved, outside);
      // A cloud that does not fill its cube.
      for (std::size_t axis = 0; axis < 3; ++axis) {
        put(moved, 179 + 16 * axis, half + 1.0);
        put(moved, 187 + 16 * axis, half - 1.0);
      }
      expect_plain(moved, elsewhere);
    }
  }
}

TEST_F(CopcDamage, OfTheBoundsInTheHeader) {
  const std::string outside = "byte 429: COPC info: the cube does not hold the bounds that the header tells";
  for (std::size_t at = 179; at < 179 + 48; at += 8) {
    for (const double moved : {-250.0, 250.0}) expect_plain(with(at, get<double>(bytes_, at) + moved), outside);
    expect_plain(with(at, std::numeric_limits<double>::quiet_NaN()), outside);
    expect_plain(with(at, kInfinity), outside);
  }
  // Of no points they say nothing.
  const auto source = open_bytes(CopcBytes{.points = 0}.build());
  EXPECT_THAT(source->info().warnings, IsEmpty());
  EXPECT_TRUE(metadata_of(source->info()).copc);
}

TEST_F(CopcDamage, OneFirstPointOfFew) {
  // Every node of so few is looked at. The root holds whatever the header promises.
  CopcBytes few{.points = 30, .levels = 3};
  const std::string sound = few.build();
  ASSERT_LE(few.chunk_count, 64U);
  int deep = 0;
  for (const std::size_t at : few.entries_at) {
    if (get<std::int32_t>(sound, at + 28) <= 0 || get<std::int32_t>(sound, at) == 0) continue;
    ++deep;
    std::string damaged = sound;
    const auto chunk = static_cast<std::size_t>(get<std::uint64_t>(sound, at + 16));
    const auto x = get<std::int32_t>(sound, chunk);
    put(damaged, chunk, x < 10000 ? x + 10000 : x - 10000);
    const auto source = open_bytes(damaged);
    EXPECT_FALSE(metadata_of(source->info()).copc);
    EXPECT_THAT(joined(source->info().warnings), HasSubstr("byte " + std::to_string(chunk) + ": COPC hierarchy: node " +
                                                           std::to_string(get<std::int32_t>(sound, at)) + "-" +
                                                           std::to_string(get<std::int32_t>(sound, at + 4)) + "-"));
    EXPECT_THAT(joined(source->info().warnings), HasSubstr("does not hold the first point of its chunk"));
  }
  EXPECT_GT(deep, 10);
}

TEST(Copc, FirstPointsThatAreNotThereAreNotLookedAt) {
  // The root's page, then a chunk that is too short for a point; the same one beyond the end of the file.
  for (const auto& [offset, bytes] : {std::pair<std::uint64_t, std::uint64_t>{32, 8}, {32, 64}, {1000, 64}}) {
    std::string file(40, '\0');
    put(file, 16, offset);
    put(file, 24, static_cast<std::int32_t>(bytes));
    put(file, 28, std::int32_t{3});
    std::string info(160, '\0');
    put(info, 24, 1.0);
    put(info, 48, std::uint64_t{32});
    io::las::LazPoints points;
    points.file = std::as_bytes(std::span(file));
    points.chunks.push_back({offset, bytes, 0, 3, false});
    io::LasHeader header;
    header.scale = {0.01, 0.01, 0.01};
    const io::las::CopcFinding finding = io::las::find_copc_bounds(std::as_bytes(std::span(info)), header, points);
    EXPECT_FALSE(finding.problem);
    ASSERT_EQ(finding.bounds.size(), 1U);
    EXPECT_TRUE(finding.bounds[0]);
  }
}

TEST_F(CopcDamage, OfPages) {
  const std::size_t page = entry_with(-1);
  const auto root = get<std::uint64_t>(bytes_, CopcBytes::kInfoAt + 40);
  expect_plain(with(page + 16, root), "which is named twice");
  expect_plain(with(page + 16, get<std::uint64_t>(bytes_, page + 16) + bytes_.size()), "and the file ends");
  expect_plain(with(page + 16, ~std::uint64_t{31}), "and the file ends");
  expect_plain(with(page + 24, std::int32_t{-32}), "has -32 bytes");
  expect_plain(with(page + 24, std::numeric_limits<std::int32_t>::max()), "and the file ends");
  expect_plain(with(page + 24, std::int32_t{33}), "and an entry has 32");
  // Pages that begin inside each other, each sound: what is listed twice gives it away.
  expect_plain(with(page + 16, root + 32), "COPC hierarchy: ");
}

TEST_F(CopcDamage, OfEntries) {
  const std::size_t entry = entry_with(1);
  const auto points = get<std::int32_t>(bytes_, entry + 28);
  expect_plain(with(entry, std::int32_t{-1}), "which no octree has");
  expect_plain(with(entry, std::int32_t{32}), "which no octree has");
  for (std::size_t d = 1; d < 4; ++d) {
    expect_plain(with(entry + 4 * d, std::int32_t{-1}), "which no octree has");
    expect_plain(with(entry + 4 * d, std::int32_t{1} << get<std::int32_t>(bytes_, entry)), "which no octree has");
  }
  expect_plain(with(entry + 16, get<std::uint64_t>(bytes_, entry + 16) + 1), "and no chunk is");
  expect_plain(with(entry + 16, ~std::uint64_t{0}), "and no chunk is");
  expect_plain(with(entry + 24, get<std::int32_t>(bytes_, entry + 24) + 1), "and no chunk is");
  expect_plain(with(entry + 24, std::int32_t{-5}), "has -5 bytes");
  expect_plain(with(entry + 28, points + 1), "and no chunk is");
  expect_plain(with(entry + 28, std::int32_t{-2}), "has -2 points");
  // A node twice, and a chunk twice.
  std::vector<std::size_t> full;
  for (const std::size_t at : way_.entries_at) {
    if (get<std::int32_t>(bytes_, at + 28) > 0) full.push_back(at);
  }
  std::string other = bytes_;
  other.replace(full[1], 16, bytes_.substr(full[0], 16));
  expect_plain(other, "is listed twice");
  other = bytes_;
  other.replace(full[1] + 16, 16, bytes_.substr(full[0] + 16, 16));
  expect_plain(other, "has the chunk of another one");
}

TEST_F(CopcDamage, ChunksWithoutNodesAreAlwaysRead) {
  std::string damaged = bytes_;
  const std::size_t entry = entry_with(1);
  const auto points = static_cast<std::uint64_t>(get<std::int32_t>(bytes_, entry + 28));
  for (std::size_t i = 16; i < 32; ++i) damaged[entry + i] = 0;
  const auto source = open_bytes(damaged);
  EXPECT_TRUE(metadata_of(source->info()).copc);
  EXPECT_THAT(joined(source->info().warnings), HasSubstr("COPC hierarchy: 1 of "));
  EXPECT_EQ(source->skip_unwanted([](const Box&) { return false; }), 400U - points);
  source->rewind();
  EXPECT_EQ(visit(*source, 1000).records.size(), points);
}

TEST_F(CopcDamage, ARecordElsewhereMakesNoCopcFile) {
  std::string other = bytes_;
  other[375 + 2] = 'k';
  const auto source = open_bytes(other);
  EXPECT_FALSE(metadata_of(source->info()).copc);
  EXPECT_THAT(source->info().warnings, IsEmpty());
  EXPECT_EQ(source->skip_unwanted([](const Box&) { return false; }), 0U);
}

TEST_F(CopcDamage, AnyByteOfTheHierarchyMayBeWrong) {
  const std::string expected = read_all(*open_bytes(way_.las), 1000);
  std::vector<std::size_t> places;
  for (std::size_t at = CopcBytes::kInfoAt; at < CopcBytes::kInfoAt + 160; ++at) places.push_back(at);
  for (std::size_t i = 0; i < way_.entries_at.size(); i += 25) {
    for (std::size_t k = 0; k < 32; ++k) places.push_back(way_.entries_at[i] + k);
  }
  for (const std::size_t at : places) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes_;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto source = open_bytes(damaged);
      ASSERT_EQ(source->info().point_count, 400U);
      const std::uint64_t skipped = source->skip_unwanted([](const Box& box) { return box.min[0] < 70.0; });
      source->rewind();
      ASSERT_EQ(visit(*source, 100).records.size() + skipped, 400U);
    }
  }
  // Points come in the order of the file, whatever the hierarchy says.
  EXPECT_EQ(read_all(*open_bytes(bytes_), 1000), expected);
}

TEST_F(CopcDamage, FewerPointsThanAreStored) {
  put<std::uint64_t>(bytes_, 247, 400 - way_.chunk_points.back() + 1);
  const auto source = open_bytes(bytes_);
  EXPECT_EQ(visit(*source, 1000).records.size(), source->info().point_count);
  if (metadata_of(source->info()).copc) {
    expect_nothing_is_lost(*source, *metadata_of(source->info()).copc, 1000);
  }
}

TEST(Copc, RealFiles) {
  const std::filesystem::path data = test_data();
  if (data.empty()) GTEST_SKIP() << "no test data: set SLUICE_TEST_DATA";
  for (const char* name : {"copc/ellipsoid.copc.laz", "laz-vectors/copc-pf07-3k.laz"}) {
    SCOPED_TRACE(name);
    if (!std::filesystem::exists(data / name)) continue;
    const auto source = io::open_source(data / name);
    ASSERT_TRUE(metadata_of(source->info()).copc);
    EXPECT_THAT(joined(source->info().warnings), Not(HasSubstr("COPC")));
    const auto [left_out, asked] =
        expect_nothing_is_lost(*source, *metadata_of(source->info()).copc, source->info().point_count, 1);
    EXPECT_GT(left_out, asked / 10);
  }
}

}  // namespace
}  // namespace sluice::test
