// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "commands.hpp"
#include "messages.hpp"
#include "signals.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/version.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

constexpr int kFailure = 1;
constexpr int kWrongUsage = 2;

int run_command(const Command& run) {
  try {
    return run();
  } catch (const UsageError& error) {
    say_error(error.what());
    return kWrongUsage;
  } catch (const InvalidArgument& error) {
    say_error(error.what());
    return kWrongUsage;
  } catch (const std::bad_alloc&) {
    say_error("out of memory");
  } catch (const std::exception& error) {
    say_error(error.what());
  }
  return kFailure;
}

}  // namespace

int run_program(int argc, char** argv) {
  install_signal_handlers();
  CLI::App program("Filters, thins and bins 3-D point clouds on the GPU or the CPU, with the same bits on both.",
                   "sluice");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("sluice ") + kVersion);
  const std::vector<DeclaredCommand> commands = {
      declare_info(program),    declare_filter(program), declare_thin(program),   declare_bin(program),
      declare_convert(program), declare_synth(program),  declare_devices(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return program.exit(asked);  // help and version
  } catch (const CLI::ParseError& error) {
    say_error(error.what());
    return kWrongUsage;
  }
  for (const DeclaredCommand& command : commands) {
    if (command.parser->parsed()) return run_command(command.run);
  }
  return kWrongUsage;
}

}  // namespace sluice::app
