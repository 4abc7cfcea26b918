// SPDX-License-Identifier: Apache-2.0

#include "cub_bin.cuh"
#include "ours_bin.hpp"
#include "race.hpp"
#include "sluice/core/cell_key.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

/// A key of the occupied range as one of all cells.
struct KeyOfAllCells {
  KeyLayout layout;
  CellBits cells;
  SLUICE_HD std::uint64_t operator()(std::uint64_t key) const {
    std::int64_t cell[3];
    cell_of_key(layout, key, cell);
    const std::int64_t row = (cell[2] << cells.bits[1]) + cell[1];
    return static_cast<std::uint64_t>((row << cells.bits[0]) + cell[0]);
  }
};

/// Permutation of a backend, then a gather.
class GatheredBin {
 public:
  GatheredBin(Gpu& gpu, kernels::Backend& backend, const DeviceArray<Record16>& points, const Region& region,
              CellBits cells, const Binned& out)
      : gpu_(gpu),
        backend_(backend),
        predicate_(backend.operations().prepare(region.program())),
        input_(input_of(points)),
        points_(points),
        cells_(cells),
        out_(out),
        permutation_(gpu.cuda(), points.count()) {
    spec_.grid = region.grid(cells);
    workspace_ =
        std::make_unique<kernels::Workspace>(backend.memory(), backend.operations().bin_scratch(spec_, points.count()));
  }

  void run() {
    kernels::BinOutputs outputs;
    outputs.permutation = permutation_.data();
    outputs.cell_keys = out_.keys.data();
    outputs.cell_first = out_.first.data();
    result_ = backend_.operations().bin(*predicate_, spec_, input_, outputs, *workspace_, gpu_.view());
    backend_.primitives().gather(points_.data(), sizeof(Record16), permutation_.data(), result_.counts.kept,
                                 out_.records.data(), gpu_.view());
  }
  [[nodiscard]] std::vector<Piece> output() {
    const auto policy = thrust::cuda::par.on(gpu_.stream());
    std::uint64_t* keys = out_.keys.data();
    thrust::transform(policy, keys, keys + result_.cells, keys, KeyOfAllCells{result_.layout, cells_});
    return out_.used(result_.counts.kept, result_.cells);
  }

 private:
  Gpu& gpu_;
  kernels::Backend& backend_;
  std::shared_ptr<const kernels::PreparedPredicate> predicate_;
  kernels::PointInput input_;
  const DeviceArray<Record16>& points_;
  CellBits cells_;
  const Binned& out_;
  DeviceArray<std::uint32_t> permutation_;
  kernels::BinSpec spec_;
  std::unique_ptr<kernels::Workspace> workspace_;
  kernels::BinResult result_;
};

void bin_into(const Setting& setting, CellBits cells) {
  Gpu& gpu = setting.gpu;
  const DeviceArray<Record16> points = make_points(gpu, setting.report, setting.distribution, setting.items, cells);
  const Region region = region_that_keeps(0.5, setting.distribution, setting.items);
  const CellNumber number = region.cell_number(cells);
  const Binned out(gpu, setting.items);
  Case what = setting.named("crop + bin, 2^" + std::to_string(cells.sum()) + " cells");
  what.kept_fraction = 0.5;
  CubArea area(gpu, points);
  std::vector<Piece> outputs = out.all();
  for (const auto& records : area.records) outputs.push_back({records.data(), records.bytes()});
  outputs.push_back({area.first.data(), area.first.bytes()});
  Race race(gpu, setting.report, what, outputs);

  std::uint64_t bytes = 0;
  const auto add = [&](const std::string& by, Role role, std::function<void()> run,
                       std::function<std::vector<Piece>()> output) {
    race.add({by, role, std::move(run), [&bytes, output = std::move(output), items = setting.items] {
                std::vector<Piece> pieces = output();
                if (bytes == 0) bytes = bin_bytes(items, pieces);
                return pieces;
              }});
  };
  const auto enqueued = std::make_shared<EnqueuedBin>(gpu, gpu.cuda(), points, region, cells, out);
  add(
      "cuda", Role::kOurs, [=] { enqueued->run(); }, [=] { return enqueued->output(); });
  const auto gathered = std::make_shared<GatheredBin>(gpu, gpu.thrust(), points, region, cells, out);
  add(
      "thrust: bin, then gather", Role::kSecond, [=] { gathered->run(); }, [=] { return gathered->output(); });

  const auto usual = std::make_shared<UsualBin>(area, region, number);
  add(
      "cub: mask, Flagged, 32-bit SortPairs, gather, run lengths", Role::kUsual,
      [=, &gpu, &area] {
        usual->crop();
        const auto kept = gpu.read(area.counts.data());
        usual->sort(kept);
        usual->find_runs(kept);
        usual->sum_runs(gpu.read(area.counts.data() + 1));
      },
      [=, &area, &out] { return cub_output(area, usual->records(), area.run_keys.data(), out); });
  for_expert_ways(cells.sum(), [&](auto key, const ExpertWay& way) {
    using KeyT = decltype(key);
    const auto expert = std::make_shared<ExpertBin<KeyT>>(area, region, number, cells.sum(), way);
    add(
        name_of<KeyT>(way), Role::kExpert,
        [=, &gpu, &area] {
          expert->crop();
          const auto kept = gpu.read(area.counts.data());
          expert->sort(kept);
          expert->gather(kept);
          expert->find_cells(kept);
        },
        [=, &area, &out] { return cub_output(area, expert->records(), expert->run_keys(), out); });
  });

  race.compare();
  race.time(setting.rounds, bytes, Caches::kCold);
}

}  // namespace

void bench_bin(const Setting& setting) {
  for (const CellBits cells : {CellBits{{8, 8, 0}}, CellBits{{9, 9, 8}}}) bin_into(setting, cells);
}

}  // namespace sluice::bench
