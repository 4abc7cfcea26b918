// SPDX-License-Identifier: Apache-2.0
/// \file
/// The input files of a job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/read.hpp"

namespace sluice::app {

struct Inputs {
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<ChunkSource>> sources;
  std::vector<std::string> warnings;
  bool recovered = false;  ///< damaged parts of some input were left out

  [[nodiscard]] const CloudInfo& layout() const { return sources.front()->info(); }
  [[nodiscard]] std::vector<ChunkSource*> pointers() const;
  [[nodiscard]] std::uint64_t points() const;
};

/// Opens one file.
/// \throws UsageError (`--fields` does not fit it), IoError, FormatError, Unsupported
[[nodiscard]] std::unique_ptr<ChunkSource> open_input(const std::string& path, const io::ReadOptions& options);

/// \throws UsageError where standard input is named twice
void require_one_standard_input(const std::vector<std::string>& paths);

/// Opens all inputs and makes sure that their records may go into one output.
/// \throws UsageError (standard input twice), InputError (layouts differ), IoError, FormatError, Unsupported
[[nodiscard]] Inputs open_inputs(const std::vector<std::string>& paths, const io::ReadOptions& options);

}  // namespace sluice::app
