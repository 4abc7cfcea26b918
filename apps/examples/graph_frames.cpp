// SPDX-License-Identifier: Apache-2.0
// Frames of a sensor on a GPU: each is cropped to a box and put into the order of its cells by one replay of a CUDA
// graph. Nothing is allocated and nothing waits within a frame but for its upload and its counts. A point is 16 bytes:
// x, y, z in millimetres, and a number of the caller's own.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/registry.hpp"

namespace {

using namespace sluice;

constexpr std::uint64_t kPoints = 100000;

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<Record16> make_frame(std::uint64_t number) {
  std::vector<Record16> frame(kPoints);
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    const std::uint64_t r = counter_random(number, i);
    const auto at = [&](unsigned shift, std::int32_t reach) {
      return static_cast<std::int32_t>((r >> shift) % (2 * static_cast<std::uint64_t>(reach))) - reach;
    };
    frame[i] = {at(0, 80000), at(20, 80000), at(40, 4000), static_cast<std::uint32_t>(i)};
  }
  return frame;
}

/// Millimetres within 40 m of the sensor along x and y, and 2 m along z.
PredicateProgram crop() {
  PredicateOp box{};
  box.code = PredicateOp::Code::kLatticeBox;
  constexpr std::int64_t kReach[3] = {40000, 40000, 2000};
  for (int d = 0; d < 3; ++d) {
    box.integers[d] = -kReach[d];
    box.integers[3 + d] = kReach[d] - 1;
  }
  PredicateProgram program;
  program.ops = {box};
  return program;
}

/// Cells of half a metre, of which the box has 160 x 160 x 8.
kernels::BinSpec cells() {
  CoordinateFrame frame;
  frame.kind = CoordinateKind::kLattice;
  for (double& scale : frame.scale) scale = 0.001;
  GridSpec grid;
  for (double& size : grid.size) size = 0.5;
  kernels::BinSpec spec;
  spec.grid = make_cell_grid(grid, frame);
  spec.range = CellRange{{-80, -80, -4}, {79, 79, 3}};  // known beforehand, so that nobody looks for it
  return spec;
}

}  // namespace

int main() {
  try {
    const auto backend = kernels::make_backend("cuda");
    const auto stream = backend->make_stream();
    auto& operations = backend->operations();
    const auto predicate = operations.prepare(crop());
    const kernels::BinSpec spec = cells();

    // All memory that frames will need.
    const MemoryBlock points(backend->memory(), kPoints * sizeof(Record16), "points");
    const MemoryBlock sorted(backend->memory(), kPoints * sizeof(Record16), "sorted points");
    const MemoryBlock keys(backend->memory(), kPoints * sizeof(std::uint64_t), "keys of cells");
    const MemoryBlock firsts(backend->memory(), kPoints * sizeof(std::uint32_t), "first points of cells");
    const MemoryBlock counts(backend->memory(), sizeof(kernels::BinCounts), "counts");
    kernels::Workspace workspace(backend->memory(), operations.bin_scratch(spec, kPoints));

    kernels::PointInput input;
    input.positions = Positions::packed(points.as<Record16>(), CoordinateKind::kLattice);
    input.count = kPoints;
    kernels::BinOutputs outputs;
    outputs.records = sorted.data();
    outputs.cell_keys = keys.as<std::uint64_t>();
    outputs.cell_first = firsts.as<std::uint32_t>();
    const auto enqueue = [&] {
      operations.enqueue_bin(*predicate, spec, input, outputs, counts.as<kernels::BinCounts>(), workspace,
                             stream->view());
    };

    // Once outside of a capture, which loads the kernels; then once to record it.
    const std::vector<Record16> first = make_frame(0);
    backend->upload(points.data(), first.data(), kPoints * sizeof(Record16), stream->view());
    enqueue();
    backend->wait(stream->view());
    auto* const handle = static_cast<cudaStream_t>(stream->view().handle());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    check(cudaStreamBeginCapture(handle, cudaStreamCaptureModeGlobal));
    enqueue();
    check(cudaStreamEndCapture(handle, &graph));
    check(cudaGraphInstantiate(&replay, graph, 0));

    for (std::uint64_t number = 0; number < 10; ++number) {
      const std::vector<Record16> frame = make_frame(number);
      backend->upload(points.data(), frame.data(), kPoints * sizeof(Record16), stream->view());
      check(cudaGraphLaunch(replay, handle));
      kernels::BinCounts found;
      backend->download(&found, counts.data(), sizeof found, stream->view());
      backend->wait(stream->view());
      std::printf("frame %llu: %llu of %llu points in %llu cells\n", static_cast<unsigned long long>(number),
                  static_cast<unsigned long long>(found.counts.kept), static_cast<unsigned long long>(kPoints),
                  static_cast<unsigned long long>(found.cells));
    }
    check(cudaGraphExecDestroy(replay));
    check(cudaGraphDestroy(graph));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
