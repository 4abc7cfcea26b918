// SPDX-License-Identifier: Apache-2.0
/// \file
/// The file that an output takes the place of.
#pragma once

#include <string>

namespace sluice::app {

/// True where what is written to a path cannot be taken back: standard output, a pipe or a device.
[[nodiscard]] bool is_stream(const std::string& path);

/// What was under the name of an output before the output got it, so that it can be put back. The old file has a
/// second, hidden name meanwhile; where the file system gives it none, that is its only name until the output takes its
/// old one.
class KeptFile {
 public:
  /// \param path  name of the output, `-` included; a symbolic link is followed as the output follows it
  /// \param replaces  a file that is there is kept; otherwise it is left alone
  /// \throws IoError where there is a file that cannot be kept
  KeptFile(const std::string& path, bool replaces);

  /// Puts the old file back under its name, or removes the output where there was none.
  /// \param published  the output has its name
  void restore(bool published) const;
  /// Lets go of the old file.
  void discard() const noexcept;

 private:
  bool stream_;
  std::string target_;
  std::string aside_;  ///< the hidden name; empty where there was no file
};

}  // namespace sluice::app
