// SPDX-License-Identifier: Apache-2.0
/// \file
/// The reductions of the GPU as templates, with numbers that no variant is instantiated for: signed ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/family/operators.hpp"
#include "kernels/family/reduce/shared_then_atomic.cuh"
#include "kernels/family/reduce/warp_shuffle.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "simt/support/device_array.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::Workspace;
using simt::emulated::Device;
using simt::emulated::Settings;

template <typename T>
class ReductionsOfSigned : public testing::Test {
 protected:
  void SetUp() override {
    Device::get().configure(Settings{});
    backend_ = kernels::make_backend("cuda");
    stream_ = backend_->make_stream();
  }

  template <typename OpT>
  void expect_reduced(const std::vector<T>& items, T expected) {
    const DeviceArray<T> in(items);
    const DeviceArray<T> out(1);
    Workspace workspace(backend_->memory(), 4096);
    reduce::reduce_by_atomic<OpT>(in.data(), items.size(), out.data(), workspace, stream_->view());
    EXPECT_EQ(out.get()[0], expected) << "by an atomic";
    reduce::reduce_by_warp_shuffle<OpT>(in.data(), items.size(), out.data(), workspace, stream_->view());
    EXPECT_EQ(out.get()[0], expected) << "by shuffles";
  }

 private:
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<kernels::Stream> stream_;
};
using Signed = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(ReductionsOfSigned, Signed);

TYPED_TEST(ReductionsOfSigned, AreAsThoseOfALoop) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> many(5000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<T>(counter_random(1, i) % 2001) - 1000;
  for (const std::vector<T>& items : {std::vector<T>{-1, 1}, std::vector<T>{-3, -1, -2}, std::vector<T>{0, -1},
                                      std::vector<T>{Limits::min(), Limits::max()}, many}) {
    this->template expect_reduced<Min>(items, *std::min_element(items.begin(), items.end()));
    this->template expect_reduced<Max>(items, *std::max_element(items.begin(), items.end()));
    this->template expect_reduced<Sum>(items, std::accumulate(items.begin(), items.end(), T{0}));
  }
}

}  // namespace
}  // namespace sluice::test
