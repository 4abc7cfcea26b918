// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/transform_iterator.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <memory>

#include "cub_bin.cuh"
#include "race.hpp"
#include "sluice/core/cell_grid.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

constexpr CellBits kCells{{7, 6, 6}};

struct Sums {
  std::int64_t x, y, z;
  std::uint64_t n;
};

struct AddSums {
  __device__ Sums operator()(const Sums& a, const Sums& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.n + b.n};
  }
};

struct SumsOfRecord {
  __host__ __device__ Sums operator()(const uint128& p) const {
    return {static_cast<std::int32_t>(p), static_cast<std::int32_t>(p >> 32), static_cast<std::int32_t>(p >> 64), 1};
  }
};

struct SumsOfNumber {
  const uint128* records;
  __host__ __device__ Sums operator()(std::uint32_t number) const { return SumsOfRecord{}(records[number]); }
};

struct WriteMean {
  const Sums* sums;
  const std::uint64_t* cells;
  Record16* out;
  __device__ void operator()(std::uint32_t at) const {
    if (at >= *cells) return;
    const Sums sum = sums[at];
    const auto n = static_cast<std::int64_t>(sum.n);
    const auto mean = [n](std::int64_t of) { return static_cast<std::int32_t>(mean_half_even(of, n)); };
    out[at] = {mean(sum.x), mean(sum.y), mean(sum.z), static_cast<std::uint32_t>(n)};
  }
};

struct CellOfMean {
  CellNumber number;
  __host__ __device__ std::uint32_t operator()(const Record16& p) const { return number.of(p.x, p.y, p.z); }
};

/// Centroids of a backend, which come in the order of the first points of their cells, and the points nearest to them.
class OurCentroids {
 public:
  OurCentroids(Gpu& gpu, kernels::Backend& backend, const DeviceArray<Record16>& points, const Region& region,
               const DeviceArray<Record16>& out, bool nearest)
      : gpu_(gpu),
        operations_(backend.operations()),
        predicate_(operations_.prepare(region.program())),
        input_(input_of(points)),
        number_(region.cell_number(kCells)),
        out_(out),
        nearest_(nearest),
        kept_(gpu.cuda(), points.count()),
        keys_(gpu.cuda(), std::uint64_t{1} << kCells.sum()) {
    spec_.grid = region.grid(kCells);
    spec_.policy = kernels::KeepPolicy::kCentroid;
    workspace_ =
        std::make_unique<kernels::Workspace>(backend.memory(), operations_.reduce_cells_scratch(spec_, points.count()));
  }

  void run() {
    kernels::ReduceOutputs outputs;
    if (nearest_) outputs.kept = kept_.data();
    outputs.centroids = out_.data();
    result_ = operations_.reduce_cells(*predicate_, spec_, input_, outputs, *workspace_, gpu_.view());
  }
  /// In cell order.
  [[nodiscard]] std::vector<Piece> output() {
    const auto policy = thrust::cuda::par.on(gpu_.stream());
    thrust::transform(policy, out_.data(), out_.data() + result_.cells, keys_.data(), CellOfMean{number_});
    thrust::sort_by_key(policy, keys_.data(), keys_.data() + result_.cells, reinterpret_cast<uint128*>(out_.data()));
    return {{out_.data(), result_.cells * sizeof(Record16)}};
  }

 private:
  Gpu& gpu_;
  kernels::Operations& operations_;
  std::shared_ptr<const kernels::PreparedPredicate> predicate_;
  kernels::PointInput input_;
  CellNumber number_;
  const DeviceArray<Record16>& out_;
  bool nearest_;
  DeviceArray<std::uint32_t> kept_;
  DeviceArray<std::uint32_t> keys_;
  kernels::ReduceSpec spec_;
  std::unique_ptr<kernels::Workspace> workspace_;
  kernels::ReduceResult result_;
};

/// Sums of the runs of equal keys among n, then their means.
template <typename KeyT, typename ValuesT>
void reduce_runs(CubArea& area, const KeyT* keys, ValuesT values, std::uint64_t n, KeyT* run_keys,
                 const DeviceArray<Sums>& sums, const DeviceArray<Record16>& out) {
  area.run([&](void* at, std::size_t& size) {
    return cub::DeviceReduce::ReduceByKey(at, size, keys, run_keys, values, sums.data(), area.counts.data() + 1,
                                          AddSums{}, static_cast<std::int64_t>(n), area.gpu.stream());
  });
  SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(static_cast<std::uint32_t>(std::min(n, sums.count())),
                                          WriteMean{sums.data(), area.counts.data() + 1, out.data()},
                                          area.gpu.stream()));
}

}  // namespace

void bench_centroids(const Setting& setting) {
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const DeviceArray<Record16> points = make_points(gpu, setting.report, setting.distribution, items, kCells);
  const Region region = region_that_keeps(0.5, setting.distribution, items);
  const CellNumber number = region.cell_number(kCells);
  const DeviceArray<Record16> out(gpu.cuda(), items);
  CubArea area(gpu, points);
  const DeviceArray<Sums> sums(gpu.cuda(), std::uint64_t{1} << kCells.sum());
  Case what = setting.named("crop + centroids, 2^" + std::to_string(kCells.sum()) + " cells");
  what.kept_fraction = 0.5;
  Race race(gpu, setting.report, what, {{out.data(), out.bytes()}, {sums.data(), sums.bytes()}});

  std::uint64_t bytes = 0;
  const auto add = [&](const std::string& by, Role role, std::function<void()> run,
                       std::function<std::vector<Piece>()> output) {
    race.add({by, role, std::move(run), [&bytes, items, output = std::move(output)] {
                std::vector<Piece> pieces = output();
                if (bytes == 0) bytes = items * sizeof(Record16) + pieces[0].bytes;
                return pieces;
              }});
  };
  const auto add_ours = [&](kernels::Backend& backend, Role role, bool nearest) {
    const auto ours = std::make_shared<OurCentroids>(gpu, backend, points, region, out, nearest);
    add(
        std::string(backend.name()) + (nearest ? ", which also finds the nearest points" : ", means alone"), role,
        [=] { ours->run(); }, [=] { return ours->output(); });
  };
  add_ours(gpu.cuda(), Role::kOurs, true);
  add_ours(gpu.cuda(), Role::kSecond, false);
  add_ours(gpu.thrust(), Role::kSecond, true);
  const auto cub_output = [&] {
    return std::vector<Piece>{{out.data(), gpu.read(area.counts.data() + 1) * sizeof(Record16)}};
  };
  const auto usual = std::make_shared<UsualBin>(area, region, number);
  add(
      "cub: mask, Flagged, 32-bit SortPairs, gather, ReduceByKey", Role::kUsual,
      [&, usual] {
        usual->crop();
        const auto kept = gpu.read(area.counts.data());
        usual->sort(kept);
        const auto values =
            thrust::make_transform_iterator(static_cast<const uint128*>(usual->records()), SumsOfRecord{});
        reduce_runs(area, usual->keys(), values, kept, area.run_keys.data(), sums, out);
      },
      cub_output);
  for_expert_ways(kCells.sum(), [&](auto key, const ExpertWay& way) {
    using KeyT = decltype(key);
    const auto expert = std::make_shared<ExpertBin<KeyT>>(area, region, number, kCells.sum(), way);
    add(
        name_of<KeyT>(way), Role::kExpert,
        [&, expert] {
          expert->crop();
          const auto kept = gpu.read(area.counts.data());
          expert->sort(kept);
          expert->gather(kept);
          const auto values =
              thrust::make_transform_iterator(static_cast<const uint128*>(expert->records()), SumsOfRecord{});
          reduce_runs(area, expert->keys(), values, kept, expert->run_keys(), sums, out);
        },
        cub_output);
    if (expert->carries()) return;
    add(
        name_of<KeyT>(way) + " by the sum", Role::kExpert,
        [&, expert] {
          expert->crop();
          const auto kept = gpu.read(area.counts.data());
          expert->sort(kept);
          const auto values = thrust::make_transform_iterator(expert->numbers(), SumsOfNumber{expert->records()});
          reduce_runs(area, expert->keys(), values, kept, expert->run_keys(), sums, out);
        },
        cub_output);
  });

  race.compare();
  race.time(setting.rounds, bytes, Caches::kCold);
}

}  // namespace sluice::bench
