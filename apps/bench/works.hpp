// SPDX-License-Identifier: Apache-2.0
/// \file
/// The works that are timed. Each measures its cases for one distribution and number of items.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu.hpp"
#include "points.hpp"
#include "report.hpp"

namespace sluice::bench {

/// What all cases of a call have in common.
struct Setting {
  Gpu& gpu;
  Report& report;
  unsigned rounds;
  Distribution distribution;
  std::uint64_t items;
  const std::vector<double>& kept;  ///< fractions of points that `compact` keeps

  [[nodiscard]] Case named(const std::string& work) const {
    Case out;
    out.work = work;
    out.distribution = name_of(distribution);
    out.items = items;
    return out;
  }
};

void bench_compact(const Setting& setting);
void bench_compact_columns(const Setting& setting);
void bench_sort(const Setting& setting);
void bench_bin(const Setting& setting);
void bench_frame(const Setting& setting);
void bench_centroids(const Setting& setting);
void bench_thin(const Setting& setting);
void bench_scan(const Setting& setting);

}  // namespace sluice::bench
