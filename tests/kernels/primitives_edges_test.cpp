// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where primitives break: sizes beside those of tiles, keys that are all alike, pointers that are aligned to their
/// items only, and scratch memory with garbage in it. Every call has a workspace of just the size it asks for, and
/// outputs that are poisoned before and lie between margins.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/dirty_memory.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

std::uint64_t random_of(std::uint64_t stream, std::uint64_t i) { return counter_random(stream, i); }

/// Elements between an aligned address and the first of an input or an output.
struct Offsets {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

template <std::size_t kBytes>
struct alignas(kBytes < 16 ? kBytes : 16) Item {
  std::uint32_t words[kBytes / 4];
};

class PrimitiveEdges : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) memory_.emplace(backend(), stream());
  }

  [[nodiscard]] kernels::Primitives& primitives() { return backend().primitives(); }
  [[nodiscard]] Workspace scratch(std::size_t bytes) { return Workspace(*memory_, bytes); }

  /// Runs on a workspace that the test shares between calls, else on a fresh one of the size asked for.
  template <typename F>
  void with_scratch(std::size_t bytes, const F& f) {
    if (shared_.has_value()) return f(*shared_);
    Workspace workspace = scratch(bytes);
    f(workspace);
    EXPECT_EQ(workspace.used(), 0U);
  }

  // Each of these compares one primitive, or two of a kind, with the standard library.

  void check_scans(const std::vector<std::uint32_t>& in, Offsets at = {}) {
    const std::uint64_t n = in.size();
    const auto d_in = upload(in, at.in);
    auto wide = room<std::uint64_t>(n, at.out);
    auto narrow = room<std::uint32_t>(n, at.out);
    auto total = room<std::uint64_t>(1, at.out);
    std::vector<std::uint64_t> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), std::uint64_t{0});
    const std::vector<std::uint32_t> wrapped = [&] {
      std::vector<std::uint32_t> out(n);
      for (std::uint64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint32_t>(expected[i]);
      return out;
    }();
    const std::uint64_t sum = n == 0 ? 0 : expected.back() + in.back();
    for (const bool wants_total : {true, false}) {
      std::uint64_t* const to = wants_total ? total.data() : nullptr;
      wide.poison();
      narrow.poison();
      total.poison();
      with_scratch(primitives().exclusive_scan_scratch(n), [&](Workspace& workspace) {
        primitives().exclusive_scan(d_in.data(), n, wide.data(), to, workspace, stream());
      });
      EXPECT_TRUE(wide.get() == expected);
      if (wants_total) {
        EXPECT_EQ(total.get()[0], sum);
      }
      total.poison();
      with_scratch(primitives().exclusive_scan_scratch(n), [&](Workspace& workspace) {
        primitives().exclusive_scan_wrapping(d_in.data(), n, narrow.data(), to, workspace, stream());
      });
      EXPECT_TRUE(narrow.get() == wrapped);
      if (wants_total) {
        EXPECT_EQ(total.get()[0], sum);
      }
    }
  }

  template <std::size_t kBytes>
  void check_compaction(const std::vector<std::uint8_t>& flags, Offsets at = {}) {
    const std::uint64_t n = flags.size();
    std::vector<std::uint32_t> items(n * kBytes / 4);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(random_of(1, i));
    std::vector<std::uint32_t> chosen;
    std::vector<std::uint32_t> rest;
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto item = items.begin() + static_cast<std::ptrdiff_t>(i * kBytes / 4);
      std::vector<std::uint32_t>& to = flags[i] != 0 ? chosen : rest;
      to.insert(to.end(), item, item + kBytes / 4);
    }
    std::vector<std::uint32_t> parted = chosen;
    parted.insert(parted.end(), rest.begin(), rest.end());
    const std::uint64_t words = kBytes / 4;
    const auto d_items = upload(items, at.in * words);
    const auto d_flags = upload(flags, at.in);
    auto out = room<std::uint32_t>(n * words, at.out * words);
    auto count = room<std::uint64_t>(1, at.out);
    with_scratch(primitives().compact_scratch(n), [&](Workspace& workspace) {
      primitives().compact(d_items.data(), kBytes, d_flags.data(), n, out.data(), count.data(), workspace, stream());
    });
    EXPECT_EQ(count.get()[0] * words, chosen.size());
    EXPECT_TRUE(out.get(chosen.size()) == chosen);
    out.poison();
    count.poison();
    with_scratch(primitives().compact_scratch(n), [&](Workspace& workspace) {
      primitives().partition(d_items.data(), kBytes, d_flags.data(), n, out.data(), count.data(), workspace, stream());
    });
    EXPECT_EQ(count.get()[0] * words, chosen.size());
    EXPECT_TRUE(out.get() == parted);
  }

  void check_compactions(const std::vector<std::uint8_t>& flags, Offsets at = {}) {
    check_compaction<4>(flags, at);
    check_compaction<8>(flags, at);
    check_compaction<16>(flags, at);
    check_compaction<32>(flags, at);
    check_indices(flags, at);
  }

  void check_indices(const std::vector<std::uint8_t>& flags, Offsets at = {}) {
    const auto d_flags = upload(flags, at.in);
    auto out = room<std::uint32_t>(flags.size(), at.out);
    auto count = room<std::uint64_t>(1, at.out);
    for (const std::uint8_t wanted : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{255}}) {
      std::vector<std::uint32_t> expected;
      for (std::uint64_t i = 0; i < flags.size(); ++i) {
        if (flags[i] == wanted) expected.push_back(static_cast<std::uint32_t>(i));
      }
      out.poison();
      count.poison();
      with_scratch(primitives().compact_scratch(flags.size()), [&](Workspace& workspace) {
        primitives().compact_indices(d_flags.data(), wanted, flags.size(), out.data(), count.data(), workspace,
                                     stream());
      });
      EXPECT_EQ(count.get()[0], expected.size());
      EXPECT_TRUE(out.get(expected.size()) == expected);
    }
  }

  template <typename K>
  void check_histogram(const std::vector<K>& keys, unsigned begin_bit, unsigned bits, Offsets at = {}) {
    std::vector<std::uint64_t> expected(std::size_t{1} << bits);
    for (const K key : keys) ++expected[(key >> begin_bit) & (expected.size() - 1)];
    const auto d_keys = upload(keys, at.in);
    const auto counts = room<std::uint64_t>(expected.size(), at.out);
    with_scratch(primitives().histogram_scratch(keys.size(), bits), [&](Workspace& workspace) {
      primitives().histogram(d_keys.data(), sizeof(K), keys.size(), begin_bit, bits, counts.data(), workspace,
                             stream());
    });
    EXPECT_TRUE(counts.get() == expected);
  }

  /// With values, which number the items, and without.
  template <typename K>
  void check_sorts(const std::vector<K>& keys, unsigned begin_bit, unsigned end_bit, Offsets at = {}) {
    SCOPED_TRACE(testing::Message() << keys.size() << " keys of " << sizeof(K) << " bytes by bits " << begin_bit
                                    << " to " << end_bit);
    const std::uint64_t n = keys.size();
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0U);
    const auto part = [=](K key) {
      const K above = end_bit == 8 * sizeof(K) ? key : static_cast<K>(key & ((K{1} << end_bit) - 1));
      return begin_bit == 8 * sizeof(K) ? K{0} : static_cast<K>(above >> begin_bit);
    };
    std::vector<std::uint32_t> order = numbers;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return part(keys[a]) < part(keys[b]); });
    std::vector<K> expected(n);
    for (std::uint64_t i = 0; i < n; ++i) expected[i] = keys[order[i]];
    for (const bool with_values : {true, false}) {
      const auto first = upload(keys, at.in);
      const auto second = room<K>(n, at.out);
      const auto first_values = upload(numbers, at.out);
      const auto second_values = room<std::uint32_t>(n, at.in);
      SortBuffers buffers{{first.data(), second.data()}, {nullptr, nullptr}};
      if (with_values) {
        buffers.values[0] = first_values.data();
        buffers.values[1] = second_values.data();
      }
      int result = -1;
      with_scratch(primitives().sort_scratch(sizeof(K), n), [&](Workspace& workspace) {
        result = primitives().sort(buffers, sizeof(K), n, begin_bit, end_bit, workspace, stream());
      });
      ASSERT_TRUE(result == 0 || result == 1);
      EXPECT_TRUE((result == 0 ? first : second).get() == expected);
      if (with_values) {
        EXPECT_TRUE((result == 0 ? first_values : second_values).get() == order);
      }
    }
  }

  /// \param keys  in any order: runs are those of neighbours
  template <typename K>
  void check_runs(const std::vector<K>& keys, Offsets at = {}) {
    const std::uint64_t n = keys.size();
    std::vector<std::int64_t> values(n);
    for (std::uint64_t i = 0; i < n; ++i) values[i] = static_cast<std::int64_t>(random_of(2, i));
    std::vector<std::uint64_t> expected_keys;
    std::vector<std::uint32_t> expected_first;
    std::vector<std::uint64_t> expected_sums;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i == 0 || keys[i] != keys[i - 1]) {
        expected_keys.push_back(keys[i]);
        expected_first.push_back(static_cast<std::uint32_t>(i));
        expected_sums.push_back(0);
      }
      expected_sums.back() += static_cast<std::uint64_t>(values[i]);
    }
    const auto d_keys = upload(keys, at.in);
    const auto d_values = upload(values, at.in);
    auto run_keys = room<std::uint64_t>(n, at.out);
    const auto first = room<std::uint32_t>(n, at.out);
    const auto sums = room<std::int64_t>(n, at.out);
    auto runs = room<std::uint64_t>(1, at.out);
    with_scratch(primitives().find_runs_scratch(n), [&](Workspace& workspace) {
      primitives().find_runs(d_keys.data(), sizeof(K), n, run_keys.data(), first.data(), runs.data(), workspace,
                             stream());
    });
    EXPECT_EQ(runs.get()[0], expected_keys.size());
    EXPECT_TRUE(run_keys.get(expected_keys.size()) == expected_keys);
    EXPECT_TRUE(first.get(expected_keys.size()) == expected_first);
    run_keys.poison();
    runs.poison();
    with_scratch(primitives().reduce_by_key_scratch(n), [&](Workspace& workspace) {
      primitives().reduce_by_key(d_keys.data(), sizeof(K), d_values.data(), n, run_keys.data(), sums.data(),
                                 runs.data(), workspace, stream());
    });
    EXPECT_EQ(runs.get()[0], expected_keys.size());
    EXPECT_TRUE(run_keys.get(expected_keys.size()) == expected_keys);
    const std::vector<std::int64_t> found = sums.get(expected_keys.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected_sums.begin(),
                           [](std::int64_t a, std::uint64_t b) { return static_cast<std::uint64_t>(a) == b; }));
  }

  template <typename T>
  void check_gather(std::uint64_t n, Offsets at = {}) {
    const std::uint64_t item_count = n / 2 + 1;
    std::vector<std::uint8_t> items(item_count * sizeof(T));
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint8_t>(random_of(3, i));
    std::vector<std::uint32_t> indices(n);
    for (std::uint64_t i = 0; i < n; ++i) indices[i] = static_cast<std::uint32_t>(random_of(4, i) % item_count);
    std::vector<std::uint8_t> expected;
    for (const std::uint32_t index : indices) {
      const auto item = items.begin() + static_cast<std::ptrdiff_t>(index * sizeof(T));
      expected.insert(expected.end(), item, item + static_cast<std::ptrdiff_t>(sizeof(T)));
    }
    const auto d_items = upload(items, at.in * sizeof(T));
    const auto d_indices = upload(indices, at.in);
    const auto out = room<std::uint8_t>(n * sizeof(T), at.out * sizeof(T));
    primitives().gather(d_items.data(), sizeof(T), d_indices.data(), n, out.data(), stream());
    EXPECT_TRUE(out.get() == expected);
  }

  std::optional<DirtyMemory> memory_;
  std::optional<Workspace> shared_;
};

/// Tiles that kernels may use, and sizes beside them: all of the former, or every `step`-th.
std::vector<std::uint64_t> beside_tiles(std::size_t first, std::size_t step) {
  static constexpr std::uint64_t kTiles[] = {2048,  3072,  4096,  5120,  7168,  8192,  9216,
                                             10240, 12288, 16384, 20480, 22528, 24576, 32768};
  std::vector<std::uint64_t> out;
  for (std::size_t t = first; t < std::size(kTiles); t += step) {
    for (const std::uint64_t n : {kTiles[t] - 1, kTiles[t], kTiles[t] + 1, 2 * kTiles[t] + 1}) out.push_back(n);
  }
  return out;
}

std::vector<std::uint32_t> large_numbers(std::uint64_t n) {
  std::vector<std::uint32_t> out(n);
  for (std::uint64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint32_t>(random_of(5, i));
  return out;
}

std::vector<std::uint8_t> mixed_flags(std::uint64_t n) {
  static constexpr std::uint8_t kValues[] = {0, 0, 1, 255, 7};
  std::vector<std::uint8_t> out(n);
  for (std::uint64_t i = 0; i < n; ++i) out[i] = kValues[random_of(6, i) % std::size(kValues)];
  return out;
}

/// How keys lie.
enum class Keys {
  kRandom,
  kEqual,
  kAllBits,    ///< every byte is 255, as in keys that pad a tile
  kMostlyAll,  ///< every byte is 255, but some are 254
  kSorted,
  kReversed,
  kZipf,         ///< half of the keys have few values, the others many
  kAlternating,  ///< lowest and highest by turns
};
constexpr Keys kAllKeys[] = {Keys::kRandom, Keys::kEqual,    Keys::kAllBits, Keys::kMostlyAll,
                             Keys::kSorted, Keys::kReversed, Keys::kZipf,    Keys::kAlternating};

template <typename K>
std::vector<K> keys_of(Keys kind, std::uint64_t n) {
  constexpr K kAll = static_cast<K>(~K{0});
  // Sorted keys change in all of their bytes.
  const std::uint64_t step = (std::uint64_t{kAll}) / (n + 1);
  std::vector<K> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = random_of(7, i);
    switch (kind) {
      case Keys::kRandom:
        out[i] = static_cast<K>(r);
        break;
      case Keys::kEqual:
        out[i] = static_cast<K>(0x0123456789abcdefULL);
        break;
      case Keys::kAllBits:
        out[i] = kAll;
        break;
      case Keys::kMostlyAll:
        out[i] = static_cast<K>(r % 16 == 0 ? ~(r & 0x0101010101010100ULL) : kAll);
        break;
      case Keys::kSorted:
        out[i] = static_cast<K>(i * step);
        break;
      case Keys::kReversed:
        out[i] = static_cast<K>((n - i) * step);
        break;
      case Keys::kZipf: {
        const auto rank = static_cast<std::uint64_t>(std::exp(static_cast<double>(r >> 11) * 0x1.0p-53 * 14.0));
        out[i] = static_cast<K>(random_of(8, rank));
        break;
      }
      case Keys::kAlternating:
        out[i] = i % 2 == 0 ? kAll : K{0};
        break;
    }
  }
  return out;
}

template <typename K>
std::vector<K> few_keys(std::uint64_t n, std::uint64_t values) {
  std::vector<K> out(n);
  for (std::uint64_t i = 0; i < n; ++i) out[i] = static_cast<K>(random_of(9, i) % values * 0x0100000001000003ULL);
  return out;
}

TEST_P(PrimitiveEdges, ScansBesideTiles) {
  for (const std::uint64_t n : beside_tiles(0, quick() ? 4 : 1)) {
    SCOPED_TRACE(n);
    check_scans(large_numbers(n));
  }
}

TEST_P(PrimitiveEdges, WrappingScansWrap) {
  for (const std::uint64_t n : {1U, 2U, 33U, 4097U, 70001U}) {
    SCOPED_TRACE(n);
    check_scans(std::vector<std::uint32_t>(n, 0xffffffffU));
    check_scans(std::vector<std::uint32_t>(n, 0x80000000U));
    check_scans(std::vector<std::uint32_t>(n, 0U));
  }
  check_scans({});
}

TEST_P(PrimitiveEdges, CompactionsBesideTiles) {
  for (const std::uint64_t n : beside_tiles(1, quick() ? 6 : 3)) {
    SCOPED_TRACE(n);
    check_compactions(mixed_flags(n));
  }
  for (const std::uint64_t n : beside_tiles(0, quick() ? 6 : 1)) check_indices(mixed_flags(n));
}

TEST_P(PrimitiveEdges, CompactionsOfAllOrNoneOrOne) {
  for (const std::uint64_t n : {1U, 31U, 33U, 4096U, 22529U, 50000U}) {
    if (quick() && n > 30000) continue;
    SCOPED_TRACE(n);
    check_compactions(std::vector<std::uint8_t>(n, 1));
    check_compactions(std::vector<std::uint8_t>(n, 255));
    check_compactions(std::vector<std::uint8_t>(n, 0));
    std::vector<std::uint8_t> one(n, 0);
    one.front() = 1;
    check_compactions(one);
    one.front() = 0;
    one.back() = 255;
    check_compactions(one);
    std::vector<std::uint8_t> all_but_one(n, 1);
    all_but_one.back() = 0;
    check_compactions(all_but_one);
  }
  check_compactions({});
}

TEST_P(PrimitiveEdges, HistogramsBesideTiles) {
  for (const std::uint64_t n : beside_tiles(0, quick() ? 6 : 2)) {
    SCOPED_TRACE(n);
    check_histogram(keys_of<std::uint32_t>(Keys::kZipf, n), 5, 9);
    check_histogram(keys_of<std::uint64_t>(Keys::kMostlyAll, n), 37, 8);
  }
  for (const Keys kind : kAllKeys) {
    check_histogram(keys_of<std::uint32_t>(kind, 20481), 24, 8);
    check_histogram(keys_of<std::uint64_t>(kind, 20481), 53, 11);
  }
  check_histogram(std::vector<std::uint32_t>(), 3, 16);
}

TEST_P(PrimitiveEdges, SortsBesideTiles) {
  for (const std::uint64_t n : beside_tiles(0, quick() ? 6 : 2)) {
    check_sorts(keys_of<std::uint32_t>(Keys::kRandom, n), 3, 29);
  }
  for (const std::uint64_t n : beside_tiles(1, quick() ? 6 : 3)) {
    check_sorts(keys_of<std::uint64_t>(Keys::kMostlyAll, n), 0, 27);
  }
}

// Beyond 2 M items a GPU with much shared memory takes larger tiles, and digits of 9 bits.
TEST_P(PrimitiveEdges, SortsMillionsOfKeys) {
  if (quick() || !backend().is_device()) GTEST_SKIP() << "takes long, and the host has no such shapes";
  const std::uint64_t n = (std::uint64_t{2} << 20) + 12345;
  check_sorts(keys_of<std::uint32_t>(Keys::kRandom, n), 0, 32);
  check_sorts(keys_of<std::uint32_t>(Keys::kRandom, n), 3, 29);
  check_sorts(keys_of<std::uint64_t>(Keys::kRandom, n), 7, 61);
}

TEST_P(PrimitiveEdges, SortsOfKeysThatAreAlike) {
  for (const std::uint64_t n : {0U, 1U, 2U, 31U, 32U, 33U, 5000U, 30001U}) {
    if (quick() && n > 10000) continue;
    for (const Keys kind : kAllKeys) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
      check_sorts(keys_of<std::uint32_t>(kind, n), 0, 32);
      check_sorts(keys_of<std::uint64_t>(kind, n), 0, 64);
      if (n > 10000) continue;
      check_sorts(keys_of<std::uint32_t>(kind, n), 5, 14);
      check_sorts(keys_of<std::uint64_t>(kind, n), 0, 17);
    }
  }
}

TEST_P(PrimitiveEdges, SortsByAnyNumberOfBits) {
  const std::uint64_t n = quick() ? 1500 : 2500;
  const std::vector<std::uint32_t> short_keys = keys_of<std::uint32_t>(Keys::kRandom, n);
  const std::vector<std::uint64_t> long_keys = keys_of<std::uint64_t>(Keys::kRandom, n);
  const unsigned ranges[][2] = {{3, 29}, {5, 14}, {0, 17}, {0, 9}, {0, 26}, {0, 27}};
  for (const auto& range : ranges) {
    check_sorts(short_keys, range[0], range[1]);
    check_sorts(long_keys, range[0], range[1]);
    check_sorts(long_keys, range[0] + 35, range[1] + 35);
  }
  for (unsigned bits = 1; bits <= 64; ++bits) {
    // An odd first bit that leaves room for as many.
    const auto begin_of = [bits](unsigned key_bits) {
      const unsigned most = key_bits - bits;
      return most == 0 ? 0U : std::min((7 * bits) % key_bits | 1U, most % 2 == 1 ? most : most - 1);
    };
    check_sorts(long_keys, begin_of(64), begin_of(64) + bits);
    if (bits <= 32) check_sorts(short_keys, begin_of(32), begin_of(32) + bits);
  }
}

TEST_P(PrimitiveEdges, RunsBesideTiles) {
  for (const std::uint64_t n : beside_tiles(1, quick() ? 6 : 3)) {
    SCOPED_TRACE(n);
    check_runs(few_keys<std::uint32_t>(n, 2));
    check_runs(few_keys<std::uint64_t>(n, 1));
    check_runs(keys_of<std::uint64_t>(Keys::kSorted, n));
    // One long run, and a short one on either side of a tile's end.
    std::vector<std::uint32_t> keys(n, 4);
    keys.front() = 0;
    keys.back() = 9;
    check_runs(keys);
  }
  for (const std::uint64_t n : {0U, 1U, 2U, 31U, 32U, 33U}) check_runs(few_keys<std::uint64_t>(n, 3));
}

TEST_P(PrimitiveEdges, OnlyItemsAreAligned) {
  for (std::uint64_t off = 1; off <= 15; ++off) {
    if (quick() && off % 4 != 3) continue;
    const Offsets at{off, 16 - off};
    SCOPED_TRACE(off);
    const std::uint64_t n = 6145 + off;
    check_scans(large_numbers(n), at);
    check_compactions(mixed_flags(n), at);
    check_histogram(keys_of<std::uint32_t>(Keys::kRandom, n), 3, 8, at);
    check_histogram(keys_of<std::uint64_t>(Keys::kRandom, n), 31, 13, at);
    check_sorts(keys_of<std::uint32_t>(Keys::kRandom, n), 0, 32, at);
    check_sorts(keys_of<std::uint64_t>(Keys::kRandom, n), 1, 64, at);
    check_runs(few_keys<std::uint32_t>(n, 2), at);
    check_runs(few_keys<std::uint64_t>(n, 2), at);
    check_gather<std::uint32_t>(n, at);
    check_gather<std::uint64_t>(n, at);
    check_gather<Item<16>>(n, at);
    check_gather<Item<32>>(n, at);
    check_gather<std::uint8_t[3]>(n, at);
    check_gather<std::uint8_t[34]>(n, at);
  }
}

TEST_P(PrimitiveEdges, GathersBesideTiles) {
  for (const std::uint64_t n : beside_tiles(2, quick() ? 6 : 3)) {
    SCOPED_TRACE(n);
    check_gather<std::uint32_t>(n);
    check_gather<Item<16>>(n);
    check_gather<std::uint8_t[30]>(n);
  }
}

// What earlier calls, of other sizes and of other primitives, leave in a workspace must not matter.
TEST_P(PrimitiveEdges, ScratchForManyItemsIsEnoughForFewer) {
  kernels::Primitives& p = primitives();
  const std::function<std::size_t(std::uint64_t)> functions[] = {
      [&](std::uint64_t n) { return p.exclusive_scan_scratch(n); },
      [&](std::uint64_t n) { return p.compact_scratch(n); },
      [&](std::uint64_t n) { return p.histogram_scratch(n, 11); },
      [&](std::uint64_t n) { return p.sort_scratch(4, n); },
      [&](std::uint64_t n) { return p.sort_scratch(8, n); },
      [&](std::uint64_t n) { return p.find_runs_scratch(n); },
      [&](std::uint64_t n) { return p.reduce_by_key_scratch(n); },
  };
  for (const auto& scratch_of : functions) {
    std::size_t before = 0;
    for (int bits = 0; bits < 32; ++bits) {
      // Thresholds between ways of doing things are mostly powers of two, or one and a half of them.
      for (const std::uint64_t at : {std::uint64_t{2} << bits, std::uint64_t{3} << bits}) {
        for (const std::uint64_t n : {at - 1, at, at + 1}) {
          if (n > 0xffffffffU) continue;
          const std::size_t bytes = scratch_of(n);
          EXPECT_GE(bytes, before) << &scratch_of - functions << ", " << n;
          before = bytes;
        }
      }
    }
  }
}

TEST_P(PrimitiveEdges, OneWorkspaceServesManyCalls) {
  const std::uint64_t most = quick() ? 9000 : 33000;
  shared_.emplace(*memory_, std::max({primitives().exclusive_scan_scratch(most), primitives().compact_scratch(most),
                                      primitives().histogram_scratch(most, 8), primitives().sort_scratch(4, most),
                                      primitives().sort_scratch(8, most), primitives().find_runs_scratch(most),
                                      primitives().reduce_by_key_scratch(most)}));
  const auto size_of = [most](std::uint64_t call) { return random_of(10, call) % (most + 1); };
  const std::vector<std::function<void(std::uint64_t)>> calls = {
      [&](std::uint64_t n) { check_scans(large_numbers(n)); },
      [&](std::uint64_t n) { check_compaction<16>(mixed_flags(n)); },
      [&](std::uint64_t n) { check_indices(mixed_flags(n)); },
      [&](std::uint64_t n) { check_histogram(keys_of<std::uint32_t>(Keys::kRandom, n), 11, 8); },
      [&](std::uint64_t n) { check_sorts(keys_of<std::uint32_t>(Keys::kRandom, n), 0, 18); },
      [&](std::uint64_t n) { check_sorts(keys_of<std::uint64_t>(Keys::kZipf, n), 0, 64); },
      [&](std::uint64_t n) { check_runs(few_keys<std::uint32_t>(n, 2)); },
  };
  const std::uint64_t rounds = quick() ? 10 : 50;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      SCOPED_TRACE(testing::Message() << "primitive " << c << ", call " << i << ", " << size_of(i) << " items");
      calls[c](size_of(i));
    }
  }
  for (std::uint64_t i = 0; i < rounds; ++i) {
    SCOPED_TRACE(testing::Message() << "mixed call " << i);
    calls[random_of(11, i) % calls.size()](size_of(i + rounds));
  }
  EXPECT_EQ(shared_->used(), 0U);
  shared_.reset();
}

INSTANTIATE_TEST_SUITE_P(Backends, PrimitiveEdges, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
