// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the program. Each function declares one on the program's parser and returns what runs it: a function
/// that gives the exit status 0 or 4 and throws everything else.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace sluice::app {

using Command = std::function<int()>;

struct DeclaredCommand {
  CLI::App* parser;
  Command run;
};

DeclaredCommand declare_info(CLI::App& program);
DeclaredCommand declare_filter(CLI::App& program);
DeclaredCommand declare_thin(CLI::App& program);
DeclaredCommand declare_bin(CLI::App& program);
DeclaredCommand declare_convert(CLI::App& program);
DeclaredCommand declare_synth(CLI::App& program);
DeclaredCommand declare_devices(CLI::App& program);

}  // namespace sluice::app
