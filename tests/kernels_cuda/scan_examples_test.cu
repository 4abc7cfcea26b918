// SPDX-License-Identifier: Apache-2.0
/// \file
/// The examples of scans on a GPU: nvcc builds their operators.
#include <string>

#include "apps/examples/device_scan.cuh"
#include "support/scan_examples_suite.hpp"

namespace sluice::test {
namespace {

class GpuScan {
 public:
  static std::string why_not() {
    for (const kernels::BackendInfo& info : kernels::backends()) {
      if (info.name == "cuda") return info.usable ? std::string() : std::string(info.reason);
    }
    return "it was not built";
  }

  template <typename OpT, typename T>
  std::vector<T> operator()(OpT op, const std::vector<T>& in) const {
    return examples::DeviceScan{}(op, in);
  }
};

}  // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, ScanExamples, testing::Types<GpuScan>);

}  // namespace sluice::test
