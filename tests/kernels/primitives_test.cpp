// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every primitive on every backend against the standard library.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "sluice/core/radix_key.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class Primitives : public BackendTest {
 protected:
  [[nodiscard]] kernels::Primitives& primitives() { return backend().primitives(); }
  [[nodiscard]] Workspace scratch(std::size_t bytes) { return Workspace(backend().memory(), bytes); }

  /// Around warps, blocks and tiles, and one that needs many of them.
  [[nodiscard]] static std::vector<std::uint64_t> sizes() {
    std::vector<std::uint64_t> out = {0, 1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8193};
    for (const std::uint64_t n : {std::uint64_t{16383}, std::uint64_t{16385}, std::uint64_t{32769}}) out.push_back(n);
    out.push_back(quick() ? 70001 : 1000003);
    return out;
  }
};

std::uint64_t random_of(std::uint64_t stream, std::uint64_t i) { return counter_random(stream, i); }

std::vector<std::uint8_t> flags_of(int kind, std::uint64_t n) {
  std::vector<std::uint8_t> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = random_of(1, i);
    switch (kind) {
      case 0:
        out[i] = static_cast<std::uint8_t>(r % 3);  // not only 0 and 1: every value but zero counts
        break;
      case 1:
        out[i] = 1;
        break;
      case 2:
        out[i] = 0;
        break;
      case 3:
        out[i] = r % 1000 == 0 ? 255 : 0;
        break;
      default:
        out[i] = (i / 700) % 2 == 0 ? 1 : 0;
        break;
    }
  }
  return out;
}
constexpr int kFlagKinds = 5;

TEST_P(Primitives, ExclusiveScanSums) {
  for (const std::uint64_t n : sizes()) {
    for (const bool large : {false, true}) {
      SCOPED_TRACE(n);
      std::vector<std::uint32_t> in(n);
      for (std::uint64_t i = 0; i < n; ++i) {
        in[i] = large ? 0xffffffffU : static_cast<std::uint32_t>(random_of(2, i) % 5);
      }
      const auto d_in = upload(in);
      const auto d_out = room<std::uint64_t>(n);
      const auto d_total = room<std::uint64_t>(1);
      Workspace workspace = scratch(primitives().exclusive_scan_scratch(n));
      primitives().exclusive_scan(d_in.data(), n, d_out.data(), d_total.data(), workspace, stream());
      std::vector<std::uint64_t> expected(n);
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), std::uint64_t{0});
      EXPECT_EQ(d_out.get(), expected);
      EXPECT_EQ(d_total.get()[0], std::accumulate(in.begin(), in.end(), std::uint64_t{0}));
      primitives().exclusive_scan(d_in.data(), n, d_out.data(), nullptr, workspace, stream());
      EXPECT_EQ(d_out.get(), expected);
    }
  }
}

/// Items of any size, told apart by their index.
template <std::size_t kBytes>
struct alignas(kBytes < 16 ? kBytes : 16) Item {
  std::uint32_t words[kBytes / 4];
  friend bool operator==(const Item& a, const Item& b) { return std::memcmp(&a, &b, kBytes) == 0; }
};

template <std::size_t kBytes>
std::vector<Item<kBytes>> items_of(std::uint64_t n) {
  std::vector<Item<kBytes>> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::size_t w = 0; w < kBytes / 4; ++w) out[i].words[w] = static_cast<std::uint32_t>(i + 1000000007 * w);
  }
  return out;
}

template <std::size_t kBytes>
void check_compaction(kernels::Primitives& primitives, Backend& backend, StreamView stream,
                      const std::vector<std::uint8_t>& flags) {
  const std::uint64_t n = flags.size();
  const auto items = items_of<kBytes>(n);
  std::vector<Item<kBytes>> chosen;
  std::vector<Item<kBytes>> rest;
  for (std::uint64_t i = 0; i < n; ++i) (flags[i] != 0 ? chosen : rest).push_back(items[i]);
  const BackendArray<Item<kBytes>> d_items(backend, stream, items);
  const BackendArray<std::uint8_t> d_flags(backend, stream, flags);
  const BackendArray<Item<kBytes>> d_out(backend, stream, n);
  const BackendArray<std::uint64_t> d_count(backend, stream, std::uint64_t{1});
  Workspace workspace(backend.memory(), primitives.compact_scratch(n));
  primitives.compact(d_items.data(), kBytes, d_flags.data(), n, d_out.data(), d_count.data(), workspace, stream);
  EXPECT_EQ(d_count.get()[0], chosen.size());
  EXPECT_TRUE(d_out.get(chosen.size()) == chosen);
  primitives.partition(d_items.data(), kBytes, d_flags.data(), n, d_out.data(), d_count.data(), workspace, stream);
  EXPECT_EQ(d_count.get()[0], chosen.size());
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  EXPECT_TRUE(d_out.get() == chosen);
}

TEST_P(Primitives, CompactAndPartitionKeepTheOrder) {
  for (const std::uint64_t n : sizes()) {
    for (int kind = 0; kind < kFlagKinds; ++kind) {
      if (n > 10000 && kind > 1) continue;
      SCOPED_TRACE(testing::Message() << n << " items, flags of kind " << kind);
      const std::vector<std::uint8_t> flags = flags_of(kind, n);
      check_compaction<4>(primitives(), backend(), stream(), flags);
      check_compaction<8>(primitives(), backend(), stream(), flags);
      check_compaction<16>(primitives(), backend(), stream(), flags);
      check_compaction<32>(primitives(), backend(), stream(), flags);
    }
  }
}

TEST_P(Primitives, CompactIndicesFindsOneValue) {
  for (const std::uint64_t n : sizes()) {
    for (int kind = 0; kind < kFlagKinds; ++kind) {
      for (std::uint8_t wanted = 0; wanted < 3; ++wanted) {
        SCOPED_TRACE(testing::Message() << n << " flags of kind " << kind << ", wanted " << int{wanted});
        const std::vector<std::uint8_t> flags = flags_of(kind, n);
        std::vector<std::uint32_t> expected;
        for (std::uint64_t i = 0; i < n; ++i) {
          if (flags[i] == wanted) expected.push_back(static_cast<std::uint32_t>(i));
        }
        const auto d_flags = upload(flags);
        const auto d_out = room<std::uint32_t>(n);
        const auto d_count = room<std::uint64_t>(1);
        Workspace workspace = scratch(primitives().compact_scratch(n));
        primitives().compact_indices(d_flags.data(), wanted, n, d_out.data(), d_count.data(), workspace, stream());
        EXPECT_EQ(d_count.get()[0], expected.size());
        EXPECT_EQ(d_out.get(expected.size()), expected);
      }
    }
  }
}

/// Distributions that sorts and histograms stumble over.
std::uint64_t key_of_kind(int kind, std::uint64_t i, std::uint64_t n) {
  const std::uint64_t r = random_of(3, i);
  switch (kind) {
    case 0:
      return r;
    case 1:
      return 0x4242424242424242ULL;  // all equal
    case 2:
      return i * 0x100000001ULL;  // sorted
    case 3:
      return (n - i) * 0x100000001ULL;  // reversed
    case 4:
      return (r & 1) * 0x8000000080000000ULL;  // two values that differ in the highest bit
    case 5:
      return r % 10 == 0 ? r : 0x0707070707070707ULL;  // one hot digit in every place
    case 6:
      return r & random_of(4, i) & random_of(5, i);  // few bits set: low entropy
    case 7: {
      static constexpr float kSpecial[] = {-0.0F, 0.0F, 1.0F, -1.0F, 1e-45F, -1e-45F, 3e38F, -3e38F};
      const std::uint64_t key = radix_key(kSpecial[r % 8]);
      return key << 32 | key;
    }
    default:
      return ~std::uint64_t{0} - r % 3;  // the keys that padding would use
  }
}
constexpr int kKeyKinds = 9;

template <typename Key>
void check_sort(kernels::Primitives& primitives, Backend& backend, StreamView stream, int kind, std::uint64_t n,
                unsigned begin_bit, unsigned end_bit, bool pairs) {
  SCOPED_TRACE(testing::Message() << n << " keys of " << sizeof(Key) << " bytes, kind " << kind << ", bits "
                                  << begin_bit << " to " << end_bit);
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(key_of_kind(kind, i, n));
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  const unsigned width = end_bit - begin_bit;
  const Key mask = width >= 8 * sizeof(Key) ? static_cast<Key>(~Key{0}) : static_cast<Key>((Key{1} << width) - 1);
  const auto digit = [&](std::uint32_t i) {
    return width == 0 ? Key{0} : static_cast<Key>((keys[i] >> begin_bit) & mask);
  };
  std::vector<std::uint32_t> expected = order;
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return digit(a) < digit(b); });
  const BackendArray<Key> keys_a(backend, stream, keys);
  const BackendArray<Key> keys_b(backend, stream, n);
  const BackendArray<std::uint32_t> values_a(backend, stream, order);
  const BackendArray<std::uint32_t> values_b(backend, stream, n);
  SortBuffers buffers;
  buffers.keys[0] = keys_a.data();
  buffers.keys[1] = keys_b.data();
  if (pairs) {
    buffers.values[0] = values_a.data();
    buffers.values[1] = values_b.data();
  }
  Workspace workspace(backend.memory(), primitives.sort_scratch(sizeof(Key), n));
  const int at = primitives.sort(buffers, sizeof(Key), n, begin_bit, end_bit, workspace, stream);
  ASSERT_TRUE(at == 0 || at == 1);
  std::vector<Key> sorted(n);
  for (std::uint64_t i = 0; i < n; ++i) sorted[i] = keys[expected[i]];
  EXPECT_TRUE((at == 0 ? keys_a : keys_b).get() == sorted);
  if (pairs) {
    EXPECT_TRUE((at == 0 ? values_a : values_b).get() == expected);
  }
}

TEST_P(Primitives, SortIsStableOverTheBitsAsked) {
  for (const std::uint64_t n : sizes()) {
    for (int kind = 0; kind < kKeyKinds; ++kind) {
      if (n > 10000 && kind > 1 && kind != 5) continue;
      check_sort<std::uint32_t>(primitives(), backend(), stream(), kind, n, 0, 32, true);
      check_sort<std::uint64_t>(primitives(), backend(), stream(), kind, n, 0, 64, true);
    }
  }
}

TEST_P(Primitives, SortTakesAnyRangeOfBits) {
  const std::uint64_t n = 5000;
  for (const unsigned begin : {0U, 1U, 7U, 13U, 31U}) {
    for (const unsigned width : {0U, 1U, 5U, 8U, 9U, 16U, 17U, 19U}) {
      if (begin + width > 32) continue;
      check_sort<std::uint32_t>(primitives(), backend(), stream(), 0, n, begin, begin + width, true);
      check_sort<std::uint64_t>(primitives(), backend(), stream(), 0, n, begin + 20, begin + 20 + width, true);
    }
  }
  for (int kind = 0; kind < kKeyKinds; ++kind) {
    check_sort<std::uint32_t>(primitives(), backend(), stream(), kind, n, 0, 32, false);
    check_sort<std::uint64_t>(primitives(), backend(), stream(), kind, n, 0, 64, false);
  }
}

template <typename Key>
void check_histogram(kernels::Primitives& primitives, Backend& backend, StreamView stream, int kind, std::uint64_t n,
                     unsigned begin, unsigned bits) {
  SCOPED_TRACE(testing::Message() << n << " keys of kind " << kind << ", " << bits << " bits from " << begin);
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(key_of_kind(kind, i, n));
  std::vector<std::uint64_t> expected(std::size_t{1} << bits);
  for (const Key key : keys) ++expected[static_cast<std::size_t>((key >> begin) & ((Key{1} << bits) - 1))];
  const BackendArray<Key> d_keys(backend, stream, keys);
  const BackendArray<std::uint64_t> d_counts(backend, stream, expected.size());
  Workspace workspace(backend.memory(), primitives.histogram_scratch(n, bits));
  primitives.histogram(d_keys.data(), sizeof(Key), n, begin, bits, d_counts.data(), workspace, stream);
  EXPECT_EQ(d_counts.get(), expected);
}

TEST_P(Primitives, HistogramCountsEveryDigit) {
  for (const std::uint64_t n : sizes()) {
    check_histogram<std::uint32_t>(primitives(), backend(), stream(), 0, n, 24, 8);
    check_histogram<std::uint64_t>(primitives(), backend(), stream(), 5, n, 40, 11);
  }
  for (int kind = 0; kind < kKeyKinds; ++kind) {
    for (const unsigned bits : {1U, 4U, 8U, 16U}) {
      check_histogram<std::uint32_t>(primitives(), backend(), stream(), kind, 10001, 3, bits);
      check_histogram<std::uint64_t>(primitives(), backend(), stream(), kind, 10001, 64 - bits, bits);
    }
  }
}

TEST_P(Primitives, GatherTakesItemsOfAnySize) {
  for (const std::uint32_t bytes : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 20U, 26U, 32U, 34U, 67U, 300U}) {
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{257}, std::uint64_t{20011}}) {
      SCOPED_TRACE(testing::Message() << n << " items of " << bytes << " bytes");
      std::vector<std::uint8_t> items(n * bytes + 1);
      for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint8_t>(random_of(6, i));
      std::vector<std::uint32_t> indices(n);
      for (std::uint64_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint32_t>(random_of(7, i) % n);
      const auto d_items = upload(items);
      const auto d_indices = upload(indices);
      const auto d_out = room<std::uint8_t>(n * bytes + 1);
      // One byte in, so that nothing is aligned.
      primitives().gather(d_items.data() + 1, bytes, d_indices.data(), n, d_out.data() + 1, stream());
      const std::vector<std::uint8_t> out = d_out.get();
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::memcmp(out.data() + 1 + i * bytes, items.data() + 1 + indices[i] * std::uint64_t{bytes}, bytes),
                  0)
            << i;
      }
    }
  }
}

template <typename Key>
void check_runs(kernels::Primitives& primitives, Backend& backend, StreamView stream, std::uint64_t n,
                std::uint64_t mod) {
  SCOPED_TRACE(testing::Message() << n << " keys of " << sizeof(Key) << " bytes, " << mod << " values");
  std::vector<Key> keys(n);
  for (std::uint64_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(random_of(8, i) % mod * 0x1000003ULL);
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> values(n);
  for (std::uint64_t i = 0; i < n; ++i) values[i] = static_cast<std::int64_t>(random_of(9, i));  // sums wrap
  std::vector<std::uint64_t> run_keys;
  std::vector<std::uint32_t> run_first;
  std::vector<std::int64_t> sums;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      run_keys.push_back(keys[i]);
      run_first.push_back(static_cast<std::uint32_t>(i));
      sums.push_back(0);
    }
    sums.back() =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(sums.back()) + static_cast<std::uint64_t>(values[i]));
  }
  const BackendArray<Key> d_keys(backend, stream, keys);
  const BackendArray<std::int64_t> d_values(backend, stream, values);
  const BackendArray<std::uint64_t> d_run_keys(backend, stream, n);
  const BackendArray<std::uint32_t> d_run_first(backend, stream, n);
  const BackendArray<std::int64_t> d_sums(backend, stream, n);
  const BackendArray<std::uint64_t> d_runs(backend, stream, std::uint64_t{1});
  {
    Workspace workspace(backend.memory(), primitives.find_runs_scratch(n));
    primitives.find_runs(d_keys.data(), sizeof(Key), n, d_run_keys.data(), d_run_first.data(), d_runs.data(), workspace,
                         stream);
    ASSERT_EQ(d_runs.get()[0], run_keys.size());
    EXPECT_EQ(d_run_keys.get(run_keys.size()), run_keys);
    EXPECT_EQ(d_run_first.get(run_keys.size()), run_first);
  }
  Workspace workspace(backend.memory(), primitives.reduce_by_key_scratch(n));
  primitives.reduce_by_key(d_keys.data(), sizeof(Key), d_values.data(), n, d_run_keys.data(), d_sums.data(),
                           d_runs.data(), workspace, stream);
  ASSERT_EQ(d_runs.get()[0], run_keys.size());
  EXPECT_EQ(d_run_keys.get(run_keys.size()), run_keys);
  EXPECT_EQ(d_sums.get(run_keys.size()), sums);
}

TEST_P(Primitives, RunsOfEqualKeysAreFoundAndSummed) {
  for (const std::uint64_t n : sizes()) {
    for (const std::uint64_t mod : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 40}) {
      check_runs<std::uint32_t>(primitives(), backend(), stream(), n, mod);
      check_runs<std::uint64_t>(primitives(), backend(), stream(), n, mod);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Primitives, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
