// SPDX-License-Identifier: Apache-2.0
#include "sluice/in_flight.hpp"

#include <gtest/gtest.h>

#include "sluice/core/error.hpp"

namespace sluice {
namespace {

struct Case {
  std::uint64_t limit;
  std::uint64_t whole;
  InFlight expected;
};

/// A byte a point: chunks beyond the threads go first, then points down to what is decoded together, then threads, then
/// points down to the least.
TEST(InFlight, GivesUpWhatCostsLeastFirst) {
  const auto bytes = [](const InFlight& now) { return now.chunks * now.chunk_points; };
  for (const Case& c :
       {Case{8000, 0, {1000, 8}}, Case{7999, 0, {1000, 4}}, Case{3999, 0, {500, 4}}, Case{400, 0, {100, 4}},
        Case{399, 0, {100, 2}}, Case{100, 0, {100, 1}}, Case{3999, 1000, {1000, 2}}, Case{1000, 1000, {1000, 1}},
        Case{999, 1000, {500, 1}}, Case{2399, 600, {600, 2}}, Case{100, 600, {100, 1}}}) {
    const InFlight got = fit_in_flight({1000, 8}, c.whole, 100, 4, c.limit, bytes, "testing");
    EXPECT_EQ(got.chunk_points, c.expected.chunk_points) << c.limit << ", " << c.whole;
    EXPECT_EQ(got.chunks, c.expected.chunks) << c.limit << ", " << c.whole;
  }
  try {
    (void)fit_in_flight({1000, 8}, 0, 100, 4, 99, bytes, "testing");
    FAIL() << "fits nowhere";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), 100u);
    EXPECT_NE(std::string(error.what()).find("testing"), std::string::npos);
  }
}

/// The number of threads does not decide whether chunks are split.
TEST(InFlight, ChunksAreSplitWhateverTheThreadsAre) {
  const auto bytes = [](const InFlight& now) { return now.chunks * (5000 + now.chunk_points); };
  for (std::uint64_t limit = 5100; limit < 40000; limit += 97) {
    const bool split = fit_in_flight({1000, 2}, 1000, 100, 1, limit, bytes, "testing").chunk_points < 1000;
    for (const std::uint64_t threads : {2, 3, 8, 64}) {
      const InFlight got = fit_in_flight({1000, 2 * threads}, 1000, 100, threads, limit, bytes, "testing");
      EXPECT_EQ(got.chunk_points < 1000, split) << limit << ", " << threads;
    }
  }
}

}  // namespace
}  // namespace sluice
