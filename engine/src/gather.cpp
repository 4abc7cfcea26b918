// SPDX-License-Identifier: Apache-2.0
#include "gather.hpp"

#include <cstring>

namespace sluice::detail {

namespace {

/// Kept points often come in runs, as scanners see them; a run is one copy. Others are copied with a size that the
/// compiler knows where it is a common one, because a call for every record would take longer than the copy.
template <std::uint64_t kBytes>
void gather(const PointView& view, std::uint64_t any_bytes, std::span<const std::uint32_t> indices, std::byte* out) {
  constexpr std::size_t kRun = 8;
  const std::uint64_t bytes = kBytes != 0 ? kBytes : any_bytes;
  const bool dense = view.stride == bytes;
  const auto copy_one = [&](std::size_t i) {
    std::memcpy(out + i * bytes, view.records + indices[i] * view.stride, kBytes != 0 ? kBytes : any_bytes);
  };
  std::size_t i = 0;
  while (i + kRun <= indices.size()) {
    // A permutation may leap between two ends that look like a run, so every step is compared.
    bool run = dense;
    for (std::size_t j = 1; j < kRun; ++j) run &= indices[i + j] == indices[i] + j;
    if (!run) {
      for (const std::size_t stop = i + kRun; i < stop; ++i) copy_one(i);
      continue;
    }
    std::size_t end = i + kRun;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    std::memcpy(out + i * bytes, view.records + indices[i] * bytes, (end - i) * bytes);
    i = end;
  }
  for (; i < indices.size(); ++i) copy_one(i);
}

}  // namespace

void gather_records(const PointView& view, std::uint64_t record_bytes, std::span<const std::uint32_t> indices,
                    std::byte* out) {
  switch (record_bytes) {
    case 16:
      return gather<16>(view, record_bytes, indices, out);
    case 20:
      return gather<20>(view, record_bytes, indices, out);
    case 26:
      return gather<26>(view, record_bytes, indices, out);
    case 28:
      return gather<28>(view, record_bytes, indices, out);
    case 30:
      return gather<30>(view, record_bytes, indices, out);
    case 32:
      return gather<32>(view, record_bytes, indices, out);
    case 34:
      return gather<34>(view, record_bytes, indices, out);
    case 36:
      return gather<36>(view, record_bytes, indices, out);
    case 38:
      return gather<38>(view, record_bytes, indices, out);
    default:
      return gather<0>(view, record_bytes, indices, out);
  }
}

}  // namespace sluice::detail
