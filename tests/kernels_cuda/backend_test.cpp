// SPDX-License-Identifier: Apache-2.0
#include "sluice/kernels/backend.hpp"

#include <cstring>

#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class CudaBackend : public BackendTest {};

TEST_P(CudaBackend, NamesItselfAndItsProcessor) {
  EXPECT_EQ(backend().name(), GetParam());
  EXPECT_TRUE(backend().is_device());
  EXPECT_FALSE(backend().device_name().empty());
  ASSERT_FALSE(devices().empty());
  EXPECT_EQ(backend().device_name(), devices().front().name);
  EXPECT_GT(devices().front().multiprocessors, 0);
  EXPECT_LE(devices().front().free_bytes, devices().front().memory_bytes);
}

TEST_P(CudaBackend, RefusesDevicesThatDoNotExist) {
  EXPECT_THROW(static_cast<void>(make_backend(GetParam(), -1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(make_backend(GetParam(), 4096)), InvalidArgument);
}

TEST_P(CudaBackend, HandsOutAlignedMemoryAndTakesItBack) {
  const std::uint64_t before = backend().free_bytes();
  {
    const MemoryBlock large(backend().memory(), std::size_t{256} << 20, "a test");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % MemoryResource::kAlignment, 0U);
    EXPECT_LT(backend().free_bytes(), before);
  }
  EXPECT_GE(backend().free_bytes() + (std::size_t{64} << 20), before);
  const MemoryBlock empty(backend().memory(), 0, "a test");
  EXPECT_NE(empty.data(), nullptr);
  const MemoryBlock pinned(backend().staging_memory(), 1000, "a test");
  std::memset(pinned.data(), 1, pinned.size());
}

TEST_P(CudaBackend, SaysWhatCouldNotBeAllocatedAndGoesOn) {
  try {
    const MemoryBlock block(backend().memory(), std::size_t{1} << 50, "a petabyte");
    FAIL() << "a petabyte was allocated";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.bytes(), std::uint64_t{1} << 50);
    EXPECT_NE(std::string(error.what()).find("a petabyte"), std::string::npos);
  }
  const std::vector<std::uint32_t> values = {1, 2, 3};
  EXPECT_EQ(upload(values).get(), values);
}

TEST_P(CudaBackend, RefusesPositionsThatAreNotPacked) {
  const auto records = room<Record16>(4);
  PointInput input;
  input.positions = Positions::packed(records.data(), CoordinateKind::kLattice);
  input.positions.stride = 32;
  input.count = 2;
  const auto predicate = backend().operations().prepare(PredicateProgram{});
  Workspace workspace(backend().memory(), backend().operations().select_scratch(input.count));
  EXPECT_THROW(backend().operations().select(*predicate, input, {}, workspace, stream()), InvalidArgument);
}

TEST_P(CudaBackend, RefusesPredicatesOfOtherBackends) {
  const auto serial = make_backend("serial");
  const auto foreign = serial->operations().prepare(PredicateProgram{});
  PointInput input;
  Workspace workspace(backend().memory(), backend().operations().select_scratch(0));
  EXPECT_THROW(backend().operations().select(*foreign, input, {}, workspace, stream()), InvalidArgument);
}

// A workspace is all that primitives and operations take memory from: with one that has been made, the device's free
// memory does not change however often they run.
TEST_P(CudaBackend, AllocatesNothingBesideTheWorkspace) {
  const std::uint64_t count = quick() ? 20000 : 1000000;
  std::vector<std::uint32_t> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(counter_random(1, i));
  LimitedMemory counted(backend().memory(), std::uint64_t{1} << 40);
  Primitives& primitives = backend().primitives();
  Workspace workspace(counted, primitives.sort_scratch(4, count) + primitives.exclusive_scan_scratch(count) +
                                   primitives.find_runs_scratch(count));
  const auto first = upload(keys);
  const auto second = room<std::uint32_t>(count);
  const auto wide = room<std::uint64_t>(count);
  const auto runs = room<std::uint64_t>(1);
  const SortBuffers buffers{{first.data(), second.data()}, {nullptr, nullptr}};
  const auto all = [&] {
    const int in = primitives.sort(buffers, 4, count, 0, 32, workspace, stream());
    primitives.find_runs(buffers.keys[in], 4, count, wide.data(), static_cast<std::uint32_t*>(buffers.keys[1 - in]),
                         runs.data(), workspace, stream());
    primitives.exclusive_scan(static_cast<const std::uint32_t*>(buffers.keys[in]), count, wide.data(), nullptr,
                              workspace, stream());
    backend().wait(stream());
  };
  all();  // code is loaded on first use
  const std::uint64_t free = backend().free_bytes();
  for (int i = 0; i < 3; ++i) all();
  EXPECT_EQ(backend().free_bytes(), free);
  EXPECT_EQ(counted.allocations(), 1U);
  EXPECT_EQ(workspace.used(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaBackend, testing::Values("cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
