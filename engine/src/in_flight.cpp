// SPDX-License-Identifier: Apache-2.0
#include "sluice/in_flight.hpp"

#include <unistd.h>

#include <algorithm>

#include "sluice/core/error.hpp"

namespace sluice {

std::uint64_t memory_limit(const Execution& execution) {
  if (execution.memory_bytes != 0) return execution.memory_bytes;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 4 * 3;
}

InFlight fit_in_flight(InFlight wanted, std::uint64_t whole_points, std::uint64_t least_points, std::uint64_t threads,
                       std::uint64_t limit, const std::function<std::uint64_t(const InFlight&)>& bytes,
                       const std::string& what) {
  InFlight now = wanted;
  while (bytes(now) > limit) {
    const std::uint64_t least = now.chunks > 1 ? std::max(whole_points, least_points) : least_points;
    if (now.chunks > threads) {
      now.chunks = threads;
    } else if (now.chunk_points > least) {
      now.chunk_points = std::max(now.chunk_points / 2, least);
    } else if (now.chunks > 1) {
      now.chunks /= 2;
    } else {
      throw OutOfMemory(bytes(now), limit, what);
    }
  }
  return now;
}

}  // namespace sluice
