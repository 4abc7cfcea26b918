// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "cub_bin.cuh"
#include "ours_bin.hpp"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

void bin_frame(const Setting& setting, CellBits cells) {
  Gpu& gpu = setting.gpu;
  const DeviceArray<Record16> points = make_points(gpu, setting.report, setting.distribution, setting.items, cells);
  const Region region = region_that_keeps(0.5, setting.distribution, setting.items);
  const CellNumber number = region.cell_number(cells);
  const Binned out(gpu, setting.items);
  Case what = setting.named("frame in a graph: crop + bin, 2^" + std::to_string(cells.sum()) + " cells");
  what.kept_fraction = 0.5;
  Race race(gpu, setting.report, what, out.all());

  std::uint64_t bytes = 0;
  // Run once outside of the graph, so that code is loaded, scratch is taken and CUB's counts are known.
  const auto add = [&](const std::string& by, Role role, const std::function<void()>& once,
                       const std::function<void()>& enqueue, const std::function<std::vector<Piece>()>& output) {
    const auto graph = std::make_shared<std::unique_ptr<Graph>>();
    race.add({by,
              role,
              [graph] { (*graph)->launch(); },
              [&bytes, output, items = setting.items] {
                std::vector<Piece> pieces = output();
                if (bytes == 0) bytes = bin_bytes(items, pieces);
                return pieces;
              },
              {},
              [graph, once, enqueue, &gpu] {
                once();
                gpu.wait();
                *graph = std::make_unique<Graph>(gpu, enqueue);
              }});
  };
  const auto ours = std::make_shared<EnqueuedBin>(gpu, gpu.cuda(), points, region, cells, out);
  const auto run = [=] { ours->run(); };
  add("cuda", Role::kOurs, run, run, [=] { return ours->output(); });

  /// A composition of CUB and what it was told.
  struct Told {
    Told(Gpu& on, const DeviceArray<Record16>& points) : area(on, points) {}
    CubArea area;  // of its own, since a graph remembers where its scratch is
    std::uint64_t kept = 0;
    std::uint64_t runs = 0;
  };
  {
    const auto told = std::make_shared<Told>(gpu, points);
    const auto usual = std::make_shared<UsualBin>(told->area, region, number);
    add(
        "cub: mask, Flagged, 32-bit SortPairs, gather, run lengths", Role::kUsual,
        [=, &gpu] {
          usual->crop();
          told->kept = gpu.read(told->area.counts.data());
          usual->sort(told->kept);
          usual->find_runs(told->kept);
          told->runs = gpu.read(told->area.counts.data() + 1);
          usual->sum_runs(told->runs);
          told->area.forget();
        },
        [=] {
          usual->crop();
          usual->sort(told->kept);
          usual->find_runs(told->kept);
          usual->sum_runs(told->runs);
        },
        [=, &out] { return cub_output(told->area, usual->records(), told->area.run_keys.data(), out); });
  }
  for_expert_ways(cells.sum(), [&](auto key, const ExpertWay& way) {
    using KeyT = decltype(key);
    const auto told = std::make_shared<Told>(gpu, points);
    const auto expert = std::make_shared<ExpertBin<KeyT>>(told->area, region, number, cells.sum(), way);
    const auto rest = [=] {
      expert->sort(told->kept);
      expert->gather(told->kept);
      expert->find_cells(told->kept);
    };
    add(
        name_of<KeyT>(way), Role::kExpert,
        [=, &gpu] {
          expert->crop();
          told->kept = gpu.read(told->area.counts.data());
          rest();
          told->area.forget();
        },
        [=] {
          expert->crop();
          rest();
        },
        [=, &out] { return cub_output(told->area, expert->records(), expert->run_keys(), out); });
  });

  race.compare();
  race.time(setting.rounds, bytes, Caches::kWarm);
  race.time(setting.rounds, bytes, Caches::kCold);
}

}  // namespace

void bench_frame(const Setting& setting) {
  setting.report.note(
      "frame: graphs of CUB calls are told the number of kept points (the usual one that of occupied cells, too), the "
      "friendliest case for them; ours is told nothing");
  for (const CellBits cells : {CellBits{{8, 8, 0}}, CellBits{{9, 9, 8}}}) bin_frame(setting, cells);
}

}  // namespace sluice::bench
