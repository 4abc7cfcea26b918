// SPDX-License-Identifier: Apache-2.0
/// \file
/// The examples of scans on the CPU, or on the emulated device.
#include "support/scan_examples_suite.hpp"

#if defined(SLUICE_SIMT_EMULATED)
#include "apps/examples/device_scan.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/schedules.hpp"
#else
#include "apps/examples/scans.hpp"
#endif

namespace sluice::test {
namespace {

#if defined(SLUICE_SIMT_EMULATED)

/// Each scan under another schedule.
class EmulatedScan {
 public:
  EmulatedScan() { configure(); }
  EmulatedScan(const EmulatedScan&) = delete;
  EmulatedScan& operator=(const EmulatedScan&) = delete;
  ~EmulatedScan() { simt::emulated::Device::get().configure(simt::emulated::Settings{}); }

  template <typename OpT, typename T>
  std::vector<T> operator()(OpT op, const std::vector<T>& in) const {
    std::vector<T> out = examples::DeviceScan{}(op, in);
    configure();
    return out;
  }

 private:
  void configure() const { simt::emulated::Device::get().configure(settings_of(++schedule_)); }

  mutable std::uint64_t schedule_ = 0;
};
using Scans = testing::Types<EmulatedScan>;

#else

using Scans = testing::Types<examples::HostScan>;

#endif

INSTANTIATE_TYPED_TEST_SUITE_P(Family, ScanExamples, Scans);

}  // namespace
}  // namespace sluice::test
