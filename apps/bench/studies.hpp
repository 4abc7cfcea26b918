// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two studies of how a GPU executes: what branches cost, and how many warps it takes to keep memory busy.
#pragma once

#include <string>

namespace sluice::bench {

struct StudyOptions {
  unsigned rounds = 15;
  int device = 0;
  std::string json_path;  ///< empty: no file of results
};

/// A two-way branch on which neighbouring lanes differ, the same without a branch, and one on which whole warps agree.
int bench_divergence(const StudyOptions& options);

/// The bandwidth of a copying kernel by how many of its warps a multiprocessor holds.
int bench_occupancy(const StudyOptions& options);

}  // namespace sluice::bench
