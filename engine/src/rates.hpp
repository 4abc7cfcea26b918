// SPDX-License-Identifier: Apache-2.0
/// \file
/// How long the operations take on this machine, measured once and cached.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sluice/execution.hpp"
#include "sluice/kernels/backend.hpp"
#include "sluice/pipeline.hpp"

namespace sluice::detail {

/// Seconds of one job over n points: start + held * start_per_point, for the backend itself and for the memory of
/// workers for `held` points at a time; then fixed + n * (per_point + edges * per_edge), copies included.
struct Rate {
  double fixed = 0;
  double per_point = 0;
  double per_edge = 0;
  double start = 0;
  double start_per_point = 0;
  [[nodiscard]] double seconds(std::uint64_t points, double edges, std::uint64_t held) const {
    return start + static_cast<double>(held) * start_per_point + fixed +
           static_cast<double>(points) * (per_point + edges * per_edge);
  }
};

/// The rates of one backend.
struct Rates {
  Rate select, thin, bin;
  [[nodiscard]] const Rate& of(Plan::Kind kind) const {
    return kind == Plan::Kind::kSelect ? select : kind == Plan::Kind::kThin ? thin : bin;
  }
};

/// The rates of a backend with `threads` threads where they have been measured before.
std::optional<Rates> cached_rates(const std::string& name, const std::string& device_name, int threads);

/// The rates of a backend with `threads` threads, from the cache of the user ($XDG_CACHE_HOME/sluice, or
/// ~/.cache/sluice) or measured now, which takes a fraction of a second, and cached. A cache that cannot be written
/// does not matter.
/// \param name, device_name  of the backend; they are part of the key
/// \param make               makes the backend where it must be measured; part of what a job costs, so it is timed
Rates machine_rates(const std::string& name, const std::string& device_name, int threads,
                    const std::function<std::shared_ptr<kernels::Backend>()>& make);

}  // namespace sluice::detail
