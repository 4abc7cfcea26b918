// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/detail/scratch_size.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/radix.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Cleared before every sort.
struct SortHeader {
  bodies::DigitCounts counts;
  std::uint32_t tickets[bodies::kMostPasses];
};

template <typename KeyT>
std::uint64_t state_bytes(const PassChoice& choice, std::uint64_t n) {
  return std::max(PassScratch::state_bytes<bodies::KeyItems<KeyT, true>>(choice, n),
                  PassScratch::state_bytes<bodies::KeyItems<KeyT, false>>(choice, n));
}

struct SortScratch {
  SortHeader* header;
  std::byte* words[2];

  template <typename KeyT, typename SourceT>
  static SortScratch take(SourceT& source, const DeviceLimits& limits, std::uint64_t n) {
    SortScratch out{};
    out.header = source.template take<SortHeader>(1);
    const std::uint64_t bytes = std::max(PassScratch::room<bodies::KeyItems<KeyT, true>>(limits, n),
                                         PassScratch::room<bodies::KeyItems<KeyT, false>>(limits, n));
    for (std::byte*& words : out.words) words = source.template take<std::byte>(bytes);
    return out;
  }
};

template <typename KeyT>
int sort_keys(const SortBuffers& buffers, std::uint64_t n, unsigned begin_bit, unsigned end_bit,
              const DeviceLimits& limits, Workspace& workspace, StreamView stream) {
  const PassChoice choice(limits, n);
  const bodies::DigitPlan plan = choice.plan<bodies::KeyItems<KeyT, true>>(begin_bit, end_bit);
  const SortScratch scratch = SortScratch::take<KeyT>(workspace, limits, n);
  KeyT* const keys[2] = {static_cast<KeyT*>(buffers.keys[0]), static_cast<KeyT*>(buffers.keys[1])};
  fill(scratch.header, 0, sizeof(SortHeader), stream);
  const auto count = [&]<typename WordT>(WordT) {
    using Kernel = bodies::CountDigits<KeyT, WordT>;
    const std::uint64_t tiles = simt::blocks_for(n, Kernel::kTile);
    simt::launch(Kernel{keys[0], n, plan, &scratch.header->counts, reinterpret_cast<WordT*>(scratch.words[0]),
                        state_bytes<KeyT>(choice, n) / sizeof(WordT)},
                 std::min<std::uint64_t>(tiles, limits.multiprocessors * 8), stream);
  };
  if (choice.wide) {
    count(std::uint64_t{});
  } else {
    count(std::uint32_t{});
  }
  const PassScratch passes{scratch.header->tickets, &scratch.header->counts, {scratch.words[0], scratch.words[1]}};
  const bodies::ItemCount items{n};
  if (buffers.values[0] != nullptr) {
    return radix_passes<KeyT, true>(keys, buffers.values, plan, choice, passes, items, n, stream);
  }
  return radix_passes<KeyT, false>(keys, buffers.values, plan, choice, passes, items, n, stream);
}

}  // namespace

int CudaPrimitives::sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                         unsigned end_bit, Workspace& workspace, StreamView stream) {
  check_sort_count(n, buffers.values[0] != nullptr);
  check_bit_range(key_bytes, begin_bit, end_bit);
  if (n < 2 || begin_bit == end_bit) return 0;
  const ScopedDevice current(device());
  const DeviceLimits limits = DeviceLimits::of(device());
  const WorkspaceScope scope(workspace);
  if (key_bytes == 4) {
    return sort_keys<std::uint32_t>(buffers, n, begin_bit, end_bit, limits, workspace, stream);
  }
  return sort_keys<std::uint64_t>(buffers, n, begin_bit, end_bit, limits, workspace, stream);
}

std::size_t CudaPrimitives::sort_scratch(std::uint32_t key_bytes, std::uint64_t n) const {
  check_key_bytes(key_bytes);
  const ScopedDevice current(device());
  const DeviceLimits limits = DeviceLimits::of(device());
  ScratchSize size;
  if (key_bytes == 4) {
    SortScratch::take<std::uint32_t>(size, limits, n);
  } else {
    SortScratch::take<std::uint64_t>(size, limits, n);
  }
  return size.bytes();
}

}  // namespace sluice::kernels::cuda
