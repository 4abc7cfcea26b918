// SPDX-License-Identifier: Apache-2.0
/// \file
/// Measurements, as a table for people and as JSON for whoever compares runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

/// One way of doing one piece of work.
struct Row {
  std::string work;   ///< what is computed
  std::string by;     ///< by whom, e.g. "cuda", "cub: If on int4"
  bool ours = false;  ///< the row that the others of the same work and size are compared with
  std::uint64_t items = 0;
  double median_ms = 0.0;
  double least_ms = 0.0;
  std::uint64_t bytes = 0;  ///< fewest bytes that the work has to read and write; 0: not stated
  bool equal = true;        ///< the output was compared with ours and is the same
};

struct Machine {
  std::string device;
  std::string date;  ///< UTC
  int driver = 0;
  int runtime = 0;
  double copy_gb_per_s = 0.0;  ///< of a plain copy on the device, bytes read and written
};

/// Text of a table: milliseconds, times ours, share of the copy bandwidth.
[[nodiscard]] std::string table(const Machine& machine, const std::vector<Row>& rows);
[[nodiscard]] std::string json(const Machine& machine, const std::vector<Row>& rows);

}  // namespace sluice::bench
