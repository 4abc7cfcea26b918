// SPDX-License-Identifier: Apache-2.0
/// \file
/// More items than 32 bits count, or than sums of 62 bits hold. They take tens of gigabytes, on the host too for the
/// backend of the host, so they run with SLUICE_TEST_LARGE=1 in the environment only.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sluice/core/memory_resource.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class LargeInputs : public BackendTest {
 protected:
  static constexpr std::uint64_t kChunk = std::uint64_t{1} << 24;

  void SetUp() override {
    const char* wanted = std::getenv("SLUICE_TEST_LARGE");
    if (wanted == nullptr || std::string(wanted) != "1") GTEST_SKIP() << "SLUICE_TEST_LARGE=1 runs it";
    BackendTest::SetUp();
  }

  [[nodiscard]] bool has_room(std::uint64_t bytes) { return backend().free_bytes() >= bytes + (bytes >> 4); }

  /// Fills memory with value(i), in ascending order of i.
  template <typename T, typename F>
  void fill(T* to, std::uint64_t n, F value) {
    std::vector<T> chunk(kChunk);
    for (std::uint64_t begin = 0; begin < n; begin += kChunk) {
      const std::uint64_t count = std::min(kChunk, n - begin);
      for (std::uint64_t i = 0; i < count; ++i) chunk[i] = value(begin + i);
      backend().upload(to + begin, chunk.data(), count * sizeof(T), stream());
      backend().wait(stream());
    }
  }

  /// \return the first index whose item is not value(i), which is asked for in ascending order; n where all are
  template <typename T, typename F>
  std::uint64_t first_difference(const T* from, std::uint64_t n, F value) {
    std::vector<T> chunk(kChunk);
    for (std::uint64_t begin = 0; begin < n; begin += kChunk) {
      const std::uint64_t count = std::min(kChunk, n - begin);
      backend().download(chunk.data(), from + begin, count * sizeof(T), stream());
      backend().wait(stream());
      for (std::uint64_t i = 0; i < count; ++i) {
        if (chunk[i] != value(begin + i)) return begin + i;
      }
    }
    return n;
  }
};

TEST_P(LargeInputs, SortsMoreKeysThan32BitsCount) {
  const std::uint64_t twice = 12345678;
  const std::uint64_t n = (std::uint64_t{1} << 32) + twice;
  if (!has_room(2 * n * sizeof(std::uint32_t))) GTEST_SKIP() << "needs 34 GB";
  // Every key once, in an order that jumps about, and those of the first `twice` positions again.
  constexpr std::uint32_t kStep = 2654435761U;
  std::uint32_t inverse = kStep;
  for (int i = 0; i < 5; ++i) inverse *= 2 - kStep * inverse;
  ASSERT_EQ(inverse * kStep, 1U);
  const MemoryBlock first(backend().memory(), n * sizeof(std::uint32_t), "a test");
  const MemoryBlock second(backend().memory(), n * sizeof(std::uint32_t), "a test");
  fill(first.as<std::uint32_t>(), n, [](std::uint64_t i) { return static_cast<std::uint32_t>(i) * kStep; });
  const SortBuffers buffers{{first.data(), second.data()}, {nullptr, nullptr}};
  Workspace workspace(backend().memory(), backend().primitives().sort_scratch(sizeof(std::uint32_t), n));
  const int result = backend().primitives().sort(buffers, sizeof(std::uint32_t), n, 0, 32, workspace, stream());
  std::uint64_t key = 0;
  bool again = false;
  const std::uint64_t wrong =
      first_difference(static_cast<const std::uint32_t*>(buffers.keys[result]), n, [&](std::uint64_t /*i*/) {
        const auto expected = static_cast<std::uint32_t>(key);
        again = !again && expected * inverse < twice;
        if (!again) ++key;
        return expected;
      });
  EXPECT_EQ(wrong, n);
}

TEST_P(LargeInputs, ScansUpToTheirLimit) {
  for (const std::uint64_t n : {(std::uint64_t{1} << 30) + 4567, std::uint64_t{0xffffffffULL}}) {
    SCOPED_TRACE(n);
    if (!has_room(n * (sizeof(std::uint32_t) + sizeof(std::uint64_t)))) GTEST_SKIP() << "needs 52 GB";
    const auto value = [](std::uint64_t i) { return 0xffffffffU - static_cast<std::uint32_t>(i % 3); };
    const auto sum_before = [](std::uint64_t i) {
      const std::uint64_t rest = i % 3;
      return i * 0xffffffffULL - (i / 3) * 3 - (rest == 2 ? 1 : 0);
    };
    const MemoryBlock in(backend().memory(), n * sizeof(std::uint32_t), "a test");
    const MemoryBlock out(backend().memory(), n * sizeof(std::uint64_t), "a test");
    const auto total = room<std::uint64_t>(1);
    fill(in.as<std::uint32_t>(), n, value);
    Workspace workspace(backend().memory(), backend().primitives().exclusive_scan_scratch(n));
    backend().primitives().exclusive_scan(in.as<std::uint32_t>(), n, out.as<std::uint64_t>(), total.data(), workspace,
                                          stream());
    EXPECT_EQ(first_difference(out.as<std::uint64_t>(), n, sum_before), n);
    EXPECT_EQ(total.get()[0], sum_before(n));
    backend().primitives().exclusive_scan_wrapping(in.as<std::uint32_t>(), n, out.as<std::uint32_t>(), total.data(),
                                                   workspace, stream());
    EXPECT_EQ(first_difference(out.as<std::uint32_t>(), n,
                               [&](std::uint64_t i) { return static_cast<std::uint32_t>(sum_before(i)); }),
              n);
    EXPECT_EQ(total.get()[0], sum_before(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, LargeInputs, testing::Values("cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
