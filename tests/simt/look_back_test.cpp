// SPDX-License-Identifier: Apache-2.0
/// \file
/// Look-back over more tiles than a warp has lanes: no schedule of the emulated device has that many blocks in flight,
/// so what earlier tiles have published is laid out before the launch.
#include "kernels/cuda/bodies/look_back.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/family/scan/lookback.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/launch.hpp"
#include "simt/support/device_array.hpp"
#include "sluice/core/random.hpp"
#include "support/affine_maps.hpp"

namespace sluice::test {
namespace {

using simt::emulated::Device;
using simt::emulated::Settings;

/// Tiles that have published before the launch; some windows and a bit on warps of every width.
constexpr std::uint32_t kPublished = 300;
constexpr std::uint32_t kLaunched = 3;

/// The last tile before `kPublished` whose prefix is known: one in the first window, at its far end, right beyond it,
/// in a later one, the first of all.
template <unsigned kWidth>
constexpr std::uint32_t kComplete[] = {kPublished - 1, kPublished - kWidth, kPublished - kWidth - 1,
                                       kPublished - 2 * kWidth - 3, 0};

/// out[tile] = the sums of all tiles before.
struct SumsBefore {
  static constexpr unsigned kThreads = 128;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t tile;
  };

  kernels::bodies::TileStates states;
  const std::uint64_t* sums;
  std::uint64_t* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    if (simt.thread() == 0) shared.tile = states.ticket.draw(simt);
    simt.block_barrier();
    if (simt.warp() != 0) return;
    const std::uint64_t before = states.look_back(simt, shared.tile, sums[shared.tile]);
    if (simt.lane() == 0) out[shared.tile] = before;
  }
};

template <typename WidthT>
class LooksBackFar : public testing::Test {
 protected:
  static constexpr unsigned kWidth = WidthT::value;

  void TearDown() override { Device::get().configure(Settings{}); }

  static void configure(std::uint64_t seed) {
    Settings settings;
    settings.seed = seed;
    Device::get().configure(settings);
  }
};
using Widths = testing::Types<std::integral_constant<unsigned, 8>, std::integral_constant<unsigned, 16>,
                              std::integral_constant<unsigned, 32>, std::integral_constant<unsigned, 64>,
                              std::integral_constant<unsigned, 128>>;
TYPED_TEST_SUITE(LooksBackFar, Widths);

// An operator that does not commute.
TYPED_TEST(LooksBackFar, ByAnyOperator) {
  namespace scan = kernels::family::scan;
  using Kernel = scan::LookBack<AffineMap, Compose>;
  const std::uint64_t first = std::uint64_t{kPublished} * Kernel::kTile;
  const std::uint64_t n = first + (kLaunched - 1) * Kernel::kTile + 100;
  const std::vector<AffineMap> tiles = random_maps(kPublished);
  const std::vector<AffineMap> prefixes = composed(tiles, true);
  // What stands for the items of the tiles that have published does not matter to the others.
  const std::vector<AffineMap> items = random_maps(n);
  std::uint64_t seed = 0;
  for (const std::uint32_t complete : kComplete<TestFixture::kWidth>) {
    SCOPED_TRACE(testing::Message() << "tile " << complete << " is the last one whose prefix is known");
    TestFixture::configure(++seed);
    std::vector<std::uint32_t> flags(kPublished + kLaunched);
    std::vector<AffineMap> known(kPublished + kLaunched);
    for (std::uint32_t t = 0; t < kPublished; ++t) flags[t] = t > complete ? scan::kAggregate : scan::kPrefix;
    for (std::uint32_t t = 0; t <= complete; ++t) known[t] = prefixes[t];
    const DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>{kPublished});
    const DeviceArray<std::uint32_t> published(flags);
    std::vector<AffineMap> sums = tiles;
    sums.resize(kPublished + kLaunched);
    const DeviceArray<AffineMap> aggregates(sums);
    const DeviceArray<AffineMap> inclusive(known);
    const DeviceArray<AffineMap> in(items);
    const DeviceArray<AffineMap> out(n);
    simt::emulated::run<TestFixture::kWidth>(
        Kernel{in.data(), n, true, out.data(), {ticket.data(), published.data(), aggregates.data(), inclusive.data()}},
        kLaunched);
    AffineMap all = prefixes.back();
    const std::vector<AffineMap> found = out.get();
    for (std::uint64_t i = first; i < n; ++i) {
      all = Compose{}(all, items[i]);
      ASSERT_EQ(found[i], all) << "at " << i;
    }
  }
}

// The words of the production kernels, which hold flag and sum at once.
TYPED_TEST(LooksBackFar, InOneWord) {
  namespace bodies = kernels::bodies;
  std::vector<std::uint64_t> sums(kPublished + kLaunched);
  std::vector<std::uint64_t> prefixes;
  for (std::uint32_t t = 0; t < sums.size(); ++t) {
    // Of more bits than one of the parts that a sum over a warp is made of.
    sums[t] = counter_random(2, t) >> 12;
    prefixes.push_back(t == 0 ? sums[t] : prefixes.back() + sums[t]);
  }
  std::uint64_t seed = 0;
  for (const std::uint32_t complete : kComplete<TestFixture::kWidth>) {
    SCOPED_TRACE(testing::Message() << "tile " << complete << " is the last one whose prefix is known");
    TestFixture::configure(++seed);
    std::vector<std::uint64_t> words(sums.size());
    for (std::uint32_t t = 0; t < kPublished; ++t) {
      words[t] = t > complete ? bodies::news_of(sums[t], bodies::TileNews::kSum)
                              : bodies::news_of(prefixes[t], bodies::TileNews::kPrefix);
    }
    const DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>{kPublished});
    const DeviceArray<std::uint64_t> published(words);
    const DeviceArray<std::uint64_t> in(sums);
    const DeviceArray<std::uint64_t> out(sums.size());
    simt::emulated::run<TestFixture::kWidth>(SumsBefore{{published.data(), {ticket.data()}}, in.data(), out.data()},
                                             kLaunched);
    const std::vector<std::uint64_t> found = out.get();
    for (std::uint32_t t = kPublished; t < sums.size(); ++t) ASSERT_EQ(found[t], prefixes[t - 1]) << "tile " << t;
  }
}

}  // namespace
}  // namespace sluice::test
