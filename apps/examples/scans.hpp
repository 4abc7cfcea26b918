// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the examples of scans are built of: an inclusive scan by any operator. `DeviceScan` (device_scan.cuh) takes its
/// place where they shall run on a GPU.
#pragma once

#include <vector>

#include "kernels/family/scan/tbb.hpp"

namespace sluice::examples {

struct HostScan {
  /// out[i] = in[0] op ... op in[i]
  template <typename OpT, typename T>
  std::vector<T> operator()(OpT /*op*/, const std::vector<T>& in) const {
    std::vector<T> out(in.size());
    kernels::family::scan::scan_tbb<OpT>(in.data(), in.size(), true, out.data());
    return out;
  }
};

}  // namespace sluice::examples
