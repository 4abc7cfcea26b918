// SPDX-License-Identifier: Apache-2.0
/// \file
/// Messages on standard error.
#pragma once

#include <string>

namespace sluice::app {

/// With `--quiet` only errors are shown.
void set_quiet(bool quiet);

/// Prints `sluice: <text>`.
void say_error(const std::string& text);
/// Prints `sluice: warning: <text>`.
void say_warning(const std::string& text);

}  // namespace sluice::app
