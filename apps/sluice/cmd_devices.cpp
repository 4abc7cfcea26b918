// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "json_text.hpp"
#include "result.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::app {

namespace {

struct Options {
  bool json = false;
};

int run(const Options& options) {
  const auto backends = kernels::backends();
  const auto devices = kernels::devices();
  if (options.json) {
    Json out;
    out["backends"] = Json::array();
    for (const kernels::BackendInfo& backend : backends) {
      Json entry;
      entry["name"] = backend.name;
      entry["built"] = backend.built;
      entry["usable"] = backend.usable;
      entry["reason"] = backend.reason;
      out["backends"].push_back(std::move(entry));
    }
    out["devices"] = Json::array();
    for (const kernels::DeviceInfo& device : devices) {
      Json entry;
      entry["index"] = device.index;
      entry["name"] = device.name;
      entry["compute_capability"] = fmt::format("{}.{}", device.compute_major, device.compute_minor);
      entry["multiprocessors"] = device.multiprocessors;
      entry["memory_bytes"] = device.memory_bytes;
      entry["free_bytes"] = device.free_bytes;
      out["devices"].push_back(std::move(entry));
    }
    print_result(json_text(out));
    return 0;
  }
  std::string text;
  for (const kernels::BackendInfo& backend : backends) {
    text += fmt::format("{:<8}{}\n", backend.name, backend.usable ? "usable" : "not usable: " + backend.reason);
  }
  for (const kernels::DeviceInfo& device : devices) {
    constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
    text += fmt::format("GPU {}: {}, compute capability {}.{}, {} multiprocessors, {:.1f} of {:.1f} GiB free\n",
                        device.index, device.name, device.compute_major, device.compute_minor, device.multiprocessors,
                        static_cast<double>(device.free_bytes) / kGiB, static_cast<double>(device.memory_bytes) / kGiB);
  }
  if (devices.empty()) text += "no GPU\n";
  print_result(text);
  return 0;
}

}  // namespace

DeclaredCommand declare_devices(CLI::App& program) {
  CLI::App* command = program.add_subcommand("devices", "Show what this machine can run on");
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print one JSON object");
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
