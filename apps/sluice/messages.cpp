// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace sluice::app {

namespace {

/// The level is spelled by the callers: an error is `sluice: <text>`, as other programs have it.
spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%n: %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void set_quiet(bool quiet) { logger().set_level(quiet ? spdlog::level::err : spdlog::level::info); }

void say_error(const std::string& text) { logger().error(text); }

void say_warning(const std::string& text) { logger().warn("warning: {}", text); }

}  // namespace sluice::app
