// SPDX-License-Identifier: Apache-2.0
/// \file
/// Words, collectives and some kernels on warps of every width, against plain arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/bodies/histogram.hpp"
#include "kernels/cuda/bodies/radix_items.hpp"
#include "kernels/cuda/bodies/radix_pass.hpp"
#include "kernels/cuda/bodies/scan.hpp"
#include "kernels/simt/collectives.hpp"
#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/launch.hpp"
#include "simt/support/device_array.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {
namespace {

namespace bodies = kernels::bodies;
using simt::emulated::Device;
using simt::emulated::Settings;

/// What a thread has seen of its warp and block.
struct Seen {
  std::uint32_t lane;
  std::uint32_t warp;
  std::uint32_t from_last;   ///< value of the last lane
  std::uint32_t from_below;  ///< of the lane three below, or its own
  std::uint32_t from_above;
  std::uint32_t from_across;
  std::uint32_t odd;        ///< lanes whose value is odd
  std::uint32_t odd_below;  ///< those of them that are below
  std::uint32_t first_odd;  ///< ~0 where there is none
  std::uint32_t last_odd;
  std::uint32_t alike;       ///< lanes with the same value
  std::uint32_t alike_bits;  ///< with the same two lowest bits
  std::uint32_t sum;
  std::uint32_t inclusive;
  std::uint32_t least;
  std::uint32_t of_run;  ///< sum over the run of equal lane / 3 that starts at this lane; 0 elsewhere
  std::uint32_t before;  ///< in the block
  std::uint32_t all;
};

struct LookAround {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t warp_sums[kThreads / kWarpWidth];
  };

  const std::uint32_t* values;
  Seen* seen;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const unsigned at = simt.block() * kThreads + simt.thread();
    const std::uint32_t value = values[at];
    Seen out{};
    out.lane = simt.lane();
    out.warp = simt.warp();
    out.from_last = simt.shuffle(value, ContextT::kWarpWidth - 1);
    out.from_below = simt.shuffle_up(value, 3);
    out.from_above = simt.shuffle_down(value, 3);
    out.from_across = simt.shuffle_xor(value, ContextT::kWarpWidth / 2);
    const auto odd = simt.ballot(value % 2 != 0);
    out.odd = simt.population(odd);
    out.odd_below = simt.population(odd & simt.lanes_below());
    out.first_odd = odd != 0 ? simt.lowest(odd) : ~0U;
    out.last_odd = odd != 0 ? simt.highest(odd) : ~0U;
    out.alike = simt.population(simt.match(value));
    out.alike_bits = simt.population(simt.template match_bits<2>(value));
    out.sum = simt.warp_sum(value);
    out.inclusive = simt::warp_inclusive_sum(simt, value);
    out.least = simt::warp_reduce(simt, value, simt::Least{});
    const std::uint32_t run = simt::warp_reduce_runs(simt, simt.lane() / 3, value, simt::Plus{});
    out.of_run = simt.lane() % 3 == 0 ? run : 0;
    out.before = simt::block_exclusive_sum(simt, value, shared.warp_sums, out.all);
    seen[at] = out;
  }
};

/// The same, looked up in the values.
Seen look_around(const std::vector<std::uint32_t>& values, std::size_t at, unsigned width) {
  const std::size_t block = at / LookAround::kThreads * LookAround::kThreads;
  const std::size_t first = at / width * width;
  const std::vector<std::uint32_t> warp(values.begin() + static_cast<std::ptrdiff_t>(first),
                                        values.begin() + static_cast<std::ptrdiff_t>(first + width));
  const auto lane = static_cast<unsigned>(at - first);
  Seen out{};
  out.lane = lane;
  out.warp = static_cast<std::uint32_t>((at - block) / width);
  out.from_last = warp[width - 1];
  out.from_below = lane >= 3 ? warp[lane - 3] : warp[lane];
  out.from_above = lane + 3 < width ? warp[lane + 3] : warp[lane];
  out.from_across = warp[lane ^ (width / 2)];
  out.first_odd = out.last_odd = ~0U;
  out.least = ~0U;
  for (unsigned i = 0; i < width; ++i) {
    const std::uint32_t value = warp[i];
    if (value % 2 != 0) {
      ++out.odd;
      if (i < lane) ++out.odd_below;
      out.first_odd = std::min(out.first_odd, i);
      out.last_odd = i;
    }
    if (value == warp[lane]) ++out.alike;
    if (value % 4 == warp[lane] % 4) ++out.alike_bits;
    out.sum += value;
    if (i <= lane) out.inclusive += value;
    out.least = std::min(out.least, value);
    if (lane % 3 == 0 && i / 3 == lane / 3) out.of_run += value;
  }
  for (std::size_t i = block; i < block + LookAround::kThreads; ++i) {
    if (i < at) out.before += values[i];
    out.all += values[i];
  }
  return out;
}

template <typename WidthT>
class EmulatedWidths : public testing::Test {
 protected:
  static constexpr unsigned kWidth = WidthT::value;

  /// Calls with a seed after another.
  template <typename BodyT>
  static void for_schedules(const BodyT& body) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Settings settings;
      settings.seed = seed;
      Device::get().configure(settings);
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      body(seed);
    }
    Device::get().configure(Settings{});
  }

  static std::vector<std::uint32_t> values(std::uint64_t seed, std::size_t count, std::uint32_t below) {
    std::vector<std::uint32_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint32_t>(counter_random(seed, i) % below);
    return out;
  }
};

template <unsigned kWidth>
using Width = std::integral_constant<unsigned, kWidth>;
using Widths = testing::Types<Width<8>, Width<16>, Width<32>, Width<64>, Width<128>>;
TYPED_TEST_SUITE(EmulatedWidths, Widths);

TYPED_TEST(EmulatedWidths, WordsSeeTheWarpAndTheBlock) {
  TestFixture::for_schedules([&](std::uint64_t seed) {
    const std::vector<std::uint32_t> values = TestFixture::values(seed, 3 * LookAround::kThreads, 100);
    const DeviceArray<std::uint32_t> in(values);
    const DeviceArray<Seen> out(values.size());
    simt::emulated::run<TestFixture::kWidth>(LookAround{in.data(), out.data()}, 3);
    const std::vector<Seen> seen = out.get();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Seen expected = look_around(values, i, TestFixture::kWidth);
      const auto* const a = reinterpret_cast<const std::uint32_t*>(&seen[i]);
      const auto* const b = reinterpret_cast<const std::uint32_t*>(&expected);
      ASSERT_EQ(std::vector<std::uint32_t>(a, a + sizeof(Seen) / 4),
                std::vector<std::uint32_t>(b, b + sizeof(Seen) / 4))
          << "thread " << i;
    }
  });
}

TYPED_TEST(EmulatedWidths, ScanInTwoLooks) {
  TestFixture::for_schedules([&](std::uint64_t seed) {
    const std::vector<std::uint32_t> values = TestFixture::values(seed, 2 * bodies::kScanTile + 17, 1000);
    const DeviceArray<std::uint32_t> in(values);
    const DeviceArray<std::uint64_t> sums(3);
    const DeviceArray<std::uint64_t> offsets(3);
    const DeviceArray<std::uint64_t> out(values.size());
    const std::uint64_t n = values.size();
    simt::emulated::run<TestFixture::kWidth>(bodies::SumTiles<std::uint32_t>{in.data(), n, sums.data()}, 3);
    simt::emulated::run<TestFixture::kWidth>(
        bodies::ScanTiles<std::uint64_t, std::uint64_t>{sums.data(), 3, nullptr, offsets.data(), nullptr}, 1);
    simt::emulated::run<TestFixture::kWidth>(
        bodies::ScanTiles<std::uint32_t, std::uint64_t>{in.data(), n, offsets.data(), out.data(), nullptr}, 3);
    std::vector<std::uint64_t> expected(n);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), std::uint64_t{0});
    EXPECT_TRUE(out.get() == expected);
  });
}

TYPED_TEST(EmulatedWidths, PartitionKeepsTheOrder) {
  TestFixture::for_schedules([&](std::uint64_t seed) {
    const std::uint64_t n = bodies::kCompactTile + 300;
    std::vector<std::uint8_t> flags(n);
    std::vector<std::uint32_t> items(n);
    std::iota(items.begin(), items.end(), 0U);
    for (std::uint64_t i = 0; i < n; ++i) flags[i] = static_cast<std::uint8_t>(counter_random(seed, i) % 2);
    const auto set = [&](std::uint32_t i) { return flags[i] != 0; };
    const auto in_first =
        static_cast<std::uint64_t>(std::count_if(items.begin(), items.begin() + bodies::kCompactTile, set));
    const auto total = static_cast<std::uint64_t>(std::count_if(items.begin(), items.end(), set));
    const DeviceArray<std::uint8_t> d_flags(flags);
    const DeviceArray<std::uint32_t> d_items(items);
    const DeviceArray<std::uint64_t> offsets(std::vector<std::uint64_t>{0, in_first, total});
    const DeviceArray<std::uint32_t> out(n);
    simt::emulated::run<TestFixture::kWidth>(
        bodies::PartitionFlagged<std::uint32_t>{d_items.data(), d_flags.data(), n, bodies::FlagTest::not_zero(),
                                                offsets.data(), offsets.data() + 2, out.data()},
        2);
    std::vector<std::uint32_t> expected = items;
    std::stable_partition(expected.begin(), expected.end(), set);
    EXPECT_TRUE(out.get() == expected);
  });
}

TYPED_TEST(EmulatedWidths, HistogramMatchesDigits) {
  TestFixture::for_schedules([&](std::uint64_t seed) {
    const std::vector<std::uint32_t> keys = TestFixture::values(seed, 5001, 7);
    const DeviceArray<std::uint32_t> in(keys);
    const DeviceArray<std::uint64_t> counts(std::vector<std::uint64_t>(8));
    simt::emulated::run<TestFixture::kWidth>(
        bodies::CountDigitsGlobal<std::uint32_t>{in.data(), keys.size(), 0, 3, counts.data()}, 2);
    std::vector<std::uint64_t> expected(8);
    for (const std::uint32_t key : keys) ++expected[key];
    EXPECT_EQ(counts.get(), expected);
  });
}

TYPED_TEST(EmulatedWidths, RadixPassIsStable) {
  using Items = bodies::KeyItems<std::uint32_t, true>;
  using Kernel = bodies::RadixPass<Items, std::uint32_t, 256, 8, 8, 1, false>;
  TestFixture::for_schedules([&](std::uint64_t seed) {
    const std::uint64_t n = 2 * Kernel::kTile + 100;
    const std::vector<std::uint32_t> keys = TestFixture::values(seed, n, 1000);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::uint64_t> digits(Kernel::kDigits / 2);  // two in a word
    for (const std::uint32_t key : keys) {
      const std::uint32_t digit = key % Kernel::kDigits;
      digits[digit / 2] += std::uint64_t{1} << (digit % 2 * 32);
    }
    const DeviceArray<std::uint32_t> in(keys);
    const DeviceArray<std::uint32_t> numbers(order);
    const DeviceArray<std::uint32_t> out(n);
    const DeviceArray<std::uint32_t> numbers_out(n);
    const DeviceArray<std::uint32_t> words(std::vector<std::uint32_t>(3 * Kernel::kDigits));
    const DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>(1));
    const DeviceArray<std::uint64_t> counts(digits);
    const Items items{in.data(), numbers.data(), out.data(), numbers_out.data(), {0, 8}};
    simt::emulated::run<TestFixture::kWidth>(
        Kernel{items, {words.data(), {ticket.data()}}, counts.data(), {n}, nullptr, nullptr}, 3);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] % Kernel::kDigits < keys[b] % Kernel::kDigits;
    });
    EXPECT_TRUE(numbers_out.get() == order);
  });
}

}  // namespace
}  // namespace sluice::test
