// SPDX-License-Identifier: Apache-2.0
/// \file
/// All histograms by name: the counts of a loop, for digits at both ends of a key and across its halves.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/family_test.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;

struct Bits {
  ItemType type;
  unsigned begin;
  unsigned count;
};
constexpr Bits kBits[] = {
    {ItemType::kUint32, 0, 1},   {ItemType::kUint32, 0, 12}, {ItemType::kUint32, 31, 1}, {ItemType::kUint32, 20, 12},
    {ItemType::kUint32, 5, 7},   {ItemType::kUint32, 24, 8}, {ItemType::kUint64, 0, 8},  {ItemType::kUint64, 63, 1},
    {ItemType::kUint64, 52, 12}, {ItemType::kUint64, 28, 9}, {ItemType::kUint64, 32, 1}, {ItemType::kUint64, 31, 1},
};

class HistogramFamily : public FamilyTest<histogram_variants> {
 protected:
  template <typename KeyT>
  void expect_loop(const Bits& bits, const std::vector<KeyT>& keys) {
    const std::uint64_t n = keys.size();
    std::vector<std::uint64_t> expected(std::size_t{1} << bits.count);
    for (const KeyT key : keys) ++expected[(std::uint64_t{key} >> bits.begin) % expected.size()];
    const BackendArray<KeyT> in = upload(keys, 1);
    const BackendArray<std::uint64_t> counts = room<std::uint64_t>(expected.size());
    Workspace workspace(scratch_memory(), variant().scratch(bits.type, n, bits.count));
    variant().run({bits.type, in.data(), n, bits.begin, bits.count, counts.data()}, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    ASSERT_EQ(counts.get(), expected);
  }
};

TEST_P(HistogramFamily, CountsAsALoop) {
  constexpr std::size_t kCases = 2 * std::size(kBits);
  const std::vector<std::uint64_t> all = sizes();
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::size_t one = 0;
    for (const Bits& bits : kBits) {
      for (const bool equal : {false, true}) {
        if (!takes(s, one++, kCases)) continue;
        SCOPED_TRACE(testing::Message() << all[s] << " keys of type " << static_cast<int>(bits.type) << ", bits "
                                        << bits.begin << " + " << bits.count << (equal ? ", all equal" : ""));
        with_key_type(bits.type, [&]<typename KeyT>() {
          expect_loop<KeyT>(bits, equal ? std::vector<KeyT>(all[s], ~KeyT{0}) : random_items<KeyT>(all[s], all[s]));
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(HistogramFamily, RefusesDigitsThatAreNone) {
  Workspace workspace(scratch_memory(), 0);
  const auto run = [&](ItemType type, std::uint64_t n, unsigned begin_bit, unsigned bits) {
    variant().run({type, nullptr, n, begin_bit, bits, nullptr}, workspace, stream());
  };
  EXPECT_THROW(run(ItemType::kUint32, 1, 0, 0), InvalidArgument);
  EXPECT_THROW(run(ItemType::kUint32, 1, 0, 13), InvalidArgument);
  EXPECT_THROW(run(ItemType::kUint32, 1, 25, 8), InvalidArgument);
  EXPECT_THROW(run(ItemType::kUint64, 1, 64, 1), InvalidArgument);
  EXPECT_THROW(run(ItemType::kFloat32, 1, 0, 8), InvalidArgument);
  EXPECT_THROW(run(ItemType::kUint32, std::uint64_t{1} << 32, 0, 8), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Variants, HistogramFamily, testing::ValuesIn(parameters_of(histogram_variants())),
                         name_of_parameter);

}  // namespace
}  // namespace sluice::test
