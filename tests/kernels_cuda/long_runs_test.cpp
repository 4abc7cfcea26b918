// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/operations.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

/// Cells that hold many points each: those of one warp, of one block, of many blocks.
class LongRuns : public BackendTest {
 protected:
  struct Result {
    SelectCounts counts;
    std::uint64_t cells = 0;
    std::vector<std::uint32_t> kept;
    std::vector<std::byte> centroids;
  };

  /// Runs one policy on a backend, whose memory may be a device's.
  static Result reduce(Backend& on, const std::vector<Record16>& points, CoordinateKind kind, const ReduceSpec& spec) {
    const auto stream = on.make_stream();
    const BackendArray<Record16> records(on, stream->view(), points);
    const BackendArray<std::uint32_t> kept(on, stream->view(), points.size());
    const BackendArray<Record32> centroids(on, stream->view(), points.size());
    Operations& operations = on.operations();
    const auto predicate = operations.prepare(PredicateProgram{});
    Workspace workspace(on.memory(), operations.reduce_cells_scratch(spec, points.size()));
    PointInput input;
    input.positions = Positions::packed(records.data(), kind);
    for (double& scale : input.positions.scale) scale = 0.01;
    input.count = points.size();
    ReduceOutputs outputs;
    outputs.kept = kept.data();
    const bool centroid = spec.policy == KeepPolicy::kCentroid;
    if (centroid) outputs.centroids = centroids.data();
    const ReduceResult found = operations.reduce_cells(*predicate, spec, input, outputs, workspace, stream->view());
    Result out;
    out.counts = found.counts;
    out.cells = found.cells;
    out.kept = kept.get(found.kept);
    if (centroid) {
      const std::size_t bytes = kind == CoordinateKind::kLattice ? sizeof(Record16) : sizeof(Record32);
      out.centroids.resize(found.kept * bytes);
      on.download(out.centroids.data(), centroids.data(), out.centroids.size(), stream->view());
      on.wait(stream->view());
    }
    return out;
  }
};

TEST_P(LongRuns, ReduceAsTheSerialBackendDoes) {
  const std::uint64_t count = quick() ? 9000 : 300000;
  const auto serial = make_backend("serial");
  for (const CoordinateKind kind : {CoordinateKind::kLattice, CoordinateKind::kFloat32}) {
    std::vector<Record16> points(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto axis = [&](std::uint64_t d) {
        const auto raw = static_cast<std::int32_t>(counter_random(3, 3 * i + d) % 100000);
        if (kind == CoordinateKind::kLattice) return raw;
        const float world = static_cast<float>(raw) * 0.01F;
        std::int32_t bits;
        std::memcpy(&bits, &world, sizeof bits);
        return bits;
      };
      points[i] = {axis(0), axis(1), axis(2), 0};
    }
    // All points in one cell; in about 8; in about 1000.
    for (const double size : {10000.0, 500.0, 100.0}) {
      GridSpec grid;
      CoordinateFrame frame;
      frame.kind = kind;
      for (int d = 0; d < 3; ++d) {
        grid.size[d] = size;
        frame.scale[d] = 0.01;
      }
      for (const KeepPolicy policy :
           {KeepPolicy::kFirst, KeepPolicy::kCenter, KeepPolicy::kCentroid, KeepPolicy::kNearestCentroid,
            KeepPolicy::kLowest, KeepPolicy::kHighest, KeepPolicy::kRandom}) {
        for (const std::uint32_t most : {1U, 5U}) {
          if (policy == KeepPolicy::kCentroid && most != 1) continue;
          ReduceSpec spec;
          spec.grid = make_cell_grid(grid, frame);
          spec.policy = policy;
          spec.max_per_cell = most;
          spec.seed = 11;
          const Result expected = reduce(*serial, points, kind, spec);
          const Result found = reduce(backend(), points, kind, spec);
          SCOPED_TRACE(testing::Message() << "size " << size << " policy " << static_cast<int>(policy) << " most "
                                          << most << " kind " << static_cast<int>(kind));
          ASSERT_EQ(found.cells, expected.cells);
          ASSERT_EQ(found.counts.kept, expected.counts.kept);
          ASSERT_EQ(found.kept, expected.kept);
          ASSERT_EQ(found.centroids, expected.centroids);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, LongRuns, testing::Values("cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
