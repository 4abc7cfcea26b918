// SPDX-License-Identifier: Apache-2.0
/// \file
/// The program behind `main`.
#pragma once

namespace sluice::app {

/// Parses the command line, runs the command and maps errors to exit statuses: 0 done, 1 bad input or a failure at run
/// time, 2 wrong usage, 4 done from a damaged input.
int run_program(int argc, char** argv);

}  // namespace sluice::app
