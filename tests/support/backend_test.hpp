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
#include "support/quick.hpp"

namespace sluice::test {

/// Backend memory with the contents of a vector. Poison around it shows whoever wrote beyond, and poison in it what
/// nobody wrote.
template <typename T>
class BackendArray {
 public:
  /// \param offset  elements between an aligned address and the first: only elements are aligned where it is odd
  BackendArray(kernels::Backend& backend, kernels::StreamView stream, const std::vector<T>& values,
               std::uint64_t offset = 0)
      : BackendArray(backend, stream, values.size(), offset) {
    set(values);
  }
  BackendArray(kernels::Backend& backend, kernels::StreamView stream, std::uint64_t count, std::uint64_t offset = 0)
      : backend_(backend),
        stream_(stream),
        begin_(static_cast<std::ptrdiff_t>(kGuard + offset * sizeof(T))),
        block_(backend.memory(), static_cast<std::size_t>(begin_) + count * sizeof(T) + kGuard, "a test"),
        count_(count) {
    poison();
  }
  BackendArray(const BackendArray&) = delete;
  BackendArray& operator=(const BackendArray&) = delete;
  ~BackendArray() {
    if (testing::Test::HasFatalFailure()) return;
    std::vector<std::byte> all(block_.size());
    backend_.download(all.data(), block_.data(), all.size(), stream_);
    backend_.wait(stream_);
    const auto poisoned = [](std::byte b) { return b == kPoison; };
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + begin_, poisoned)) << "bytes before an array were written";
    EXPECT_TRUE(std::all_of(all.end() - kGuard, all.end(), poisoned)) << "bytes behind an array were written";
  }

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(block_.data() + begin_); }
  void set(const std::vector<T>& values) {
    if (values.empty()) return;
    backend_.upload(data(), values.data(), values.size() * sizeof(T), stream_);
    backend_.wait(stream_);
  }
  /// Forgets what was written.
  void poison() const {
    const std::vector<std::byte> bytes(block_.size(), kPoison);
    backend_.upload(block_.data(), bytes.data(), bytes.size(), stream_);
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
  static constexpr std::byte kPoison{0xcd};

  kernels::Backend& backend_;
  kernels::StreamView stream_;
  std::ptrdiff_t begin_;
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
  [[nodiscard]] BackendArray<T> upload(const std::vector<T>& values, std::uint64_t offset = 0) {
    return BackendArray<T>(backend(), stream(), values, offset);
  }
  template <typename T>
  [[nodiscard]] BackendArray<T> room(std::uint64_t count, std::uint64_t offset = 0) {
    return BackendArray<T>(backend(), stream(), count, offset);
  }

 private:
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
};

}  // namespace sluice::test
