// SPDX-License-Identifier: Apache-2.0
/// \file
/// The scans of the GPU as templates, with a type and an operator of one's own, which does not commute.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/family/scan/blelloch_padded.cuh"
#include "kernels/family/scan/block_sums.cuh"
#include "kernels/family/scan/hillis_steele.cuh"
#include "kernels/family/scan/hillis_steele_double_buffer.cuh"
#include "kernels/family/scan/lookback.cuh"
#include "kernels/family/scan/naive.cuh"
#include "kernels/family/scan/warp_shuffle.cuh"
#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/launch.hpp"
#include "simt/support/device_array.hpp"
#include "simt/support/schedules.hpp"
#include "sluice/kernels/registry.hpp"
#include "support/affine_maps.hpp"

namespace sluice::test {
namespace {

using namespace kernels::family;
using kernels::StreamView;
using kernels::Workspace;
using simt::emulated::Device;
using simt::emulated::Settings;

class OperatorsOfOnesOwn : public testing::Test {
 protected:
  void TearDown() override { Device::get().configure(Settings{}); }

  /// \param scan  takes (in, n, inclusive, out, workspace, stream)
  template <typename ScanT>
  static void expect_composed(std::initializer_list<std::uint64_t> sizes, const ScanT& scan) {
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
      Device::get().configure(settings_of(seed));
      const auto backend = kernels::make_backend("cuda");
      const auto stream = backend->make_stream();
      for (const std::uint64_t n : sizes) {
        const bool inclusive = (n + seed) % 2 == 0;
        const std::vector<AffineMap> maps = random_maps(n);
        const DeviceArray<AffineMap> in(maps);
        const DeviceArray<AffineMap> out(n);
        Workspace workspace(backend->memory(), std::size_t{1} << 20);
        scan(in.data(), n, inclusive, out.data(), workspace, stream->view());
        ASSERT_EQ(out.get(), composed(maps, inclusive)) << n << " maps, seed " << seed;
      }
    }
  }
  template <template <typename, typename> typename KernelT>
  static void expect_composed_by_blocks() {
    expect_composed({1, 255, 512, 513, 2000, 2001},
                    [](auto in, auto n, bool inclusive, auto out, auto& workspace, StreamView stream) {
                      scan::scan_by_blocks<KernelT, Compose>(in, n, inclusive, out, workspace, stream);
                    });
  }
};

TEST_F(OperatorsOfOnesOwn, Naive) {
  expect_composed({1, 300, 301}, [](auto in, auto n, bool inclusive, auto out, auto& /*workspace*/, StreamView stream) {
    using Kernel = scan::Naive<AffineMap, Compose>;
    simt::launch(Kernel{in, n, inclusive, out}, simt::blocks_for(n, Kernel::kThreads), stream);
  });
}
TEST_F(OperatorsOfOnesOwn, HillisSteele) { expect_composed_by_blocks<scan::HillisSteele>(); }
TEST_F(OperatorsOfOnesOwn, HillisSteeleDoubleBuffer) { expect_composed_by_blocks<scan::HillisSteeleDoubleBuffer>(); }
TEST_F(OperatorsOfOnesOwn, Blelloch) { expect_composed_by_blocks<scan::Blelloch>(); }
TEST_F(OperatorsOfOnesOwn, BlellochPadded) { expect_composed_by_blocks<scan::BlellochPadded>(); }
TEST_F(OperatorsOfOnesOwn, WarpShuffle) { expect_composed_by_blocks<scan::WarpShuffle>(); }
TEST_F(OperatorsOfOnesOwn, Lookback) {
  expect_composed({1, 4096, 4097, 20'000, 20'001},
                  [](auto in, auto n, bool inclusive, auto out, auto& workspace, StreamView stream) {
                    scan::scan_by_look_back<Compose>(in, n, inclusive, out, workspace, stream);
                  });
}
// More tiles than a warp has lanes.
TEST_F(OperatorsOfOnesOwn, LookbackOverManyTiles) {
  Device::get().configure(settings_of(6));
  const auto backend = kernels::make_backend("cuda");
  const auto stream = backend->make_stream();
  constexpr std::uint64_t kMaps = 40 * 4096 + 1;
  const std::vector<AffineMap> maps = random_maps(kMaps);
  const DeviceArray<AffineMap> in(maps);
  const DeviceArray<AffineMap> out(kMaps);
  Workspace workspace(backend->memory(), scan::look_back_scratch<AffineMap>(kMaps));
  scan::scan_by_look_back<Compose>(in.data(), kMaps, true, out.data(), workspace, stream->view());
  EXPECT_EQ(out.get(), composed(maps, true));
}

/// Every thread adds its number to words of shared and of global memory.
template <typename T>
struct AddAll {
  static constexpr unsigned kThreads = 256;
  template <unsigned kWarpWidth>
  struct Shared {
    T sum;
  };

  T* out;

  template <typename ContextT, typename SharedT>
  SLUICE_SIMT void operator()(ContextT& simt, SharedT& shared) const {
    if (simt.thread() == 0) shared.sum = 0;
    simt.block_barrier();
    simt.template atomic_add<simt::Order::kRelaxed>(&shared.sum, static_cast<T>(simt.thread()) + T{0.5});
    simt.block_barrier();
    if (simt.thread() == 0) simt.template atomic_add<simt::Order::kRelaxed>(out, shared.sum);
  }
};

template <typename T>
void expect_exact_sum() {
  const DeviceArray<T> out(std::vector<T>{T{1}});
  simt::emulated::run<SLUICE_SIMT_WARP_WIDTH>(AddAll<T>{out.data()}, 3);
  // Small halves: exact in any order.
  EXPECT_EQ(out.get()[0], T{1 + 3 * (255 * 128 + 128)});
}
TEST(AtomicAdd, TakesFloats) {
  Device::get().configure(Settings{});
  expect_exact_sum<float>();
  expect_exact_sum<double>();
}

}  // namespace
}  // namespace sluice::test
