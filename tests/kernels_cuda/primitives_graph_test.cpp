// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/core/random.hpp"
#include "support/backend_test.hpp"
#include "support/dirty_memory.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

#define ASSERT_CUDA(call) ASSERT_EQ(static_cast<int>(call), static_cast<int>(cudaSuccess)) << #call

constexpr std::uint64_t kCount = 40009;

/// Buffers that all primitives work on. Results of one are not the input of another.
struct Buffers {
  Buffers(Backend& backend, StreamView stream)
      : words(backend, stream, kCount),
        flags(backend, stream, kCount),
        sorted(backend, stream, kCount),
        indices(backend, stream, kCount),
        values(backend, stream, kCount),
        narrow{{backend, stream, kCount}, {backend, stream, kCount}},
        numbers{{backend, stream, kCount}, {backend, stream, kCount}},
        wide(backend, stream, kCount),
        sums(backend, stream, kCount),
        count(backend, stream, std::uint64_t{1}) {}

  void set_inputs(std::uint64_t seed) {
    std::vector<std::uint32_t> a(kCount);
    std::vector<std::uint8_t> b(kCount);
    std::vector<std::uint32_t> c(kCount);
    std::vector<std::uint32_t> d(kCount);
    std::vector<std::int64_t> e(kCount);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::uint64_t r = counter_random(seed, i);
      a[i] = static_cast<std::uint32_t>(r);
      b[i] = r % 16 < seed ? 1 : 0;
      c[i] = static_cast<std::uint32_t>(i / (seed + 2));
      d[i] = static_cast<std::uint32_t>(r % kCount);
      e[i] = static_cast<std::int64_t>(r >> 20);
    }
    words.set(a);
    flags.set(b);
    sorted.set(c);
    indices.set(d);
    values.set(e);
    // What a sort starts from.
    narrow[0].set(a);
    numbers[0].set(d);
  }
  void poison_outputs() {
    narrow[1].poison();
    numbers[1].poison();
    wide.poison();
    sums.poison();
    count.poison();
  }
  BackendArray<std::uint32_t> words;
  BackendArray<std::uint8_t> flags;
  BackendArray<std::uint32_t> sorted;
  BackendArray<std::uint32_t> indices;
  BackendArray<std::int64_t> values;
  BackendArray<std::uint32_t> narrow[2];
  BackendArray<std::uint32_t> numbers[2];
  BackendArray<std::uint64_t> wide;
  BackendArray<std::int64_t> sums;
  BackendArray<std::uint64_t> count;
};

/// The items of some arrays, widened.
template <typename... ArraysT>
std::vector<std::uint64_t> items_of(std::uint64_t n, const ArraysT&... arrays) {
  std::vector<std::uint64_t> out = {n};
  const auto add = [&](const auto& array) {
    for (const auto value : array.get(n)) out.push_back(static_cast<std::uint64_t>(value));
  };
  (add(arrays), ...);
  return out;
}

class PrimitivesGraph : public BackendTest {};

// Capturing fails where anything allocates or waits, and a replay on other values shows what was decided on the host.
TEST_P(PrimitivesGraph, ReplaysWhatACallDoes) {
  Primitives& primitives = backend().primitives();
  DirtyMemory memory(backend(), stream());
  Buffers at(backend(), stream());
  const StreamView s = stream();
  struct Call {
    const char* name;
    std::size_t scratch;
    std::function<void(Workspace&)> enqueue;
    std::function<std::vector<std::uint64_t>()> result;
  };
  const SortBuffers keys{{at.narrow[0].data(), at.narrow[1].data()}, {nullptr, nullptr}};
  const SortBuffers pairs{{at.narrow[0].data(), at.narrow[1].data()}, {at.numbers[0].data(), at.numbers[1].data()}};
  std::uint64_t* const count = at.count.data();
  // At most all items, so that a wrong count fails and does not read beyond.
  const auto found = [&] { return std::min(at.count.get()[0], kCount); };
  int side = 0;
  const std::vector<Call> calls = {
      {"exclusive_scan", primitives.exclusive_scan_scratch(kCount),
       [&](Workspace& w) { primitives.exclusive_scan(at.words.data(), kCount, at.wide.data(), count, w, s); },
       [&] { return items_of(kCount, at.wide); }},
      {"exclusive_scan_wrapping", primitives.exclusive_scan_scratch(kCount),
       [&](Workspace& w) {
         primitives.exclusive_scan_wrapping(at.words.data(), kCount, at.narrow[1].data(), count, w, s);
       },
       [&] { return items_of(kCount, at.narrow[1]); }},
      {"its total", primitives.exclusive_scan_scratch(kCount),
       [&](Workspace& w) {
         primitives.exclusive_scan_wrapping(at.words.data(), kCount, at.narrow[1].data(), count, w, s);
       },
       [&] { return at.count.get(); }},
      {"compact", primitives.compact_scratch(kCount),
       [&](Workspace& w) {
         primitives.compact(at.words.data(), 4, at.flags.data(), kCount, at.narrow[1].data(), count, w, s);
       },
       [&] { return items_of(found(), at.narrow[1]); }},
      {"compact_indices", primitives.compact_scratch(kCount),
       [&](Workspace& w) { primitives.compact_indices(at.flags.data(), 1, kCount, at.narrow[1].data(), count, w, s); },
       [&] { return items_of(found(), at.narrow[1]); }},
      {"partition", primitives.compact_scratch(kCount),
       [&](Workspace& w) {
         primitives.partition(at.values.data(), 8, at.flags.data(), kCount, at.wide.data(), count, w, s);
       },
       [&] { return items_of(kCount, at.wide); }},
      {"histogram", primitives.histogram_scratch(kCount, 11),
       [&](Workspace& w) { primitives.histogram(at.words.data(), 4, kCount, 7, 11, at.wide.data(), w, s); },
       [&] { return items_of(1U << 11, at.wide); }},
      {"sort of keys", primitives.sort_scratch(4, kCount),
       [&](Workspace& w) { side = primitives.sort(keys, 4, kCount, 0, 32, w, s); },
       [&] { return items_of(kCount, at.narrow[side]); }},
      {"sort of pairs", primitives.sort_scratch(4, kCount),
       [&](Workspace& w) { side = primitives.sort(pairs, 4, kCount, 3, 21, w, s); },
       [&] { return items_of(kCount, at.narrow[side], at.numbers[side]); }},
      {"gather", 0,
       [&](Workspace& /*w*/) { primitives.gather(at.values.data(), 8, at.indices.data(), kCount, at.wide.data(), s); },
       [&] { return items_of(kCount, at.wide); }},
      {"find_runs", primitives.find_runs_scratch(kCount),
       [&](Workspace& w) {
         primitives.find_runs(at.sorted.data(), 4, kCount, at.wide.data(), at.narrow[1].data(), count, w, s);
       },
       [&] { return items_of(found(), at.wide, at.narrow[1]); }},
      {"reduce_by_key", primitives.reduce_by_key_scratch(kCount),
       [&](Workspace& w) {
         primitives.reduce_by_key(at.sorted.data(), 4, at.values.data(), kCount, at.wide.data(), at.sums.data(), count,
                                  w, s);
       },
       [&] { return items_of(found(), at.wide, at.sums); }},
  };
  for (const Call& call : calls) {
    SCOPED_TRACE(call.name);
    Workspace workspace(memory, call.scratch);
    // Kernels are loaded on first use, which a capture does not allow for.
    at.set_inputs(5);
    call.enqueue(workspace);
    backend().wait(s);
    auto* const handle = static_cast<cudaStream_t>(s.handle());
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal));
    call.enqueue(workspace);
    ASSERT_CUDA(cudaStreamEndCapture(handle, &graph));
    cudaGraphExec_t ready = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    for (const std::uint64_t seed : {0U, 3U, 16U}) {
      at.poison_outputs();
      at.set_inputs(seed);
      call.enqueue(workspace);
      const std::vector<std::uint64_t> expected = call.result();
      at.poison_outputs();
      at.set_inputs(seed);
      ASSERT_CUDA(cudaGraphLaunch(ready, handle));
      EXPECT_TRUE(call.result() == expected) << "seed " << seed;
    }
    ASSERT_CUDA(cudaGraphExecDestroy(ready));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, PrimitivesGraph, testing::Values("cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
