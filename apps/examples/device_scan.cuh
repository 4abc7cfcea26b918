// SPDX-License-Identifier: Apache-2.0
/// \file
/// `HostScan` on a GPU, in a single pass.
#pragma once

#include <memory>
#include <vector>

#include "kernels/family/scan/lookback.cuh"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::examples {

class DeviceScan {
 public:
  DeviceScan() : backend_(kernels::make_backend("cuda")), stream_(backend_->make_stream()) {}

  /// out[i] = in[0] op ... op in[i]; for types of 4 or 8 bytes. Waits for the result.
  template <typename OpT, typename T>
  std::vector<T> operator()(OpT /*op*/, const std::vector<T>& in) const {
    if (in.empty()) return {};
    const std::size_t bytes = in.size() * sizeof(T);
    const MemoryBlock from(backend_->memory(), bytes, "items");
    const MemoryBlock to(backend_->memory(), bytes, "sums");
    kernels::Workspace workspace(backend_->memory(), kernels::family::scan::look_back_scratch<T>(in.size()));
    backend_->upload(from.data(), in.data(), bytes, stream_->view());
    kernels::family::scan::scan_by_look_back<OpT>(from.as<T>(), in.size(), true, to.as<T>(), workspace,
                                                  stream_->view());
    std::vector<T> out(in.size());
    backend_->download(out.data(), to.data(), bytes, stream_->view());
    backend_->wait(stream_->view());
    return out;
  }

 private:
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
};

}  // namespace sluice::examples
