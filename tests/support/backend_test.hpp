// SPDX-License-Identifier: Apache-2.0
/// \file
/// A fixture for tests that run on a backend by name, and arrays in the memory of a backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::test {

/// Backend memory with the contents of a vector. Guard bytes around it show whoever wrote beyond.
template <typename T>
class BackendArray {
 public:
  BackendArray(kernels::Backend& backend, kernels::StreamView stream, const std::vector<T>& values)
      : BackendArray(backend, stream, values.size()) {
    set(values);
  }
  BackendArray(kernels::Backend& backend, kernels::StreamView stream, std::uint64_t count)
      : backend_(backend),
        stream_(stream),
        block_(backend.memory(), count * sizeof(T) + 2 * kGuard, "a test"),
        count_(count) {
    // Poison, so that what nobody writes is seen as well.
    const std::vector<std::byte> poison(block_.size(), kPoison);
    backend_.upload(block_.data(), poison.data(), poison.size(), stream_);
    backend_.wait(stream_);
  }
  BackendArray(const BackendArray&) = delete;
  BackendArray& operator=(const BackendArray&) = delete;
  ~BackendArray() {
    if (testing::Test::HasFatalFailure()) return;
    std::vector<std::byte> all(block_.size());
    backend_.download(all.data(), block_.data(), all.size(), stream_);
    backend_.wait(stream_);
    const auto poisoned = [](std::byte b) { return b == kPoison; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuard, poisoned)) << "bytes before an array were written";
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), poisoned)) << "bytes behind an array were written";
  }

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(block_.data() + kGuard); }
  void set(const std::vector<T>& values) {
    if (values.empty()) return;
    backend_.upload(data(), values.data(), values.size() * sizeof(T), stream_);
    backend_.wait(stream_);
  }
  [[nodiscard]] std::vector<T> get(std::uint64_t count) const {
    std::vector<T> out(count);
    if (count != 0) backend_.download(out.data(), data(), count * sizeof(T), stream_);
    backend_.wait(stream_);
    return out;
  }
  [[nodiscard]] std::vector<T> get() const { return get(count_); }

 private:
  static constexpr std::ptrdiff_t kGuard = 256;
  static constexpr std::byte kPoison{0xa5};

  kernels::Backend& backend_;
  kernels::StreamView stream_;
  MemoryBlock block_;
  std::uint64_t count_;
};

/// Skips where the machine cannot run the backend (no GPU); with SLUICE_REQUIRE_GPU=1 in the environment it fails
/// instead, so that a machine which should have one cannot pass by skipping everything.
class BackendTest : public testing::TestWithParam<const char*> {
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
  [[nodiscard]] BackendArray<T> upload(const std::vector<T>& values) {
    return BackendArray<T>(backend(), stream(), values);
  }
  template <typename T>
  [[nodiscard]] BackendArray<T> room(std::uint64_t count) {
    return BackendArray<T>(backend(), stream(), count);
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
