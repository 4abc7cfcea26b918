// SPDX-License-Identifier: Apache-2.0
// Runs the suites of tests/kernels and tests/kernels_cuda on the emulated device. SLUICE_SIMT_SEED names the schedule;
// a device has little shared memory where it is even.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/simt/emulated/device.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sluice::simt::emulated::Settings settings;
  if (const char* seed = std::getenv("SLUICE_SIMT_SEED")) settings.seed = std::strtoull(seed, nullptr, 10);
  if (settings.seed % 2 == 0) settings.shared_per_block = std::size_t{48} << 10;
  sluice::simt::emulated::Device::get().configure(settings);
  return RUN_ALL_TESTS();
}
