// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/device.hpp"

#include <link.h>

#include <algorithm>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::simt::emulated {

thread_local Lane* current_lane = nullptr;

namespace {

/// What CUDA says of a launch that has failed.
constexpr int kLaunchFailure = 719;

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

int add_image(dl_phdr_info* info, std::size_t /*bytes*/, void* ranges) {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    static_cast<std::vector<Range>*>(ranges)->push_back({begin, begin + part.p_memsz});
  }
  return 0;
}

/// Whether an address belongs to the program: constants of a kernel do.
bool in_program(std::uintptr_t at) {
  static const std::vector<Range> ranges = [] {
    std::vector<Range> out;
    dl_iterate_phdr(add_image, &out);
    return out;
  }();
  for (const Range& range : ranges) {
    if (at >= range.begin && at < range.end) return true;
  }
  return false;
}

}  // namespace

Device& Device::get() {
  // Never destroyed, as buffers of tests may be given back after everything else.
  static Device* const device = new Device;
  return *device;
}

Device::Device()
    : global_(Heap::kBytes),
      shared_(kMostInFlight * kSharedStride),
      heap_(global_),
      checker_(global_, shared_, heap_),
      machine_(settings_, checker_, shared_) {}

void Device::configure(const Settings& settings) {
  if (settings.blocks_in_flight < 1 || settings.blocks_in_flight > kMostInFlight || settings.multiprocessors < 1) {
    throw InvalidArgument("an emulated device with no multiprocessor, or with no or too many blocks in flight");
  }
  settings_ = settings;
  launches_ = 0;
}

void Device::run(const Job& job) {
  const std::lock_guard lock(mutex_);
  if (job.threads > kMostThreads || job.threads % job.warp_width != 0) {
    throw InvalidArgument("a block of " + std::to_string(job.threads) + " threads");
  }
  // Kernels keep a table for each warp of a block: narrower warps need more of them.
  if (job.shared_bytes > settings_.shared_per_block * std::max(1U, 32 / job.warp_width)) {
    throw DeviceError("launch of " + job.name, 1, "more shared memory than the device has", __FILE__, __LINE__);
  }
  kernels_run_.insert(job.name);
  checker_.begin_launch(job);
  checker_.set_expectations(std::exchange(expectations_, {}));
  ++launches_;
  machine_.run(job, settings_.seed * 0x9e3779b97f4a7c15ULL + launches_);
  checker_.end_launch();
  if (collects_ || checker_.reports().empty()) return;
  const std::vector<Report> reports = std::exchange(checker_.reports(), {});
  throw DeviceError("launch of " + job.name, kLaunchFailure, reports.front().text(), __FILE__, __LINE__);
}

std::vector<Report> Device::take_reports() {
  collects_ = false;
  return std::exchange(checker_.reports(), {});
}

void Device::touched(std::uintptr_t at, std::size_t bytes, bool write, const void* pc) {
  Lane* const lane = current_lane;
  if (lane == nullptr || !settings_.checks) return;
  if (machine_.on_stack(at)) return;
  if (global_.holds(at) || shared_.holds(at)) {
    checker_.access(*lane, at, bytes, write ? Access::kWrite : Access::kRead, pc);
    return;
  }
  const Job& job = machine_.job();
  if (at - reinterpret_cast<std::uintptr_t>(job.kernel) < job.kernel_bytes || in_program(at)) return;
  machine_.refuse_address(write, pc);
}

}  // namespace sluice::simt::emulated
