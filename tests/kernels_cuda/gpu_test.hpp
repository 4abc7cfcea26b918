// SPDX-License-Identifier: Apache-2.0
/// \file
/// A fixture for tests that need a GPU, by backend name, and device copies of host vectors.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::test {

/// Device memory with the contents of a vector.
template <typename T>
class OnDevice {
 public:
  OnDevice(kernels::Backend& backend, kernels::StreamView stream, const std::vector<T>& values)
      : OnDevice(backend, stream, values.size()) {
    set(values);
  }
  OnDevice(kernels::Backend& backend, kernels::StreamView stream, std::uint64_t count)
      : backend_(backend), stream_(stream), block_(backend.memory(), count * sizeof(T), "a test"), count_(count) {}

  [[nodiscard]] T* data() const { return block_.template as<T>(); }
  void set(const std::vector<T>& values) {
    backend_.upload(block_.data(), values.data(), values.size() * sizeof(T), stream_);
    backend_.wait(stream_);
  }
  [[nodiscard]] std::vector<T> get(std::uint64_t count) const {
    std::vector<T> out(count);
    backend_.download(out.data(), block_.data(), count * sizeof(T), stream_);
    backend_.wait(stream_);
    return out;
  }
  [[nodiscard]] std::vector<T> get() const { return get(count_); }

 private:
  kernels::Backend& backend_;
  kernels::StreamView stream_;
  MemoryBlock block_;
  std::uint64_t count_;
};

/// Skips without a GPU; with SLUICE_REQUIRE_GPU=1 in the environment it fails instead, so that a machine which should
/// have one cannot pass by skipping everything.
class GpuTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const kernels::BackendInfo& info : kernels::backends()) {
      if (info.name != GetParam() || info.usable) continue;
      const char* required = std::getenv("SLUICE_REQUIRE_GPU");
      if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << info.reason;
      GTEST_SKIP() << "no GPU: " << info.reason;
    }
    backend_ = kernels::make_backend(GetParam());
    stream_ = backend_->make_stream();
  }

  [[nodiscard]] kernels::Backend& backend() { return *backend_; }
  [[nodiscard]] kernels::StreamView stream() { return stream_->view(); }
  template <typename T>
  [[nodiscard]] OnDevice<T> upload(const std::vector<T>& values) {
    return OnDevice<T>(backend(), stream(), values);
  }
  template <typename T>
  [[nodiscard]] OnDevice<T> room(std::uint64_t count) {
    return OnDevice<T>(backend(), stream(), count);
  }

  /// True where a sanitizer runs, under which sizes must be small.
  [[nodiscard]] static bool quick() {
    const char* text = std::getenv("SLUICE_TEST_QUICK");
    return text != nullptr && std::string(text) == "1";
  }

 private:
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
};

}  // namespace sluice::test
