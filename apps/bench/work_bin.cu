// SPDX-License-Identifier: Apache-2.0
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cub_call.hpp"
#include "sluice/core/cell_grid.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

using Words = DeviceArray<std::uint32_t>;

/// Cells of one benchmark: a power of two of them on each axis of the kept half of the box.
struct Cells {
  unsigned bits[3];
  [[nodiscard]] unsigned key_bits() const { return bits[0] + bits[1] + bits[2]; }
  /// Edge in lattice steps.
  [[nodiscard]] std::uint32_t edge(int d) const { return (d == 2 ? kBox / 2 : kBox) >> bits[d]; }
};

/// Row-major number of a point's cell by integer division.
struct CellNumber {
  std::uint32_t edge[3];
  std::uint32_t width[2];
  SLUICE_HD std::uint32_t operator()(const int4& p) const {
    const std::uint32_t x = static_cast<std::uint32_t>(p.x) / edge[0];
    const std::uint32_t y = static_cast<std::uint32_t>(p.y) / edge[1];
    const std::uint32_t z = static_cast<std::uint32_t>(p.z) / edge[2];
    return (z * width[1] + y) * width[0] + x;
  }
};

/// Points in cell order and the table of their cells.
struct Binned {
  Binned(Gpu& gpu, std::uint64_t items)
      : points(gpu.cuda(), items), permutation(gpu.cuda(), items), first(gpu.cuda(), items) {}
  DeviceArray<Record16> points;
  Words permutation;  // only ours is compared by it
  Words first;
};

}  // namespace

void bench_bin(Gpu& gpu, std::uint64_t items, std::vector<Row>& rows) {
  const DeviceArray<Record16> points = uniform_points(gpu, items);
  const kernels::PointInput input = input_of(points);
  const Binned ours(gpu, items);
  const Binned theirs(gpu, items);
  const DeviceArray<std::uint64_t> cell_keys(gpu.cuda(), items);
  const DeviceArray<std::uint64_t> count(gpu.cuda(), 2);
  const DeviceArray<int4> kept_points(gpu.cuda(), items);
  const DeviceArray<std::uint8_t> mask(gpu.cuda(), items);
  const Words keys[2] = {Words(gpu.cuda(), items), Words(gpu.cuda(), items)};
  const Words values[2] = {Words(gpu.cuda(), items), Words(gpu.cuda(), items)};
  const Words run_keys(gpu.cuda(), items);
  const Words run_lengths(gpu.cuda(), items);
  const auto policy = thrust::cuda::par_nosync.on(gpu.stream());

  for (const Cells cells : {Cells{{8, 8, 0}}, Cells{{9, 9, 8}}}) {
    const std::string work = "crop + bin, 2^" + std::to_string(cells.key_bits()) + " cells";
    std::uint64_t kept = 0;
    std::uint64_t occupied = 0;
    struct Sizes {
      std::uint64_t kept;
      std::uint64_t cells;
    };
    const auto add = [&](const std::string& by, bool first, const Binned& out, const std::function<Sizes()>& call) {
      gpu.poison(out.points.data(), items * sizeof(Record16));
      gpu.poison(out.first.data(), items * sizeof(std::uint32_t));
      const Sizes sizes = call();
      if (first) {
        kept = sizes.kept;
        occupied = sizes.cells;
      }
      const bool equal = sizes.kept == kept && sizes.cells == occupied &&
                         gpu.equal(ours.points.data(), out.points.data(), kept * sizeof(Record16)) &&
                         gpu.equal(ours.first.data(), out.first.data(), occupied * sizeof(std::uint32_t));
      const Timing timing = gpu.time([&] { call(); });
      rows.push_back(
          {work, by, first, items, timing.median_ms, timing.least_ms, (items + kept) * sizeof(Record16), equal});
    };

    GridSpec grid;
    CoordinateFrame frame;
    frame.kind = CoordinateKind::kLattice;
    for (int d = 0; d < 3; ++d) {
      grid.size[d] = static_cast<double>(cells.edge(d)) / 1000.0;
      frame.scale[d] = kMetresPerStep;
    }
    kernels::BinSpec spec;
    spec.grid = make_cell_grid(grid, frame);
    const auto with = [&](kernels::Backend& backend, const Binned& out, bool first) {
      kernels::Operations& operations = backend.operations();
      const auto predicate = operations.prepare(lower_half());
      kernels::Workspace workspace(backend.memory(), operations.bin_scratch(spec, items));
      const kernels::BinOutputs outputs{out.permutation.data(), cell_keys.data(), out.first.data()};
      add(std::string(backend.name()), first, out, [&] {
        const kernels::BinResult result = operations.bin(*predicate, spec, input, outputs, workspace, gpu.view());
        backend.primitives().gather(points.data(), sizeof(Record16), out.permutation.data(), result.counts.kept,
                                    out.points.data(), gpu.view());
        return Sizes{result.counts.kept, result.cells};
      });
    };
    with(gpu.cuda(), ours, true);
    with(gpu.thrust(), theirs, false);

    const CellNumber number{{cells.edge(0), cells.edge(1), cells.edge(2)}, {1U << cells.bits[0], 1U << cells.bits[1]}};
    const auto* source = reinterpret_cast<const int4*>(points.data());
    auto* target = reinterpret_cast<int4*>(theirs.points.data());
    CubScratch scratch(gpu);
    const auto run = [&](const auto& call) {
      scratch.reserve(call);
      scratch.run(call);
    };
    // Key, sort with point numbers, points by number, run lengths, their sums.
    const auto bin_kept = [&](std::uint64_t n, int end_bit) {
      thrust::transform(policy, kept_points.data(), kept_points.data() + n, keys[0].data(), number);
      thrust::sequence(policy, values[0].data(), values[0].data() + n);
      cub::DoubleBuffer<std::uint32_t> key_buffers(keys[0].data(), keys[1].data());
      cub::DoubleBuffer<std::uint32_t> value_buffers(values[0].data(), values[1].data());
      run([&](void* at, std::size_t& size) {
        return cub::DeviceRadixSort::SortPairs(at, size, key_buffers, value_buffers, static_cast<std::uint32_t>(n), 0,
                                               end_bit, gpu.stream());
      });
      thrust::gather(policy, value_buffers.Current(), value_buffers.Current() + n, kept_points.data(), target);
      run([&](void* at, std::size_t& size) {
        return cub::DeviceRunLengthEncode::Encode(at, size, key_buffers.Current(), run_keys.data(), run_lengths.data(),
                                                  count.data() + 1, static_cast<std::int64_t>(n), gpu.stream());
      });
      const std::uint64_t runs = gpu.read(count.data() + 1);
      run([&](void* at, std::size_t& size) {
        return cub::DeviceScan::ExclusiveSum(at, size, run_lengths.data(), theirs.first.data(),
                                             static_cast<std::uint32_t>(runs), gpu.stream());
      });
      return Sizes{n, runs};
    };
    add("cub: mask, Flagged, 32-bit sort", false, theirs, [&] {
      thrust::transform(policy, source, source + items, mask.data(), InLowerHalf{});
      run([&](void* at, std::size_t& size) {
        return cub::DeviceSelect::Flagged(at, size, source, mask.data(), kept_points.data(), count.data(),
                                          static_cast<std::int64_t>(items), gpu.stream());
      });
      return bin_kept(gpu.read(count.data()), 32);
    });
    add("cub by an expert: 128-bit, exact", false, theirs, [&] {
      run([&](void* at, std::size_t& size) {
        return cub::DeviceSelect::If(at, size, reinterpret_cast<const uint128*>(source),
                                     reinterpret_cast<uint128*>(kept_points.data()), count.data(),
                                     static_cast<std::int64_t>(items), InLowerHalf{}, gpu.stream());
      });
      return bin_kept(gpu.read(count.data()), static_cast<int>(cells.key_bits()));
    });
  }
}

}  // namespace sluice::bench
