// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times the LAZ codec on the chunks of files, in memory.
#pragma once

#include <string>
#include <vector>

namespace sluice::bench {

struct LazOptions {
  std::vector<std::string> files;
  int threads = 1;
  unsigned runs = 5;
  std::string json_path;  ///< empty: no file of results
};

/// Decodes all chunks of each file and encodes them again, chunk by chunk on all threads; prints a table.
///
/// Before anything is timed every chunk is encoded and compared with the file's, and where it differs decoded again and
/// compared with the points.
/// \returns the exit status: 1 where points did not survive encoding
/// \throws sluice::Error for files that cannot be read or have no chunks
int bench_laz(const LazOptions& options);

}  // namespace sluice::bench
