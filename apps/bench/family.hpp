// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times the variants of the algorithm family by name, those of the CPU and of the GPU beside each other.
#pragma once

#include <string>
#include <vector>

namespace sluice::bench {

struct FamilyOptions {
  std::vector<std::string> works;     ///< of `family_works()`
  std::vector<std::string> variants;  ///< names, or "all"
  std::vector<std::string> items;     ///< as 10k or 1.5M; none: 1k, 100k, 1M, 10M and 100M
  unsigned rounds = 9;
  int device = 0;
  std::string json_path;  ///< empty: no file of results
};

[[nodiscard]] const std::vector<std::string>& family_works();

/// Compares outputs with the serial variant's, times, prints tables.
/// \returns the exit status: 1 where outputs differ or something failed
/// \throws InvalidArgument for a work or a variant that there is not
int bench_family(const FamilyOptions& options);

}  // namespace sluice::bench
