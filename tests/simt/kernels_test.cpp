// SPDX-License-Identifier: Apache-2.0
/// \file
/// All of this project's kernels on the emulated device, under one schedule after another: the same bytes as the serial
/// backend's, and no hazard, which a launch would throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cpu/host_backend.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/radix.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/device_array.hpp"
#include "simt/support/twin_runs.hpp"

namespace sluice::test {
namespace {

using simt::emulated::Device;
using simt::emulated::Settings;

/// Devices that differ in what kernels are shaped for: a small one with few blocks in flight, and one with as much
/// shared memory as large tiles need.
Settings settings_of(std::uint64_t seed) {
  constexpr unsigned kInFlight[] = {1, 4, 2, 8};
  Settings out;
  out.seed = seed;
  out.multiprocessors = 1;
  out.blocks_in_flight = kInFlight[seed / 2 % 4];
  out.shared_per_block = seed % 2 == 0 ? std::size_t{48} << 10 : std::size_t{227} << 10;
  return out;
}

/// Schedules: 8, or as many as SLUICE_SIMT_SEEDS says.
std::uint64_t seeds() {
  const char* text = std::getenv("SLUICE_SIMT_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 8;
}

class EmulatedKernels : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    Device::get().configure(settings_of(GetParam()));
    device_ = kernels::make_cuda_backend(0);
    serial_ = kernels::make_serial_backend();
  }
  void TearDown() override { Device::get().configure(Settings{}); }

  template <typename RunT>
  void expect_twins(const RunT& run) {
    TwinRun expected(*serial_);
    run(expected);
    TwinRun found(*device_);
    run(found);
    ASSERT_EQ(found.bytes().size(), expected.bytes().size());
    const auto differs = std::mismatch(found.bytes().begin(), found.bytes().end(), expected.bytes().begin());
    ASSERT_EQ(differs.first - found.bytes().begin(), static_cast<std::ptrdiff_t>(expected.bytes().size()))
        << "the first place that differs";
  }

  /// One item, a row of lanes and one more, tiles of many shapes and a bit, and a few tiles.
  static std::vector<std::uint64_t> sizes() { return {1, 33, 4097, 9000 + GetParam()}; }

 private:
  std::unique_ptr<kernels::Backend> device_;
  std::unique_ptr<kernels::Backend> serial_;
};

TEST_P(EmulatedKernels, PrimitivesAreAsTheSerialOnes) {
  for (const std::uint64_t n : sizes()) {
    SCOPED_TRACE(testing::Message() << n << " items");
    expect_twins([&](TwinRun& run) { run_primitives(run, GetParam(), n); });
  }
}

TEST_P(EmulatedKernels, OperationsAreAsTheSerialOnes) {
  constexpr CoordinateKind kKinds[] = {CoordinateKind::kLattice, CoordinateKind::kFloat32, CoordinateKind::kFloat64};
  for (const std::uint64_t n : sizes()) {
    for (const CoordinateKind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << n << " points of kind " << static_cast<int>(kind));
      expect_twins([&](TwinRun& run) { run_operations(run, kind, GetParam(), n); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EmulatedKernels, testing::Range(std::uint64_t{1}, seeds() + 1));

}  // namespace
}  // namespace sluice::test
