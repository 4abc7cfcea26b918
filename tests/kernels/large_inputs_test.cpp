// SPDX-License-Identifier: Apache-2.0
/// \file
/// More items than 32 bits count, or than sums of 62 bits hold, and sizes where counts or signs might wrap. They take
/// tens of gigabytes, on the host too for the backend of the host, so they run with SLUICE_TEST_LARGE=1 in the
/// environment only.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/kernels/operations.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class LargeInputs : public BackendTest {
 protected:
  static constexpr std::uint64_t kChunk = std::uint64_t{1} << 24;

  void SetUp() override {
    const char* wanted = std::getenv("SLUICE_TEST_LARGE");
    if (wanted == nullptr || std::string(wanted) != "1") GTEST_SKIP() << "SLUICE_TEST_LARGE=1 runs it";
    BackendTest::SetUp();
  }

  [[nodiscard]] bool has_room(std::uint64_t bytes) { return backend().free_bytes() >= bytes + (bytes >> 4); }

  /// Fills memory with value(i), in ascending order of i.
  template <typename T, typename F>
  void fill(T* to, std::uint64_t n, F value) {
    std::vector<T> chunk(kChunk);
    for (std::uint64_t begin = 0; begin < n; begin += kChunk) {
      const std::uint64_t count = std::min(kChunk, n - begin);
      for (std::uint64_t i = 0; i < count; ++i) chunk[i] = value(begin + i);
      backend().upload(to + begin, chunk.data(), count * sizeof(T), stream());
      backend().wait(stream());
    }
  }

  /// \return the first index whose item is not value(i), which is asked for in ascending order; n where all are
  template <typename T, typename F>
  std::uint64_t first_difference(const T* from, std::uint64_t n, F value) {
    std::vector<T> chunk(kChunk);
    for (std::uint64_t begin = 0; begin < n; begin += kChunk) {
      const std::uint64_t count = std::min(kChunk, n - begin);
      backend().download(chunk.data(), from + begin, count * sizeof(T), stream());
      backend().wait(stream());
      for (std::uint64_t i = 0; i < count; ++i) {
        if (chunk[i] != value(begin + i)) return begin + i;
      }
    }
    return n;
  }
};

TEST_P(LargeInputs, SortsMoreKeysThan32BitsCount) {
  const std::uint64_t twice = 12345678;
  const std::uint64_t n = (std::uint64_t{1} << 32) + twice;
  if (!has_room(2 * n * sizeof(std::uint32_t))) GTEST_SKIP() << "needs 34 GB";
  // Every key once, in an order that jumps about, and those of the first `twice` positions again.
  constexpr std::uint32_t kStep = 2654435761U;
  std::uint32_t inverse = kStep;
  for (int i = 0; i < 5; ++i) inverse *= 2 - kStep * inverse;
  ASSERT_EQ(inverse * kStep, 1U);
  const MemoryBlock first(backend().memory(), n * sizeof(std::uint32_t), "a test");
  const MemoryBlock second(backend().memory(), n * sizeof(std::uint32_t), "a test");
  fill(first.as<std::uint32_t>(), n, [](std::uint64_t i) { return static_cast<std::uint32_t>(i) * kStep; });
  const SortBuffers buffers{{first.data(), second.data()}, {nullptr, nullptr}};
  Workspace workspace(backend().memory(), backend().primitives().sort_scratch(sizeof(std::uint32_t), n));
  const int result = backend().primitives().sort(buffers, sizeof(std::uint32_t), n, 0, 32, workspace, stream());
  std::uint64_t key = 0;
  bool again = false;
  const std::uint64_t wrong =
      first_difference(static_cast<const std::uint32_t*>(buffers.keys[result]), n, [&](std::uint64_t /*i*/) {
        const auto expected = static_cast<std::uint32_t>(key);
        again = !again && expected * inverse < twice;
        if (!again) ++key;
        return expected;
      });
  EXPECT_EQ(wrong, n);
}

TEST_P(LargeInputs, ScansUpToTheirLimit) {
  for (const std::uint64_t n : {(std::uint64_t{1} << 30) + 4567, std::uint64_t{0xffffffffULL}}) {
    SCOPED_TRACE(n);
    if (!has_room(n * (sizeof(std::uint32_t) + sizeof(std::uint64_t)))) GTEST_SKIP() << "needs 52 GB";
    const auto value = [](std::uint64_t i) { return 0xffffffffU - static_cast<std::uint32_t>(i % 3); };
    const auto sum_before = [](std::uint64_t i) {
      const std::uint64_t rest = i % 3;
      return i * 0xffffffffULL - (i / 3) * 3 - (rest == 2 ? 1 : 0);
    };
    const MemoryBlock in(backend().memory(), n * sizeof(std::uint32_t), "a test");
    const MemoryBlock out(backend().memory(), n * sizeof(std::uint64_t), "a test");
    const auto total = room<std::uint64_t>(1);
    fill(in.as<std::uint32_t>(), n, value);
    Workspace workspace(backend().memory(), backend().primitives().exclusive_scan_scratch(n));
    backend().primitives().exclusive_scan(in.as<std::uint32_t>(), n, out.as<std::uint64_t>(), total.data(), workspace,
                                          stream());
    EXPECT_EQ(first_difference(out.as<std::uint64_t>(), n, sum_before), n);
    EXPECT_EQ(total.get()[0], sum_before(n));
    backend().primitives().exclusive_scan_wrapping(in.as<std::uint32_t>(), n, out.as<std::uint32_t>(), total.data(),
                                                   workspace, stream());
    EXPECT_EQ(first_difference(out.as<std::uint32_t>(), n,
                               [&](std::uint64_t i) { return static_cast<std::uint32_t>(sum_before(i)); }),
              n);
    EXPECT_EQ(total.get()[0], sum_before(n));
  }
}

TEST_P(LargeInputs, CompactsSizesAroundPowersOfTwo) {
  constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31;
  const auto item = [](std::uint64_t i) { return static_cast<std::uint32_t>(i * 37 >> 3); };
  for (const std::uint64_t n : {std::uint64_t{1} << 28, std::uint64_t{1} << 30, kTwo31 - 1, kTwo31, kTwo31 + 1}) {
    SCOPED_TRACE(n);
    if (!has_room(9 * n)) GTEST_SKIP() << "needs 20 GB";
    const MemoryBlock items(backend().memory(), n * sizeof(std::uint32_t), "a test");
    const MemoryBlock flags(backend().memory(), n, "a test");
    const MemoryBlock out(backend().memory(), n * sizeof(std::uint32_t), "a test");
    const auto count = room<std::uint64_t>(1);
    fill(items.as<std::uint32_t>(), n, item);
    fill(flags.as<std::uint8_t>(), n, [](std::uint64_t i) { return static_cast<std::uint8_t>(i % 3 == 0); });
    Workspace workspace(backend().memory(), backend().primitives().compact_scratch(n));
    backend().primitives().compact(items.data(), sizeof(std::uint32_t), flags.as<std::uint8_t>(), n, out.data(),
                                   count.data(), workspace, stream());
    const std::uint64_t kept = (n + 2) / 3;
    ASSERT_EQ(count.get()[0], kept);
    EXPECT_EQ(first_difference(out.as<std::uint32_t>(), kept, [&](std::uint64_t i) { return item(3 * i); }), kept);
  }
}

TEST_P(LargeInputs, SortsSizesAroundPowersOfTwo) {
  constexpr std::uint64_t kTwo31 = std::uint64_t{1} << 31;
  constexpr unsigned kBits = 16;
  constexpr std::uint32_t kDigits = 1U << kBits;
  constexpr std::uint32_t kStep = 2654435761U;  // odd, so the lowest bits of i * kStep take all values in turn
  for (const std::uint64_t n :
       {std::uint64_t{1} << 28, (std::uint64_t{1} << 30) - 1, std::uint64_t{1} << 30, kTwo31 - 1, kTwo31, kTwo31 + 1}) {
    SCOPED_TRACE(n);
    if (!has_room(2 * n * sizeof(std::uint32_t))) GTEST_SKIP() << "needs 18 GB";
    const auto key = [](std::uint64_t i) { return static_cast<std::uint32_t>(i) * kStep; };
    std::vector<std::uint32_t> first_with(kDigits);  // i below kDigits by the digit of its key
    for (std::uint32_t i = 0; i < kDigits; ++i) first_with[key(i) % kDigits] = i;
    const MemoryBlock one(backend().memory(), n * sizeof(std::uint32_t), "a test");
    const MemoryBlock two(backend().memory(), n * sizeof(std::uint32_t), "a test");
    fill(one.as<std::uint32_t>(), n, key);
    const SortBuffers buffers{{one.data(), two.data()}, {nullptr, nullptr}};
    Workspace workspace(backend().memory(), backend().primitives().sort_scratch(sizeof(std::uint32_t), n));
    const int result = backend().primitives().sort(buffers, sizeof(std::uint32_t), n, 0, kBits, workspace, stream());
    std::uint32_t digit = 0;
    std::uint64_t i = first_with[0];
    const std::uint64_t wrong =
        first_difference(static_cast<const std::uint32_t*>(buffers.keys[result]), n, [&](std::uint64_t /*at*/) {
          const std::uint32_t expected = key(i);
          i += kDigits;
          if (i >= n && digit + 1 < kDigits) i = first_with[++digit];
          return expected;
        });
    EXPECT_EQ(wrong, n);
  }
}

TEST_P(LargeInputs, BinsPointsFromWhereCountsAreWide) {
  constexpr std::uint64_t kTwo30 = std::uint64_t{1} << 30;
  constexpr std::uint32_t kCells = 1U << 12;
  for (const std::uint64_t n : {kTwo30 - 1, kTwo30}) {
    SCOPED_TRACE(n);
    CoordinateFrame frame;
    frame.kind = CoordinateKind::kLattice;
    BinSpec spec;
    spec.grid = make_cell_grid(GridSpec{}, frame);
    spec.range = CellRange{{0, 0, 0}, {kCells - 1, 0, 0}};
    if (!has_room(2 * n * sizeof(Record16) + backend().operations().bin_scratch(spec, n))) {
      GTEST_SKIP() << "needs 80 GB";
    }
    constexpr std::uint32_t kStep = 3235;  // odd: cells take turns
    const auto cell = [](std::uint64_t i) { return static_cast<std::uint32_t>(i) * kStep % kCells; };
    std::vector<std::uint32_t> first_in(kCells);
    for (std::uint32_t i = 0; i < kCells; ++i) first_in[cell(i)] = i;
    const MemoryBlock points(backend().memory(), n * sizeof(Record16), "a test");
    const MemoryBlock records(backend().memory(), n * sizeof(Record16), "a test");
    const auto counts = room<BinCounts>(1);
    fill(points.as<Record16>(), n, [&](std::uint64_t i) {
      return Record16{static_cast<std::int32_t>(cell(i)), 0, 0, static_cast<std::uint32_t>(i)};
    });
    const auto all = backend().operations().prepare(PredicateProgram{});
    PointInput input;
    input.positions = Positions::packed(points.as<Record16>(), CoordinateKind::kLattice);
    input.count = n;
    BinOutputs outputs;
    outputs.records = records.data();
    Workspace workspace(backend().memory(), backend().operations().bin_scratch(spec, n));
    backend().operations().enqueue_bin(*all, spec, input, outputs, counts.data(), workspace, stream());
    std::uint32_t at_cell = 0;
    std::uint64_t i = first_in[0];
    struct Number {
      std::int32_t xyz[3];
      std::uint32_t w;
      bool operator!=(const std::uint32_t& number) const { return w != number; }
    };
    static_assert(sizeof(Number) == sizeof(Record16));
    const std::uint64_t wrong = first_difference(records.as<Number>(), n, [&](std::uint64_t /*at*/) {
      const auto expected = static_cast<std::uint32_t>(i);
      i += kCells;
      if (i >= n && at_cell + 1 < kCells) i = first_in[++at_cell];
      return expected;
    });
    EXPECT_EQ(wrong, n);
    EXPECT_EQ(counts.get()[0].counts.kept, n);
    EXPECT_EQ(counts.get()[0].cells, kCells);
  }
}

TEST_P(LargeInputs, SelectsAsManyPointsAsItTakes) {
  const std::uint64_t n = kMaxPoints;
  if (!has_room(n * sizeof(Record16) + n / 2 * sizeof(std::uint32_t))) GTEST_SKIP() << "needs 40 GB";
  const MemoryBlock points(backend().memory(), n * sizeof(Record16), "a test");
  const MemoryBlock kept(backend().memory(), n * sizeof(std::uint32_t), "a test");
  const auto counts = room<SelectCounts>(1);
  fill(points.as<Record16>(), n, [](std::uint64_t i) { return Record16{static_cast<std::int32_t>(i % 3), 0, 0, 0}; });
  PredicateOp box{};
  box.code = PredicateOp::Code::kLatticeBox;
  PredicateProgram program;
  program.ops = {box};
  const auto zeros = backend().operations().prepare(program);
  PointInput input;
  input.positions = Positions::packed(points.as<Record16>(), CoordinateKind::kLattice);
  input.count = n;
  SelectOutputs outputs;
  outputs.kept = kept.as<std::uint32_t>();
  outputs.counts = counts.data();
  Workspace workspace(backend().memory(), backend().operations().select_scratch(n));
  backend().operations().select(*zeros, input, outputs, workspace, stream());
  const std::uint64_t expected = (n + 2) / 3;
  EXPECT_EQ(counts.get()[0].kept, expected);
  EXPECT_EQ(counts.get()[0].rejected, n - expected);
  EXPECT_EQ(first_difference(kept.as<std::uint32_t>(), expected,
                             [](std::uint64_t i) { return static_cast<std::uint32_t>(3 * i); }),
            expected);
}

INSTANTIATE_TEST_SUITE_P(Backends, LargeInputs, testing::Values("cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
