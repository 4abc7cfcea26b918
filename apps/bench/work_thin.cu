// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cub/device/device_reduce.cuh>
#include <memory>

#include "cub_bin.cuh"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

using kernels::KeepPolicy;

constexpr CellBits kCells{{7, 6, 6}};

/// Orders points of a cell by height, or by nothing, then by number; the number is below it.
struct Ranked {
  bool by_height;
  __host__ __device__ std::uint64_t operator()(const uint128& p) const {
    const auto height = static_cast<std::uint32_t>(p >> 64) ^ 0x80000000U;
    return (by_height ? std::uint64_t{height} << 32 : 0) | static_cast<std::uint32_t>(p >> 96);
  }
};

struct RankedNumber {
  const uint128* records;
  Ranked ranked;
  __host__ __device__ std::uint64_t operator()(std::uint32_t number) const { return ranked(records[number]); }
};

struct LesserRank {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return b < a ? b : a; }
};

struct TakeNumber {
  const std::uint64_t* best;
  std::uint32_t* numbers;
  __device__ void operator()(std::uint32_t at) const { numbers[at] = static_cast<std::uint32_t>(best[at]); }
};

struct FlagNumber {
  const std::uint64_t* best;
  const std::uint64_t* cells;  ///< entries; null: all that are not empty
  std::uint8_t* flags;
  __device__ void operator()(std::uint32_t at) const {
    if (cells == nullptr ? best[at] != ~std::uint64_t{0} : at < *cells) flags[static_cast<std::uint32_t>(best[at])] = 1;
  }
};

struct LowerEntry {
  const uint128* points;
  Region region;
  CellNumber number;
  Ranked ranked;
  std::uint64_t* best;
  __device__ void operator()(std::uint32_t at) const {
    const uint128 p = points[at];
    if (!region(p)) return;
    auto* entry = reinterpret_cast<unsigned long long*>(best + number(p));
    const std::uint64_t mine = ranked(p);
    if (mine < *static_cast<volatile unsigned long long*>(entry)) atomicMin(entry, mine);
  }
};

/// Thinning by a backend.
class OurThin {
 public:
  OurThin(Gpu& gpu, kernels::Backend& backend, const DeviceArray<Record16>& points, const Region& region,
          KeepPolicy policy, const DeviceArray<std::uint32_t>& out)
      : gpu_(gpu),
        operations_(backend.operations()),
        predicate_(operations_.prepare(region.program())),
        input_(input_of(points)),
        out_(out) {
    spec_.grid = region.grid(kCells);
    spec_.policy = policy;
    workspace_ =
        std::make_unique<kernels::Workspace>(backend.memory(), operations_.reduce_cells_scratch(spec_, points.count()));
  }

  void run() {
    kernels::ReduceOutputs outputs;
    outputs.kept = out_.data();
    result_ = operations_.reduce_cells(*predicate_, spec_, input_, outputs, *workspace_, gpu_.view());
  }
  [[nodiscard]] std::vector<Piece> output() const { return {{out_.data(), result_.kept * sizeof(std::uint32_t)}}; }

 private:
  Gpu& gpu_;
  kernels::Operations& operations_;
  std::shared_ptr<const kernels::PreparedPredicate> predicate_;
  kernels::PointInput input_;
  const DeviceArray<std::uint32_t>& out_;
  kernels::ReduceSpec spec_;
  std::unique_ptr<kernels::Workspace> workspace_;
  kernels::ReduceResult result_;
};

/// The last steps of compositions: from the best point of each cell to ascending numbers.
struct CubThin {
  CubArea& area;
  const DeviceArray<std::uint64_t>& best;
  const DeviceArray<std::uint32_t>& out;
  bool by_height;

  /// The least rank of each run of equal keys.
  template <typename KeyT, typename RanksT>
  void reduce(const KeyT* keys, RanksT ranks, std::uint64_t n, KeyT* run_keys) {
    area.run([&](void* at, std::size_t& size) {
      if (by_height) {
        return cub::DeviceReduce::ReduceByKey(at, size, keys, run_keys, ranks, best.data(), area.counts.data() + 1,
                                              LesserRank{}, static_cast<std::int64_t>(n), area.gpu.stream());
      }
      return cub::DeviceSelect::UniqueByKey(at, size, keys, ranks, run_keys, best.data(), area.counts.data() + 1,
                                            static_cast<std::int64_t>(n), area.gpu.stream());
    });
  }
  void sort_numbers(unsigned bits) {
    const auto cells = static_cast<std::uint32_t>(area.gpu.read(area.counts.data() + 1));
    SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(cells, TakeNumber{best.data(), area.first.data()}, area.gpu.stream()));
    area.run([&](void* at, std::size_t& size) {
      return cub::DeviceRadixSort::SortKeys(at, size, area.first.data(), out.data(), cells, 0, static_cast<int>(bits),
                                            area.gpu.stream());
    });
  }
  /// \param entries  of `best`; \param cells  how many of them there are, on the device, or null
  void flag_numbers(std::uint64_t entries, const std::uint64_t* cells) {
    SLUICE_BENCH_CHECK(cudaMemsetAsync(area.mask.data(), 0, area.items, area.gpu.stream()));
    SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(static_cast<std::uint32_t>(entries),
                                            FlagNumber{best.data(), cells, area.mask.data()}, area.gpu.stream()));
    area.run([&](void* at, std::size_t& size) {
      return cub::DeviceSelect::Flagged(at, size, thrust::counting_iterator<std::uint32_t>(0), area.mask.data(),
                                        out.data(), area.counts.data() + 1, static_cast<std::int64_t>(area.items),
                                        area.gpu.stream());
    });
  }
  [[nodiscard]] std::vector<Piece> output() const {
    return {{out.data(), area.gpu.read(area.counts.data() + 1) * sizeof(std::uint32_t)}};
  }
};

void thin_by(const Setting& setting, KeepPolicy policy, const char* name) {
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const std::uint64_t cells = std::uint64_t{1} << kCells.sum();
  const DeviceArray<Record16> points = make_points(gpu, setting.report, setting.distribution, items, kCells);
  const Region region = region_that_keeps(0.5, setting.distribution, items);
  const CellNumber number = region.cell_number(kCells);
  const DeviceArray<std::uint32_t> out(gpu.cuda(), items);
  CubArea area(gpu, points);
  const DeviceArray<std::uint64_t> best(gpu.cuda(), cells);
  Case what = setting.named("crop + thin, " + std::string(name) + " of 2^" + std::to_string(kCells.sum()) + " cells");
  what.kept_fraction = 0.5;
  Race race(gpu, setting.report, what, {{out.data(), out.bytes()}, {best.data(), best.bytes()}});
  const Ranked ranked{policy == KeepPolicy::kLowest};
  CubThin thin{area, best, out, ranked.by_height};
  const auto bits = static_cast<unsigned>(std::bit_width(items - 1));

  std::uint64_t bytes = 0;
  const auto add = [&](const std::string& by, Role role, std::function<void()> run,
                       std::function<std::vector<Piece>()> output) {
    race.add({by, role, std::move(run), [&bytes, items, output = std::move(output)] {
                std::vector<Piece> pieces = output();
                if (bytes == 0) bytes = items * sizeof(Record16) + pieces[0].bytes;
                return pieces;
              }});
  };
  for (kernels::Backend* backend : {&gpu.cuda(), &gpu.thrust()}) {
    const auto ours = std::make_shared<OurThin>(gpu, *backend, points, region, policy, out);
    add(
        std::string(backend->name()), backend == &gpu.cuda() ? Role::kOurs : Role::kSecond, [=] { ours->run(); },
        [=] { return ours->output(); });
  }
  const auto cub_output = [&thin] { return thin.output(); };
  const auto usual = std::make_shared<UsualBin>(area, region, number);
  add(
      "cub: mask, Flagged, 32-bit SortPairs, gather, reduction, 32-bit SortKeys", Role::kUsual,
      [&, usual] {
        usual->crop();
        const auto kept = gpu.read(area.counts.data());
        usual->sort(kept);
        const auto ranks = thrust::make_transform_iterator(static_cast<const uint128*>(usual->records()), ranked);
        thin.reduce(usual->keys(), ranks, kept, area.run_keys.data());
        thin.sort_numbers(32);
      },
      cub_output);
  for_expert_ways(kCells.sum(), [&](auto key, const ExpertWay& way) {
    using KeyT = decltype(key);
    const auto expert = std::make_shared<ExpertBin<KeyT>>(area, region, number, kCells.sum(), way);
    for (const bool flags : {false, true}) {
      add(
          name_of<KeyT>(way) + (way.carry ? "" : " by the reduction") + (flags ? ", flags" : ", SortKeys"),
          Role::kExpert,
          [&, expert, flags] {
            expert->crop();
            const auto kept = gpu.read(area.counts.data());
            expert->sort(kept);
            if (expert->carries()) {
              const auto ranks =
                  thrust::make_transform_iterator(static_cast<const uint128*>(expert->records()), ranked);
              thin.reduce(expert->keys(), ranks, kept, expert->run_keys());
            } else {
              const auto ranks =
                  thrust::make_transform_iterator(expert->numbers(), RankedNumber{expert->records(), ranked});
              thin.reduce(expert->keys(), ranks, kept, expert->run_keys());
            }
            if (flags) {
              thin.flag_numbers(std::min(kept, cells), area.counts.data() + 1);
            } else {
              thin.sort_numbers(bits);
            }
          },
          cub_output);
    }
  });
  add(
      "cub expert: atomics on a table of cells in DeviceFor, flags", Role::kExpert,
      [&] {
        SLUICE_BENCH_CHECK(cudaMemsetAsync(best.data(), 0xff, best.bytes(), gpu.stream()));
        SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(static_cast<std::uint32_t>(items),
                                                LowerEntry{area.source, region, number, ranked, best.data()},
                                                gpu.stream()));
        thin.flag_numbers(cells, nullptr);
        // The count of what is left, as the others give it.
        static_cast<void>(gpu.read(area.counts.data() + 1));
      },
      cub_output);

  race.compare();
  race.time(setting.rounds, bytes, Caches::kCold);
}

}  // namespace

void bench_thin(const Setting& setting) {
  thin_by(setting, KeepPolicy::kFirst, "the first");
  thin_by(setting, KeepPolicy::kLowest, "the lowest");
}

}  // namespace sluice::bench
