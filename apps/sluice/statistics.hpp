// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statistics of the fields of a cloud.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/core/extent.hpp"

namespace sluice::app {

/// What is known of one field over all points. Numbers are real values: scaled where the field is, world coordinates
/// for x, y and z. All sums are exact, so that neither threads, nor memory, nor how a file is cut into chunks matters.
/// The mean of a float field that is not scaled is the exact one, rounded once; other means are rounded at each step:
/// sum, quotient, scaling.
struct FieldStatistics {
  std::string name;
  bool whole = false;      ///< an unscaled integer: its extremes are also given exactly
  bool is_signed = false;  ///< and then the next two are to be read as signed
  std::uint64_t whole_min = 0;
  std::uint64_t whole_max = 0;
  double min = 0.0;
  double max = 0.0;
  double mean = 0.0;
  std::uint64_t count = 0;       ///< of finite values; without any the numbers above mean nothing
  std::uint64_t non_finite = 0;  ///< float fields
  bool has_counts = false;       ///< integer fields of at most eight bits
  std::map<std::int64_t, std::uint64_t> counts;
};

struct CloudStatistics {
  Extent bounds;  ///< of the finite points
  std::vector<FieldStatistics> fields;
};

/// Reads all points of a source.
/// \param threads  0: all that the process may run on
[[nodiscard]] CloudStatistics compute_statistics(ChunkSource& source, int threads);

}  // namespace sluice::app
