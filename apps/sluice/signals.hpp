// SPDX-License-Identifier: Apache-2.0
/// \file
/// Signals that end the program, from a terminal or a batch system: unfinished outputs are removed and the exit status
/// is 128 plus the signal's number; it is 1 where a mapped input lost its pages (SIGBUS).
#pragma once

namespace sluice::app {

/// Installs the handlers; a pipe that nobody reads any more and a file beyond the size allowed become errors of the
/// write.
void install_signal_handlers();

/// While one exists a signal does not end the program: outputs are being given their names, and either all get them or
/// none.
class HoldSignals {
 public:
  HoldSignals() noexcept;
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;
};

}  // namespace sluice::app
