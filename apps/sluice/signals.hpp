// SPDX-License-Identifier: Apache-2.0
/// \file
/// SIGINT, SIGTERM and SIGHUP (a terminal that was closed): unfinished outputs are removed and the program ends with
/// 128 plus the signal's number.
#pragma once

namespace sluice::app {

/// Installs the handlers; a pipe that nobody reads any more becomes an error of the write.
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
