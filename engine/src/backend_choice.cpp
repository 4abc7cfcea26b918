// SPDX-License-Identifier: Apache-2.0
#include "backend_choice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "machine.hpp"
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

std::string device_name(int device) {
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
  if (!kernels::has_gpu_backends()) {
    choice.backend = cpu_backend(execution);
    choice.reason = "no GPU: " + gpu_missing();
    return choice;
  }
  std::string label = gpu_label(execution.device);
  GpuOffer gpu;
  gpu.label = label.empty() ? device_name(execution.device) : std::move(label);
  gpu.missing = gpu_missing;
  gpu.make = [&execution] { return make(execution, "cuda"); };
  return quicker_backend(cpu_backend(execution), gpu, plan, points, threads);
}

Choice quicker_backend(std::shared_ptr<kernels::Backend> cpu, const GpuOffer& gpu, const Plan& plan,
                       std::uint64_t points, int threads) {
  Choice choice;
  choice.automatic = true;
  choice.backend = std::move(cpu);
  if (points < kSmallCloud) {
    choice.reason = "too few points for a GPU to pay";
    return choice;
  }
  try {
    std::optional<Rates> cpu_rates = cached_rates("cpu", "", threads);
    std::optional<Rates> gpu_rates = cached_rates("cuda", gpu.label, threads);
    std::shared_ptr<kernels::Backend> awake;
    if (!cpu_rates || !gpu_rates) {
      const std::string missing = gpu.missing();
      if (!missing.empty()) {
        choice.reason = "no GPU: " + missing;
        return choice;
      }
      if (!cpu_rates) cpu_rates = machine_rates("cpu", "", threads, [&] { return choice.backend; });
      if (!gpu_rates) gpu_rates = machine_rates("cuda", gpu.label, threads, [&] { return awake = gpu.make(); });
    }
    const double edges = edge_count(plan.predicate());
    const bool streams = plan.kind() == Plan::Kind::kSelect;
    const double on_cpu = cpu_rates->of(plan.kind()).seconds(points, edges, streams ? 0 : points);
    // A stream holds a few chunks at a time, the others everything.
    const std::uint64_t held = streams ? std::min(points, kDeviceParcels * kDeviceChunk) : points;
    const double on_gpu = gpu_rates->of(plan.kind()).seconds(points, edges, held);
    const bool pays = on_gpu < on_cpu;
    choice.reason = "expected " + milliseconds(pays ? on_gpu : on_cpu) + " here, " +
                    milliseconds(pays ? on_cpu : on_gpu) + " on the " + (pays ? "CPU" : "GPU");
    if (pays) choice.backend = awake != nullptr ? std::move(awake) : gpu.make();
  } catch (const Unsupported& error) {
    choice.reason = std::string("no GPU: ") + error.what();
  } catch (const DeviceError& error) {
    choice.reason = std::string("the GPU failed: ") + error.what();
  } catch (const OutOfMemory& error) {
    choice.reason = std::string("the GPU has no room: ") + error.what();
  }
  return choice;
}

}  // namespace sluice::detail
