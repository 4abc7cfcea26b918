// SPDX-License-Identifier: Apache-2.0
/// \file
/// A digit of eight bits a pass, in three steps (M. Zagha, G. Blelloch, "Radix Sort for Vector Multiprocessors", SC
/// 1991; N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009):
/// each tile counts its digits; the exclusive scan of the counts in the order (digit, tile) says where each tile's keys
/// of each digit begin; each tile reads its keys again, ranks them and writes them there. Four or eight passes instead
/// of 32 or 64, with little scratch: a counter for every 16 keys.
///
/// Stable: a warp takes consecutive keys, a round of its lanes after the other, and warps and tiles follow each other.
///
/// What it lacks: keys are read twice a pass, and written one by one to wherever they belong. Onesweep reads them once
/// and writes them in runs.
#include "kernels/cuda/scan.cuh"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::sort {

namespace {

constexpr unsigned kDigitBits = 8;
constexpr unsigned kDigits = 1U << kDigitBits;
constexpr unsigned kTileThreads = kDigits;  // a thread for each digit
constexpr unsigned kRounds = 16;            // keys of a thread
constexpr unsigned kTile = kTileThreads * kRounds;

template <typename KeyT>
SLUICE_SIMT std::uint32_t digit_of(KeyT key, unsigned shift) {
  return static_cast<std::uint32_t>(key >> shift) & (kDigits - 1);
}

/// table[digit * tiles + tile] = keys of the tile with the digit; one block a tile.
template <typename KeyT>
struct CountTileDigits {
  static constexpr unsigned kThreads = kTileThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    std::uint32_t counts[kDigits];
  };

  const KeyT* keys;
  std::uint64_t n;
  unsigned shift;
  std::uint32_t* table;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + simt.thread();
    shared.counts[simt.thread()] = 0;
    simt.block_barrier();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kThreads;
      if (at < n) {
        simt.template atomic_add<simt::Order::kRelaxed>(&shared.counts[digit_of(keys[at], shift)], std::uint32_t{1});
      }
    }
    simt.block_barrier();
    table[std::uint64_t{simt.thread()} * simt.blocks() + simt.block()] = shared.counts[simt.thread()];
  }
};

/// Writes the keys of each tile to where the scanned table says that they begin; one block a tile.
template <typename KeyT>
struct ScatterTileByDigit {
  static constexpr unsigned kThreads = kTileThreads;
  template <unsigned kWarpWidth>
  struct Shared {
    /// Keys by warp and digit; then where the first of them goes.
    std::uint32_t by_warp[kThreads / kWarpWidth][kDigits];
  };

  Buffers<KeyT> buffers;
  std::uint64_t n;
  unsigned shift;
  const std::uint32_t* table;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    constexpr unsigned kWidth = ContextT::kWarpWidth;
    const std::uint64_t first = std::uint64_t{simt.block()} * kTile + simt.warp() * (kRounds * kWidth) + simt.lane();
    std::uint32_t* const mine = shared.by_warp[simt.warp()];
    for (unsigned d = simt.lane(); d < kDigits; d += kWidth) mine[d] = 0;
    simt.warp_barrier();
    KeyT keys[kRounds];
    std::uint32_t ranks[kRounds];  // among the keys of the warp with the same digit
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      keys[i] = at < n ? buffers.keys[0][at] : 0;
      const std::uint32_t digit = digit_of(keys[i], shift);
      const auto same = simt.template match_bits<kDigitBits>(digit) & simt.ballot(at < n);
      const unsigned below = simt.population(same & simt.lanes_below());
      const std::uint32_t before = mine[digit];
      simt.warp_barrier();
      if (at < n && below == 0) mine[digit] = before + simt.population(same);
      simt.warp_barrier();
      ranks[i] = before + below;
    }
    simt.block_barrier();
    std::uint32_t place = table[std::uint64_t{simt.thread()} * simt.blocks() + simt.block()];
    for (auto& of_warp : shared.by_warp) {
      const std::uint32_t count = of_warp[simt.thread()];
      of_warp[simt.thread()] = place;
      place += count;
    }
    simt.block_barrier();
    SLUICE_UNROLL
    for (unsigned i = 0; i < kRounds; ++i) {
      const std::uint64_t at = first + i * kWidth;
      if (at < n) {
        const std::uint32_t to = mine[digit_of(keys[i], shift)] + ranks[i];
        buffers.keys[1][to] = keys[i];
        if (buffers.values[0] != nullptr) buffers.values[1][to] = buffers.values[0][at];
      }
    }
  }
};

template <typename KeyT>
int sort(Buffers<KeyT> buffers, std::uint64_t n, Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  const std::uint64_t tiles = simt::blocks_for(n, kTile);
  auto* table = workspace.take<std::uint32_t>(tiles * kDigits);
  for (unsigned shift = 0; shift < 8 * sizeof(KeyT); shift += kDigitBits) {
    simt::launch(CountTileDigits<KeyT>{buffers.keys[0], n, shift, table}, tiles, stream);
    cuda::scan(table, tiles * kDigits, table, nullptr, workspace, stream);
    simt::launch(ScatterTileByDigit<KeyT>{buffers, n, shift, table}, tiles, stream);
    buffers = buffers.swapped();
  }
  static_assert(8 * sizeof(KeyT) / kDigitBits % 2 == 0, "the result is where the keys came from");
  return 0;
}

}  // namespace

SortVariant lsd_three_kernel() {
  return {{"lsd-three-kernel", "digit histogram, scan, scatter", true},
          [](ItemType, std::uint64_t n) {
            const std::uint64_t counters = simt::blocks_for(n, kTile) * kDigits;
            return Workspace::bytes_for<std::uint32_t>(counters) + cuda::scan_scratch(counters);
          },
          [](const SortCall& call, Workspace& workspace, StreamView stream) {
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace, stream); });
          }};
}

}  // namespace sluice::kernels::family::sort
