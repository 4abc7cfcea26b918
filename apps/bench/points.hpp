// SPDX-License-Identifier: Apache-2.0
/// \file
/// The data of the benchmarks, the same on every run.
#pragma once

#include <cstdint>
#include <string>

#include "gpu.hpp"
#include "region.hpp"
#include "report.hpp"
#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::bench {

/// How points lie, and in what order; below, what that means for plain keys.
enum class Distribution : std::uint8_t {
  kUniform,  ///< in the box; keys: of the range of their bits
  kScan,     ///< the order of a real scan; keys: cells of its points
  kSorted,   ///< uniform, sorted by cell; keys: ascending
  kOneCell,  ///< all kept ones in one cell; keys: equal
  kZipf,     ///< the k-th fullest cell has 1 / k of the points of the first, in no order; keys: likewise
};

[[nodiscard]] Distribution distribution_of(const std::string& name);
[[nodiscard]] const char* name_of(Distribution distribution);

/// A region that keeps a fraction of the points: exactly that of a uniform cloud's height, else, for a scan, the
/// quantile of its heights.
[[nodiscard]] Region region_that_keeps(double fraction, Distribution distribution, std::uint64_t items);

/// Points in [0, kBox)^3 whose `w` is their number. Cells are those of the lower half of the box.
[[nodiscard]] DeviceArray<Record16> make_points(Gpu& gpu, Report& report, Distribution distribution,
                                                std::uint64_t items, CellBits cells);
[[nodiscard]] kernels::PointInput input_of(const DeviceArray<Record16>& points);

/// Keys of so many bits; KeyT is std::uint32_t or std::uint64_t.
template <typename KeyT>
[[nodiscard]] DeviceArray<KeyT> make_keys(Gpu& gpu, Report& report, Distribution distribution, std::uint64_t items,
                                          unsigned bits);

}  // namespace sluice::bench
