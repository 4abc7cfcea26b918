// SPDX-License-Identifier: Apache-2.0
/// \file
/// All sorts by name: the keys in order, and by their values, which are the places where they were, those that are
/// equal in the order they came in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/family_test.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;

/// What keys there are.
enum class Keys : std::uint8_t { kAny, kEqual, kAllSet, kSorted, kReversed, kTwo, kLowDigit, kHighDigit };
constexpr Keys kKeys[] = {Keys::kAny,      Keys::kEqual, Keys::kAllSet,   Keys::kSorted,
                          Keys::kReversed, Keys::kTwo,   Keys::kLowDigit, Keys::kHighDigit};

template <typename KeyT>
std::vector<KeyT> keys_of(Keys what, std::uint64_t n) {
  constexpr unsigned kBits = 8 * sizeof(KeyT);
  std::vector<KeyT> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto r = static_cast<KeyT>(counter_random(n, i));
    switch (what) {
      case Keys::kAny:
        out[i] = r;
        break;
      case Keys::kEqual:
        out[i] = KeyT{0x12345678};
        break;
      case Keys::kAllSet:
        out[i] = ~KeyT{0};
        break;
      case Keys::kSorted:
        out[i] = static_cast<KeyT>(i * 5);
        break;
      case Keys::kReversed:
        out[i] = static_cast<KeyT>((n - i) * 5);
        break;
      case Keys::kTwo:
        out[i] = r % 2 == 0 ? KeyT{1} : static_cast<KeyT>(KeyT{1} << (kBits - 1));
        break;
      case Keys::kLowDigit:
        out[i] = r & 0xff;
        break;
      case Keys::kHighDigit:
        out[i] = static_cast<KeyT>(r >> (kBits - 8) << (kBits - 8));
        break;
    }
  }
  return out;
}

class SortFamily : public FamilyTest<sort_variants> {
 protected:
  template <typename KeyT>
  void expect_stable_order(ItemType type, const std::vector<KeyT>& keys, bool with_values) {
    const std::uint64_t n = keys.size();
    std::vector<std::uint32_t> places(n);
    std::iota(places.begin(), places.end(), 0U);
    std::vector<std::uint32_t> expected = places;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    // One item in, so that pointers are aligned to an item and no more.
    const BackendArray<KeyT> from = upload(keys, 1);
    const BackendArray<KeyT> to = room<KeyT>(n, 1);
    const BackendArray<std::uint32_t> values_from = upload(places, 1);
    const BackendArray<std::uint32_t> values_to = room<std::uint32_t>(n, 1);
    SortCall call{type, {from.data(), to.data()}, {nullptr, nullptr}, n};
    if (with_values) {
      call.values[0] = values_from.data();
      call.values[1] = values_to.data();
    }
    Workspace workspace(scratch_memory(), variant().scratch(type, n));
    const int at = variant().run(call, workspace, stream());
    EXPECT_EQ(workspace.used(), 0U);
    ASSERT_TRUE(at == 0 || at == 1);
    const std::vector<KeyT> found = (at == 0 ? from : to).get();
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(found[i], keys[expected[i]]) << "at " << i;
    if (with_values) {
      ASSERT_EQ((at == 0 ? values_from : values_to).get(), expected);
    }
  }
};

TEST_P(SortFamily, IsStable) {
  constexpr std::size_t kCases = std::size(kKeys) * 4;
  std::vector<std::uint64_t> all = sizes();
  // A pass a bit takes long there; 4097 items are two tiles of its scan.
  if (kEmulated && variant().name == "split") std::erase_if(all, [](std::uint64_t n) { return n > 513 && n != 4097; });
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::size_t one = 0;
    for (const ItemType type : {ItemType::kUint32, ItemType::kUint64}) {
      for (const bool with_values : {true, false}) {
        for (const Keys what : kKeys) {
          if (!takes(s, one++, kCases)) continue;
          SCOPED_TRACE(testing::Message() << all[s] << " keys of type " << static_cast<int>(type) << ", kind "
                                          << static_cast<int>(what) << (with_values ? ", with values" : ", alone"));
          with_key_type(type, [&]<typename KeyT>() {
            expect_stable_order<KeyT>(type, keys_of<KeyT>(what, all[s]), with_values);
          });
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(SortFamily, RefusesWhatIsNoKey) {
  Workspace workspace(scratch_memory(), 0);
  EXPECT_THROW(variant().run({ItemType::kFloat32, {nullptr, nullptr}, {nullptr, nullptr}, 1}, workspace, stream()),
               InvalidArgument);
  EXPECT_THROW(variant().run({ItemType::kUint32, {nullptr, nullptr}, {nullptr, nullptr}, std::uint64_t{1} << 32},
                             workspace, stream()),
               InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Variants, SortFamily, testing::ValuesIn(parameters_of(sort_variants())), name_of_parameter);

}  // namespace
}  // namespace sluice::test
