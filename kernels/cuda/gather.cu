// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/bodies/compact.hpp"
#include "kernels/cuda/bodies/gather.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"
#include "kernels/cuda/primitives.hpp"
#include "kernels/simt/launch.hpp"

namespace sluice::kernels::cuda {

void gather_items(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices, std::uint64_t n, void* out,
                  StreamView stream) {
  check_count(n);
  check_gather_bytes(item_bytes);
  // The largest unit that divides the item and to which both ends are aligned.
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(items) | reinterpret_cast<std::uintptr_t>(out) | item_bytes;
  const auto by = [&]<typename UnitT>(UnitT) {
    using Gather = bodies::GatherUnits<UnitT>;
    const auto units = static_cast<std::uint32_t>(item_bytes / sizeof(UnitT));
    // A launch has at most 2^31 - 1 blocks: very many large items take several.
    const std::uint64_t most = (std::uint64_t{1} << 38) / units;
    for (std::uint64_t first = 0; first < n; first += most) {
      const std::uint64_t some = n - first < most ? n - first : most;
      simt::launch(Gather{static_cast<const UnitT*>(items), indices + first, some, units,
                          static_cast<UnitT*>(out) + first * units},
                   simt::blocks_for(some * units, Gather::kThreads), stream);
    }
  };
  if (bits % 16 == 0) {
    by(bodies::Item16{});
  } else if (bits % 8 == 0) {
    by(std::uint64_t{});
  } else if (bits % 4 == 0) {
    by(std::uint32_t{});
  } else if (bits % 2 == 0) {
    by(std::uint16_t{});
  } else {
    by(std::uint8_t{});
  }
}

void CudaPrimitives::gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices, std::uint64_t n,
                            void* out, StreamView stream) {
  const ScopedDevice current(device());
  gather_items(items, item_bytes, indices, n, out, stream);
}

}  // namespace sluice::kernels::cuda
