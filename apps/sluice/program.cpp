// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "messages.hpp"
#include "numbers.hpp"
#include "signals.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/version.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

constexpr int kFailure = 1;
constexpr int kWrongUsage = 2;

/// Puts something in the place of standard streams that are closed: a file opened later would get their number, and
/// messages would be written into an output. Reads and writes fail as they would without.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run_command(const Command& run) {
  try {
    return run();
  } catch (const UsageError& error) {
    say_error(error.what());
    return kWrongUsage;
  } catch (const InvalidArgument& error) {
    say_error(error.what());
    return kWrongUsage;
  } catch (const OutOfMemory& error) {
    say_error(error.limit() != 0 ? std::string(error.what()) + "; --memory sets it" : error.what());
  } catch (const std::bad_alloc&) {
    say_error("out of memory");
  } catch (const std::exception& error) {
    say_error(error.what());
  }
  return kFailure;
}

/// Says which word is no command; the parser itself only says that there is none.
void require_command(const CLI::App& program, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    // The options of the program itself take no values, so the first word that is no option names the command.
    if (word.starts_with('-')) continue;
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    throw UsageError(fmt::format("{} is no command; there are {}", in_quotes(word), fmt::join(names, ", ")));
  }
  // Help and version need no command; they come out where the parser gets that far.
  const bool answered = std::any_of(argv + std::min(argc, 1), argv + argc, [](const std::string_view arg) {
    return arg == "-h" || arg == "--help" || arg == "--version";
  });
  if (!answered) throw UsageError(fmt::format("a command is missing; there are {}", fmt::join(names, ", ")));
}

/// What is wrong with the words of a command line, and for which command.
std::string explained(const CLI::ParseError& error, const CLI::App& program) {
  std::string text = error.what();
  // The parser counts the values of an option; a user wants to know which option it is, and what it lacks.
  if (const std::size_t at = text.find(": 1 required "); at != std::string::npos && text.ends_with(" missing")) {
    text = text.substr(0, at) + ": the value is missing";
  }
  if (const std::size_t at = text.find(": At Most 1 required but received "); at != std::string::npos) {
    text = text.substr(0, at) + ": may be given once only";
  }
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? text : commands.front()->get_name() + ": " + text;
}

}  // namespace

int run_program(int argc, char** argv) {
  occupy_standard_streams();
  install_signal_handlers();
  CLI::App program("Filters, thins and bins 3-D point clouds on the GPU or the CPU, with the same bits on both.",
                   "sluice");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("sluice ") + kVersion);
  const std::vector<DeclaredCommand> commands = {
      declare_info(program),    declare_filter(program), declare_thin(program),   declare_bin(program),
      declare_convert(program), declare_synth(program),  declare_devices(program)};
  try {
    require_command(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return program.exit(asked);  // help and version
  } catch (const CLI::ParseError& error) {
    say_error(explained(error, program));
    return kWrongUsage;
  } catch (const UsageError& error) {
    say_error(error.what());
    return kWrongUsage;
  }
  for (const DeclaredCommand& command : commands) {
    if (command.parser->parsed()) return run_command(command.run);
  }
  return kWrongUsage;
}

}  // namespace sluice::app
