// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times the reader and the writer of one file of points, each alone.
#pragma once

#include <string>

namespace sluice::bench {

struct RowsOptions {
  std::string input;
  std::string output;  ///< in the format of its extension; replaced
  std::string data;    ///< how a PCD or PLY output stores its points; empty: as the input
  int threads = 1;
};

/// Reads all points into memory, then writes them; prints one JSON object with the seconds of both, the number of
/// points and the sum of their x, which tells whether two programs have read the same. \returns the exit status \throws
/// sluice::Error for files that cannot be read or written
int bench_rows(const RowsOptions& options);

}  // namespace sluice::bench
