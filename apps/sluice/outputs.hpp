// SPDX-License-Identifier: Apache-2.0
/// \file
/// The output files of a job: all of them appear, or none.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cell_table.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/convert.hpp"
#include "sluice/io/write.hpp"

namespace sluice::app {

/// Refuses outputs before anything is read: one that is also an input or another output, a format that cannot be
/// written, a folder, and, unless `overwrite`, a file that exists.
/// \param inputs  all files that are read, those of options too
/// \param points  paths of point files
/// \param tables  paths of other outputs
/// \throws UsageError, IoError
void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& points,
                   const std::vector<std::string>& tables, bool overwrite);

class Outputs {
 public:
  explicit Outputs(io::WriteOptions options) : options_(std::move(options)) {}

  /// Starts a point file. Lives as long as this object.
  ChunkSink& add_points(const std::string& path, const CloudInfo& like);
  /// The same for points that are converted on the way.
  ChunkSink& add_points(const std::string& path, std::shared_ptr<const io::RecordConverter> converter);
  CellTable& add_table(const std::string& path);
  /// Completes all files, sends those that are streams, then gives the others their names. Where that fails for one,
  /// the names are taken back: what did not exist before does not exist afterwards, and what was replaced is there
  /// again. What was sent cannot be. A signal ends the program while a stream waits for its reader, and not while names
  /// are given.
  ///
  /// \throws IoError
  void commit();

  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct File {
    std::string path;
    std::unique_ptr<ChunkSink> points;  ///< this or the other
    std::unique_ptr<CellTable> table;
  };

  io::WriteOptions options_;
  std::vector<std::string> paths_;
  std::vector<File> files_;
};

}  // namespace sluice::app
