// SPDX-License-Identifier: Apache-2.0
/// \file
/// Host backends take all memory that grows with the input from the workspace. The heap of this program counts blocks.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"

namespace {

/// Where work is handed to threads, small blocks are; what holds items is larger than this.
constexpr std::size_t kLarge = 8192;
std::atomic<std::uint64_t> large_blocks{0};

void* block_of(std::size_t bytes, std::size_t alignment) {
  if (bytes >= kLarge) ++large_blocks;
  const std::size_t rounded = (bytes / alignment + 1) * alignment;
  void* const block = std::aligned_alloc(alignment, rounded);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// The forms for arrays call these. Those that do not throw would too, but not where a sanitizer has its own.
void* operator new(std::size_t bytes) { return block_of(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return block_of(bytes, std::max(static_cast<std::size_t>(alignment), alignof(std::max_align_t)));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { std::free(block); }

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class Allocations : public BackendTest {};

TEST_P(Allocations, LargeOnesOfThisProgramAreCounted) {
  const std::uint64_t before = large_blocks;
  const std::vector<std::uint64_t> block(kLarge / sizeof(std::uint64_t));
  EXPECT_EQ(large_blocks, before + 1);
  EXPECT_EQ(block.front(), 0U);
}

TEST_P(Allocations, AreNotMadeByWorkOnTheHost) {
  const std::uint64_t n = 70001;
  std::vector<std::uint32_t> words(n);
  std::vector<std::uint8_t> flags(n);
  std::vector<Record16> points(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto r = static_cast<std::uint32_t>(counter_random(1, i));
    words[i] = r;
    flags[i] = static_cast<std::uint8_t>(r % 2);
    points[i] = {static_cast<std::int32_t>(r % 100), static_cast<std::int32_t>(r / 100 % 100), 0, r};
  }
  const auto in = upload(words);
  const auto indices = upload(std::vector<std::uint32_t>(n, 7));
  const auto chosen = upload(flags);
  const auto records = upload(points);
  const auto wide = room<std::uint64_t>(n);
  const auto more_wide = room<std::int64_t>(n);
  const auto values = upload(std::vector<std::int64_t>(n, 3));
  const auto narrow = room<std::uint32_t>(n);
  const auto more_narrow = room<std::uint32_t>(n);
  const auto copies = room<Record16>(n);
  const auto count = room<std::uint64_t>(1);
  const auto bin_counts = room<BinCounts>(1);
  const auto select_counts = room<SelectCounts>(1);
  Primitives& primitives = backend().primitives();
  Operations& operations = backend().operations();
  const auto predicate = operations.prepare(PredicateProgram{});
  PointInput input;
  input.positions = Positions::packed(records.data(), CoordinateKind::kLattice);
  input.count = n;
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  BinSpec spec;
  spec.grid = make_cell_grid(GridSpec{}, frame);
  spec.range = CellRange{{0, 0, 0}, {99, 99, 0}};
  BinSpec wide_spec = spec;
  wide_spec.range->max[2] = std::int64_t{1} << 30;
  const SortBuffers keys{{in.data(), narrow.data()}, {nullptr, nullptr}};
  const SortBuffers pairs{{wide.data(), more_wide.data()}, {narrow.data(), more_narrow.data()}};
  const BinOutputs binned{narrow.data(), wide.data(), more_narrow.data(), copies.data()};
  const SelectOutputs selected{narrow.data(), more_narrow.data(), nullptr, copies.data(), select_counts.data()};
  const StreamView at = stream();
  const std::vector<std::pair<std::size_t, std::function<void(Workspace&)>>> calls = {
      {primitives.exclusive_scan_scratch(n),
       [&](Workspace& w) { primitives.exclusive_scan(in.data(), n, wide.data(), count.data(), w, at); }},
      {primitives.exclusive_scan_scratch(n),
       [&](Workspace& w) { primitives.exclusive_scan_wrapping(in.data(), n, narrow.data(), count.data(), w, at); }},
      {primitives.compact_scratch(n),
       [&](Workspace& w) { primitives.compact(in.data(), 4, chosen.data(), n, narrow.data(), count.data(), w, at); }},
      {primitives.compact_scratch(n),
       [&](Workspace& w) { primitives.compact_indices(chosen.data(), 1, n, narrow.data(), count.data(), w, at); }},
      {primitives.compact_scratch(n),
       [&](Workspace& w) {
         primitives.partition(records.data(), 16, chosen.data(), n, copies.data(), count.data(), w, at);
       }},
      {primitives.histogram_scratch(n, 16),
       [&](Workspace& w) { primitives.histogram(in.data(), 4, n, 3, 16, wide.data(), w, at); }},
      {primitives.sort_scratch(4, n), [&](Workspace& w) { primitives.sort(keys, 4, n, 0, 32, w, at); }},
      {primitives.sort_scratch(8, n), [&](Workspace& w) { primitives.sort(pairs, 8, n, 0, 64, w, at); }},
      {0, [&](Workspace&) { primitives.gather(records.data(), 16, indices.data(), n, copies.data(), at); }},
      {primitives.find_runs_scratch(n),
       [&](Workspace& w) { primitives.find_runs(in.data(), 4, n, wide.data(), narrow.data(), count.data(), w, at); }},
      {primitives.reduce_by_key_scratch(n),
       [&](Workspace& w) {
         primitives.reduce_by_key(in.data(), 4, values.data(), n, wide.data(), more_wide.data(), count.data(), w, at);
       }},
      {operations.select_scratch(n), [&](Workspace& w) { operations.select(*predicate, input, selected, w, at); }},
      {operations.bin_scratch(spec, n),
       [&](Workspace& w) { operations.enqueue_bin(*predicate, spec, input, binned, bin_counts.data(), w, at); }},
      {operations.bin_scratch(wide_spec, n),
       [&](Workspace& w) { operations.enqueue_bin(*predicate, wide_spec, input, binned, bin_counts.data(), w, at); }},
  };
  for (std::size_t c = 0; c < calls.size(); ++c) {
    Workspace workspace(backend().memory(), calls[c].first);
    calls[c].second(workspace);  // threads start with the first work
    const std::uint64_t before = large_blocks;
    calls[c].second(workspace);
    EXPECT_EQ(large_blocks, before) << "call " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Host, Allocations, testing::Values("serial", "cpu"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
