// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every kernel of the algorithm family is launched, and what goes wrong in one is reported by its own lines.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kernels/family/operators.hpp"
#include "kernels/family/scan/hillis_steele.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/launch.hpp"
#include "simt/support/device_array.hpp"
#include "simt/support/kernels_in_sources.hpp"
#include "sluice/kernels/registry.hpp"
#include "sluice/kernels/variant.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;
using simt::emulated::Device;
using simt::emulated::Report;
using simt::emulated::Settings;

/// Runs every variant of the GPU on a few blocks of 32-bit items.
class AllVariants {
 public:
  AllVariants() : backend_(kernels::make_backend("cuda")), stream_(backend_->make_stream()) {}

  void run() {
    constexpr ItemType kType = ItemType::kUint32;
    for (const ScanVariant& variant : scan_variants()) {
      if (!variant.on_gpu) continue;
      const DeviceArray<std::uint32_t> in(items());
      const DeviceArray<std::uint32_t> out(kItems);
      Workspace workspace(backend_->memory(), variant.scratch(kType, kItems));
      variant.run({kType, Operator::kSum, true, in.data(), kItems, out.data()}, workspace, stream_->view());
    }
    for (const CompactVariant& variant : compact_variants()) {
      if (!variant.on_gpu) continue;
      const DeviceArray<std::uint32_t> in(items());
      const DeviceArray<std::uint32_t> out(kItems);
      const DeviceArray<std::uint64_t> count(1);
      Workspace workspace(backend_->memory(), variant.scratch(kType, kItems));
      variant.run({kType, in.data(), kItems, 100.0, out.data(), count.data()}, workspace, stream_->view());
    }
    for (const SortVariant& variant : sort_variants()) {
      if (!variant.on_gpu) continue;
      const DeviceArray<std::uint32_t> keys(items());
      const DeviceArray<std::uint32_t> other_keys(kItems);
      const DeviceArray<std::uint32_t> values(items());
      const DeviceArray<std::uint32_t> other_values(kItems);
      Workspace workspace(backend_->memory(), variant.scratch(kType, kItems));
      variant.run({kType, {keys.data(), other_keys.data()}, {values.data(), other_values.data()}, kItems}, workspace,
                  stream_->view());
    }
    for (const HistogramVariant& variant : histogram_variants()) {
      if (!variant.on_gpu) continue;
      const DeviceArray<std::uint32_t> in(items());
      const DeviceArray<std::uint64_t> counts(256);
      Workspace workspace(backend_->memory(), variant.scratch(kType, kItems, 8));
      variant.run({kType, in.data(), kItems, 0, 8, counts.data()}, workspace, stream_->view());
    }
    for (const ReduceVariant& variant : reduce_variants()) {
      if (!variant.on_gpu) continue;
      const DeviceArray<std::uint32_t> in(items());
      const DeviceArray<std::uint32_t> out(1);
      Workspace workspace(backend_->memory(), variant.scratch(kType, kItems));
      variant.run({kType, Operator::kSum, in.data(), kItems, out.data()}, workspace, stream_->view());
    }
  }

 private:
  static constexpr std::uint64_t kItems = 5000;

  static std::vector<std::uint32_t> items() {
    std::vector<std::uint32_t> out(kItems);
    for (std::uint64_t i = 0; i < kItems; ++i) out[i] = static_cast<std::uint32_t>(i * 7 % 256);
    return out;
  }

  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
};

TEST(FamilyKernels, AreAllLaunched) {
  Device::get().configure(Settings{});
  AllVariants().run();
  std::set<std::string> run;
  for (const std::string& name : Device::get().kernels_run()) {
    const std::string plain = name.substr(0, name.find('<'));
    run.insert(plain.substr(plain.rfind(':') + 1));
  }
  const std::set<std::string> known = kernels_in_sources("kernels/family");
  EXPECT_FALSE(known.empty());
  for (const std::string& name : known) EXPECT_EQ(run.count(name), 1U) << name << " has not run";
}

TEST(FamilyKernels, AreReportedByLinesOfTheirOwn) {
  if (!simt::emulated::kInstrumented) GTEST_SKIP() << "accesses are not seen in this build";
  Device::get().configure(Settings{});
  const DeviceArray<std::uint32_t> in(std::vector<std::uint32_t>(300));
  const DeviceArray<std::uint32_t> out(299);
  using Kernel = scan::HillisSteele<std::uint32_t, Sum>;
  Device::get().collect_reports();
  simt::emulated::run<SLUICE_SIMT_WARP_WIDTH>(Kernel{in.data(), 300, true, out.data(), nullptr}, 2);
  const std::vector<Report> reports = Device::get().take_reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].hazard, simt::emulated::Hazard::kOutOfBounds);
  EXPECT_EQ(reports[0].kernel, "family::scan::HillisSteele<unsigned int, family::Sum>");
  EXPECT_EQ(reports[0].variable, "out[299]");
  ASSERT_EQ(reports[0].actors.size(), 1U);
  EXPECT_EQ(reports[0].actors[0].file, "kernels/family/scan/hillis_steele.cuh");
  EXPECT_NE(reports[0].actors[0].line, 0);
  EXPECT_EQ(reports[0].actors[0].block, 1U);
  EXPECT_EQ(reports[0].actors[0].thread, 43U);
}

}  // namespace
}  // namespace sluice::test
