// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a job did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/core/decimal.hpp"

namespace sluice {

/// Counts obey points_read = points_written + points_rejected + points_nonfinite + points_merged.
struct Report {
  std::uint64_t points_read = 0;
  std::uint64_t points_written = 0;
  std::uint64_t points_rejected = 0;   ///< by regions, conditions, fraction and every
  std::uint64_t points_nonfinite = 0;  ///< a coordinate not finite, or a dropped zero
  std::uint64_t points_merged = 0;     ///< thinned away

  std::string backend;         ///< that did the work, or most of it
  std::string backend_reason;  ///< why this one
  std::string device;          ///< name of the GPU; empty on the CPU
  int threads = 0;

  double seconds_total = 0;
  double seconds_read = 0;     ///< busy time, summed over threads
  double seconds_compute = 0;  ///< likewise
  double seconds_write = 0;    ///< likewise
  std::vector<std::string> warnings;

  bool has_cells = false;   ///< of `thin` and `bin`:
  std::uint64_t cells = 0;  ///< occupied
  Decimal origin[3] = {};   ///< corner of cell (0,0,0), exact
  int key_bits = 0;         ///< `bin`: bits of the sort key
};

}  // namespace sluice
