// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times the GPU kernels against Thrust and CUB, in one process, on the same data.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sluice::bench {

struct GpuOptions {
  std::vector<std::string> works = {"compact", "sort", "bin", "frame", "centroids", "thin", "scan"};
  std::vector<std::string> items;  ///< as 10k or 1.5M; none: what suits each work
  std::vector<std::string> distributions = {"uniform"};
  std::vector<double> kept = {0.5};
  unsigned rounds = 20;
  int device = 0;
  std::vector<std::string> variants;  ///< of the algorithm family; none: the works themselves
  std::string json_path;              ///< empty: no file of results
};

void add_gpu_options(CLI::App& app, GpuOptions& options);

/// Compares outputs, times, prints tables.
/// \returns the exit status: 1 where outputs differ or something failed
int bench_gpu(const GpuOptions& options);

}  // namespace sluice::bench
