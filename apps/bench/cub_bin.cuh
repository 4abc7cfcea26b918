// SPDX-License-Identifier: Apache-2.0
/// \file
/// Crop and binning out of CUB calls, in steps: as most people write them, and in the ways that experts try.
#pragma once

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

#include <cstddef>
#include <cub/device/device_for.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <string>
#include <vector>

#include "cub_call.hpp"
#include "ours_bin.hpp"
#include "region.hpp"

namespace sluice::bench {

/// For calls of Thrust that only enqueue.
inline auto not_waiting(const Gpu& gpu) { return thrust::cuda::par_nosync.on(gpu.stream()); }

/// Where all compositions of one case work, one after the other.
struct CubArea {
  using Words = DeviceArray<std::uint32_t>;

  CubArea(Gpu& on, const DeviceArray<Record16>& points)
      : gpu(on),
        items(points.count()),
        source(reinterpret_cast<const uint128*>(points.data())),
        scratch(on),
        records{{on.cuda(), items}, {on.cuda(), items}},
        keys{{on.cuda(), items}, {on.cuda(), items}},
        numbers{{on.cuda(), items}, {on.cuda(), items}},
        run_keys(on.cuda(), items),
        run_lengths(on.cuda(), items),
        first(on.cuda(), items),
        mask(on.cuda(), items),
        counts(on.cuda(), 2) {}

  /// Calls CUB with scratch that is taken when it is first needed.
  template <typename CallT>
  void run(const CallT& call) {
    scratch.reserve(call);
    scratch.run(call);
  }

  /// Forgets results, so that a run that does nothing is found out.
  void forget() {
    for (const auto& side : records) gpu.poison(side.data(), side.bytes());
    gpu.poison(first.data(), first.bytes());
    SLUICE_BENCH_CHECK(cudaMemsetAsync(counts.data(), 0, counts.bytes(), gpu.stream()));
  }

  Gpu& gpu;
  std::uint64_t items;
  const uint128* source;
  CubScratch scratch;
  DeviceArray<uint128> records[2];
  Words keys[2];  ///< also narrower ones
  Words numbers[2];
  Words run_keys;  ///< likewise
  Words run_lengths;
  Words first;
  DeviceArray<std::uint8_t> mask;
  DeviceArray<std::uint64_t> counts;  ///< kept points, occupied cells
};

/// Mask and Flagged on a vector type, one step a call, all 32 bits of the key, run lengths and their sums.
class UsualBin {
 public:
  UsualBin(CubArea& area, const Region& region, const CellNumber& number)
      : area_(area), region_(region), number_(number) {}

  void crop() {
    const auto* source = reinterpret_cast<const int4*>(area_.source);
    thrust::transform(not_waiting(area_.gpu), source, source + area_.items, area_.mask.data(), region_);
    area_.run([&](void* at, std::size_t& size) {
      return cub::DeviceSelect::Flagged(at, size, source, area_.mask.data(), kept(), area_.counts.data(),
                                        static_cast<std::int64_t>(area_.items), area_.gpu.stream());
    });
  }
  void sort(std::uint64_t n) {
    thrust::transform(not_waiting(area_.gpu), kept(), kept() + n, area_.keys[0].data(), number_);
    thrust::sequence(not_waiting(area_.gpu), area_.numbers[0].data(), area_.numbers[0].data() + n);
    area_.run([&](void* at, std::size_t& size) {
      return cub::DeviceRadixSort::SortPairs(at, size, area_.keys[0].data(), area_.keys[1].data(),
                                             area_.numbers[0].data(), area_.numbers[1].data(),
                                             static_cast<std::uint32_t>(n), 0, 32, area_.gpu.stream());
    });
    thrust::gather(not_waiting(area_.gpu), area_.numbers[1].data(), area_.numbers[1].data() + n, kept(),
                   reinterpret_cast<int4*>(area_.records[1].data()));
  }
  void find_runs(std::uint64_t n) {
    area_.run([&](void* at, std::size_t& size) {
      return cub::DeviceRunLengthEncode::Encode(at, size, area_.keys[1].data(), area_.run_keys.data(),
                                                area_.run_lengths.data(), area_.counts.data() + 1,
                                                static_cast<std::int64_t>(n), area_.gpu.stream());
    });
  }
  void sum_runs(std::uint64_t runs) {
    area_.run([&](void* at, std::size_t& size) {
      return cub::DeviceScan::ExclusiveSum(at, size, area_.run_lengths.data(), area_.first.data(),
                                           static_cast<std::uint32_t>(runs), area_.gpu.stream());
    });
  }
  [[nodiscard]] const std::uint32_t* keys() const { return area_.keys[1].data(); }
  [[nodiscard]] uint128* records() const { return area_.records[1].data(); }

 private:
  [[nodiscard]] int4* kept() const { return reinterpret_cast<int4*>(area_.records[0].data()); }

  CubArea& area_;
  Region region_;
  CellNumber number_;
};

/// What experts vary.
struct ExpertWay {
  bool carry;       ///< sort the points themselves, not their numbers followed by a gather
  bool early_keys;  ///< the crop writes keys and numbers, too
};

template <typename KeyT>
struct WriteKey {
  KeyT* keys;
  std::uint32_t* numbers;  ///< null: not needed
  CellNumber number;
  __device__ void operator()(std::uint32_t at, const uint128& record) const {
    keys[at] = static_cast<KeyT>(number(record));
    if (numbers != nullptr) numbers[at] = at;
  }
};

template <typename KeyT>
struct WriteRecord {
  uint128* records;
  WriteKey<KeyT> write_key;
  __device__ void operator()(std::ptrdiff_t at, const uint128& record) const {
    records[at] = record;
    write_key(static_cast<std::uint32_t>(at), record);
  }
};

template <typename KeyT>
struct WriteKeyOfKept {
  const uint128* records;
  WriteKey<KeyT> write_key;
  __device__ void operator()(std::uint32_t at) const { write_key(at, records[at]); }
};

struct GatherRecord {
  const uint128* from;
  const std::uint32_t* numbers;
  uint128* to;
  __device__ void operator()(std::uint32_t at) const { to[at] = from[numbers[at]]; }
};

/// 16-byte integers, exact bits, keys of type KeyT, no gather that is not needed, one call for the table of cells.
template <typename KeyT>
class ExpertBin {
 public:
  ExpertBin(CubArea& area, const Region& region, const CellNumber& number, unsigned key_bits, ExpertWay way)
      : area_(area),
        region_(region),
        number_(number),
        key_bits_(static_cast<int>(key_bits)),
        way_(way),
        keys_(reinterpret_cast<KeyT*>(area.keys[0].data()), reinterpret_cast<KeyT*>(area.keys[1].data())),
        numbers_(area.numbers[0].data(), area.numbers[1].data()),
        records_(area.records[0].data(), area.records[1].data()) {}

  void crop() {
    start();
    const auto select = [&](auto out) {
      area_.run([&](void* at, std::size_t& size) {
        return cub::DeviceSelect::If(at, size, area_.source, out, area_.counts.data(),
                                     static_cast<std::int64_t>(area_.items), region_, area_.gpu.stream());
      });
    };
    if (way_.early_keys) {
      const WriteKey<KeyT> write_key = key_writer();
      uint128* records = records_.Current();
      select(thrust::make_tabulate_output_iterator(WriteRecord<KeyT>{records, write_key}));
    } else {
      select(records_.Current());
    }
  }
  /// Afterwards `keys()` are in order, and so are the records where they are carried.
  void sort(std::uint64_t n) {
    start();
    if (!way_.early_keys) {
      SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(
          static_cast<std::uint32_t>(n), WriteKeyOfKept<KeyT>{records_.Current(), key_writer()}, area_.gpu.stream()));
    }
    const auto sort_with = [&](auto& values) {
      area_.run([&](void* at, std::size_t& size) {
        return cub::DeviceRadixSort::SortPairs(at, size, keys_, values, static_cast<std::uint32_t>(n), 0, key_bits_,
                                               area_.gpu.stream());
      });
    };
    if (way_.carry) {
      sort_with(records_);
    } else {
      sort_with(numbers_);
    }
  }
  void gather(std::uint64_t n) {
    if (way_.carry) return;
    SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(static_cast<std::uint32_t>(n),
                                            GatherRecord{records_.Current(), numbers_.Current(), records_.Alternate()},
                                            area_.gpu.stream()));
    records_.selector ^= 1;
  }
  void find_cells(std::uint64_t n) {
    area_.run([&](void* at, std::size_t& size) {
      return cub::DeviceSelect::UniqueByKey(at, size, keys_.Current(), thrust::counting_iterator<std::uint32_t>(0),
                                            run_keys(), area_.first.data(), area_.counts.data() + 1,
                                            static_cast<std::uint32_t>(n), area_.gpu.stream());
    });
  }
  [[nodiscard]] bool carries() const { return way_.carry; }
  [[nodiscard]] const KeyT* keys() { return keys_.Current(); }
  [[nodiscard]] const std::uint32_t* numbers() { return numbers_.Current(); }
  [[nodiscard]] uint128* records() { return records_.Current(); }
  [[nodiscard]] KeyT* run_keys() const { return reinterpret_cast<KeyT*>(area_.run_keys.data()); }

 private:
  [[nodiscard]] WriteKey<KeyT> key_writer() {
    return {keys_.Current(), way_.carry ? nullptr : numbers_.Current(), number_};
  }
  /// Every run starts from the same buffers.
  void start() {
    keys_.selector = 0;
    numbers_.selector = 0;
    records_.selector = 0;
  }

  CubArea& area_;
  Region region_;
  CellNumber number_;
  int key_bits_;
  ExpertWay way_;
  cub::DoubleBuffer<KeyT> keys_;
  cub::DoubleBuffer<std::uint32_t> numbers_;
  cub::DoubleBuffer<uint128> records_;
};

/// What a composition has left, with its keys widened to those that we write.
template <typename KeyT>
std::vector<Piece> cub_output(const CubArea& area, uint128* records, const KeyT* run_keys, const Binned& wide) {
  const auto kept = area.gpu.read(area.counts.data());
  const auto runs = area.gpu.read(area.counts.data() + 1);
  thrust::copy(thrust::cuda::par.on(area.gpu.stream()), run_keys, run_keys + runs, wide.keys.data());
  return {{records, kept * sizeof(Record16)},
          {wide.keys.data(), runs * sizeof(std::uint64_t)},
          {area.first.data(), runs * sizeof(std::uint32_t)}};
}

/// The name of a way in tables.
template <typename KeyT>
std::string name_of(const ExpertWay& way) {
  return std::string("cub expert: ") + (sizeof(KeyT) == 2 ? "16" : "32") + "-bit keys" +
         (way.early_keys ? " from the crop" : "") + (way.carry ? ", points carried" : ", points gathered");
}

/// Calls `visit` with a key type and a way for each variant that is worth trying.
template <typename VisitT>
void for_expert_ways(unsigned key_bits, const VisitT& visit) {
  for (const bool carry : {false, true}) {
    visit(std::uint32_t{}, ExpertWay{carry, false});
    if (key_bits <= 16) {
      visit(std::uint16_t{}, ExpertWay{carry, false});
      visit(std::uint16_t{}, ExpertWay{carry, true});
    } else {
      visit(std::uint32_t{}, ExpertWay{carry, true});
    }
  }
}

}  // namespace sluice::bench
