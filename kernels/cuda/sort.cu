// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/sort.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

std::uint64_t tiles_of(std::uint64_t n) { return simt::blocks_for(n, bodies::kSortTile); }

template <typename KeyT>
void pass(const SortBuffers& buffers, int from, std::uint64_t n, bodies::Digit digit, std::uint32_t* table,
          Workspace& workspace, StreamView stream) {
  const std::uint64_t tiles = tiles_of(n);
  const auto* keys = static_cast<const KeyT*>(buffers.keys[from]);
  auto* keys_out = static_cast<KeyT*>(buffers.keys[1 - from]);
  const std::uint32_t* values = buffers.values[from];
  std::uint32_t* values_out = buffers.values[1 - from];
  simt::launch(bodies::CountTileDigits<KeyT>{keys, n, digit, table}, tiles, stream);
  // Positions fit the 32 bits of the counts, because n does.
  scan(table, tiles << digit.bits, table, nullptr, workspace, stream);
  if (values != nullptr) {
    simt::launch(bodies::ScatterTileDigits<KeyT, true>{keys, values, n, digit, table, keys_out, values_out}, tiles,
                 stream);
  } else {
    simt::launch(bodies::ScatterTileDigits<KeyT, false>{keys, nullptr, n, digit, table, keys_out, nullptr}, tiles,
                 stream);
  }
}

}  // namespace

int CudaPrimitives::sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                         unsigned end_bit, Workspace& workspace, StreamView stream) {
  check_count(n);
  check_bit_range(key_bytes, begin_bit, end_bit);
  if (n < 2 || begin_bit == end_bit) return 0;
  const ScopedDevice current(device());
  const WorkspaceScope scope(workspace);
  auto* table = workspace.take<std::uint32_t>(tiles_of(n) << bodies::kMostDigitBits);
  unsigned passes = (end_bit - begin_bit + bodies::kMostDigitBits - 1) / bodies::kMostDigitBits;
  int from = 0;
  // Digits of even width: 17 bits are 6 + 6 + 5, not 8 + 8 + 1.
  for (unsigned bit = begin_bit; passes > 0; --passes) {
    const unsigned bits = (end_bit - bit + passes - 1) / passes;
    const bodies::Digit digit{bit, bits};
    if (key_bytes == 4) {
      pass<std::uint32_t>(buffers, from, n, digit, table, workspace, stream);
    } else {
      pass<std::uint64_t>(buffers, from, n, digit, table, workspace, stream);
    }
    bit += bits;
    from = 1 - from;
  }
  return from;
}

std::size_t CudaPrimitives::sort_scratch(std::uint32_t key_bytes, std::uint64_t n) const {
  check_key_bytes(key_bytes);
  const std::uint64_t entries = tiles_of(n) << bodies::kMostDigitBits;
  return Workspace::bytes_for<std::uint32_t>(entries) + scan_scratch(entries);
}

}  // namespace sluice::kernels::cuda
