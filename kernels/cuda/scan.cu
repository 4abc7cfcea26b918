// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/bodies/look_back_scan.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/limits.hpp"
#include "kernels/cuda/look_back.cuh"
#include "kernels/cuda/primitives.hpp"
#include "kernels/cuda/scan.cuh"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

namespace {

/// Shapes of tiles: threads, packs per thread, blocks for each multiprocessor.
template <typename OutT, bool kAligned>
struct ScanShape;
template <bool kAligned>
struct ScanShape<std::uint32_t, kAligned> {
  using Large = bodies::ScanItems<std::uint32_t, std::uint32_t, kAligned, 512, 10, 2>;
  using Small = bodies::ScanItems<std::uint32_t, std::uint32_t, kAligned, 512, 4, 3>;
};
template <bool kAligned>
struct ScanShape<std::uint64_t, kAligned> {
  using Large = bodies::ScanItems<std::uint32_t, std::uint64_t, kAligned, 512, 16, 2>;
  using Small = bodies::ScanItems<std::uint32_t, std::uint64_t, kAligned, 512, 8, 3>;
};

/// Up to here no sum can pass the 62 bits that tiles publish.
constexpr std::uint64_t kMostLookBack = std::uint64_t{1} << 30;
/// From this many items on large tiles pay, with 132 multiprocessors.
constexpr std::uint64_t kLargeScan = std::uint64_t{6} << 20;

/// Of the smallest tiles, as what is enough for n must be enough for fewer.
std::uint64_t most_tiles(std::uint64_t n) { return simt::blocks_for(n, ScanShape<std::uint64_t, true>::Small::kTile); }

template <typename OutT>
void scan_once(int device, const std::uint32_t* in, std::uint64_t n, OutT* out, std::uint64_t* total,
               Workspace& workspace, StreamView stream) {
  if (n == 0) {
    if (total != nullptr) fill(total, 0, sizeof *total, stream);
    return;
  }
  if (n > kMostLookBack) return scan(in, n, out, total, workspace, stream);
  const WorkspaceScope scope(workspace);
  const auto launch = [&]<typename KernelT>() {
    const std::uint64_t tiles = simt::blocks_for(n, KernelT::kTile);
    simt::launch(KernelT{clear_states(tiles, workspace, stream), in, n, out, total}, tiles, stream);
  };
  const auto shaped = [&]<typename ShapeT>() {
    if (n < DeviceLimits::of(device).large_from(kLargeScan)) {
      launch.template operator()<typename ShapeT::Small>();
    } else {
      launch.template operator()<typename ShapeT::Large>();
    }
  };
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(in) % 16 == 0 && reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
  if (aligned) {
    shaped.template operator()<ScanShape<OutT, true>>();
  } else {
    shaped.template operator()<ScanShape<OutT, false>>();
  }
}

}  // namespace

void CudaPrimitives::exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out, std::uint64_t* total,
                                    Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  scan_once(device(), in, n, out, total, workspace, stream);
}

void CudaPrimitives::exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out,
                                             std::uint64_t* total, Workspace& workspace, StreamView stream) {
  check_count(n);
  const ScopedDevice current(device());
  scan_once(device(), in, n, out, total, workspace, stream);
}

std::size_t CudaPrimitives::exclusive_scan_scratch(std::uint64_t n) const {
  const std::size_t look_back = states_scratch(most_tiles(std::min(n, kMostLookBack)));
  return n > kMostLookBack ? std::max(look_back, scan_scratch(n)) : look_back;
}

std::unique_ptr<DevicePrimitives> make_cuda_primitives(int device) { return std::make_unique<CudaPrimitives>(device); }

}  // namespace sluice::kernels::cuda
