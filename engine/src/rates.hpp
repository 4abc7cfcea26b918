// SPDX-License-Identifier: Apache-2.0
/// \file
/// How long the operations take on this machine, measured once and cached.
#pragma once

#include <string>

#include "sluice/execution.hpp"
#include "sluice/kernels/backend.hpp"
#include "sluice/pipeline.hpp"

namespace sluice::detail {

/// Seconds for n points: fixed + n * (per_point + edges * per_edge), copies included.
struct Rate {
  double fixed = 0;
  double per_point = 0;
  double per_edge = 0;
  [[nodiscard]] double seconds(std::uint64_t points, double edges) const {
    return fixed + static_cast<double>(points) * (per_point + edges * per_edge);
  }
};

/// The rates of one backend.
struct Rates {
  Rate select, thin, bin;
  [[nodiscard]] const Rate& of(Plan::Kind kind) const {
    return kind == Plan::Kind::kSelect ? select : kind == Plan::Kind::kThin ? thin : bin;
  }
};

/// The rates of a backend with `threads` threads, from the cache of the user ($XDG_CACHE_HOME/sluice, or
/// ~/.cache/sluice) or measured now, which takes a fraction of a second, and cached. A cache that cannot be written
/// does not matter.
Rates machine_rates(const std::shared_ptr<kernels::Backend>& backend, int threads);

}  // namespace sluice::detail
