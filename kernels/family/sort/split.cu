// SPDX-License-Identifier: Apache-2.0
/// \file
/// One bit a pass, lowest first: keys with a zero go to the front, those with a one behind them, both in the order they
/// came in, so that what earlier passes have sorted stays sorted (G. Blelloch, "Prefix Sums and Their Applications",
/// CMU-CS-90-190, 1.3). Where a key goes follows from one scan: of the flags of zeros, for a one is preceded by as many
/// ones as its number less the zeros before it.
///
/// A pass has a flag kernel, a scan and a scatter, and there are 32 or 64 of them: for keys of 32 bits that is some 900
/// bytes of traffic a key. What it lacks: a pass could take a digit of several bits.
#include "kernels/cuda/scan.cuh"
#include "kernels/family/sort/buffers.hpp"
#include "kernels/family/variants.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::family::sort {

namespace {

constexpr unsigned kItemThreads = 256;

template <typename KeyT>
struct FlagZeros {
  static constexpr unsigned kThreads = kItemThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  const KeyT* keys;
  std::uint64_t n;
  unsigned bit;
  std::uint32_t* flags;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) flags[at] = static_cast<std::uint32_t>(~keys[at] >> bit & 1);
  }
};

template <typename KeyT>
struct SplitByBit {
  static constexpr unsigned kThreads = kItemThreads;
  template <unsigned kWarpWidth>
  using Shared = simt::NoShared<kWarpWidth>;

  Buffers<KeyT> buffers;
  std::uint64_t n;
  unsigned bit;
  const std::uint32_t* zeros_before;
  const std::uint64_t* zeros;  ///< of all

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& /*shared*/) const {
    const std::uint64_t at = std::uint64_t{simt.block()} * kThreads + simt.thread();
    if (at < n) {
      const KeyT key = buffers.keys[0][at];
      const std::uint64_t before = zeros_before[at];
      const std::uint64_t to = (key >> bit & 1) == 0 ? before : *zeros + (at - before);
      buffers.keys[1][to] = key;
      if (buffers.values[0] != nullptr) buffers.values[1][to] = buffers.values[0][at];
    }
  }
};

template <typename KeyT>
int sort(Buffers<KeyT> buffers, std::uint64_t n, Workspace& workspace, StreamView stream) {
  const WorkspaceScope scope(workspace);
  constexpr unsigned kBits = 8 * sizeof(KeyT);
  auto* zeros = workspace.take<std::uint64_t>(1);
  auto* zeros_before = workspace.take<std::uint32_t>(n);
  const std::uint64_t blocks = simt::blocks_for(n, kItemThreads);
  for (unsigned bit = 0; bit < kBits; ++bit) {
    simt::launch(FlagZeros<KeyT>{buffers.keys[0], n, bit, zeros_before}, blocks, stream);
    cuda::scan(zeros_before, n, zeros_before, zeros, workspace, stream);
    simt::launch(SplitByBit<KeyT>{buffers, n, bit, zeros_before, zeros}, blocks, stream);
    buffers = buffers.swapped();
  }
  static_assert(kBits % 2 == 0, "the result is where the keys came from");
  return 0;
}

}  // namespace

SortVariant split() {
  return {{"split", "one bit a pass by a scan", true},
          [](ItemType, std::uint64_t n) {
            return Workspace::bytes_for<std::uint64_t>(1) + Workspace::bytes_for<std::uint32_t>(n) +
                   cuda::scan_scratch(n);
          },
          [](const SortCall& call, Workspace& workspace, StreamView stream) {
            return with_buffers(call, [&](const auto& buffers) { return sort(buffers, call.n, workspace, stream); });
          }};
}

}  // namespace sluice::kernels::family::sort
