// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/detail/device_predicate.hpp"

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/cuda/bodies/points.hpp"
#include "kernels/cuda/detail/arguments.hpp"
#include "kernels/cuda/detail/device.hpp"

namespace sluice::kernels::cuda {

namespace {

template <typename T>
void place(std::vector<std::byte>& image, std::size_t at, const std::vector<T>& table) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!table.empty()) std::memcpy(image.data() + at, table.data(), table.size() * sizeof(T));
}

bool is_box(PredicateOp::Code code) {
  return code == PredicateOp::Code::kLatticeBox || code == PredicateOp::Code::kWorldBox;
}

}  // namespace

DevicePredicate::DevicePredicate(const PredicateProgram& program, MemoryResource& memory, StreamView stream)
    : columns_(static_cast<std::uint32_t>(program.columns.size())),
      view_(program.view(nullptr)),
      keeps_all_(program.ops.empty() && !view_.drop_zero) {
  if (columns_ > bodies::kMostColumns) {
    throw Unsupported("on a GPU a predicate reads at most " + std::to_string(bodies::kMostColumns) + " fields, not " +
                      std::to_string(columns_));
  }
  if (program.ops.size() == 1 && is_box(program.ops[0].code) && !view_.drop_zero) box_ = program.ops[0];
  const std::size_t lattice_edges = Workspace::bytes_for<PredicateOp>(program.ops.size());
  const std::size_t world_edges = lattice_edges + Workspace::bytes_for<LatticeEdge>(program.lattice_edges.size());
  const std::size_t bands = world_edges + Workspace::bytes_for<WorldEdge>(program.world_edges.size());
  const std::size_t values = bands + Workspace::bytes_for<std::uint32_t>(program.bands.size());
  const std::size_t bytes = values + Workspace::bytes_for<Value>(program.values.size());
  if (bytes == 0) return;
  std::vector<std::byte> image(bytes);
  place(image, 0, program.ops);
  place(image, lattice_edges, program.lattice_edges);
  place(image, world_edges, program.world_edges);
  place(image, bands, program.bands);
  place(image, values, program.values);
  block_ = MemoryBlock(memory, image.size(), "a predicate");
  SLUICE_CUDA_CHECK(
      cudaMemcpyAsync(block_.data(), image.data(), image.size(), cudaMemcpyHostToDevice, handle_of(stream)));
  SLUICE_CUDA_CHECK(cudaStreamSynchronize(handle_of(stream)));
  view_.ops = reinterpret_cast<const PredicateOp*>(block_.data());
  view_.lattice_edges = reinterpret_cast<const LatticeEdge*>(block_.data() + lattice_edges);
  view_.world_edges = reinterpret_cast<const WorldEdge*>(block_.data() + world_edges);
  view_.bands = reinterpret_cast<const std::uint32_t*>(block_.data() + bands);
  view_.values = reinterpret_cast<const Value*>(block_.data() + values);
}

const DevicePredicate& device_predicate(const PreparedPredicate& predicate) {
  const auto* mine = dynamic_cast<const DevicePredicate*>(&predicate);
  if (mine == nullptr) throw InvalidArgument("the predicate was prepared by another backend");
  return *mine;
}

void check_arguments(const PreparedPredicate& predicate, const PointInput& input) {
  check_input(device_predicate(predicate).columns(), input);
  check_positions(input);
}

}  // namespace sluice::kernels::cuda
