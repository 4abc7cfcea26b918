// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/operations.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

class SelectGraph : public BackendTest {};

#define ASSERT_CUDA(call) ASSERT_EQ(static_cast<int>(call), static_cast<int>(cudaSuccess)) << #call

std::vector<Record16> points_of(std::uint64_t seed, std::uint64_t count) {
  std::vector<Record16> out(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto axis = [&](std::uint64_t d) {
      return static_cast<std::int32_t>(counter_random(seed, 3 * i + d) % 2000) - 1000;
    };
    out[i] = {axis(0), axis(1), axis(2), static_cast<std::uint32_t>(i)};
  }
  return out;
}

// Capturing a graph fails where anything allocates or waits, and a replay reads what is in memory by then: that the
// results follow the data shows that nothing was decided on the host.
TEST_P(SelectGraph, CanBeCapturedAndReplayedOnOtherPoints) {
  const std::uint64_t count = 10007;
  PredicateProgram program;
  PredicateOp box{};
  box.code = PredicateOp::Code::kLatticeBox;
  for (int d = 0; d < 3; ++d) {
    box.integers[d] = -500;
    box.integers[3 + d] = 700;
  }
  PredicateOp attribute{};
  attribute.code = PredicateOp::Code::kCompare;
  attribute.comparison = Comparison::kLess;
  attribute.operands[0].kind = Operand::Kind::kColumn;
  attribute.operands[0].index = 0;
  attribute.operands[1].kind = Operand::Kind::kConstant;
  attribute.operands[1].constant = Value::of_unsigned(200);
  PredicateOp both{};
  both.code = PredicateOp::Code::kAnd;
  program.ops = {box, attribute, both};
  program.columns = {"class"};

  auto points = room<Record16>(count);
  std::vector<std::uint8_t> classes(count);
  for (std::uint64_t i = 0; i < count; ++i) classes[i] = static_cast<std::uint8_t>(counter_random(9, i));
  const auto class_column = upload(classes);
  const auto kept = room<std::uint32_t>(count);
  const auto rejected = room<std::uint32_t>(count);
  const auto records = room<Record16>(count);
  const auto counts = room<SelectCounts>(1);

  Operations& operations = backend().operations();
  const auto predicate = operations.prepare(program);
  Workspace workspace(backend().memory(), operations.select_scratch(count));
  SelectOutputs outputs;
  outputs.kept = kept.data();
  outputs.rejected = rejected.data();
  outputs.records = records.data();
  outputs.counts = counts.data();

  const auto enqueue = [&] {
    // The column table is gone before the first replay.
    Column column;
    column.data = reinterpret_cast<const std::byte*>(class_column.data());
    column.stride = 1;
    column.type = FieldType::kUint8;
    PointInput input;
    input.positions = Positions::packed(points.data(), CoordinateKind::kLattice);
    input.columns = &column;
    input.column_count = 1;
    input.count = count;
    operations.select(*predicate, input, outputs, workspace, stream());
  };
  // Kernels are loaded on first use, which a capture does not allow for.
  points.set(points_of(0, count));
  enqueue();
  backend().wait(stream());

  auto* handle = static_cast<cudaStream_t>(stream().handle());
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal));
  enqueue();
  ASSERT_CUDA(cudaStreamEndCapture(handle, &graph));
  cudaGraphExec_t ready = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0));

  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Record16> host = points_of(seed, count);
    BackendArray<Record16> fresh(backend(), stream(), host);
    ASSERT_CUDA(
        cudaMemcpyAsync(points.data(), fresh.data(), count * sizeof(Record16), cudaMemcpyDeviceToDevice, handle));
    ASSERT_CUDA(cudaGraphLaunch(ready, handle));
    std::vector<std::uint32_t> expected_kept;
    std::vector<std::uint32_t> expected_rejected;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto in = [](std::int32_t v) { return v >= -500 && v <= 700; };
      const bool keep = in(host[i].x) && in(host[i].y) && in(host[i].z) && classes[i] < 200;
      (keep ? expected_kept : expected_rejected).push_back(i);
    }
    const SelectCounts found = counts.get().front();
    ASSERT_EQ(found.kept, expected_kept.size());
    ASSERT_EQ(found.rejected, expected_rejected.size());
    ASSERT_EQ(found.nonfinite, 0U);
    ASSERT_EQ(kept.get(found.kept), expected_kept);
    ASSERT_EQ(rejected.get(found.rejected), expected_rejected);
    const std::vector<Record16> out = records.get(found.kept);
    for (std::uint64_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i].w, expected_kept[i]);
  }
  ASSERT_CUDA(cudaGraphExecDestroy(ready));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

INSTANTIATE_TEST_SUITE_P(Gpu, SelectGraph, testing::Values("cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
