// SPDX-License-Identifier: Apache-2.0
/// \file
/// This project's binnings of cropped points.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "gpu.hpp"
#include "points.hpp"
#include "race.hpp"
#include "region.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::bench {

/// Points in cell order and the table of their cells, as all compositions of one case leave them.
struct Binned {
  Binned(Gpu& gpu, std::uint64_t items)
      : records(gpu.cuda(), items), keys(gpu.cuda(), items), first(gpu.cuda(), items) {}
  [[nodiscard]] std::vector<Piece> all() const {
    return {{records.data(), records.bytes()}, {keys.data(), keys.bytes()}, {first.data(), first.bytes()}};
  }
  /// The part that holds something.
  [[nodiscard]] std::vector<Piece> used(std::uint64_t kept, std::uint64_t cells) const {
    return {{records.data(), kept * sizeof(Record16)},
            {keys.data(), cells * sizeof(std::uint64_t)},
            {first.data(), cells * sizeof(std::uint32_t)}};
  }
  DeviceArray<Record16> records;
  DeviceArray<std::uint64_t> keys;
  DeviceArray<std::uint32_t> first;
};

/// Fewest bytes to bin a number of points into what was found: points once each way, a 32-bit key and the first point
/// of each cell.
inline std::uint64_t bin_bytes(std::uint64_t items, const std::vector<Piece>& used) {
  return items * sizeof(Record16) + used[0].bytes + 2 * used[2].bytes;
}

/// One call that only enqueues: crop and binning into a range of cells that is known beforehand.
class EnqueuedBin {
 public:
  EnqueuedBin(Gpu& gpu, kernels::Backend& backend, const DeviceArray<Record16>& points, const Region& region,
              CellBits cells, const Binned& out)
      : gpu_(gpu),
        operations_(backend.operations()),
        predicate_(operations_.prepare(region.program())),
        input_(input_of(points)),
        out_(out),
        counts_(gpu.cuda(), 1),
        spec_(spec_of(region, cells)),
        workspace_(backend.memory(), operations_.bin_scratch(spec_, points.count())) {}

  void run() {
    kernels::BinOutputs outputs;
    outputs.records = out_.records.data();
    outputs.cell_keys = out_.keys.data();
    outputs.cell_first = out_.first.data();
    operations_.enqueue_bin(*predicate_, spec_, input_, outputs, counts_.data(), workspace_, gpu_.view());
  }
  [[nodiscard]] kernels::BinCounts counts() { return gpu_.read(counts_.data()); }
  [[nodiscard]] std::vector<Piece> output() {
    const kernels::BinCounts now = counts();
    if (now.outside != 0) throw std::runtime_error("points were left out of the range of cells");
    return out_.used(now.counts.kept, now.cells);
  }

 private:
  static kernels::BinSpec spec_of(const Region& region, CellBits cells) {
    kernels::BinSpec out;
    out.grid = region.grid(cells);
    out.range.emplace();
    for (int d = 0; d < 3; ++d) {
      out.range->min[d] = 0;
      out.range->max[d] = (std::int64_t{1} << cells.bits[d]) - 1;
    }
    return out;
  }

  Gpu& gpu_;
  kernels::Operations& operations_;
  std::shared_ptr<const kernels::PreparedPredicate> predicate_;
  kernels::PointInput input_;
  const Binned& out_;
  DeviceArray<kernels::BinCounts> counts_;
  kernels::BinSpec spec_;
  kernels::Workspace workspace_;
};

}  // namespace sluice::bench
