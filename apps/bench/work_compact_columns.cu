// SPDX-License-Identifier: Apache-2.0
/// \file
/// The crop of work_compact.cu on points that lie in three columns, and whose columns are compacted.
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <cub/device/device_for.cuh>
#include <cub/device/device_select.cuh>

#include "cub_call.hpp"
#include "race.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

template <typename T>
struct Columns {
  T* x;
  T* y;
  T* z;

  [[nodiscard]] auto zipped() const { return thrust::make_zip_iterator(x, y, z); }
};

/// Three columns in device memory.
template <typename T>
struct ColumnArrays {
  ColumnArrays(Gpu& gpu, std::uint64_t count) : x(gpu.cuda(), count), y(gpu.cuda(), count), z(gpu.cuda(), count) {}
  [[nodiscard]] Columns<T> view() const { return {x.data(), y.data(), z.data()}; }
  /// The first `count` of each.
  [[nodiscard]] std::vector<Piece> pieces(std::uint64_t count) const {
    return {{x.data(), count * sizeof(T)}, {y.data(), count * sizeof(T)}, {z.data(), count * sizeof(T)}};
  }

  DeviceArray<T> x, y, z;
};

template <typename T>
struct SplitRecord {
  __host__ __device__ thrust::tuple<T, T, T> operator()(const Record16& p) const {
    // Lattice numbers of the box are exact as floats.
    return thrust::make_tuple(static_cast<T>(p.x), static_cast<T>(p.y), static_cast<T>(p.z));
  }
};

/// A `Region` for CUB.
template <typename T>
struct ColumnRegion {
  T edge;
  T z_end;

  __host__ __device__ bool holds(T x, T y, T z) const {
    return x >= 0 && x < edge && y >= 0 && y < edge && z >= 0 && z < z_end;
  }
  __host__ __device__ bool operator()(const thrust::tuple<T, T, T>& p) const {
    return holds(thrust::get<0>(p), thrust::get<1>(p), thrust::get<2>(p));
  }
};

/// The same for a number of a point.
template <typename T>
struct NumberInRegion {
  ColumnRegion<T> region;
  Columns<T> points;

  __host__ __device__ bool operator()(std::uint32_t i) const {
    return region.holds(points.x[i], points.y[i], points.z[i]);
  }
};

/// Takes a point by its number to a place in the output.
template <typename T>
struct TakePoint {
  Columns<T> points;
  Columns<T> out;

  template <typename PlaceT>
  __host__ __device__ void operator()(PlaceT place, std::uint32_t i) const {
    out.x[place] = points.x[i];
    out.y[place] = points.y[i];
    out.z[place] = points.z[i];
  }
};

/// The same for the numbers of an earlier call; more threads than there are of them.
template <typename T>
struct GatherPoint {
  TakePoint<T> take;
  const std::uint32_t* numbers;
  const std::uint64_t* count;

  __device__ void operator()(std::uint32_t place) const {
    if (place < *count) take(place, numbers[place]);
  }
};

/// A `Region` for this project.
PredicateProgram program_of(const Region& region, std::int32_t /*lattice*/) { return region.program(); }
PredicateProgram program_of(const Region& region, float /*floats*/) {
  PredicateOp box{};
  box.code = PredicateOp::Code::kWorldBox;
  for (int d = 0; d < 3; ++d) box.reals[3 + d] = d == 2 ? region.z_end - 1 : static_cast<double>(kBox - 1);
  PredicateProgram out;
  out.ops.push_back(box);
  return out;
}

template <typename T>
void compact_columns(const Setting& setting, const char* name, const ColumnArrays<T>& points, double fraction) {
  Gpu& gpu = setting.gpu;
  const std::uint64_t items = setting.items;
  const auto n = static_cast<std::int64_t>(items);
  const Region region = region_that_keeps(fraction, setting.distribution, items);
  const ColumnArrays<T> out(gpu, items);
  const DeviceArray<kernels::SelectCounts> counts(gpu.cuda(), 1);
  const DeviceArray<std::uint64_t> count(gpu.cuda(), 1);
  Case what = setting.named(std::string("crop of ") + name + " columns, " + percent(fraction) + " kept");
  what.kept_fraction = fraction;
  Race race(gpu, setting.report, what, out.pieces(items));

  std::uint64_t kept = 0;
  const auto first_points = [&](std::uint64_t number) {
    kept = number;
    return out.pieces(number);
  };
  kernels::PointInput input;
  input.positions = Positions::columns(points.x.data(), points.y.data(), points.z.data());
  input.count = items;
  const auto with = [&](kernels::Backend& backend, Role role) {
    kernels::Operations& operations = backend.operations();
    const auto predicate = operations.prepare(program_of(region, T{}));
    const auto workspace = std::make_shared<kernels::Workspace>(backend.memory(), operations.select_scratch(items));
    kernels::SelectOutputs outputs;
    outputs.counts = counts.data();
    outputs.coordinates[0] = out.x.data();
    outputs.coordinates[1] = out.y.data();
    outputs.coordinates[2] = out.z.data();
    Contender contender{std::string(backend.name()), role};
    contender.run = [=, &operations, &gpu] { operations.select(*predicate, input, outputs, *workspace, gpu.view()); };
    contender.output = [&] { return first_points(gpu.read(counts.data()).kept); };
    race.add(std::move(contender));
  };
  with(gpu.cuda(), Role::kOurs);
  with(gpu.thrust(), Role::kSecond);

  CubScratch scratch(gpu);
  const auto add_cub = [&](const std::string& by, Role role, const std::function<void()>& run) {
    race.add({by, role, run, [&] { return first_points(gpu.read(count.data())); }});
  };
  const ColumnRegion<T> for_cub{static_cast<T>(kBox), static_cast<T>(region.z_end)};
  const Columns<T> from = points.view();
  const Columns<T> to = out.view();
  const auto zip_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, from.zipped(), to.zipped(), count.data(), n, for_cub, gpu.stream());
  };
  scratch.reserve(zip_call);
  add_cub("cub: If on zip iterators", Role::kUsual, [&] { scratch.run(zip_call); });

  const DeviceArray<std::uint8_t> mask(gpu.cuda(), items);
  const auto write_mask = [&] {
    thrust::transform(thrust::cuda::par_nosync.on(gpu.stream()), from.zipped(), from.zipped() + n, mask.data(),
                      for_cub);
  };
  const auto flagged_call = [&](const auto& values, const auto& kept_values) {
    return [&, values, kept_values](void* at, std::size_t& size) {
      return cub::DeviceSelect::Flagged(at, size, values, mask.data(), kept_values, count.data(), n, gpu.stream());
    };
  };
  const auto x_call = flagged_call(from.x, to.x);
  const auto y_call = flagged_call(from.y, to.y);
  const auto z_call = flagged_call(from.z, to.z);
  scratch.reserve(x_call);
  add_cub("mask, then cub: Flagged on each column", Role::kUsual, [&] {
    write_mask();
    scratch.run(x_call);
    scratch.run(y_call);
    scratch.run(z_call);
  });

  std::uint64_t copied = 0;
  race.add({"thrust: copy_if on zip iterators", Role::kUsual,
            [&] {
              const auto policy = thrust::cuda::par.on(gpu.stream());
              const auto end = thrust::copy_if(policy, from.zipped(), from.zipped() + n, to.zipped(), for_cub);
              copied = static_cast<std::uint64_t>(end - to.zipped());
            },
            [&] { return first_points(copied); }});

  const auto zip_flagged_call = flagged_call(from.zipped(), to.zipped());
  scratch.reserve(zip_flagged_call);
  add_cub("cub expert: mask, then Flagged on zip iterators", Role::kExpert, [&] {
    write_mask();
    scratch.run(zip_flagged_call);
  });

  const thrust::counting_iterator<std::uint32_t> all(0);
  const NumberInRegion<T> number_in_region{for_cub, from};
  const DeviceArray<std::uint32_t> numbers(gpu.cuda(), items);
  const auto numbers_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, all, numbers.data(), count.data(), n, number_in_region, gpu.stream());
  };
  scratch.reserve(numbers_call);
  add_cub("cub expert: If on numbers, then a gather of all columns", Role::kExpert, [&] {
    scratch.run(numbers_call);
    SLUICE_BENCH_CHECK(cub::DeviceFor::Bulk(static_cast<std::uint32_t>(items),
                                            GatherPoint<T>{{from, to}, numbers.data(), count.data()}, gpu.stream()));
  });

  const auto taken = thrust::make_tabulate_output_iterator(TakePoint<T>{from, to});
  const auto taking_call = [&](void* at, std::size_t& size) {
    return cub::DeviceSelect::If(at, size, all, taken, count.data(), n, number_in_region, gpu.stream());
  };
  scratch.reserve(taking_call);
  add_cub("cub expert: If on numbers, whose output takes the points", Role::kExpert, [&] { scratch.run(taking_call); });

  race.compare();
  race.time(setting.rounds, (items + kept) * 3 * sizeof(T), Caches::kCold);
}

template <typename T>
void compact_kind(const Setting& setting, const char* name) {
  Gpu& gpu = setting.gpu;
  const ColumnArrays<T> points(gpu, setting.items);
  {
    const DeviceArray<Record16> records =
        make_points(gpu, setting.report, setting.distribution, setting.items, CellBits{{8, 8, 0}});
    thrust::transform(thrust::cuda::par.on(gpu.stream()), records.data(), records.data() + setting.items,
                      points.view().zipped(), SplitRecord<T>{});
  }
  for (const double fraction : setting.kept) compact_columns(setting, name, points, fraction);
}

}  // namespace

void bench_compact_columns(const Setting& setting) {
  compact_kind<float>(setting, "float");
  compact_kind<std::int32_t>(setting, "lattice");
}

}  // namespace sluice::bench
