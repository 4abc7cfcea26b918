// SPDX-License-Identifier: Apache-2.0
/// \file
/// A fixture for suites over all variants of a family of algorithms. The same suites run on the machine's own memory
/// and device and, in tests/simt, on the emulated device, there under several schedules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/family/operators.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/registry.hpp"
#include "sluice/kernels/variant.hpp"
#include "support/backend_test.hpp"
#include "support/dirty_memory.hpp"
#if defined(SLUICE_SIMT_EMULATED)
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/schedules.hpp"
#endif

namespace sluice::test {

#if defined(SLUICE_SIMT_EMULATED)
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif

inline constexpr kernels::family::ItemType kItemTypes[] = {
    kernels::family::ItemType::kUint32, kernels::family::ItemType::kUint64, kernels::family::ItemType::kFloat32,
    kernels::family::ItemType::kFloat64};
inline constexpr kernels::family::Operator kOperators[] = {
    kernels::family::Operator::kSum, kernels::family::Operator::kMin, kernels::family::Operator::kMax};

struct VariantParameter {
  std::string variant;
  std::uint64_t schedule;  ///< on the emulated device, else 0
};

inline std::string name_of_parameter(const testing::TestParamInfo<VariantParameter>& info) {
  std::string out = info.param.variant;
  std::replace(out.begin(), out.end(), '-', '_');
  return info.param.schedule == 0 ? out : out + "_schedule" + std::to_string(info.param.schedule);
}

/// Every variant, by name; on the emulated device those of the GPU, once for each schedule.
template <typename VariantT>
std::vector<VariantParameter> parameters_of(std::span<const VariantT> variants) {
  std::vector<VariantParameter> out;
  for (const VariantT& variant : variants) {
#if defined(SLUICE_SIMT_EMULATED)
    if (!variant.on_gpu) continue;
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) out.push_back({std::string(variant.name), seed});
#else
    out.push_back({std::string(variant.name), 0});
#endif
  }
  return out;
}

/// \tparam kVariants  gives the variants of the family
template <auto kVariants>
class FamilyTest : public testing::TestWithParam<VariantParameter> {
 protected:
  using VariantT = typename decltype(kVariants())::value_type;

  void SetUp() override {
    for (const VariantT& one : kVariants()) {
      if (one.name == GetParam().variant) variant_ = &one;
    }
    ASSERT_NE(variant_, nullptr);
    const char* const name = variant_->on_gpu ? "cuda" : "serial";
    for (const kernels::BackendInfo& info : kernels::backends()) {
      if (info.name != name || info.usable) continue;
      const char* required = std::getenv("SLUICE_REQUIRE_GPU");
      if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << info.reason;
      GTEST_SKIP() << "no GPU: " << info.reason;
    }
#if defined(SLUICE_SIMT_EMULATED)
    simt::emulated::Device::get().configure(settings_of(GetParam().schedule));
#endif
    backend_ = kernels::make_backend(name);
    stream_ = backend_->make_stream();
    dirty_.emplace(*backend_, stream_->view());
  }
  void TearDown() override {
#if defined(SLUICE_SIMT_EMULATED)
    dirty_.reset();
    stream_.reset();
    backend_.reset();
    simt::emulated::Device::get().configure(simt::emulated::Settings{});
#endif
  }

  [[nodiscard]] const VariantT& variant() const { return *variant_; }
  [[nodiscard]] kernels::Backend& backend() { return *backend_; }
  [[nodiscard]] kernels::StreamView stream() { return stream_->view(); }
  /// For workspaces: full of garbage, but on the emulated device, which sees by itself who reads what nobody wrote.
  [[nodiscard]] MemoryResource& scratch_memory() {
    return kEmulated ? backend_->memory() : static_cast<MemoryResource&>(*dirty_);
  }
  template <typename T>
  [[nodiscard]] BackendArray<T> upload(const std::vector<T>& values, std::uint64_t offset = 0) {
    return BackendArray<T>(backend(), stream(), values, offset);
  }
  template <typename T>
  [[nodiscard]] BackendArray<T> room(std::uint64_t count, std::uint64_t offset = 0) {
    return BackendArray<T>(backend(), stream(), count, offset);
  }

  /// Around a row of lanes, a block of 256, tiles of two and of sixteen of those.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> out = {0, 1, 2};
    for (const std::uint64_t edge : {32U, 256U, 512U, 4096U}) {
      for (const std::uint64_t n : {edge - 1, edge, edge + 1, 2 * edge + 1}) {
        if (variant_->quadratic && kEmulated && n > 600) continue;
        out.push_back(n);
      }
    }
    // Blocks of blocks.
    if (!kEmulated && !variant_->quadratic) out.push_back(100'003);
    return out;
  }

  /// Which of `count` cases of size number `size` are run: all, or some in turn on the emulated device, so that all
  /// sizes and all cases have been seen after all schedules.
  [[nodiscard]] bool takes(std::size_t size, std::size_t one, std::size_t count) const {
    constexpr std::size_t kAtOnce = 3;
    if (!kEmulated) return true;
    return (one + count - (kAtOnce * (GetParam().schedule + size)) % count) % count < kAtOnce;
  }

 private:
  const VariantT* variant_ = nullptr;
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
  std::optional<DirtyMemory> dirty_;
};

/// Unsigned integers of all values; floats between -1 and 1, whose sums are inexact.
template <typename T>
std::vector<T> random_items(std::uint64_t seed, std::uint64_t n) {
  std::vector<T> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = counter_random(seed, i);
    if constexpr (std::is_integral_v<T>) {
      out[i] = static_cast<T>(r);
    } else {
      out[i] = static_cast<T>(static_cast<std::int64_t>(r)) / T{9223372036854775808.0};
    }
  }
  return out;
}

/// Whole numbers from 0 to 7.
template <typename T>
std::vector<T> whole_items(std::uint64_t n) {
  std::vector<T> out(n);
  for (std::uint64_t i = 0; i < n; ++i) out[i] = static_cast<T>(counter_random(n, i) % 8);
  return out;
}

/// The largest difference of float sums from exact ones, which a test prints and ctest keeps.
class LargestError {
 public:
  void add(double error) { largest_ = std::max(largest_, error); }
  void report(const std::string& what) const {
    testing::Test::RecordProperty(what, std::to_string(largest_));
    std::cout << what << ": " << largest_ << '\n';
  }

 private:
  double largest_ = 0.0;
};

}  // namespace sluice::test
