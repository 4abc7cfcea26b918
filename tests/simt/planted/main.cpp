// SPDX-License-Identifier: Apache-2.0
// usage: PROGRAM scan|sort|compact
// Linked with a kernel that a fault was planted in: exits with 0 if the checker or a comparison with the serial backend
// catches it under some schedule, else with 1.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "kernels/cpu/host_backend.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/twin_runs.hpp"

int main(int argc, char** argv) {
  using namespace sluice;
  using namespace sluice::test;
  if (argc != 2) return 2;
  const auto run_work = [&](TwinRun& run, std::uint64_t seed) {
    if (std::strcmp(argv[1], "scan") == 0) run_scans(run, seed, 40000);
    if (std::strcmp(argv[1], "sort") == 0) run_sort<std::uint32_t>(run, seed, 9000, 0, 0, 16, true);
    if (std::strcmp(argv[1], "compact") == 0) run_compactions(run, seed, 40000, 4);
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    simt::emulated::Settings settings;
    settings.seed = seed;
    simt::emulated::Device::get().configure(settings);
    const auto serial = kernels::make_serial_backend();
    const auto device = kernels::make_cuda_backend(0);
    TwinRun expected(*serial);
    run_work(expected, seed);
    try {
      TwinRun found(*device);
      run_work(found, seed);
      if (found.bytes() == expected.bytes()) continue;
      std::printf("seed %d: the results differ\n", static_cast<int>(seed));
    } catch (const DeviceError& error) {
      std::printf("seed %d: %s\n", static_cast<int>(seed), error.what());
    }
    return 0;
  }
  std::printf("nothing was noticed\n");
  return 1;
}
