// SPDX-License-Identifier: Apache-2.0
#include "backend_choice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "rates.hpp"
#include "sluice/core/error.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::detail {

namespace {

// Below this the launches and copies alone take longer than the work on any CPU.
constexpr std::uint64_t kSmallCloud = 200000;

std::shared_ptr<kernels::Backend> make(const Execution& execution, const std::string& name) {
  if (execution.make_backend) return execution.make_backend(name, execution.device);
  return kernels::make_backend(name, execution.device);
}

std::string milliseconds(double seconds) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), seconds * 1e3, std::chars_format::fixed, 1).ptr;
  return std::string(text.data(), end) + " ms";
}

double edge_count(const PredicateProgram& program) {
  return static_cast<double>(program.lattice_edges.size() + program.world_edges.size());
}

/// What tells one GPU from another, without waking it.
std::string device_label(int device) {
  for (const kernels::DeviceInfo& info : kernels::devices()) {
    if (info.index == device) return info.name;
  }
  return "GPU " + std::to_string(device);
}

/// Why no GPU can be used; empty where one can.
std::string gpu_missing() {
  for (const kernels::BackendInfo& info : kernels::backends()) {
    if (info.name == "cuda") return info.usable ? std::string() : info.reason;
  }
  return "not built";
}

}  // namespace

std::shared_ptr<kernels::Backend> cpu_backend(const Execution& execution) {
  std::shared_ptr<kernels::Backend> own = make(execution, "cpu");
  // A program may bring a GPU backend alone.
  return own != nullptr ? own : kernels::make_backend("cpu");
}

Choice choose_backend(const Execution& execution, const Plan& plan, std::uint64_t points, int threads) {
  std::string name = execution.backend;
  std::string asked = "asked for";
  if (name.empty()) {
    const char* variable = std::getenv("SLUICE_BACKEND");
    name = variable != nullptr && *variable != '\0' ? variable : "auto";
    asked = "SLUICE_BACKEND asks for it";
  }
  Choice choice;
  if (name != "auto") {
    choice.backend = make(execution, name);
    if (choice.backend == nullptr) throw Unsupported("backend '" + name + "' is not available");
    choice.reason = asked;
    return choice;
  }
  choice.automatic = true;
  // A program that brings its own backends has decided already.
  if (execution.make_backend) {
    try {
      choice.backend = make(execution, "cuda");
      choice.reason = choice.backend != nullptr ? "the program offers it" : "no GPU: the program offers none";
    } catch (const Unsupported& error) {
      choice.reason = std::string("no GPU: ") + error.what();
    } catch (const DeviceError& error) {
      choice.reason = std::string("the GPU failed: ") + error.what();
    } catch (const OutOfMemory& error) {
      choice.reason = std::string("the GPU has no room: ") + error.what();
    }
    if (choice.backend == nullptr) choice.backend = cpu_backend(execution);
    return choice;
  }
  choice.backend = cpu_backend(execution);
  const std::string missing = gpu_missing();
  if (!missing.empty()) {
    choice.reason = "no GPU: " + missing;
    return choice;
  }
  if (points < kSmallCloud) {
    choice.reason = "too few points for a GPU to pay";
    return choice;
  }
  try {
    // The GPU is not touched before it is known to pay: waking it is a good part of what it costs.
    std::shared_ptr<kernels::Backend> gpu;
    const auto make_gpu = [&] { return gpu = make(execution, "cuda"); };
    const double edges = edge_count(plan.predicate());
    // A stream holds a few chunks at a time, the others everything.
    const std::uint64_t held =
        plan.kind() == Plan::Kind::kSelect ? std::min(points, kDeviceParcels * kDeviceChunk) : points;
    const double on_cpu = machine_rates("cpu", "", threads, [&] { return choice.backend; })
                              .of(plan.kind())
                              .seconds(points, edges, plan.kind() == Plan::Kind::kSelect ? 0 : points);
    const double on_gpu = machine_rates("cuda", device_label(execution.device), threads, make_gpu)
                              .of(plan.kind())
                              .seconds(points, edges, held);
    const bool pays = on_gpu < on_cpu;
    choice.reason = "expected " + milliseconds(pays ? on_gpu : on_cpu) + " here, " +
                    milliseconds(pays ? on_cpu : on_gpu) + " on the " + (pays ? "CPU" : "GPU");
    if (pays) choice.backend = gpu != nullptr ? std::move(gpu) : make_gpu();
  } catch (const DeviceError& error) {
    choice.reason = std::string("the GPU failed: ") + error.what();
  } catch (const OutOfMemory& error) {
    choice.reason = std::string("the GPU has no room: ") + error.what();
  }
  return choice;
}

}  // namespace sluice::detail
